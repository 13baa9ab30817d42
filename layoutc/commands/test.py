"""``layoutc test``: kernels against what NumPy says they mean."""

from __future__ import annotations

from layoutc.commands.selection import kernels, read
from layoutc.commands.settings import WELL, WRONG, Settings
from layoutc.module import Kernel


def test(
    settings: Settings, path: str, kernel: str | None, examples: int, seed: int | None, all_schedules: bool
) -> int:
    """Print whether each chosen kernel agrees with its meaning; the exit status."""
    from layoutc.testing import check_kernel

    program = read(path, settings)
    status = WELL
    for meaning in kernels(program, kernel):
        report = check_kernel(Kernel(program, meaning, settings.target), examples=examples, seed=seed,
                              all_schedules=all_schedules, device=settings.device)
        if report.ok:
            settings.summary(report.text())
        else:
            print(report.text())
            status = WRONG
    return status
