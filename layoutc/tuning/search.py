"""The best schedule that a search by one clause at a time finds on the GPU that is current."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from layoutc.backend import BuildError
from layoutc.compiler import with_schedule
from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.module import Kernel
from layoutc.tuning.bench import Bench, Figure
from layoutc.tuning.candidates import Candidate, neighbours

SHARE_OF_TILES = 0.25       # looked at in a round, drawn at random: they are many and much alike
CLOSE = 2.0**-6             # how far results in another order of sums may lie apart, of the largest


@dataclass(frozen=True, slots=True)
class Tuned:
    """What a search found."""

    clauses: str                # of the best schedule, in braces; `{ }` is the compiler's own
    best: Figure
    default: Figure             # the compiler's own choice
    tried: int                  # schedules that were timed
    refused: int                # that could not be honoured


@dataclass(slots=True)
class Search:
    """A search and what it has timed so far: clauses -> figure, None where they were refused."""

    bench: Bench
    budget: int                                     # schedules to time
    random: Random
    tell: Callable[[int, Figure], object]           # how many were timed, and the best of them
    timed: dict[str, Figure | None] = field(default_factory=dict)
    wanted: list[Any] = field(default_factory=list)     # results of the compiler's own choice

    def run(self, start: str | None = None) -> Tuned:
        """Change one clause after another while that helps and the budget lasts; ``start`` is looked at first.

        Raises LayoutcError (``schedules-disagree``) where results are not those of the compiler's own choice.
        """
        nothing = Candidate()
        default = self.bench.measure(bare(self.bench.kernel))
        self.wanted = [output.copy() for output in self.bench.outputs]
        self.timed[nothing.clauses] = default
        if start is not None:
            self._time(start)
        here: Candidate | None = nothing
        while here is not None and self._left() > 0:
            here = self._improved(here)
        clauses, best = self._best()
        refused = sum(f is None for f in self.timed.values())
        return Tuned(clauses, best, default, len(self.timed) - refused, refused)

    def _improved(self, here: Candidate) -> Candidate | None:
        """The last of the neighbours that is faster than all before it."""
        better = None
        for candidate in self._round(here):
            _, before = self._best()
            found = self._time(candidate.clauses) if self._left() > 0 else None
            if found is not None and found.milliseconds < before.milliseconds:
                better = candidate
        return better

    def _round(self, here: Candidate) -> list[Candidate]:
        some = [c for word, c in neighbours(self.bench.kernel.meaning, here)
                if word != "tile" or self.random.random() < SHARE_OF_TILES]
        self.random.shuffle(some)
        return [c for c in some if c.clauses not in self.timed]

    def _left(self) -> int:
        return self.budget - sum(f is not None for f in self.timed.values())

    def _best(self) -> tuple[str, Figure]:
        timed = ((clauses, f) for clauses, f in self.timed.items() if f is not None)
        return min(timed, key=lambda pair: pair[1].milliseconds)

    def _time(self, clauses: str) -> Figure | None:
        """A schedule's figure once its results are right; None where it cannot be honoured."""
        try:
            found = self.bench.measure(with_clauses(self.bench.kernel, clauses))
        except (LayoutcError, BuildError):
            self.timed[clauses] = None
            return None
        self._check(clauses)
        self.timed[clauses] = found
        self.tell(self.budget - self._left(), self._best()[1])
        return found

    def _check(self, clauses: str) -> None:
        for tensor, got, wanted in zip(
                self.bench.kernel.meaning.outputs, self.bench.outputs, self.wanted, strict=True):
            if not _agree(got, wanted, tensor.type.is_float):
                what = f"`{tensor.name}` is not the same under {clauses} as under the compiler's own schedule"
                raise LayoutcError([Diagnostic(
                    "schedules-disagree", what, help="please report it with the file and the command")])


def bare(kernel: Kernel) -> Kernel:
    """The kernel without the schedules that its file gives it."""
    return kernel.with_schedule(None)


def with_clauses(kernel: Kernel, clauses: str) -> Kernel:
    """The kernel under clauses in braces. Raises LayoutcError where they cannot be honoured."""
    program, meaning = kernel.program, kernel.meaning
    return kernel.with_schedule(with_schedule(program, meaning, clauses, dict(program.constants)))


def _agree(got: Any, wanted: Any, is_float: bool) -> bool:
    """NumPy's functions work where the arrays lie."""
    if got.size == 0:
        return True
    if not is_float or got.dtype.kind != "f":
        size = got.itemsize if got.itemsize in (1, 2, 4, 8) else 1
        return bool((got.view(f"u{size}") == wanted.view(f"u{size}")).all())
    both = np.isfinite(got) & np.isfinite(wanted)
    far = np.abs(np.where(both, got - wanted, 0)).max()
    same = both | (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    return bool(same.all()) and float(far) <= CLOSE * float(np.abs(np.where(both, wanted, 0)).max())
