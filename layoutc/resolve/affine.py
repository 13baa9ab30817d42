"""Subscripts and extents as integer-linear forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from layoutc.resolve.program import Binary, Cast, Const, Extent, Index, Unary, Value
from layoutc.resolve.types import I64


@dataclass(frozen=True, slots=True)
class Affine:
    """``sum(coefficient * index) + sum(coefficient * extent) + constant``; names sorted, no coefficient is 0."""

    indices: tuple[tuple[str, int], ...] = ()
    extents: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    def index(self, name: str) -> int:
        """The coefficient of an index; 0 where it does not occur."""
        return dict(self.indices).get(name, 0)

    def extent(self, name: str) -> int:
        """The coefficient of an extent; 0 where it does not occur."""
        return dict(self.extents).get(name, 0)

    @property
    def is_constant(self) -> bool:
        """Whether neither an index nor an extent occurs."""
        return not self.indices and not self.extents

    def __add__(self, other: Affine) -> Affine:
        return Affine(
            _sum(self.indices, other.indices), _sum(self.extents, other.extents), self.constant + other.constant
        )

    def __mul__(self, factor: int) -> Affine:
        return Affine(_scaled(self.indices, factor), _scaled(self.extents, factor), self.constant * factor)

    def __sub__(self, other: Affine) -> Affine:
        return self + other * -1

    def at(self, values: Mapping[str, int]) -> int:
        """Its value where each index and extent has the value of its name."""
        return self.constant + sum(values[name] * factor for name, factor in (*self.indices, *self.extents))


def affine(value: Value) -> Affine | None:
    """The linear form of an i64 value over indices, extents and integers, or None where it has none.

    Looks through ``+``, ``-``, products with a constant, unary minus, and casts of such a value to i64.
    """
    match value:
        case Const(int(number), type) if type.is_integer:
            return Affine(constant=number)
        case Index(name):
            return Affine(indices=((name, 1),))
        case Extent(name, type) if type.is_integer:
            return Affine(extents=((name, 1),))
        case Unary("-", operand, type) if type == I64:
            inner = affine(operand)
            return None if inner is None else inner * -1
        case Cast(operand, type) if type == I64 and operand.type == I64:
            return affine(operand)
        case Cast(Const() | Extent() as operand, type) if type == I64:
            return affine(operand)
        case Binary("+" | "-" | "*" as op, left, right, type) if type == I64:
            return _operation(op, affine(left), affine(right))
    return None


def _operation(op: str, left: Affine | None, right: Affine | None) -> Affine | None:
    if left is None or right is None:
        return None
    if op == "*":
        if left.is_constant:
            return right * left.constant
        return left * right.constant if right.is_constant else None
    return left + right if op == "+" else left - right


def _sum(left: tuple[tuple[str, int], ...], right: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    total = dict(left)
    for name, factor in right:
        total[name] = total.get(name, 0) + factor
    return tuple(sorted((name, factor) for name, factor in total.items() if factor))


def _scaled(terms: tuple[tuple[str, int], ...], factor: int) -> tuple[tuple[str, int], ...]:
    return tuple((name, own * factor) for name, own in terms) if factor else ()
