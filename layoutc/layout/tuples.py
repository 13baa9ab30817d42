"""Nested tuples of integers: the shapes, strides and coordinates of layouts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

IntTuple: TypeAlias = "int | tuple[IntTuple, ...]"

DEEPEST = 200                       # levels of nesting, as in the language
LEAST, GREATEST = -(2**63), 2**63 - 1

Item = TypeVar("Item")


def leaves(value: IntTuple) -> list[int]:
    """The integers of a nested tuple from left to right."""
    if isinstance(value, int):
        return [value]
    return [leaf for item in value for leaf in leaves(item)]


def product(value: IntTuple) -> int:
    """The product of all integers of a nested tuple."""
    return math.prod(leaves(value))


def depth_of(value: IntTuple) -> int:
    """0 for an integer, else one more than the deepest item."""
    if isinstance(value, int):
        return 0
    return 1 + max(depth_of(item) for item in value)


def congruent(a: IntTuple, b: IntTuple) -> bool:
    """Whether two nested tuples have the same nesting."""
    if isinstance(a, int) or isinstance(b, int):
        return isinstance(a, int) and isinstance(b, int)
    return len(a) == len(b) and all(congruent(x, y) for x, y in zip(a, b, strict=True))


def regroup(pattern: IntTuple, items: Iterator[IntTuple]) -> IntTuple:
    """The nesting of ``pattern`` with its integers replaced, left to right, by the next of ``items``."""
    if isinstance(pattern, int):
        return next(items)
    return tuple(regroup(item, items) for item in pattern)


def collapse(items: Iterable[IntTuple]) -> IntTuple:
    """A tuple of the items, or the item itself where it is the only one."""
    whole = tuple(items)
    return whole[0] if len(whole) == 1 else whole


def show(value: IntTuple, integer: Callable[[int], str] = str) -> str:
    """Text without blanks, ``((2,2),3)``."""
    if isinstance(value, int):
        return integer(value)
    return f"({','.join(show(item, integer) for item in value)})"


def coordinate_of(index: int, shape: IntTuple) -> IntTuple:
    """The coordinate, nested like ``shape``, of a colexicographic index ``0 <= index < product(shape)``."""
    digits = []
    for extent in leaves(shape):
        index, digit = divmod(index, extent)
        digits.append(digit)
    return regroup(shape, iter(digits))
