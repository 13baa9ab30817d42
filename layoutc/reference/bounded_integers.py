"""How uncertain integers go through operators; rare (they come from floats), so written for the eye, not for speed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.reference import numbers
from layoutc.reference.enclosure import Enclosure, anything, between, choose, corners, exactly
from layoutc.resolve.types import Type

Array = NDArray[Any]


def enclose_binary(op: str, a: Enclosure, b: Enclosure, type: Type) -> Enclosure:
    """An operator on integers of which at least one is uncertain."""
    x, y = _unlimited(a), _unlimited(b)
    match op:
        case "+":
            return wrapped([x.low + y.low, x.high + y.high], type)
        case "-":
            return wrapped([x.low - y.high, x.high - y.low], type)
        case "*":
            return wrapped(corners(np.multiply, x, y), type)
    known = or_anything(numbers.binary(op, a.low, b.low), np.asarray(a.single & b.single), type)
    if op == "**" or not b.exact or not (b.low > 0).all():
        return known
    quotients = between(a.low // b.low, a.high // b.low)
    if op == "//":
        return quotients
    same = quotients.single
    low = np.where(same, numbers.binary("%", a.low, b.low), 0)
    return between(low, np.where(same, numbers.binary("%", a.high, b.low), b.low - 1).astype(low.dtype))


def enclose_negation(a: Enclosure, type: Type) -> Enclosure:
    """``-a`` of an uncertain integer."""
    x = _unlimited(a)
    return wrapped([-x.high, -x.low], type)


def enclose_cast(a: Enclosure, type: Type) -> Enclosure:
    """An uncertain integer in another integer type."""
    x = _unlimited(a)
    return wrapped([x.low, x.high], type)


def or_anything(value: Array, certain: Array, type: Type) -> Enclosure:
    """The value where it is certain, any value of the type elsewhere."""
    return choose(certain, exactly(value), anything((), type))


def wrapped(ends: list[Array], type: Type) -> Enclosure:
    """The interval of unlimited integers, modulo 2**bits; one that wraps in between is any value of the type."""
    low, high = np.minimum.reduce(np.broadcast_arrays(*ends)), np.maximum.reduce(np.broadcast_arrays(*ends))
    half = 2 ** (type.bits - 1) if type.kind == "int" else 0
    turn = (low + half) // 2**type.bits
    within = np.asarray(turn == (high + half) // 2**type.bits, np.bool_)
    dtype = numbers.held_dtype(type)
    shift = turn * 2**type.bits
    least, greatest = np.iinfo(dtype).min, np.iinfo(dtype).max
    return between(
        np.where(within, low - shift, least).astype(dtype), np.where(within, high - shift, greatest).astype(dtype)
    )


def _unlimited(a: Enclosure) -> Enclosure:
    """The same integers as Python's, which do not wrap."""
    return Enclosure(a.low.astype(object), a.high.astype(object))
