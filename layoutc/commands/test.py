"""``layoutc test``: kernels against what NumPy says they mean."""

from __future__ import annotations

from layoutc.commands.selection import kernels, read
from layoutc.commands.settings import Settings
from layoutc.module import Kernel


def test(
    settings: Settings, path: str, kernel: str | None, examples: int, seed: int | None, all_schedules: bool
) -> bool:
    """Whether every chosen kernel agrees with its meaning; prints what was found of each."""
    from layoutc.testing import check_kernel

    program = read(path, settings)
    well = True
    for meaning in kernels(program, kernel):
        report = check_kernel(Kernel(program, meaning, settings.target), examples=examples, seed=seed,
                              all_schedules=all_schedules, device=settings.device)
        well = well and report.ok
        settings.summary(report.text()) if report.ok else print(report.text())
    return well
