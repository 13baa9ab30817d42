"""Checking kernels for every function of arithmetic.h and type, and what NumPy says of each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from layoutc.backend.types import C_TYPES, numpy_dtype
from tests.backend_support import Array

WHOLE = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
COMPUTED = ["i32", "i64", "u32", "u64"]         # the types in which integers are computed
FLOATS = ["f32", "f64"]
HALVES = ["f16", "bf16"]
TYPES = ["bool", *WHOLE, *HALVES, *FLOATS]
ROUND = 64      # elements a thread


def edge_values(type: str) -> Array:
    """Zeros, ends, powers of two and their neighbours, NaN and infinities, some numbers between."""
    if type == "bool":
        return np.array([False, True])
    if type in WHOLE:
        info = np.iinfo(numpy_dtype(type))
        near = {power + step for power in (0, *(2**k for k in range(64))) for step in (-2, -1, 0, 1, 2, 3)}
        signed = near | {-value for value in near} | {info.min, info.max, info.min + 1, 12345678901}
        return np.array(sorted(v for v in signed if info.min <= v <= info.max), numpy_dtype(type))
    halves = [0.0, 0.25, 0.5, 1.0, 1.5, 2.5, 3.0, 7.0, 1000.0, 1.0 / 3, math.pi, math.inf, math.nan]
    ends = [2.0**k + step for k in (7, 8, 15, 16, 31, 32, 63, 64) for step in (-1, -0.5, 0, 1)]
    far = [65504.0, 65519.9, 65520.0, 3.3e38, 3.4e38, 1e-40, 1e-45, 2.0**-24, 2.0**-25, 2.0**-14]
    values = np.array([*halves, *ends, *far], np.float64)
    with np.errstate(over="ignore"):
        return np.concatenate([values, -values]).astype(numpy_dtype(type))


@dataclass(frozen=True)
class Function:
    """One checking kernel: an expression of a, b, c of a type, and what NumPy says of them."""

    name: str
    expression: str
    takes: tuple[str, ...]
    gives: str
    wanted: Callable[..., Array]

    @property
    def text(self) -> str:
        names = "abc"[: len(self.takes)]
        params = [f"In<{C_TYPES[type]}> {name}" for name, type in zip(names, self.takes, strict=True)]
        lines = [
            f"KERNEL(128) {self.name}({', '.join(params)}, Out<{C_TYPES[self.gives]}> out, int n) {{",
            "    NO_UNROLL",
            f"    for (int k = 0; k < {ROUND}; ++k) {{",
            f"        const int i = (blockIdx.x * {ROUND} + k) * 128 + threadIdx.x;",
            f"        if (i < n) out[i] = {self.expression};",
            "    }",
            "}",
        ]
        return "\n".join(lines)


# ---- What the functions mean


def lesser(a: Array, b: Array) -> Array:
    """The minimum of floats that are no NaNs, -0.0 before +0.0."""
    return np.where((a < b) | ((a == b) & np.signbit(a)), a, b)


def greater(a: Array, b: Array) -> Array:
    return -lesser(-a, -b)


def propagating(choose: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: np.where(np.isnan(a) | np.isnan(b), np.array(np.nan, a.dtype), choose(a, b))


def skipping(choose: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda a, b: np.where(np.isnan(a), b, np.where(np.isnan(b), a, choose(a, b)))


def whole_functions() -> Iterator[Function]:
    for type in COMPUTED:
        two = (type, type)
        for name, meaning in (
            ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("floor_div", np.floor_divide),
            ("floor_mod", np.remainder), ("minimum", np.minimum), ("maximum", np.maximum),
            ("minimum_number", np.fmin), ("maximum_number", np.fmax),
        ):  # fmt: skip
            yield Function(f"{name}_{type}", f"{name}(a[i], b[i])", two, type, meaning)
        for name, one in (("neg", np.negative), ("absolute", np.abs), ("sign", np.sign)):
            yield Function(f"{name}_{type}", f"{name}(a[i])", (type,), type, one)
        yield Function(f"mul_add_{type}", "mul_add(a[i], b[i], a[i])", two, type, lambda a, b: a * b + a)
        yield Function(f"power_{type}", "power(a[i], b[i])", (type, "u8"), type, lambda a, b: a ** b.astype(a.dtype))
        clamped: Callable[[Array, Array], Array] = lambda a, b: np.minimum(np.maximum(a, b), 100)  # noqa: E731
        yield Function(f"clamp_{type}", "clamp(a[i], b[i], 100)", two, type, clamped)
    for type in ("i8", "u16"):          # narrower integers are computed in i32
        wide: Callable[[Array, Array], Array] = lambda a, b: a.astype(np.int32) * b.astype(np.int32)  # noqa: E731
        yield Function(f"mul_{type}", "mul(a[i], b[i])", (type, type), "i32", wide)


def float_functions() -> Iterator[Function]:
    for type in FLOATS:
        two = (type, type)
        for name, meaning in (
            ("floor_div", np.floor_divide), ("floor_mod", np.remainder), ("fmod", np.fmod), ("copysign", np.copysign),
            ("minimum", propagating(lesser)), ("maximum", propagating(greater)),
            ("minimum_number", skipping(lesser)), ("maximum_number", skipping(greater)),
        ):  # fmt: skip
            yield Function(f"{name}_{type}", f"{name}(a[i], b[i])", two, type, meaning)
        for name, one in (
            ("absolute", np.abs), ("sign", np.sign), ("sqrt", np.sqrt), ("floor", np.floor), ("ceil", np.ceil),
            ("trunc", np.trunc), ("rint", np.rint),
        ):  # fmt: skip
            yield Function(f"{name}_{type}", f"{name}(a[i])", (type,), type, one)
        yield Function(f"is_nan_{type}", "is_nan(a[i])", (type,), "bool", np.isnan)
        yield Function(f"is_inf_{type}", "is_inf(a[i])", (type,), "bool", np.isinf)


def half_functions() -> Iterator[Function]:
    for type in HALVES:
        c = C_TYPES[type]
        for name, choose in (("minimum", propagating(lesser)), ("maximum_number", skipping(greater))):
            yield Function(f"{name}_{type}", f"{name}(a[i], b[i])", (type, type), type, choose)
        yield Function(f"infinity_{type}", f"infinity<{c}>()", (type,), type, lambda a: np.full_like(a, np.inf))
        yield Function(f"nan_{type}", f"not_a_number<{c}>()", (type,), type, lambda a: np.full_like(a, np.nan))


def fold_functions() -> Iterator[Function]:
    """The language's edge rules, i of either index type, n of either."""
    for name, fold in (("nearest", nearest), ("reflect", reflect), ("mirror", mirror), ("wrap", wrap)):
        for i, n in (("i32", "i32"), ("i64", "i64"), ("i64", "i32")):
            yield Function(f"{name}_{i}_{n}", f"{name}(a[i], b[i])", (i, n), i, by_element(fold))
    for type in ("i32", "i64"):
        inside = by_element(lambda i, n: int(0 <= i < n))
        yield Function(f"within_{type}", "int(within(a[i], b[i]))", (type, type), type, inside)


def nearest(i: int, n: int) -> int:
    return min(max(i, 0), n - 1)


def reflect(i: int, n: int) -> int:
    j = i % (2 * n)
    return j if j < n else 2 * n - 1 - j


def mirror(i: int, n: int) -> int:
    p = 2 * n - 2
    if n == 1:
        return 0
    j = i % p
    return j if j < n else p - j


def wrap(i: int, n: int) -> int:
    return i % n


def by_element(meaning: Callable[[int, int], int]) -> Callable[[Array, Array], Array]:
    return lambda a, b: np.array([meaning(*two) for two in zip(a.tolist(), b.tolist(), strict=True)], a.dtype)


def converted(to: str) -> Callable[[Array], Array]:
    return lambda a: np.array([convert(value, to) for value in a.tolist()], numpy_dtype(to))


def conversions() -> Iterator[Function]:
    for source, to in itertools.product(TYPES, TYPES):
        yield Function(f"to_{to}_from_{source}", f"convert<{C_TYPES[to]}>(a[i])", (source,), to, converted(to))


def convert(value: Any, to: str) -> Any:
    """The language's cast of one Python number."""
    if to == "bool":
        return value != 0
    if to in FLOATS:
        return numpy_dtype(to).type(value) if isinstance(value, float) else correctly_rounded(value, to)
    if to in HALVES:
        return correctly_rounded(value, to)
    info = np.iinfo(numpy_dtype(to))
    if not isinstance(value, float):
        return (int(value) - info.min) % (info.max - info.min + 1) + info.min
    return 0 if math.isnan(value) else info.max if value >= info.max else max(int(max(value, -1e30)), info.min)


SHAPES = {"f16": (11, -24, 65504), "bf16": (8, -133, 2**128 - 2**120), "f32": (24, -149, 2**128 - 2**104),
          "f64": (53, -1074, 2**1024 - 2**971)}     # digits, least exponent, greatest number  # fmt: skip


def correctly_rounded(value: Any, to: str) -> float:
    """A number to the nearest of a float type, ties to even, in exact arithmetic."""
    if isinstance(value, float) and (math.isnan(value) or math.isinf(value) or value == 0):
        return value
    digits, least, greatest = SHAPES[to]
    exact = abs(Fraction(value))
    exponent = max(math.frexp(exact)[1] - digits, least) if exact < 2**1023 else 1024 - digits
    while exact >= Fraction(2) ** (exponent + digits):
        exponent += 1
    nearest = Fraction(round(exact / Fraction(2) ** exponent)) * Fraction(2) ** exponent
    magnitude = math.inf if nearest > greatest else float(nearest)
    return -magnitude if value < 0 else magnitude


def nearest_half(a: Array, half: np.dtype[Any], name: str) -> Array:
    """By search among all halves: the nearest, of two equally near the one with an even pattern."""
    last = int(np.array(float(SHAPES[name][2])).astype(half).view(np.uint16))
    finite = np.arange(last + 2, dtype=np.uint16)
    known = finite.view(half).astype(np.float64)
    known[-1] = 2 * known[-2] - known[-3]           # where infinity begins
    magnitude = np.abs(np.where(np.isnan(a), 0, a))
    above = np.clip(np.searchsorted(known, magnitude), 1, len(known) - 1)
    down, up = magnitude - known[above - 1], known[above] - magnitude
    chosen = np.where((down < up) | ((down == up) & (above % 2 == 1)), above - 1, above).astype(np.uint16)
    rounded = np.copysign(finite[chosen].view(half).astype(np.float32), a.astype(np.float32)).astype(half)
    return np.where(np.isnan(a), np.array(np.nan, half), rounded)


UNITS = {       # in the last place: CUDA's stated maximum in f32, and one for rounding what NumPy says in f64
    "exp": 2, "exp2": 2, "log": 1, "log2": 1, "sin": 2, "cos": 2, "tan": 4, "asin": 4, "acos": 3, "atan": 2,
    "sinh": 3, "cosh": 2, "tanh": 2, "rsqrt": 2, "atan2": 3, "hypot": 3, "pow": 8, "erf": 2,
}  # fmt: skip
ERF = np.vectorize(math.erf, otypes=[np.float64])


def math_function(name: str, type: str) -> Function:
    takes = (type, type) if name in ("atan2", "hypot", "pow") else (type,)
    named: dict[str, Callable[..., Array]] = {
        "rsqrt": lambda a: 1 / np.sqrt(a), "erf": ERF, "pow": np.power,
        "atan2": np.arctan2, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    }  # fmt: skip
    exact: Callable[..., Array] = named[name] if name in named else getattr(np, name)
    text = f"{name}({', '.join(f'{a}[i]' for a in 'ab'[: len(takes)])})"
    return Function(f"{name}_{type}", text, takes, type, exact)


MATH = [math_function(name, type) for name in UNITS for type in FLOATS]
SORTED = [
    Function(f"order_{end}_{type}", f"ends(a[i], b[i]).{end}", (type, type), type, meaning)
    for type in ("f32", "i8", "f16")
    for end, meaning in (
        ("low", np.minimum if type == "i8" else propagating(lesser)),
        ("high", np.maximum if type == "i8" else propagating(greater)),
    )
]
ENDS = """
template <class T> struct Two { T low, high; };
template <class T> DEVICE Two<T> ends(T a, T b) {
    order(a, b);
    return {a, b};
}
"""
TO_HALF = [
    Function(f"round_{to}_{type}", f"{C_TYPES[to]}(a[i])", (type,), to, lambda a: a)
    for to, type in itertools.product(HALVES, FLOATS)
]
EXACT = [*whole_functions(), *float_functions(), *half_functions(), *conversions(), *SORTED]
FOLDS = list(fold_functions())
FUNCTIONS = [*EXACT, *FOLDS, *MATH, *TO_HALF]
