"""Runs a check over many texts: an answer is a result or a LayoutcError, within the time."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from dataclasses import dataclass, field

from layoutc.diagnostics import LayoutcError, render_diagnostic
from tests.fuzz.checks import Answer, Check
from tests.fuzz.compilation import Compilation
from tests.fuzz.texts import text_of


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
    schedules: Counter[str] = field(default_factory=Counter)   # refused schedules of accepted texts, likewise
    compiled: Counter[str] = field(default_factory=Counter)    # CUDA texts by compiler
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0                                        # of this process, the machine's other work left out
    slowest: tuple[float, int] = (0.0, 0)                       # seconds, number

    def __str__(self) -> str:
        return (f"{self.accepted} accepted, {self.refused.total()} refused ({_counts(self.refused)}); "
                f"schedules refused: {_counts(self.schedules)}; CUDA texts: {_counts(self.compiled)}; "
                f"{len(self.findings)} findings, {self.seconds:.1f} s; "
                f"slowest {self.slowest[0]:.3f} s, number {self.slowest[1]}")

    def add(self, other: Report) -> None:
        """Count what another run saw, too."""
        self.accepted += other.accepted
        self.refused += other.refused
        self.schedules += other.schedules
        self.compiled += other.compiled
        self.findings += other.findings
        self.seconds += other.seconds
        self.slowest = max(self.slowest, other.slowest)


def _counts(counter: Counter[str]) -> str:
    return ", ".join(f"{word} {count}" for word, count in counter.most_common()) or "none"


def run(
    check: Check, count: int, seed: int = 0, start: int = 0, limit: float = 2.0, compilation: Compilation | None = None
) -> Report:
    """Check texts ``start`` to ``start + count`` of a seed; more than ``limit`` seconds for one is a finding.

    What the check makes of them goes through the compilers of ``compilation``, if there is one.
    """
    report = Report()
    for number in range(start, start + count):
        text = text_of(seed, number)
        begin = time.process_time()
        answer = _answer(check, number, text, report)
        seconds = time.process_time() - begin
        report.seconds += seconds
        report.slowest = max(report.slowest, (seconds, number))
        if seconds > limit:
            report.findings.append(Finding(number, text, f"took {seconds:.1f} s"))
        if compilation is not None:
            _blame(report, seed, compilation.add(number, answer.sources))
    if compilation is not None:
        _blame(report, seed, compilation.flush())
        report.compiled = compilation.counts()
    return report


def _blame(report: Report, seed: int, problems: list[tuple[int, str]]) -> None:
    report.findings += [Finding(number, text_of(seed, number), what) for number, what in problems]


def _answer(check: Check, number: int, text: str, report: Report) -> Answer:
    answer = Answer()
    try:
        answer = check(text)
        report.accepted += 1
        for refusal in answer.refusals:
            report.schedules[refusal.diagnostics[0].slug] += 1
            _look(refusal, number, text, report)
    except LayoutcError as error:
        report.refused[error.diagnostics[0].slug] += 1
        _look(error, number, text, report)
    except Exception:
        report.findings.append(Finding(number, text, traceback.format_exc()))
    return answer


def _look(error: LayoutcError, number: int, text: str, report: Report) -> None:
    for diagnostic in error.diagnostics:
        shown = render_diagnostic(diagnostic)
        if not shown.startswith("error[") or "\033" in shown:
            report.findings.append(Finding(number, text, shown))
