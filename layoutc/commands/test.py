"""``layoutc test``: kernels and redistributions against what NumPy says they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layoutc.commands.selection import Declared, declared, only_one, read, scheduled
from layoutc.commands.settings import WELL, WRONG, Settings
from layoutc.module import Kernel
from layoutc.redistribution import Redistribution
from layoutc.resolve.program import Kernel as Meaning
from layoutc.resolve.program import Program

if TYPE_CHECKING:
    from layoutc.testing import MoveReport, Report


def test(
    settings: Settings, path: str, kernel: str | None, examples: int, seed: int | None, all_schedules: bool
) -> int:
    """Print whether each of what is chosen agrees with its meaning; the exit status.

    With a schedule in the settings, only it is tested. ``all_schedules`` means all means of a redistribution too.
    """
    program = read(path, settings)
    chosen = declared(program, kernel)
    if settings.schedule is not None:
        chosen = tuple(d for d, _ in scheduled(chosen, settings.schedule))
    status = WELL
    for meaning in chosen:
        report = _tested(settings, program, meaning, examples, seed, all_schedules)
        if report.ok:
            settings.summary(report.text())
        else:
            settings.show(report.text())
            status = WRONG
    return status


def _tested(
    settings: Settings, program: Program, meaning: Declared, examples: int, seed: int | None, all_schedules: bool
) -> Report | MoveReport:
    from layoutc.testing import check_kernel, check_redistribution

    if isinstance(meaning, Meaning):
        return check_kernel(Kernel(program, meaning, settings.target), examples=examples, seed=seed,
                            schedule=settings.schedule, all_schedules=all_schedules, device=settings.device)
    return check_redistribution(Redistribution(program, meaning, settings.target), examples=examples, seed=seed,
                                all_means=all_schedules, device=settings.device)


def test_case(settings: Settings, path: str, kernel: str | None, case: str) -> int:
    """Run the one call that a report names and print what comes of it; the exit status."""
    from layoutc.testing import check_case, check_move_case

    program = read(path, settings)
    meaning = only_one(program, kernel)
    report: Report | MoveReport
    if isinstance(meaning, Meaning):
        report = check_case(Kernel(program, meaning, settings.target), case, device=settings.device)
    else:
        report = check_move_case(Redistribution(program, meaning, settings.target), case, device=settings.device)
    settings.show(report.text())
    return WELL if report.ok else WRONG
