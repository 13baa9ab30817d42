"""``layoutc test``: kernels against what NumPy says they mean."""

from __future__ import annotations

from layoutc.commands.selection import kernels, only_kernel, read, scheduled
from layoutc.commands.settings import WELL, WRONG, Settings
from layoutc.module import Kernel
from layoutc.resolve.program import Kernel as Meaning
from layoutc.resolve.program import Program


def test(
    settings: Settings, path: str, kernel: str | None, examples: int, seed: int | None, all_schedules: bool
) -> int:
    """Print whether each chosen kernel agrees with its meaning; the exit status.

    With a schedule in the settings, only it is tested.
    """
    from layoutc.testing import check_kernel

    program = read(path, settings)
    chosen = kernels(program, kernel)
    if settings.schedule is not None:
        chosen = tuple(k for k, _ in scheduled(chosen, settings.schedule))
    status = WELL
    for meaning in chosen:
        report = check_kernel(_kernel(program, meaning, settings), examples=examples, seed=seed,
                              schedule=settings.schedule, all_schedules=all_schedules, device=settings.device)
        if report.ok:
            settings.summary(report.text())
        else:
            settings.show(report.text())
            status = WRONG
    return status


def test_case(settings: Settings, path: str, kernel: str | None, case: str) -> int:
    """Run the one call that a report names and print what comes of it; the exit status."""
    from layoutc.testing import check_case

    program = read(path, settings)
    report = check_case(_kernel(program, only_kernel(program, kernel), settings), case, device=settings.device)
    settings.show(report.text())
    return WELL if report.ok else WRONG


def _kernel(program: Program, meaning: Meaning, settings: Settings) -> Kernel:
    return Kernel(program, meaning, settings.target)
