"""What the arrays of a test hold: recipes that fit on a command line, each for every element type."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from layoutc.backend.types import numpy_dtype
from layoutc.resolve.types import Type, integer_range

Array = NDArray[Any]

KINDS = ("count", "down", "small", "any", "special")
"""From the plainest on, so that a failure shrinks towards the first."""

SPECIAL_SHARE = 0.15        # of the elements of ``special``: enough of them, and most windows without a NaN
EXACT_COUNTS = {"f16": 2048, "bf16": 256, "f32": 2**24, "f64": 2**53}     # integers up to here are all exact
NAN_SHARE = 0.04            # few enough that most windows see none
TIES = (0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 255.5, 256.0, -129.0, 32767.5, 65536.0)
EDGES_OF_INTEGERS = (2.0**31, -(2.0**31), 2.0**32, 2.0**63, -(2.0**63), 2.0**64)


@dataclass(frozen=True, slots=True)
class Fill:
    """A recipe for the elements of an array, in row-major order.

    ``count``: 1, 2, 3, … so that no two are alike; ``down``: the same below zero; ``small``: integers from -4 to 4;
    ``any``: random over several magnitudes, integers over their whole range; ``special``: the same, mixed with
    what breaks arithmetic (NaN, infinities, zeros of both signs, subnormals, ties, extremes).
    """

    kind: str = "count"
    seed: int = 0

    def __str__(self) -> str:
        return self.kind if self.kind in ("count", "down") else f"{self.kind}:{self.seed}"

    @classmethod
    def parse(cls, text: str) -> Fill:
        """The recipe of its text; ValueError where it is none."""
        kind, _, seed = text.partition(":")
        if kind not in KINDS:
            raise ValueError(f"`{text}` is no way to fill an array; there are {', '.join(KINDS)}")
        return cls(kind, int(seed or 0))

    def values(self, shape: tuple[int, ...], type: Type) -> Array:
        """An array of that shape in the type's dtype."""
        rng = np.random.default_rng(self.seed)
        count = prod(shape)
        if type.name == "bool":
            flat: Array = rng.integers(0, 2, count).astype(np.bool_)
        elif type.is_float:
            flat = _floats(self.kind, count, type, rng)
        else:
            flat = _integers(self.kind, count, type, rng)
        return flat.reshape(shape)


def _floats(kind: str, count: int, type: Type, rng: np.random.Generator) -> Array:
    dtype = numpy_dtype(type.name)
    with np.errstate(over="ignore"):
        match kind:
            case "count" | "down":
                counted = np.arange(count) % EXACT_COUNTS[type.name] + 1
                return (counted if kind == "count" else -counted).astype(dtype)
            case "small":
                return rng.integers(-4, 5, count).astype(dtype)
        scales = 4.0 ** (rng.integers(-4, 7) + rng.integers(-2, 3, count))      # of the array, of each element
        values = (rng.standard_normal(count) * scales).astype(dtype)
        if kind == "special":
            chosen = rng.random(count) < SPECIAL_SHARE
            values[chosen] = rng.choice(_special_floats(dtype), int(chosen.sum()))
            values[rng.random(count) < NAN_SHARE] = np.nan
    return values


def _special_floats(dtype: np.dtype[Any]) -> Array:
    limits: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    least, normal, most = float(limits.smallest_subnormal), float(limits.smallest_normal), float(limits.max)
    plain = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, least, -least, 3 * least, normal, most, -most]
    return np.array([*plain, *TIES, *EDGES_OF_INTEGERS]).astype(dtype)


def _integers(kind: str, count: int, type: Type, rng: np.random.Generator) -> Array:
    dtype = numpy_dtype(type.name)
    low, high = integer_range(type)
    match kind:
        case "count":
            return (np.arange(count, dtype=np.int64) + 1).astype(dtype)
        case "down":
            return (-1 - np.arange(count, dtype=np.int64)).astype(dtype)
        case "small":
            return rng.integers(max(low, -4), 5, count).astype(dtype)
    values = rng.integers(low, high, count, dtype, endpoint=True)
    if kind == "special":
        chosen = rng.random(count) < SPECIAL_SHARE
        powers = [2**bit for bit in range(type.bits - 1)]
        special = [low, high, 0, 1, *powers, *(p - 1 for p in powers), *([-1] if low < 0 else [])]
        values[chosen] = rng.choice(np.array(special, dtype), int(chosen.sum()))
    return values
