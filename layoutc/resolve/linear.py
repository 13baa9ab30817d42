"""Integer reasoning by elimination: the least value of a polynomial form under facts about its variables.

The method is Fourier-Motzkin elimination with integer tightening (each inequality is divided by the common divisor
of its coefficients and its constant rounded down). A product of variables counts as a variable of its own; facts
about its factors are multiplied by variables that are known not to be negative. Everything is sound and bounded: where
a limit is reached, facts are left out, so that a bound may be missed but never be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, product
from math import gcd, inf

Monomial = tuple[str, ...]          # names, sorted; () is 1
Form = dict[Monomial, int]          # no coefficient is 0

MOST_LEAVES = 64            # combinations of alternatives that are tried
MOST_ROWS = 300             # inequalities alive during one elimination
MOST_DEGREE = 4
LARGEST = 2**20             # larger coefficients might wrap in 64 bits
_VALUE: Monomial = ("",)    # stands for the form whose least value is asked for


def variable(name: str) -> Form:
    """The form of one variable."""
    return {(name,): 1}


def constant(value: int) -> Form:
    """The form of a number."""
    return {(): value} if value else {}


def plus(left: Form, right: Form, factor: int = 1) -> Form:
    """``left + factor * right``."""
    total = dict(left)
    for monomial, own in right.items():
        value = total.get(monomial, 0) + factor * own
        if value:
            total[monomial] = value
        else:
            total.pop(monomial, None)
    return total


def minus(left: Form, right: Form) -> Form:
    """``left - right``."""
    return plus(left, right, -1)


def times(left: Form, right: Form) -> Form:
    """The product."""
    total: Form = {}
    for (one, a), (two, b) in product(left.items(), right.items()):
        total = plus(total, {tuple(sorted(one + two)): a * b})
    return total


def number(form: Form) -> int | None:
    """The value of a form without variables."""
    return form.get((), 0) if all(not m for m in form) else None


def is_tame(form: Form) -> bool:
    """Whether its value cannot leave 64 bits for any array that exists."""
    return all(len(m) <= MOST_DEGREE and abs(c) <= (LARGEST if m else LARGEST**2) for m, c in form.items())


@dataclass(slots=True)
class Fuel:
    """How many rows may still be combined; when none are left, nothing more is proved."""

    left: int = 150_000     # less than a second


@dataclass(slots=True)
class Facts:
    """What is known in one place: forms that are at least 0, forms that are 0, and choices of further facts."""

    at_least_zero: list[Form] = field(default_factory=list)
    zero: list[Form] = field(default_factory=list)
    choices: list[list[Facts]] = field(default_factory=list)
    fuel: Fuel = field(default_factory=Fuel)

    def copy(self) -> Facts:
        """The same facts, to be extended."""
        return Facts(list(self.at_least_zero), list(self.zero), list(self.choices), self.fuel)

    def add(self, other: Facts) -> None:
        """These facts and the others."""
        self.at_least_zero += other.at_least_zero
        self.zero += other.zero
        self.choices += other.choices

    def between(self, low: Form, value: Form, high: Form) -> None:
        """``low <= value < high``."""
        self.at_least_zero += [minus(value, low), minus(minus(high, value), constant(1))]

    def leaves(self) -> Iterator[tuple[list[Form], list[Form]]]:
        """Every combination of alternatives, up to the limit (choices past it are left open)."""
        chosen: list[list[Facts]] = []
        count = 1
        for choice in self.choices:
            if count * len(choice) > MOST_LEAVES:
                break
            count *= len(choice)
            chosen.append(choice)
        for picks in product(*chosen):
            leaf = Facts(list(self.at_least_zero), list(self.zero))
            for pick in picks:
                leaf.at_least_zero += pick.at_least_zero
                leaf.zero += pick.zero
            yield leaf.at_least_zero, leaf.zero

    def about(self, names: set[str]) -> Facts:
        """The facts that share variables with these names, directly or through others."""
        known = set(names)
        pending: list[tuple[set[str], str, object]] = [
            *((_names([f]), "ge", f) for f in self.at_least_zero),
            *((_names([f]), "eq", f) for f in self.zero),
            *((_names(f for fact in c for f in (*fact.at_least_zero, *fact.zero)), "or", c) for c in self.choices),
        ]
        kept: list[tuple[str, object]] = []
        grown = True
        while grown:
            near = [p for p in pending if p[0] & known]
            pending = [p for p in pending if not p[0] & known]
            kept += [(kind, fact) for _, kind, fact in near]
            known |= {name for own, _, _ in near for name in own}
            grown = bool(near)
        ordered = {id(fact) for _, fact in kept}
        return Facts(
            [f for f in self.at_least_zero if id(f) in ordered],
            [f for f in self.zero if id(f) in ordered],
            [c for c in self.choices if id(c) in ordered],
            self.fuel,
        )


def about(forms: Iterable[Form], facts: Facts) -> Facts:
    """The facts that can matter for these forms."""
    return facts.about(_names(forms))


def _names(forms: Iterable[Form]) -> set[str]:
    return {name for form in forms for monomial in form for name in monomial}


def minimum(form: Form, facts: Facts) -> float:
    """A lower bound of a form, -inf where none is found, inf where the facts contradict; ``holds`` proves more."""
    fixed = number(form)
    if fixed is not None:
        return fixed
    near = about([form], facts)
    return min((_leaf_minimum(form, *leaf, facts.fuel) for leaf in near.leaves()), default=-inf)


def holds(form: Form, facts: Facts) -> bool:
    """Whether a form is proved not to be below 0, by refuting that it is."""
    fixed = number(form)
    if fixed is not None:
        return fixed >= 0
    near = about([form], facts)
    opposite = minus(constant(-1), form)
    if _contradict([opposite, *near.at_least_zero], near.zero, facts.fuel):
        return True
    leaves = near.leaves() if near.choices else ()
    return bool(leaves) and all(_contradict([opposite, *rows], zero, facts.fuel) for rows, zero in leaves)


def _contradict(rows: list[Form], zero: list[Form], fuel: Fuel) -> bool:
    """Whether no integers satisfy all; products are looked into only where the rest does not decide."""
    if eliminated(rows, zero, lambda name: False, fuel, with_products=False) is None:
        return True
    products = any(len(m) > 1 for form in (*rows, *zero) for m in form)
    return products and eliminated(rows, zero, lambda name: False, fuel) is None


def _leaf_minimum(form: Form, rows: list[Form], zero: list[Form], fuel: Fuel) -> float:
    rest = eliminated([minus({_VALUE: 1}, form), *rows], zero, lambda name: name == "", fuel)
    if rest is None:
        return inf
    least = -inf
    for row in rest:
        factor = row.get(_VALUE, 0)
        if factor > 0:
            least = max(least, -(row.get((), 0) // factor))
    return least


def lower_bounds(form: Form, facts: Facts, names: set[str]) -> list[Form]:
    """Forms over some names alone that the form is never less than; without choices."""
    near = about([form], facts)
    rows = [minus({_VALUE: 1}, form), *near.at_least_zero]
    rest = eliminated(rows, near.zero, lambda name: name == "" or name in names, facts.fuel)
    rows = [row for row in rest or [] if row.get(_VALUE) == 1]
    return [minus({_VALUE: 1}, row) for row in rows]


def projected(facts: Facts, keep: set[str]) -> list[Form] | None:
    """What follows for some names alone, as forms that are at least 0; None where the facts contradict."""
    near = facts.about(keep)
    result: list[Form] | None = None
    for rows, zero in near.leaves():
        leaf = eliminated(rows, zero, lambda name: name in keep, facts.fuel)
        if leaf is not None:
            result = leaf if result is None else joined(result, leaf, facts.fuel)
    return result


def joined(left: Sequence[Form], right: Sequence[Form], fuel: Fuel) -> list[Form]:
    """What both lists of facts say: of two that differ in the constant the weaker, else what follows from either."""
    one, two = ({_key(f): f.get((), 0) for f in side} for side in (left, right))
    kept: dict[tuple[tuple[Monomial, int], ...], int] = {}
    for key, value in (*one.items(), *two.items()):
        if key in one and key in two:
            kept[key] = max(one[key], two[key])
            continue
        other = right if key in one else left
        least = minimum(dict(key), Facts(list(other), fuel=fuel))
        if least >= -LARGEST and least != inf:
            kept[key] = max(value, -int(least))
    return [_row(key, value) for key, value in kept.items()]


def _key(form: Form) -> tuple[tuple[Monomial, int], ...]:
    return tuple(sorted((m, c) for m, c in form.items() if m))


def _row(key: tuple[tuple[Monomial, int], ...], value: int) -> Form:
    return {**dict(key), **constant(value)}


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
    return [row for row in table.rows() if all(map(keep, _names([row])))]


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
        self._constants: dict[tuple[tuple[Monomial, int], ...], int] = {}
        self.contradicts = False

    def add(self, form: Form) -> None:
        key = _key(form)
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
        return [_row(key, value) for key, value in self._constants.items()]

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
