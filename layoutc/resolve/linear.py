"""What follows from facts about integers: whether a form can be negative, how low it can go.

The method is that of ``elimination.py``; facts may be alternatives, of which every combination is tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf

from layoutc.resolve.elimination import Fuel, eliminated
from layoutc.resolve.polynomials import (
    LARGEST,
    Form,
    Key,
    Monomial,
    constant,
    from_key,
    key_of,
    minus,
    names_of,
    number,
)

MOST_LEAVES = 64            # combinations of alternatives that are tried
_VALUE: Monomial = ("",)    # stands for the form whose least value is asked for


@dataclass(slots=True)
class Facts:
    """What is known in one place: forms that are at least 0, forms that are 0, and choices of further facts."""

    at_least_zero: list[Form] = field(default_factory=list)
    zero: list[Form] = field(default_factory=list)
    choices: list[list[Facts]] = field(default_factory=list)
    fuel: Fuel = field(default_factory=Fuel)
    divisions: dict[tuple[str, Key, Key], Form] = field(default_factory=dict)   # by a variable, of whole forms

    def copy(self) -> Facts:
        """The same facts, to be extended."""
        return Facts(list(self.at_least_zero), list(self.zero), list(self.choices), self.fuel, dict(self.divisions))

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
        if self.fuel.left <= 0:
            return Facts(fuel=self.fuel)
        known = set(names)
        pending: list[tuple[set[str], str, object]] = [
            *((names_of([f]), "ge", f) for f in self.at_least_zero),
            *((names_of([f]), "eq", f) for f in self.zero),
            *((names_of(f for fact in c for f in (*fact.at_least_zero, *fact.zero)), "or", c) for c in self.choices),
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
    return facts.about(names_of(forms))


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
    one, two = ({key_of(f): f.get((), 0) for f in side} for side in (left, right))
    kept: dict[Key, int] = {}
    for key, value in (*one.items(), *two.items()):
        if key in one and key in two:
            kept[key] = max(one[key], two[key])
            continue
        other = right if key in one else left
        least = minimum(dict(key), Facts(list(other), fuel=fuel))
        if least >= -LARGEST and least != inf:
            kept[key] = max(value, -int(least))
    return [from_key(key, value) for key, value in kept.items()]
