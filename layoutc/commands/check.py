"""``layoutc check``: everything that can be known of a file without a machine to run it."""

from __future__ import annotations

from layoutc.commands.selection import read
from layoutc.commands.settings import WELL, Settings, counted
from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.resolve.program import Kernel, Program, Schedule, title_of


def check(settings: Settings, paths: tuple[str, ...]) -> int:
    """Say of each file that all is well, in a line, or what is wrong; the exit status."""
    return max([_check_file(settings, path) for path in paths])


def _check_file(settings: Settings, path: str) -> int:
    try:
        program = read(path, settings)
        plan_everything(program, settings)
    except LayoutcError as error:
        return settings.report(error)
    settings.summary(f"{path}: {_summary(program)}")
    return WELL


def plan_everything(program: Program, settings: Settings) -> None:
    """Plan kernels with every schedule, and redistributions; LayoutcError with all that cannot be honoured."""
    from layoutc.plan.planner import default_signature, make_plan

    problems: dict[Diagnostic, None] = {}
    for kernel in program.kernels:
        for schedule in _schedules(kernel):
            try:
                make_plan(program, kernel, schedule, default_signature(kernel), settings.target)
            except LayoutcError as error:
                problems |= dict.fromkeys(error.diagnostics)
            else:
                settings.note(f"{kernel.name}, schedule: {title_of(schedule)}: can be honoured")
    problems |= _impossible(program, settings) if program.redistributes else {}
    if problems:
        raise LayoutcError(problems)


def _impossible(program: Program, settings: Settings) -> dict[Diagnostic, None]:
    """What cannot be honoured of redistributions."""
    from layoutc.explain import moved
    from layoutc.plan.redistributions.declared import plan_declared

    problems: dict[Diagnostic, None] = {}
    for r in program.redistributes:
        try:
            plan = plan_declared(program, r, settings.target)
        except LayoutcError as error:
            problems |= dict.fromkeys(error.diagnostics)
        else:
            settings.note(f"{r.name}: via {moved(plan)['via']}")
    return problems


def _schedules(kernel: Kernel) -> tuple[Schedule | None, ...]:
    """All that are written, and the compiler's own where no default one is."""
    return kernel.schedules if kernel.schedule() is not None else (None, *kernel.schedules)


def _summary(program: Program) -> str:
    schedules = sum(len(k.schedules) for k in program.kernels)
    holds = "holds" if program.assertions == 1 else "hold"
    moves = f"{counted(len(program.redistributes), 'redistribution')}, " if program.redistributes else ""
    return (f"{counted(len(program.kernels), 'kernel')}, {counted(schedules, 'schedule')}, {moves}"
            f"{counted(program.assertions, 'assertion')} {holds}")
