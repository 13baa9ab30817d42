"""The functions of the language, in NumPy; each takes and gives held values of one dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.reference.fma import fma
from layoutc.reference.numbers import maximum, minimum, power

Array = NDArray[Any]


def call(function: str, arguments: tuple[Array, ...]) -> Array:
    """A function by its name in the language; an inexact one of f32 is computed in f64 and rounded."""
    if function in INEXACT and arguments[0].dtype == np.float32:
        wide = FUNCTIONS[function](*(a.astype(np.float64) for a in arguments))
        return np.asarray(wide).astype(np.float32)
    return np.asarray(FUNCTIONS[function](*arguments))


def clamp(a: Array, low: Array, high: Array) -> Array:
    """``min(max(a, low), high)``; NaN in any of the three propagates."""
    return minimum(maximum(a, low), high)


def erf(a: Array) -> Array:
    """The error function, by the C library in f64."""
    return np.asarray(_erf(a), dtype=np.float64).astype(a.dtype)


def rsqrt(a: Array) -> Array:
    """``1 / sqrt(a)``, both rounded."""
    return np.asarray(a.dtype.type(1) / np.sqrt(a))


def whole(rounding: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A rounding to whole numbers, which leaves integers as they are."""
    return lambda a: rounding(a) if a.dtype.kind == "f" else a


INEXACT = (
    "rsqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tan", "asin", "acos", "atan",
    "atan2", "sinh", "cosh", "tanh", "erf", "hypot", "pow",
)  # fmt: skip
_erf = np.frompyfunc(math.erf, 1, 1)

FUNCTIONS: dict[str, Callable[..., Array]] = {
    "min": minimum,
    "max": maximum,
    "fmin": np.fmin,
    "fmax": np.fmax,
    "abs": np.abs,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "rsqrt": rsqrt,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "erf": erf,
    "hypot": np.hypot,
    "pow": power,
    "floor": whole(np.floor),
    "ceil": whole(np.ceil),
    "round": whole(np.rint),
    "trunc": whole(np.trunc),
    "clamp": clamp,
    "fma": fma,
    "isnan": np.isnan,
    "isinf": np.isinf,
}
