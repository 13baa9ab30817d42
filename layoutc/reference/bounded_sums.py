"""Sums and products of floats in an order that is not told, and how far they can lie from the true ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.reference.enclosure import Enclosure, between, choose, exactly, multiply

Array = NDArray[Any]
Mask = NDArray[np.bool_]


PAIRED_FROM = 128       # terms that may be added one after another
CUT = 9 / 4             # roundings that a term cut by tensor cores counts as


class SumBounds:
    """What a sum of floats may be in any order, its products fused or rounded.

    Of n terms t: |error| <= g(d + 1) * sum|t| with g(k) = k*u / (1 - k*u) (N. Higham, "Accuracy and Stability
    of Numerical Algorithms", 2nd ed., 4.2; one more rounding for each product), where d is how often a term is
    rounded: n, or of a ``paired`` sum 128 + log2(n / 128), that of pairs of blocks of 128 terms. To that comes the
    error of the sums that are made here, in the widest float there is. Whole numbers that add up below 1/u are exact.

    Tensor cores add 8 products or more and the sum so far at once: each is ``cut`` at the last place of the largest of
    them, and so is what comes out, 2u*(1 + 1/8) a term in place of u (M. Fasi, N. Higham, M. Mikaitis, S. Pranesh,
    "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7:e330, 2021; 8 from compute capability 8.0 on).
    """

    def __init__(self, dtype: np.dtype[Any], paired: bool, cut: bool = False) -> None:
        self._dtype, self._paired, self._cut = dtype, paired, cut
        self._points = 0
        self._whole = True
        self._sums: list[Array] = [np.asarray(np.longdouble(0))] * 3    # of the low ends, the high ends, the sizes
        self._infinite: list[Mask] = [np.asarray(False)] * 4        # certain -inf, +inf; possible -inf, +inf
        self._nan: list[Mask] = [np.asarray(False)] * 2             # certain, possible

    def add(self, terms: Enclosure) -> None:
        """More terms [points, …], as f64, in which products of f32 are exact."""
        self._points += len(terms.low)
        low, high = terms.low, terms.high
        if terms.nan is not None or not (np.isfinite(low).all() and np.isfinite(high).all()):
            self._add_infinite(terms)
            low, high = (np.where(np.isfinite(end), end, 0.0) for end in (low, high))
        self._whole = self._whole and _are_whole(low) and (high is low or _are_whole(high))
        sizes = np.abs(low) if high is low else np.maximum(np.abs(low), np.abs(high))
        low_sum, size_sum = _sum(low), _sum(sizes)
        sums = (low_sum, low_sum if high is low else _sum(high), size_sum)
        self._sums = [total + one for total, one in zip(self._sums, sums, strict=True)]

    def _add_infinite(self, terms: Enclosure) -> None:
        infinite = (terms.high == -np.inf, terms.low == np.inf, terms.low == -np.inf, terms.high == np.inf)
        self._infinite = [a | np.asarray(b).any(axis=0) for a, b in zip(self._infinite, infinite, strict=True)]
        nan = (np.isnan(terms.low), terms.may_be_nan)
        self._nan = [a | b.any(axis=0) for a, b in zip(self._nan, nan, strict=True)]

    def result(self) -> Enclosure:
        """What the sum may be, in its own dtype."""
        low, high, size = self._sums
        unit = float(np.finfo(self._dtype).eps) / 2
        own = float(np.finfo(np.longdouble).eps)
        roundings = (self._depth() + 1) * unit + (self._points + 1) * own + 2.0**-53
        growth = roundings / (1 - roundings) if roundings < 0.5 else np.inf
        least = float(np.finfo(self._dtype).smallest_subnormal)
        slack = np.where(size > 0, growth * size, 0.0) + self._points * least
        slack = np.where((size * unit < 0.5) & self._whole, 0.0, slack)
        overflow = size + slack > float(np.finfo(self._dtype).max)
        certainly_low, certainly_high = self._infinite[:2]
        possibly_low, possibly_high = self._infinite[2] | overflow, self._infinite[3] | overflow
        low = np.where(possibly_low, -np.inf, np.where(certainly_high, np.inf, low - slack))
        high = np.where(possibly_high, np.inf, np.where(certainly_low, -np.inf, high + slack))
        low = np.where(certainly_high, np.inf, low)
        high = np.where(certainly_low, -np.inf, high)
        void = self._nan[0] | (certainly_low & certainly_high)
        low, high = (np.where(void, np.nan, end) for end in (low, high))
        return outward(low, high, self._dtype, self._nan[1] | (possibly_low & possibly_high))

    def _depth(self) -> float:
        """The most roundings that a term goes through."""
        if self._cut:
            return CUT * self._points
        if not self._paired or self._points <= PAIRED_FROM:
            return self._points
        return PAIRED_FROM + (-(-self._points // PAIRED_FROM) - 1).bit_length()


class ProductBounds:
    """What a product of floats may be in any order; unknown where some order could leave the normal range."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._points = 0
        self._total = exactly(np.asarray(1.0))
        self._span: Array = np.asarray(0.0)     # how far, in powers of two, any partial product can lie from 1

    def add(self, terms: Enclosure) -> None:
        """More terms [points, …], as f64."""
        self._points += len(terms.low)
        for point in range(len(terms.low)):
            nan = None if terms.nan is None else terms.nan[point]
            self._total = multiply(self._total, between(terms.low[point], terms.high[point], nan))
        for end in (terms.low, terms.high):
            powers = np.abs(np.log2(np.where(end == 0, 1.0, np.abs(end))))
            self._span = self._span + powers.sum(axis=0)

    def result(self) -> Enclosure:
        """What the product may be, in its own dtype."""
        info = np.finfo(self._dtype)
        growth = 2 * (self._points + 2) * float(info.eps)
        low, high = (end - side * growth * np.abs(end) for end, side in ((self._total.low, 1), (self._total.high, -1)))
        near = outward(low, high, self._dtype, None)
        safe = (self._span < 0.9 * float(info.maxexp)) & ~self._total.may_be_nan & (growth < 0.5)
        return choose(np.asarray(safe), near, unknown(near.low.shape, self._dtype))


def _sum(terms: Array) -> Array:
    return np.asarray(terms.sum(axis=0, dtype=np.longdouble))


def _are_whole(values: Array) -> bool:
    return bool((values == np.rint(values)).all())


def unknown(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Enclosure:
    """Any float at all."""
    return Enclosure(np.full(shape, -np.inf, dtype), np.full(shape, np.inf, dtype), np.ones(shape, np.bool_))


def outward(low: Array, high: Array, dtype: np.dtype[Any], nan: Mask | None) -> Enclosure:
    """Ends in f64 rounded outward to the dtype."""
    down, up = (np.asarray(end).astype(dtype) for end in (low, high))
    least, greatest = np.asarray(-np.inf, dtype), np.asarray(np.inf, dtype)
    return between(
        np.where(down > low, np.nextafter(down, least), down), np.where(up < high, np.nextafter(up, greatest), up), nan
    )
