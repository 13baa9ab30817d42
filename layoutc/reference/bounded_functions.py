"""The functions on uncertain floats.

Exact ones carry ends to ends, the others widen by stated units in the last place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.reference import functions, numbers
from layoutc.reference.enclosure import (
    Enclosure,
    between,
    choose,
    corners,
    either,
    exactly,
    holds_zero,
    hull,
    multiply,
    union,
    void_product,
)
from layoutc.reference.fma import fma
from layoutc.resolve.types import F32, Type, compute_type

Array = NDArray[Any]
Mask = NDArray[np.bool_]

# The most units in the last place by which CUDA's functions may err, in f32 and f64 (CUDA C++ Programming
# Guide, "Mathematical Functions: Accuracy"); glibc's are within the same.
ULPS = {
    "rsqrt": (2, 1), "exp": (2, 1), "exp2": (2, 1), "log": (1, 1), "log2": (1, 1),
    "sin": (2, 2), "cos": (2, 2), "tan": (4, 2), "asin": (4, 2), "acos": (3, 2), "atan": (2, 2),
    "atan2": (3, 2), "sinh": (3, 2), "cosh": (2, 1), "tanh": (2, 1), "erf": (2, 2), "hypot": (3, 2), "pow": (8, 2),
}  # fmt: skip
OWN_ULPS = (1, 4)   # by which the ends may err: NumPy's f64 function rounded to f32, or itself

DOMAINS = {
    "sqrt": (0.0, np.inf), "rsqrt": (0.0, np.inf), "log": (0.0, np.inf), "log2": (0.0, np.inf),
    "asin": (-1.0, 1.0), "acos": (-1.0, 1.0),
}  # fmt: skip
RANGES = {
    "exp": (0.0, np.inf), "exp2": (0.0, np.inf), "hypot": (0.0, np.inf), "cosh": (1.0, np.inf),
    "sin": (-1.0, 1.0), "cos": (-1.0, 1.0), "tanh": (-1.0, 1.0), "erf": (-1.0, 1.0),
}  # fmt: skip
WHOLE_TURNS = 2.0**20       # past it the phase of an uncertain angle is not told


def enclose_call(function: str, arguments: tuple[Enclosure, ...], type: Type) -> Enclosure:
    """A function of the language on floats of one type."""
    match function:
        case "min" | "max" | "fmin" | "fmax":
            return _extreme(function, *arguments)
        case "clamp":
            a, low, high = arguments
            return _extreme("min", _extreme("max", a, low), high)
        case "fma":
            return enclose_fma(*arguments)
        case "isnan":
            (a,) = arguments
            return between(np.isnan(a.low), a.may_be_nan)
        case "isinf":
            (a,) = arguments
            return between(np.isinf(a.low) & a.single, np.isinf(a.low) | np.isinf(a.high))
        case "abs":
            return magnitude(*arguments)
    if function not in ULPS:
        return _monotone(function, *arguments)
    wide = tuple(_widened_type(a) for a in arguments)
    return _within_ulps(_smooth(function, wide), function, compute_type(type))


def magnitude(a: Enclosure) -> Enclosure:
    """``abs(a)``."""
    if a.exact:
        return exactly(np.abs(a.low))
    ends = hull([np.abs(a.low), np.abs(a.high)], a.nan)
    return between(np.where(holds_zero(a), 0, ends.low).astype(a.low.dtype), ends.high, ends.nan)


def enclose_fma(a: Enclosure, b: Enclosure, c: Enclosure) -> Enclosure:
    """``a * b + c`` rounded once."""
    if a.exact and b.exact and c.exact:
        return exactly(fma(a.low, b.low, c.low))
    ends = (c.low,) if c.exact else (c.low, c.high)
    found = [value for end in ends for value in corners(partial(fma, c=end), a, b)]
    product, void = multiply(a, b), void_product(a, b)
    opposite = ((product.high == np.inf) & (c.low == -np.inf)) | ((product.low == -np.inf) & (c.high == np.inf))
    beside = [np.where(void & ~(a.single & b.single), end, found[0]) for end in ends]
    return hull([*found, *beside], either(either(product.nan, c.nan), np.asarray(opposite | void)))


def _extreme(function: str, a: Enclosure, b: Enclosure) -> Enclosure:
    """min, max (a NaN propagates), fmin, fmax (it is skipped). Of zeros of both signs either may come."""
    find = {"min": np.minimum, "max": np.maximum, "fmin": np.fmin, "fmax": np.fmax}[function]
    low, high = np.asarray(find(a.low, b.low)), np.asarray(find(a.high, b.high))
    low, high = _zero_signed(low, a.low, b.low, -0.0), _zero_signed(high, a.high, b.high, 0.0)
    if function in ("min", "max"):
        return between(low, high, either(a.nan, b.nan))
    result = between(low, high, np.asarray(a.may_be_nan & b.may_be_nan))
    for maybe, other in ((a, b), (b, a)):
        if maybe.nan is not None:
            result = choose(maybe.nan, union(result, other), result)
    return result


def _zero_signed(chosen: Array, a: Array, b: Array, zero: float) -> Array:
    """What was chosen, but ``zero`` where the operands hold zeros of both signs."""
    both = (a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))
    return np.where(both, zero, chosen).astype(chosen.dtype)


def _monotone(function: str, a: Enclosure) -> Enclosure:
    """A function that rises or falls over the whole of its domain."""
    low, high = DOMAINS.get(function, (-np.inf, np.inf))
    do = functions.FUNCTIONS[function]
    if a.exact:
        return exactly(np.asarray(do(a.low)))
    ends = [np.asarray(do(np.clip(end, low, high))) for end in (a.low, a.high)]
    outside = (a.high < low) | (a.low > high)
    ends = [np.where(outside, np.nan, end).astype(end.dtype) for end in ends]
    if function == "rsqrt":     # a zero that may have either sign
        pole = holds_zero(a) & ~a.single
        ends = [np.where(pole, end, old) for end, old in zip((-np.inf, np.inf), ends, strict=True)]
    within = hull(ends, either(a.nan, np.asarray((a.low < low) | (a.high > high)) & ~outside))
    return choose(a.single, exactly(np.asarray(do(a.low))), within)


def _smooth(function: str, arguments: tuple[Enclosure, ...]) -> Enclosure:
    """The true values of a function, as far as NumPy's f64 tells them."""
    if all(a.exact for a in arguments):
        return exactly(np.asarray(functions.FUNCTIONS[function](*(a.low for a in arguments))))
    match function, arguments:
        case ("sin", (a,)):
            return _wave(np.sin, a, np.pi / 2)
        case ("cos", (a,)):
            return _wave(np.cos, a, 0.0)
        case ("tan", (a,)):
            return _tangent(a)
        case ("cosh", (a,)):
            return _monotone("cosh", magnitude(a))
        case ("hypot", (a, b)):
            return _hypot(magnitude(a), magnitude(b))
        case ("atan2", (y, x)):
            return _angle(y, x)
        case ("pow", (base, exponent)):
            return _power(base, exponent)
    return _monotone(function, *arguments)


def _wave(function: Callable[[Array], Array], a: Enclosure, crest: float) -> Enclosure:
    """Sine or cosine, with its greatest value at ``crest`` and its least half a turn on."""
    ends = hull([function(a.low), function(a.high)], either(a.nan, np.isinf(a.low) | np.isinf(a.high)))
    far = (np.abs(a.low) > WHOLE_TURNS) | (np.abs(a.high) > WHOLE_TURNS)
    low = np.where(far | _passes(a, crest + np.pi, 2 * np.pi), -1.0, ends.low)
    high = np.where(far | _passes(a, crest, 2 * np.pi), 1.0, ends.high)
    wide = between(low, high, ends.nan)
    return choose(a.single, exactly(function(a.low)), wide)


def _tangent(a: Enclosure) -> Enclosure:
    ends = hull([np.tan(a.low), np.tan(a.high)], either(a.nan, np.isinf(a.low) | np.isinf(a.high)))
    far = (np.abs(a.low) > WHOLE_TURNS) | (np.abs(a.high) > WHOLE_TURNS) | _passes(a, np.pi / 2, np.pi)
    wide = between(np.where(far, -np.inf, ends.low), np.where(far, np.inf, ends.high), ends.nan)
    return choose(a.single, exactly(np.tan(a.low)), wide)


def _passes(a: Enclosure, point: float, period: float) -> Mask:
    """Where an angle may be the point, whole periods on."""
    slack = 1e-9
    turn = np.ceil((a.low - slack - point) / period)
    return np.asarray(point + turn * period <= a.high + slack)


def _hypot(a: Enclosure, b: Enclosure) -> Enclosure:
    """The length of two magnitudes; with an infinity it is infinite, even beside a NaN."""
    ends = between(np.hypot(a.low, b.low), np.hypot(a.high, b.high), either(a.nan, b.nan))
    beside = a.may_be_nan | b.may_be_nan
    infinite = np.isinf(a.high) | np.isinf(b.high)
    return choose(beside & infinite, between(np.zeros_like(ends.low), np.full_like(ends.low, np.inf), beside), ends)


def _angle(y: Enclosure, x: Enclosure) -> Enclosure:
    ends = hull(corners(np.arctan2, y, x), either(y.nan, x.nan))
    cut = holds_zero(y) & (x.low <= 0) & ~(y.single & x.single)
    return between(np.where(cut, -np.pi, ends.low), np.where(cut, np.pi, ends.high), ends.nan)


def _power(base: Enclosure, exponent: Enclosure) -> Enclosure:
    """A power: monotone in each operand for bases from 0, and for a certain exponent that is whole and not negative."""
    certain = exponent.single & np.isfinite(exponent.low)
    whole = certain & (exponent.low == np.rint(exponent.low)) & (exponent.low >= 0)
    turn = np.where(holds_zero(base) & whole, 0.0, base.low)
    at_zero = numbers.power(turn, exponent.low)
    ends = hull([*corners(numbers.power, base, exponent), at_zero], either(base.nan, exponent.nan))
    shape = np.broadcast_shapes(base.low.shape, exponent.low.shape)
    unknown = Enclosure(np.full(shape, -np.inf), np.full(shape, np.inf), np.ones(shape, np.bool_))
    simple = (base.low > 0) | ((base.low == 0) & (exponent.low >= 0)) | whole
    wide = choose(np.broadcast_to(simple, shape) & ~base.may_be_nan & ~exponent.may_be_nan, ends, unknown)
    point = exactly(numbers.power(base.low, exponent.low))
    return choose(np.broadcast_to(base.single & exponent.single, shape), point, wide)


def _widened_type(a: Enclosure) -> Enclosure:
    """The same values as f64."""
    low = a.low.astype(np.float64, copy=False)
    return exactly(low) if a.exact else Enclosure(low, a.high.astype(np.float64, copy=False), a.nan)


def _within_ulps(a: Enclosure, function: str, type: Type) -> Enclosure:
    """The true values rounded to the type, and as many units around them as the function may err."""
    narrow = type == F32
    ulps = ULPS[function][0 if narrow else 1] + OWN_ULPS[0 if narrow else 1]
    least, greatest = RANGES.get(function, (-np.inf, np.inf))
    low, high = (numbers.store(end, type) for end in (a.low, a.high))
    return between(_away(low, -ulps, least), _away(high, ulps, greatest), a.nan)


def _away(end: Array, ulps: int, limit: float) -> Array:
    """The end moved by so many units in its last place, not past the function's range; infinities may fall back."""
    largest = np.finfo(end.dtype).max
    near = np.clip(end, -largest, largest)
    moved = near + np.asarray(ulps, end.dtype) * np.spacing(np.abs(near))
    moved = np.where(np.isinf(end) & (np.sign(end) == np.sign(ulps)), end, moved)
    clipped = np.maximum(moved, limit) if ulps < 0 else np.minimum(moved, limit)
    return np.asarray(clipped, end.dtype)
