"""The search for a layout with given values at given positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutc.layout.layout import Mode, values_at
from layoutc.layout.tuples import GREATEST

EFFORT = 500_000        # unknowns looked at, equation by equation, before a search gives up; about a second
CHUNK = 1024


class ExhaustedError(Exception):
    """The search has spent its effort without an answer."""


@dataclass(frozen=True, slots=True)
class Solutions:
    """All integer vectors that solve the equations so far: ``start`` plus integer sums of ``free``."""

    start: tuple[int, ...]
    free: tuple[tuple[int, ...], ...]

    def with_unknown(self) -> Solutions:
        """One more unknown, without bounds."""
        fresh = (0,) * len(self.start) + (1,)
        return Solutions((*self.start, 0), (*((*vector, 0) for vector in self.free), fresh))

    def with_equation(self, factors: Sequence[int], value: int) -> Solutions | None:
        """Those solutions whose sum of factors times unknowns is ``value``, None where there are none.

        ``self`` where all have it. Else Euclid's algorithm on the free vectors leaves one, of gain g, that
        changes the sum, and g has to divide what is missing.
        """
        missing = value - dot(factors, self.start)
        gains = [(dot(factors, vector), vector) for vector in self.free]
        still = [vector for gain, vector in gains if gain == 0]
        moving = [(gain, vector) for gain, vector in gains if gain]
        while len(moving) > 1:
            moving.sort(key=lambda pair: abs(pair[0]), reverse=True)
            (gain, vector), (least, by) = moving[0], moving[-1]
            times, rest = divmod(gain, least)
            reduced = tuple(x - times * y for x, y in zip(vector, by, strict=True))
            moving = [(rest, reduced), *moving[1:]] if rest else moving[1:]
            if not rest:
                still.append(reduced)
        if not moving:
            return None if missing else self
        ((gain, vector),) = moving
        times, rest = divmod(missing, gain)
        if rest:
            return None
        return Solutions(tuple(x + times * y for x, y in zip(self.start, vector, strict=True)), tuple(still))


def dot(a: Sequence[int], b: Sequence[int]) -> int:
    """The sum of the products."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def search_layout(positions: Sequence[int]) -> list[Mode] | int:
    """The modes of a layout R with ``R(positions[i]) == i`` for all i; else the first i for which there is none.

    The positions are distinct, and 0 is the first. Raises ExhaustedError after a fixed effort.
    """
    modes = Search(positions).run()
    if modes is not None:
        return modes
    works, fails = 1, len(positions)        # numbers of positions, from the front, that have a layout or not
    while fails - works > 1:
        middle = (works + fails) // 2
        if Search(positions[:middle]).run() is None:
            fails = middle
        else:
            works = middle
    return fails - 1


class Search:
    """One search for a layout through points (position, value), by rising position.

    A layout whose extents multiply up to P0 = 1, P1, P2, … is a sum of multiples c_k of floor(x / P_k), every P
    dividing the next. A term leaves all positions below its P alone, so P is chosen in the gap between two
    neighbouring positions, where its c first counts. It is needed only where it changes something: where the
    terms so far give the value already, whatever is free in them, one more term would have c = 0; two or more in
    one gap could still cancel out, so where a gap is wide enough for them they are tried as well. That makes the
    search complete, and narrow: wide gaps are few, as each doubles the position. The strides are the unknowns of
    one linear equation a point, solved over the integers as the points come.
    """

    def __init__(self, positions: Sequence[int]) -> None:
        self.points = sorted((position, value) for value, position in enumerate(positions))
        self.positions = [position for position, _ in self.points]
        self.values = [value for _, value in self.points]
        neighbours = zip(self.positions, self.positions[1:], strict=False)
        self.wide = [k + 1 for k, (low, high) in enumerate(neighbours) if high >= 2 * (low + 1)]
        self.effort = EFFORT
        self.overflowed = False

    def run(self) -> list[Mode] | None:
        """The modes of a layout through all points, None if there is none. Raises ExhaustedError."""
        first = Solutions((), ()).with_unknown()
        below = self.positions[0] < 0
        found = self.through_all_linearly(first) if below else self.descend(0, (), 1, first)
        if found is None and self.overflowed:
            raise ExhaustedError
        return found

    def through_all_linearly(self, solutions: Solutions) -> list[Mode] | None:
        """One mode through all points: all that is defined below 0."""
        for position, value in self.points:
            narrowed = solutions.with_equation((position,), value)
            if narrowed is None:
                return None
            solutions = narrowed
        return self.finished((), 1, solutions)

    def descend(self, k: int, extents: tuple[int, ...], whole: int, solutions: Solutions) -> list[Mode] | None:
        """A layout through all points, given its first extents, of product ``whole``, and those below point k."""
        while k < len(self.points):
            if not solutions.free:
                k = self.skip(k, extents, solutions)
                if k == len(self.points):
                    break
            narrowed = self.through(k, extents, solutions)
            found = None
            if narrowed is not solutions or k in self.wide:
                if narrowed is not None:
                    found = self.descend(k + 1, extents, whole, narrowed)
                return found or self.with_terms(k, extents, whole, solutions, narrowed is not solutions)
            k += 1
        return self.finished(extents, whole, solutions)

    def with_terms(
        self, k: int, extents: tuple[int, ...], whole: int, solutions: Solutions, single: bool
    ) -> list[Mode] | None:
        """A layout with one or more terms that begin in the gap before point k; with one only where ``single``."""
        low = max(self.positions[k - 1] if k else 0, whole)
        high = self.positions[k]
        for product in range(high // whole * whole, low, -whole):
            longer = (*extents, product // whole)
            freed = solutions.with_unknown()
            narrowed = self.through(k, longer, freed) if single else None
            found = None
            if narrowed is not None:
                found = self.descend(k + 1, longer, product, narrowed)
            if found is None and 2 * product <= high:
                found = self.with_terms(k, longer, product, freed, True)
            if found is not None:
                return found
        return None

    def through(self, k: int, extents: tuple[int, ...], solutions: Solutions) -> Solutions | None:
        """The solutions that go through point k too."""
        self.spend(len(solutions.start) * (1 + len(solutions.free)))
        position, value = self.points[k]
        return solutions.with_equation(digits(position, extents), value)

    def skip(self, k: int, extents: tuple[int, ...], solutions: Solutions) -> int:
        """The next point, from k on, that the one solution misses or before which the gap is wide."""
        modes = list(zip((*extents, 1), solutions.start, strict=True))
        end = next((wide for wide in self.wide if wide >= k), len(self.points))
        while k < end:
            stop = min(end, k + CHUNK)
            self.spend((stop - k) * len(modes) // 8)
            found = values_at(modes, self.positions[k:stop])
            if found != self.values[k:stop]:
                return k + next(j for j, value in enumerate(found) if value != self.values[k + j])
            k = stop
        return end

    def finished(self, extents: tuple[int, ...], whole: int, solutions: Solutions) -> list[Mode] | None:
        """The modes of the solution at hand, unless a stride leaves the 64 bits."""
        if max(map(abs, solutions.start)) > GREATEST:
            self.overflowed = True
            return None
        last = max(map(abs, self.positions)) // whole + 1
        return list(zip((*extents, last), solutions.start, strict=True))

    def spend(self, effort: int) -> None:
        """Count effort. Raises ExhaustedError when there is none left."""
        self.effort -= effort + 1
        if self.effort < 0:
            raise ExhaustedError


def digits(position: int, extents: Sequence[int]) -> list[int]:
    """The digits of a position, the last without bound."""
    result = []
    for extent in extents:
        position, digit = divmod(position, extent)
        result.append(digit)
    return [*result, position]
