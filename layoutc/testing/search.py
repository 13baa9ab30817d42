"""The search for a case in which a kernel is not what NumPy says, and the shrinking of what was found."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from secrets import randbits

import hypothesis
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Flaky

from layoutc.calling.calls import Caller
from layoutc.calling.devices import choose_device
from layoutc.diagnostics import LayoutcError
from layoutc.module import Kernel
from layoutc.resolve.program import Kernel as Meaning
from layoutc.testing.cases import Case
from layoutc.testing.exactness import compared
from layoutc.testing.extents import extents_worth_testing
from layoutc.testing.forms import form_choices
from layoutc.testing.report import Report
from layoutc.testing.run import Failure, run_case
from layoutc.testing.simplify import simpler_cases
from layoutc.testing.strategies import Prepared, calls_of
from layoutc.testing.ways import (
    MakeCaller,
    Subject,
    Way,
    other_subjects,
    random_ways,
    subject_of,
    way_of,
    written_ways,
)

EXAMPLES_A_WAY = 30         # every random schedule and every change of a constant costs a compilation or more
MOST_RANDOM = 8
MOST_SUBJECTS = 2
MIXED = 2                   # combinations of strides, beside the same kind for all tensors
SHRINK_SECONDS = 20.0


def check_kernel(
    kernel: Kernel, *, examples: int = 200, seed: int | None = None, schedule: str | None = None,
    all_schedules: bool = False, device: str = "auto", shrink: bool = True, callers: MakeCaller = Caller,
) -> Report:
    """Run a kernel on drawn arguments and compare with its NumPy meaning.

    Args:
        kernel: a kernel of a module.
        examples: how many calls; with ``all_schedules``, how many for each schedule of the file.
        seed: with the same one the same calls come again; None draws one, and the report says which.
        schedule: test this schedule alone; None: the default, the named ones and random ones.
        all_schedules: give every schedule of the file a test of its own.
        device: ``auto``, ``cpu`` or ``cuda``.
        shrink: look for a smaller case of a failure, for up to 20 seconds.
        callers: what makes a kernel under a schedule callable.

    Raises:
        LayoutcError: a schedule of the file cannot be honoured, or no extents satisfy the kernel.
        MissingToolError: the device cannot be used.
    """
    seed = randbits(32) if seed is None else seed
    search = Search(choose_device(device, ()), seed, shrink, callers)
    subject = subject_of(kernel)
    groups = search.prepare(subject, examples, schedule, all_schedules)
    for group in groups:
        search.run(group, examples)
        if search.failure is not None:
            break
    return search.report(kernel.meaning, [p.way for group in groups for p in group])


def check_case(kernel: Kernel, text: str, *, device: str = "auto") -> Report:
    """Run the one case that a report's command names.

    Raises LayoutcError where the text is no case of this kernel.
    """
    subject = subject_of(kernel)
    case = Case.from_json(text, kernel.meaning)
    search = Search(choose_device(device, ()), 0, False, Caller)
    way = way_of(subject, case.schedule, search.callers)
    search.failure = run_case(way, case, search.device)
    search.count = 1
    return search.report(kernel.meaning, [way])


class FoundError(Exception):
    """Tells Hypothesis that a case fails."""


@dataclass(slots=True)
class Search:
    """One test of one kernel."""

    device: str
    seed: int
    shrink: bool
    callers: MakeCaller
    count: int = 0                      # of calls up to the first failure
    failure: Failure | None = None      # the smallest so far
    _found_at: float = 0.0
    _failed: dict[tuple[Way, Case], Failure] = field(default_factory=dict)

    # ---- what is tested

    def prepare(
        self, subject: Subject, examples: int, schedule: str | None, all_schedules: bool
    ) -> list[list[Prepared]]:
        """The ways of each Hypothesis test: one for all, or one for each written schedule and one for the rest."""
        random = Random(self.seed)
        if schedule is not None:
            return [[self._prepared(way_of(subject, schedule, self.callers), random, True)]]
        written = [self._prepared(w, random, True) for w in written_ways(subject, self.callers)]
        drawn = [self._prepared(w, random, False) for w in self._drawn(subject, examples, random)]
        if all_schedules:
            return [*([w] for w in written), *([drawn] if drawn else [])]
        return [[*written * max(len(drawn) // len(written), 1), *drawn]]     # half of the examples for each

    def _drawn(self, subject: Subject, examples: int, random: Random) -> list[Way]:
        count = min(examples // EXAMPLES_A_WAY, MOST_RANDOM)
        ways = random_ways(subject, count, random, self.callers)
        for other in other_subjects(subject, min(count, MOST_SUBJECTS), random):
            try:
                extents_worth_testing(other.kernel, (way := way_of(other, None, self.callers)).plan, random)
            except LayoutcError:
                continue
            ways.append(way)
        return ways

    def _prepared(self, way: Way, random: Random, written: bool) -> Prepared:
        """Every kind of strides costs a compilation, so a drawn way gets one."""
        extents = extents_worth_testing(way.kernel, way.plan, random)
        choices = form_choices(way.kernel, MIXED, random)
        return Prepared(way, tuple(extents), choices if written else (random.choice(choices),))

    # ---- running

    def run(self, prepared: Sequence[Prepared], examples: int) -> None:
        """Let Hypothesis look; what it finds is in ``failure``."""
        phases = (Phase.generate, *((Phase.shrink,) if self.shrink else ()))
        settings = hypothesis.settings(
            max_examples=examples, database=None, deadline=None, phases=phases, print_blob=False,
            report_multiple_bugs=False, verbosity=Verbosity.quiet, suppress_health_check=list(HealthCheck))

        @hypothesis.seed(self.seed)
        @settings
        @hypothesis.given(calls_of(prepared))
        def look(drawn: tuple[int, Case]) -> None:
            self._look(prepared[drawn[0]].way, drawn[1])

        try:
            look()
        except (FoundError, Flaky):
            self._simplify()

    def _look(self, way: Way, case: Case) -> None:
        known = self._failed.get((way, case))
        if known is None:
            if self.failure is None:
                self.count += 1
            elif time.monotonic() - self._found_at > SHRINK_SECONDS:
                return
            known = run_case(way, case, self.device)
            if known is None:
                return
            self._failed[way, case] = known
        if self.failure is None:
            self._found_at = time.monotonic()
        self.failure = known
        raise FoundError(known.what)

    def _simplify(self) -> None:
        """Change one thing after the other while the case still fails."""
        while self.shrink and self.failure is not None:
            smaller = self._smaller(self.failure)
            if smaller is None or time.monotonic() - self._found_at > 2 * SHRINK_SECONDS:
                return
            self.failure = smaller

    def _smaller(self, failure: Failure) -> Failure | None:
        for case in simpler_cases(failure.case, failure.way.kernel):
            try:
                same = case.schedule == failure.case.schedule
                way = failure.way if same else way_of(failure.way.subject, case.schedule, self.callers)
                found = run_case(way, case, self.device)
            except LayoutcError:
                continue
            if found is not None:
                return found
        return None

    # ---- the result

    def report(self, kernel: Meaning, ways: Sequence[Way]) -> Report:
        """All that there is to say."""
        exact, bounded = compared(kernel)
        schedules = tuple(dict.fromkeys(map(str, ways)))
        return Report(kernel.name, self.device, self.seed, self.count, schedules, exact, bounded,
                      self.failure)
