"""``a * b + c`` rounded once, which NumPy has not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def fma(a: Array, b: Array, c: Array) -> Array:
    """The fused multiply-add of f32 or f64 arrays that broadcast together, rounded once to nearest even.

    f32 goes through f64, where the product is exact and the sum is rounded to odd, so that the
    rounding to f32 is the only one; f64 through error-free sums (S. Boldo and G. Melquiond,
    "Emulation of a FMA and correctly rounded sums", IEEE Trans. Computers 57(4), 2008), and
    through rationals where an intermediate could leave the range in which those are exact.
    """
    a, b, c = np.broadcast_arrays(a, b, c)
    if a.dtype == np.float32:
        product = a.astype(np.float64) * b.astype(np.float64)
        return np.asarray(_add_to_odd(product, c.astype(np.float64))).astype(np.float32)
    high, low = _two_product(a, b)
    carried, error = _two_sum(c, low)
    total, rest = _two_sum(high, carried)
    result = np.array(total + _add_to_odd(rest, error))
    plain = np.where(np.isfinite(a) & np.isfinite(b) & np.isinf(c), c, a * b + c)
    usual = np.isfinite(a) & np.isfinite(b) & np.isfinite(c) & (a != 0) & (b != 0)
    result = np.where(usual, result, plain)
    for at in np.argwhere(_delicate(a, b, c)):
        place = tuple(at)
        result[place] = _exactly(float(a[place]), float(b[place]), float(c[place]), float(plain[place]))
    return result


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and its error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded product and its error (Dekker, with Veltkamp's splitting)."""
    a_high, b_high = _upper(a), _upper(b)
    a_low, b_low = a - a_high, b - b_high
    product = a * b
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _upper(a: Array) -> Array:
    scaled = a * (2.0**27 + 1)
    return np.asarray(scaled - (scaled - a))


def _add_to_odd(a: Array, b: Array) -> Array:
    """The sum of f64 arrays rounded to odd: where it is inexact, its last bit is one."""
    total, error = _two_sum(a, b)
    even = (np.asarray(total).view(np.int64) & 1) == 0
    inexact = np.isfinite(total) & (error != 0) & even
    return np.where(inexact, np.nextafter(total, np.where(error > 0, np.inf, -np.inf)), total)


def _delicate(a: Array, b: Array, c: Array) -> NDArray[np.bool_]:
    """Where a step of the fast way could overflow, or lose bits below the smallest normal number."""
    (_, of_a), (_, of_b), (_, of_c) = np.frexp(a), np.frexp(b), np.frexp(c)
    product = of_a + of_b
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c) & (a != 0) & (b != 0)
    large = (of_a > 990) | (of_b > 990) | (product > 1020) | (of_c > 1020)
    small = (product < -900) | ((c != 0) & (of_c < -900))
    return np.asarray(finite & (large | small))


def _exactly(a: float, b: float, c: float, plain: float) -> float:
    total = Fraction(a) * Fraction(b) + Fraction(c)
    if total == 0:
        return plain        # the sign of an exact zero follows from the signs alone
    try:
        return float(total)
    except OverflowError:
        return np.inf if total > 0 else -np.inf
