"""Runs a check over many texts: an answer is a result or a LayoutcError, within the time."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from layoutc.diagnostics import LayoutcError, render_diagnostic
from tests.fuzz.texts import text_of

Check = Callable[[str], None]
"""Raises LayoutcError for a text that is refused, and nothing else."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A text that was not answered as every text must be."""

    number: int
    text: str
    what: str


@dataclass(slots=True)
class Report:
    """What a run saw."""

    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)     # by the slug of the first error
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0                                        # of this process, the machine's other work left out
    slowest: tuple[float, int] = (0.0, 0)                       # seconds, number

    def __str__(self) -> str:
        slugs = ", ".join(f"{slug} {count}" for slug, count in self.refused.most_common())
        return (f"{self.accepted} accepted, {self.refused.total()} refused ({slugs}), {len(self.findings)} findings, "
                f"{self.seconds:.1f} s; slowest {self.slowest[0]:.3f} s, number {self.slowest[1]}")


def run(check: Check, count: int, seed: int = 0, start: int = 0, limit: float = 2.0) -> Report:
    """Check texts ``start`` to ``start + count`` of a seed; more than ``limit`` seconds for one is a finding."""
    report = Report()
    for number in range(start, start + count):
        text = text_of(seed, number)
        begin = time.process_time()
        _answer(check, number, text, report)
        seconds = time.process_time() - begin
        report.seconds += seconds
        report.slowest = max(report.slowest, (seconds, number))
        if seconds > limit:
            report.findings.append(Finding(number, text, f"took {seconds:.1f} s"))
    return report


def _answer(check: Check, number: int, text: str, report: Report) -> None:
    try:
        check(text)
        report.accepted += 1
    except LayoutcError as error:
        report.refused[error.diagnostics[0].slug] += 1
        for diagnostic in error.diagnostics:
            shown = render_diagnostic(diagnostic)
            if not shown.startswith("error[") or "\033" in shown:
                report.findings.append(Finding(number, text, shown))
    except Exception:
        report.findings.append(Finding(number, text, traceback.format_exc()))
