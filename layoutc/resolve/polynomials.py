"""Polynomials of integer variables with integer coefficients."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

Monomial = tuple[str, ...]          # names, sorted; () is 1
Form = dict[Monomial, int]          # no coefficient is 0
Key = tuple[tuple[Monomial, int], ...]      # a form without its constant, to look up

MOST_DEGREE = 4
LARGEST = 2**20             # larger coefficients might wrap in 64 bits


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


def names_of(forms: Iterable[Form]) -> set[str]:
    """The variables that occur."""
    return {name for form in forms for monomial in form for name in monomial}


def key_of(form: Form) -> Key:
    """The form without its constant."""
    return tuple(sorted((m, c) for m, c in form.items() if m))


def from_key(key: Key, value: int) -> Form:
    """The form of that key and constant."""
    return {**dict(key), **constant(value)}
