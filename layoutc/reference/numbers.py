"""Numbers as the language means them, in NumPy: types, conversions, operators."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from layoutc.resolve.types import BF16, BOOL, F16, F32, F64, Type, compute_type

Array = NDArray[Any]

STORED: dict[str, np.dtype[Any]] = {
    "bool": np.dtype(np.bool_),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
} | {f"{kind[0]}{bits}": np.dtype(f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)}


def stored_dtype(type: Type) -> np.dtype[Any]:
    """The dtype of an array of this element type."""
    return STORED[type.name]


def held_dtype(type: Type) -> np.dtype[Any]:
    """The dtype in which values of this type are computed: f16 and bf16 in f32."""
    return STORED[compute_type(type).name]


def load(array: Array, type: Type) -> Array:
    """Elements of an array as they are computed with."""
    return array.astype(held_dtype(type), copy=False)


def store(value: Array, type: Type) -> Array:
    """Computed values as elements of an array; f16 and bf16 are rounded here."""
    return value.astype(stored_dtype(type), copy=False)


def constant(value: float, type: Type) -> Array:
    """A number of the language, held."""
    return np.asarray(value, dtype=held_dtype(type))


def cast(value: Array, source: Type, target: Type) -> Array:
    """``target(value)``: integers wrap; floats to integers truncate, saturate and take NaN to 0."""
    if target == BOOL:
        return np.asarray(value != 0)
    if target.is_integer:
        return _saturated(value, target) if source.is_float else value.astype(stored_dtype(target))
    if target == BF16 and compute_type(source) != F32:
        value = _odd_f32(_odd_f64(value))
    narrow = value if source == F64 else value.astype(held_dtype(target))
    return load(store(narrow, target), target) if target in (F16, BF16) else narrow.astype(held_dtype(target))


def _saturated(value: Array, target: Type) -> Array:
    limits = np.iinfo(stored_dtype(target))
    whole = np.trunc(value).astype(np.float64)
    above, below = whole >= float(limits.max) + (limits.bits <= 32), whole < float(limits.min)
    usual = np.where(above | below | np.isnan(whole), 0, whole).astype(limits.dtype)
    return np.where(above, limits.max, np.where(below, limits.min, usual)).astype(limits.dtype)


def _odd_f64(value: Array) -> Array:
    """Integers beyond the 53 bits of f64 with the lowest bit that fits standing for all below it."""
    if value.dtype.kind not in "iu" or value.dtype.itemsize < 8:
        return value.astype(np.float64)
    beyond, lowest = value.dtype.type(0x7FF), value.dtype.type(0x800)
    wide = (value & beyond != 0) & (np.abs(value.astype(np.float64)) >= 2.0**53)
    return np.where(wide, (value & ~beyond) | lowest, value).astype(np.float64)


def _odd_f32(value: Array) -> Array:
    """f64 to f32 rounded to odd, so that a second rounding to fewer bits is the only one that counts."""
    near = np.asarray(value.astype(np.float32))
    error = value - near.astype(np.float64)
    even = (near.view(np.int32) & 1) == 0
    step = np.nextafter(near, np.where(error > 0, np.float32(np.inf), np.float32(-np.inf)))
    return np.where(np.isfinite(near) & np.isfinite(value) & (error != 0) & even, step, near)


def unary(op: str, a: Array) -> Array:
    """``-a`` or ``not a``."""
    return np.asarray(np.negative(a) if op == "-" else np.logical_not(a))


def binary(op: str, a: Array, b: Array) -> Array:
    """``+ - * / // % **`` of two arrays of one dtype, in that dtype."""
    match op:
        case "+":
            return np.asarray(a + b)
        case "-":
            return np.asarray(a - b)
        case "*":
            return np.asarray(a * b)
        case "/":
            return np.asarray(a / b)
        case "//":
            return np.asarray(np.floor_divide(a, b))
        case "%":
            return np.asarray(np.remainder(a, b))
        case _:
            return power(a, b) if a.dtype.kind == "f" else _integer_power(a, b)


def power(a: Array, b: Array) -> Array:
    """``numpy.power`` with an exponent for every element: of one for all NumPy makes another function, 0.5 a root."""
    shape = np.broadcast_shapes(np.shape(a), np.shape(b))
    exponents = np.atleast_1d(np.broadcast_to(b, shape)).copy()
    return np.asarray(np.power(np.broadcast_to(a, exponents.shape), exponents)).reshape(shape)


def _integer_power(a: Array, b: Array) -> Array:
    """Square and multiply modulo 2**bits; exponents are not negative."""
    base, exponent = np.broadcast_arrays(a, b)
    result = np.ones_like(base)
    for bit in range(int(exponent.max(initial=0)).bit_length()):
        result = np.where((exponent >> bit) & 1, result * base, result)
        base = base * base
    return result


def compare(op: str, a: Array, b: Array) -> Array:
    """One comparison; with NaN all but ``!=`` are false."""
    match op:
        case "<":
            return np.asarray(a < b)
        case "<=":
            return np.asarray(a <= b)
        case ">":
            return np.asarray(a > b)
        case ">=":
            return np.asarray(a >= b)
        case "==":
            return np.asarray(a == b)
        case _:
            return np.asarray(a != b)


def logic(op: str, a: Array, b: Array) -> Array:
    """``and`` or ``or`` of bools."""
    return np.asarray(a & b if op == "and" else a | b)


def minimum(a: Array, b: Array) -> Array:
    """The smaller, NaN if either is one; -0 is smaller than +0."""
    smaller = np.asarray(np.minimum(a, b))
    return _zeros(smaller, a, b, np.bitwise_or) if smaller.dtype.kind == "f" else smaller


def maximum(a: Array, b: Array) -> Array:
    """The larger, NaN if either is one; +0 is larger than -0."""
    larger = np.asarray(np.maximum(a, b))
    return _zeros(larger, a, b, np.bitwise_and) if larger.dtype.kind == "f" else larger


def _zeros(chosen: Array, a: Array, b: Array, signs: np.ufunc) -> Array:
    """Equal floats have equal bits but for the sign of a zero, which ``signs`` of the bits decides."""
    bits = np.dtype(f"i{chosen.dtype.itemsize}")
    merged = np.asarray(signs(np.asarray(a).view(bits), np.asarray(b).view(bits)))
    return np.where(a == b, merged.view(chosen.dtype), chosen)
