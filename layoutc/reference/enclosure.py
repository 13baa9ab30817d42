"""All values that a right run may have at a point, and the exact rules of how operators carry them on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.reference import numbers
from layoutc.resolve.types import Type

Array = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Enclosure:
    """Machine values from ``low`` to ``high``, point by point, both included.

    Rounding to nearest is monotone, so an operator that every machine rounds alike carries ends to ends
    without widening: from exact operands it is exact. A NaN that is certain stands in both ends;
    ``nan`` says where one is possible beside the numbers (None: nowhere).
    Exact values share one array: ``high is low``.
    """

    low: Array
    high: Array
    nan: Mask | None = None

    @property
    def exact(self) -> bool:
        """Whether only one value is possible at every point."""
        return self.high is self.low and self.nan is None

    @property
    def single(self) -> Mask:
        """Where only one value is possible."""
        if not _floats(self.low):
            return np.asarray(self.low == self.high)
        alike = (self.low == self.high) & (np.signbit(self.low) == np.signbit(self.high))
        ends = np.asarray(alike | np.isnan(self.low))
        return ends if self.nan is None else ends & ~self.nan

    @property
    def may_be_nan(self) -> Mask:
        """Where the value is or may be NaN."""
        certain = np.isnan(self.low) if _floats(self.low) else np.zeros(self.low.shape, np.bool_)
        return np.asarray(certain if self.nan is None else certain | self.nan)


def exactly(value: Array) -> Enclosure:
    """One possible value a point."""
    return Enclosure(value, value)


def between(low: Array, high: Array, nan: Mask | None = None) -> Enclosure:
    """The enclosure with these ends, found exact where it is."""
    nan = nan if nan is not None and nan.any() else None
    if nan is None and low.shape == high.shape and _same(low, high):
        return exactly(low)
    return Enclosure(low, high, nan)


def hull(corners: list[Array], nan: Mask | None = None) -> Enclosure:
    """The enclosure of some possible values; a NaN among numbers is a possible NaN, alone a certain one."""
    low, high = corners[0], corners[0]
    some, every = np.isnan(low), np.isnan(low)
    for corner in corners[1:]:
        low, high = np.fmin(low, corner), np.fmax(high, corner)
        some, every = some | np.isnan(corner), every & np.isnan(corner)
    possible = some & ~every
    zero = np.asarray((low == 0) & (high == 0))
    if zero.any():
        minus = np.logical_or.reduce([zero & (c == 0) & np.signbit(c) for c in corners])
        plus = np.logical_or.reduce([zero & (c == 0) & ~np.signbit(c) for c in corners])
        low, high = np.where(minus, -0.0, low).astype(low.dtype), np.where(plus, 0.0, high).astype(high.dtype)
    return between(np.asarray(low), np.asarray(high), np.asarray(possible if nan is None else (possible | nan)))


def anything(shape: tuple[int, ...], type: Type) -> Enclosure:
    """Every value of a type."""
    dtype = numbers.held_dtype(type)
    low, high = limits(dtype)
    nan = np.ones(shape, np.bool_) if type.is_float else None
    return Enclosure(np.full(shape, low, dtype), np.full(shape, high, dtype), nan)


def limits(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The least and the greatest value of a dtype, infinities included."""
    if dtype.kind == "f":
        return -np.inf, np.inf
    return (False, True) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)


def either(a: Mask | None, b: Mask | None) -> Mask | None:
    """Where one of two masks holds; None is a mask that holds nowhere."""
    if a is None or b is None:
        return b if a is None else a
    return np.asarray(a | b)


def choose(test: Mask, yes: Enclosure, no: Enclosure) -> Enclosure:
    """One or the other, point by point, by a test that is certain."""
    low = np.where(test, yes.low, no.low)
    if yes.exact and no.exact:
        return exactly(low)
    nan = None
    if yes.nan is not None or no.nan is not None:
        nan = np.where(test, False if yes.nan is None else yes.nan, False if no.nan is None else no.nan)
    return between(low, np.where(test, yes.high, no.high), nan)


def union(a: Enclosure, b: Enclosure) -> Enclosure:
    """What either may be."""
    if _floats(a.low):
        certain = np.isnan(a.low) ^ np.isnan(b.low)
        return between(
            np.asarray(np.fmin(a.low, b.low)),
            np.asarray(np.fmax(a.high, b.high)),
            either(np.asarray(certain), either(a.nan, b.nan)),
        )
    return between(np.asarray(np.minimum(a.low, b.low)), np.asarray(np.maximum(a.high, b.high)))


def add(a: Enclosure, b: Enclosure) -> Enclosure:
    """``a + b`` of floats."""
    if a.exact and b.exact:
        return exactly(np.asarray(a.low + b.low))
    opposite = ((a.high == np.inf) & (b.low == -np.inf)) | ((a.low == -np.inf) & (b.high == np.inf))
    return hull([np.asarray(a.low + b.low), np.asarray(a.high + b.high)], _nan(a, b, opposite))


def negate(a: Enclosure) -> Enclosure:
    """``-a`` of floats."""
    return exactly(-a.low) if a.exact else between(np.asarray(-a.high), np.asarray(-a.low), a.nan)


def multiply(a: Enclosure, b: Enclosure) -> Enclosure:
    """``a * b`` of floats."""
    if a.exact and b.exact:
        return exactly(np.asarray(a.low * b.low))
    void = void_product(a, b)
    products = corners(np.multiply, a, b)
    return hull([*products, _beside(void, a, b, products[0], 0.0)], _nan(a, b, void))


def _beside(void: Mask, a: Enclosure, b: Enclosure, corner: Array, value: float) -> Array:
    """A value that only operands between the ends give, where the ends may give NaN."""
    return np.where(void & ~(a.single & b.single), value, corner).astype(corner.dtype)


def void_product(a: Enclosure, b: Enclosure) -> Mask:
    """Where one may be zero while the other is infinite."""
    return np.asarray((holds_zero(a) & _holds_infinity(b)) | (holds_zero(b) & _holds_infinity(a)))


def divide(a: Enclosure, b: Enclosure) -> Enclosure:
    """``a / b`` of floats."""
    if a.exact and b.exact:
        return exactly(np.asarray(a.low / b.low))
    void = (holds_zero(a) & holds_zero(b)) | (_holds_infinity(a) & _holds_infinity(b))
    quotients = corners(np.divide, a, b)
    wide = hull([*quotients, _beside(void, a, b, quotients[0], 0.0)], _nan(a, b, np.asarray(void)))
    return _pole(wide, a, b, np.zeros_like(void))


def floor_divide(a: Enclosure, b: Enclosure) -> Enclosure:
    """``a // b`` of floats; a quotient beyond the integers that its type counts is not monotone to the last bit."""
    if a.exact and b.exact:
        return exactly(np.asarray(np.floor_divide(a.low, b.low)))
    void = holds_zero(b) | _holds_infinity(a)
    quotients = corners(np.floor_divide, a, b)
    beside = [_beside(void & _holds_infinity(b), a, b, quotients[0], value) for value in (0.0, -1.0)]
    wide = hull([*quotients, *beside], _nan(a, b, np.asarray(void)))
    far = np.asarray(_holds_infinity(a) & ~a.single)     # finite operands beside an infinite end
    return _pole(between(_coarsened(wide.low, -2), _coarsened(wide.high, 2), wide.nan), a, b, far)


def _coarsened(end: Array, units: int) -> Array:
    """The end moved by some units in its last place, where those are more than a quarter."""
    coarse = np.isfinite(end) & (np.abs(end) > 0.25 / np.finfo(end.dtype).eps)
    return np.where(coarse, end + units * np.spacing(np.abs(end)), end).astype(end.dtype)


def remainder(a: Enclosure, b: Enclosure) -> Enclosure:
    """``a % b`` of floats: monotone while the quotient stays and b is exact, else anything from 0 to b."""
    if a.exact and b.exact:
        return exactly(np.asarray(np.remainder(a.low, b.low)))
    quotient = floor_divide(a, b)
    void = np.asarray(holds_zero(b) | _holds_infinity(a))
    near = hull(corners(np.remainder, a, b), _nan(a, b, void))
    far = between(np.minimum(b.low, 0), np.maximum(b.high, 0), _nan(a, b, void))
    certain = np.isnan(near.low) & np.isnan(near.high) & ~void
    return choose(np.asarray(certain | (quotient.single & b.single & (np.abs(quotient.low) < 2**20))), near, far)


def corners(operator: Callable[[Array, Array], Array], a: Enclosure, b: Enclosure) -> list[Array]:
    """The operator at every pair of ends."""
    return [
        np.asarray(operator(x, y))
        for x in ((a.low,) if a.exact else (a.low, a.high))
        for y in ((b.low,) if b.exact else (b.low, b.high))
    ]


def holds_zero(a: Enclosure) -> Mask:
    """Where zero is possible."""
    return np.asarray((a.low <= 0) & (a.high >= 0))


def _holds_infinity(a: Enclosure) -> Mask:
    return np.asarray((a.low == -np.inf) | (a.high == np.inf))


def _nan(a: Enclosure, b: Enclosure, more: Mask) -> Mask | None:
    return either(either(a.nan, b.nan), more)


def _pole(quotient: Enclosure, a: Enclosure, b: Enclosure, far: Mask) -> Enclosure:
    """Any number at all where the divisor may be zero of either sign, or ``far`` says so."""
    anywhere = np.asarray(((holds_zero(b) & ~b.single) | far) & ~np.isnan(a.low) & ~np.isnan(b.low))
    if not anywhere.any():
        return quotient
    low, high = (np.where(anywhere, end, old).astype(old.dtype)
                 for end, old in ((-np.inf, quotient.low), (np.inf, quotient.high)))
    return between(low, high, either(quotient.nan, anywhere))


def _same(a: Array, b: Array) -> bool:
    if not _floats(a):
        return bool(np.array_equal(a, b))
    return bool((((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b))).all())


def _floats(a: Array) -> bool:
    return a.dtype.kind == "f"
