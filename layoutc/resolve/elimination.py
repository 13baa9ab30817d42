"""Fourier-Motzkin elimination of integer variables.

Each inequality is divided by the common divisor of its coefficients and its constant rounded down. A product of
variables counts as a variable of its own; facts about its factors are multiplied by variables that are known not to be
negative. Everything is sound and bounded: where a limit is reached, inequalities are left out, so that a bound may be
missed but never be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice, product
from math import gcd

from layoutc.resolve.polynomials import (
    MOST_DEGREE,
    Form,
    Key,
    Monomial,
    from_key,
    key_of,
    names_of,
    plus,
    times,
)

MOST_ROWS = 300             # inequalities alive during one elimination


@dataclass(slots=True)
class Fuel:
    """How many rows may still be combined; when none are left, nothing more is proved."""

    left: int = 150_000     # less than a second


def eliminated(
    rows: Iterable[Form], zero: Iterable[Form], keep: Callable[[str], bool], fuel: Fuel, with_products: bool = True
) -> list[Form] | None:
    """The inequalities without the variables that are not kept; None where they contradict."""
    rows, zero = [*rows], [*zero]
    fuel.left -= len(rows) + len(zero)
    solved = _substituted(rows, zero, keep)
    if solved is None:
        return None
    table = _Table()
    for row in (*solved, *(_products(solved) if with_products else ())):
        table.add(row)
    while not table.contradicts and fuel.left > 0:
        gone = table.next_variable(keep)
        if gone is None:
            return table.rows()
        fuel.left -= table.eliminate(gone)
    if table.contradicts:
        return None
    return [row for row in table.rows() if all(map(keep, names_of([row])))]


def _substituted(rows: list[Form], zero: list[Form], keep: Callable[[str], bool]) -> list[Form] | None:
    """Equations with a unit coefficient solved, the rest as two inequalities."""
    pending, solved_as_rows = list(zero), list[Form]()
    while pending:
        equation = pending.pop()
        units = (m for m, c in equation.items() if len(m) == 1 and abs(c) == 1 and not keep(m[0]))
        pivot = next((m for m in units if _linear_in(m, rows, pending)), None)
        if pivot is None:
            content = gcd(*(c for m, c in equation.items() if m)) if any(equation) else 0
            if (content and equation.get((), 0) % content) or (not content and equation.get((), 0)):
                return None
            solved_as_rows += [equation, plus({}, equation, -1)]
            continue
        factor = equation[pivot]
        rows = [plus(row, equation, -row.get(pivot, 0) * factor) for row in rows]
        pending = [plus(row, equation, -row.get(pivot, 0) * factor) for row in pending]
        solved_as_rows = [plus(row, equation, -row.get(pivot, 0) * factor) for row in solved_as_rows]
    return [*rows, *solved_as_rows]


def _linear_in(pivot: Monomial, rows: list[Form], pending: list[Form]) -> bool:
    """Whether the variable occurs in no product, so that it can be solved for."""
    return all(len(m) < 2 or pivot[0] not in m for form in (*rows, *pending) for m in form)


def _products(rows: list[Form]) -> list[Form]:
    """Facts about the products that occur: facts about a factor, times another that is not negative."""
    wanted = {m for row in rows for m in row if len(m) > 1}
    if not wanted:
        return []
    positive = {m[0] for row in rows for m, c in row.items() if len(row) == 1 and len(m) == 1 and c > 0}
    found: list[Form] = []
    for part, rest in dict.fromkeys(split for monomial in sorted(wanted) for split in _splits(monomial)):
        if positive.issuperset(rest):
            about = [row for row in rows if part in row and all(len(m) + len(rest) <= MOST_DEGREE for m in row)]
            found += [times(row, {rest: 1}) for row in islice(about, 8)]
    return found


def _splits(monomial: Monomial) -> Iterator[tuple[Monomial, Monomial]]:
    """Every way to take some factors of a product, and what is left."""
    for count in range(1, len(monomial)):
        for chosen in combinations(range(len(monomial)), count):
            yield (
                tuple(name for k, name in enumerate(monomial) if k in chosen),
                tuple(name for k, name in enumerate(monomial) if k not in chosen),
            )


class _Table:
    """Inequalities by their coefficients, each with its least constant."""

    def __init__(self) -> None:
        self._constants: dict[Key, int] = {}
        self.contradicts = False

    def add(self, form: Form) -> None:
        key = key_of(form)
        value = form.get((), 0)
        if not key:
            self.contradicts |= value < 0
            return
        content = gcd(*(c for _, c in key))
        if content > 1:
            key = tuple((m, c // content) for m, c in key)
            value //= content
        known = self._constants.get(key)
        if known is None or value < known:
            self._constants[key] = value

    def rows(self) -> list[Form]:
        return [from_key(key, value) for key, value in self._constants.items()]

    def next_variable(self, keep: Callable[[str], bool]) -> Monomial | None:
        """The variable to eliminate next; None where all that are left are kept.

        First those that lose no integer, having only coefficients of 1 on one side; then those that make few rows.
        """
        sides: dict[Monomial, tuple[list[int], list[int]]] = {}
        for key in self._constants:
            for m, c in key:
                if not all(map(keep, m)):
                    sides.setdefault(m, ([], []))[c < 0].append(abs(c))

        def cost(variable: Monomial) -> tuple[bool, int, Monomial]:
            above, below = sides[variable]
            exact = max(above, default=1) == 1 or max(below, default=1) == 1
            return not exact, len(above) * len(below), variable

        return min(sides, key=cost, default=None)

    def eliminate(self, gone: Monomial) -> int:
        """Combines every two rows that bound a variable from below and from above; how much work it was."""
        rows = self.rows()
        above = [row for row in rows if row.get(gone, 0) > 0]
        below = [row for row in rows if row.get(gone, 0) < 0]
        self._constants = {k: v for k, v in self._constants.items() if all(m != gone for m, _ in k)}
        if len(self._constants) + len(above) * len(below) > MOST_ROWS:
            return len(rows)
        for one, two in product(above, below):
            self.add(plus({m: c * -two[gone] for m, c in one.items()}, two, one[gone]))
        return len(rows) + len(above) * len(below)
