"""Types and numbers: what NumPy says of the same expressions, and exact arithmetic where NumPy is silent."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from layoutc.reference import evaluate
from layoutc.reference.fma import fma
from tests.reference_support import Array, f32, kernel, run

WHOLE = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
DTYPES = {t: np.dtype(("uint" if t[0] == "u" else "int") + t[1:]) for t in WHOLE} | {
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}


def whole_numbers(type: str) -> Array:
    info = np.iinfo(DTYPES[type])
    return np.array(sorted({info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 7, 100}), DTYPES[type])


def binary(op: str, type: str, a: Array, b: Array) -> Array:
    text = f"kernel op(a: {type}[N], b: {type}[N]) -> (y: {type}[N]) {{ y[i] = {type}(a[i] {op} b[i]) }}"
    return run(text, a, b)


def pairs(values: Array) -> tuple[Array, Array]:
    a, b = np.meshgrid(values, values)
    return a.ravel(), b.ravel()


INTEGER_OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip


@pytest.mark.parametrize("type", WHOLE)
def test_integers_wrap_and_floor(type: str) -> None:
    a, b = pairs(whole_numbers(type))
    bits, signed = DTYPES[type].itemsize * 8, type[0] == "i"
    half = 2 ** (bits - 1) if signed else 0
    for op, exactly in INTEGER_OPERATORS.items():
        divides = op in ("//", "%")
        exact = [0 if divides and y == 0 else exactly(x, y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
        want = np.array([(v + half) % 2**bits - half for v in exact], DTYPES[type])
        assert_array_equal(binary(op, type, a, b), want, op)


def test_narrow_integers_compute_in_i32() -> None:
    text = "kernel w(x: u8[N]) -> (y: i32[N], z: u8[N]) { y[i] = x[i] * x[i] - 1  z[i] = u8(x[i] + 1) }"
    y, z = evaluate(kernel(text), [np.array([0, 255], np.uint8)])
    assert_array_equal(y, [-1, 65024])
    assert_array_equal(z, [1, 0])


def test_sums_of_narrow_integers_do_not_wrap_early() -> None:
    assert run("kernel s(x: i8[N]) -> (y: i32[]) { y[] = sum(i) x[i] }", np.full(1000, 127, np.int8)) == 127000


@pytest.mark.parametrize("type", ["i32", "u64"])
def test_integer_powers_wrap(type: str) -> None:
    text = f"kernel p(a: {type}[N], n: u8[N]) -> (y: {type}[N], z: {type}[N]) {{ y[i] = a[i]**n[i]  z[i] = a[i]**5 }}"
    a, n = np.array([0, 3, 7, 2, 10]).astype(DTYPES[type]), np.array([0, 40, 255, 31, 3], np.uint8)
    bits = DTYPES[type].itemsize * 8
    y, z = evaluate(kernel(text), [a, n])
    assert [int(v) % 2**bits for v in y] == [int(x) ** int(k) % 2**bits for x, k in zip(a, n, strict=True)]
    assert [int(v) % 2**bits for v in z] == [int(x) ** 5 % 2**bits for x in a]


SPECIAL = [0.0, -0.0, 1.0, -1.5, 2.5, 1e-40, 3e38, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("type", ["f32", "f64"])
@pytest.mark.parametrize(("op", "numpy"), [
    ("+", np.add), ("-", np.subtract), ("*", np.multiply), ("/", np.divide),
    ("//", np.floor_divide), ("%", np.remainder), ("**", np.power),
])  # fmt: skip
def test_floats_are_those_of_numpy(type: str, op: str, numpy: np.ufunc) -> None:
    a, b = pairs(np.array(SPECIAL, DTYPES[type]))
    with np.errstate(all="ignore"):
        assert_array_equal(binary(op, type, a, b), numpy(a, b))


@pytest.mark.filterwarnings("error")
def test_no_warning_leaks() -> None:
    a, b = pairs(np.array(SPECIAL, np.float32))
    for op in ("/", "%", "**"):
        binary(op, "f32", a, b)
    binary("//", "i32", np.array([1], np.int32), np.array([0], np.int32))


@pytest.mark.parametrize("type", ["f16", "bf16"])
def test_halves_are_computed_in_f32_and_rounded_once(type: str) -> None:
    text = f"kernel h(a: {type}[N], b: {type}[N]) -> (y: {type}[N]) {{ y[i] = a[i] * b[i] + a[i] }}"
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal(500).astype(DTYPES[type]) for _ in range(2))
    wide = a.astype(np.float32), b.astype(np.float32)
    assert_array_equal(run(text, a, b), (wide[0] * wide[1] + wide[0]).astype(DTYPES[type]))
    once = f"kernel h(a: {type}[N]) -> (y: {type}[N]) {{ y[i] = {type}(a[i] * a[i]) * a[i] }}"
    squares = (wide[0] * wide[0]).astype(DTYPES[type]).astype(np.float32)
    assert_array_equal(run(once, a), (squares * wide[0]).astype(DTYPES[type]))


DIGITS = {"f16": (11, -24, 65504), "bf16": (8, -133, 2**128 - 2**120), "f32": (24, -149, 2**128 - 2**104)}


def nearest(value: Fraction, type: str) -> float:
    """The nearest float of a type, ties to even, by exact arithmetic."""
    digits, least, greatest = DIGITS[type]
    exponent = least
    while abs(value) >= Fraction(2) ** (exponent + digits):
        exponent += 1
    rounded = round(value / Fraction(2) ** exponent) * Fraction(2) ** exponent
    return float(rounded) if abs(rounded) <= greatest else math.copysign(math.inf, value)


@pytest.mark.parametrize("type", DIGITS)
def test_floats_and_integers_are_rounded_once(type: str) -> None:
    text = f"kernel c(x: f64[N], k: i64[M], u: u64[M]) -> (a: {type}[N], b: {type}[M], c: {type}[M]) {{ "
    text += f"a[i] = {type}(x[i])  b[j] = {type}(k[j])  c[j] = {type}(u[j]) }}"
    tie = 1 + 2.0 ** -DIGITS[type][0]
    x = np.array([tie, tie + 2**-40, -tie + 2**-40, 1e-46, 6e-8, 65519.99, 65520, 3.5e38, 1e300, 0.1])
    k = np.array([2**40 + 2**32 + 1, 2**40 + 2**32, -(2**62) - 2**54 - 1, 2**63 - 1, 16777217, 257])
    a, b, c = evaluate(kernel(text), [x, k, np.abs(k).astype(np.uint64) * 2 + 1])
    assert a.tolist() == [nearest(Fraction(v), type) for v in x.tolist()]
    assert b.tolist() == [nearest(Fraction(v), type) for v in k.tolist()]
    assert c.tolist() == [nearest(Fraction(2 * abs(v) + 1), type) for v in k.tolist()]


@pytest.mark.parametrize("type", WHOLE)
@pytest.mark.parametrize("source", ["f32", "f64"])
def test_floats_saturate_into_integers(type: str, source: str) -> None:
    info = np.iinfo(DTYPES[type])
    ends = [float(info.min), float(info.max), float(info.max) * 0.75, 2.0**63, 2.0**64, -(2.0**63)]
    x = np.array([math.nan, math.inf, -math.inf, 2.9, -2.9, -0.5, 1e30, *ends], DTYPES[source])
    text = f"kernel c(x: {source}[N]) -> (y: {type}[N]) {{ y[i] = {type}(x[i]) }}"
    want = [0 if v != v else min(max(int(max(min(v, 1e30), -1e30)), info.min), info.max) for v in x.tolist()]
    assert run(text, x).tolist() == want


def test_conversions_to_and_from_bool() -> None:
    text = "kernel c(x: f32[N]) -> (y: bool[N], z: i32[N]) { y[i] = bool(x[i])  z[i] = i32(x[i] > 0.0) + (x[i] < 0.0) }"
    y, z = evaluate(kernel(text), [f32(0, -0.0, 2, math.nan, -1)])
    assert_array_equal(y, [False, False, True, True, True])
    assert_array_equal(z, [0, 0, 1, 0, 1])


def test_integers_wrap_into_narrower_ones() -> None:
    text = "kernel c(x: i64[N]) -> (y: i8[N], z: u16[N]) { y[i] = i8(x[i])  z[i] = u16(x[i]) }"
    y, z = evaluate(kernel(text), [np.array([128, -129, 65536, -1, 2**40 + 5])])
    assert_array_equal(y, [-128, 127, 0, -1, 5])
    assert_array_equal(z, [128, 65407, 0, 65535, 5])


def test_which_choices_propagate_nan() -> None:
    text = """
    kernel n(a: f32[N], b: f32[N]) -> (p: f32[N], q: f32[N], r: f32[N], s: f32[N], t: bool[N]) {
        p[i] = min(a[i], b[i])  q[i] = max(a[i], b[i])
        r[i] = fmin(a[i], b[i])  s[i] = clamp(a[i], 0.0, b[i])  t[i] = isnan(a[i]) or isinf(b[i])
    }
    """
    nan = math.nan
    p, q, r, s, t = evaluate(kernel(text), [f32(nan, 1, 2, nan, -1), f32(1, nan, 3, nan, math.inf)])
    assert_array_equal(p, [nan, nan, 2, nan, -1])
    assert_array_equal(q, [nan, nan, 3, nan, math.inf])
    assert_array_equal(r, [1, 1, 2, nan, -1])
    assert_array_equal(s, [nan, nan, 2, nan, 0])
    assert_array_equal(t, [True, False, False, True, True])


def test_zeros_are_ordered_by_their_signs() -> None:
    text = "kernel z(a: f32[N], b: f32[N]) -> (p: f32[N], q: f32[N]) { p[i] = min(a[i], b[i])  q[i] = max(a[i], b[i]) }"
    p, q = evaluate(kernel(text), [f32(0.0, -0.0), f32(-0.0, 0.0)])
    assert np.signbit(p).all()
    assert not np.signbit(q).any()


@pytest.mark.parametrize(("function", "numpy"), [
    ("sqrt", np.sqrt), ("exp", np.exp), ("exp2", np.exp2), ("log", np.log), ("log2", np.log2), ("sin", np.sin),
    ("cos", np.cos), ("tan", np.tan), ("asin", np.arcsin), ("acos", np.arccos), ("atan", np.arctan), ("sinh", np.sinh),
    ("cosh", np.cosh), ("tanh", np.tanh), ("floor", np.floor), ("ceil", np.ceil), ("round", np.rint),
    ("trunc", np.trunc), ("abs", np.abs), ("sign", np.sign),
])  # fmt: skip
def test_functions_are_those_of_numpy(function: str, numpy: np.ufunc) -> None:
    x = np.array([*SPECIAL, 0.5, -0.5, 3.5, -2.5, 20], np.float64)
    with np.errstate(all="ignore"):
        assert_array_equal(run(f"kernel f(x: f64[N]) -> (y: f64[N]) {{ y[i] = {function}(x[i]) }}", x), numpy(x))


def test_functions_that_numpy_has_not() -> None:
    text = "kernel f(x: f64[N]) -> (y: f64[N], z: f64[N]) { y[i] = erf(x[i])  z[i] = rsqrt(x[i]) }"
    y, z = evaluate(kernel(text), [np.array([0.25, 1.0, 4.0])])
    assert_array_equal(y, [math.erf(0.25), math.erf(1.0), math.erf(4.0)])
    assert_array_equal(z, [2, 1, 0.5])


def test_a_sum_over_constant_ranges_runs_in_the_order_of_the_binders() -> None:
    text = """
    kernel s(x: f32[3, 40]) -> (y: f32[]) { y[] = sum(u in 0..3, v in 0..40) x[u, v] }
    """
    x = (np.random.default_rng(6).standard_normal((3, 40)) * 10.0 ** np.arange(-20, 20)).astype(np.float32)
    total = np.float32(0)
    for value in x.ravel():
        total = np.float32(total + value)
    assert run(text, x) == total


floats = st.floats(width=64) | st.sampled_from([0.0, -0.0, 5e-324, 1.7e308, 2.0**-537, 2.0**-1022, 1.0])


@settings(max_examples=300, deadline=None)
@given(a=floats, b=floats, c=floats, near=st.integers(-2, 2))
def test_fma_rounds_once_in_f64(a: float, b: float, c: float, near: int) -> None:
    if near:        # cancel the product but for its last bits
        with np.errstate(all="ignore"):
            c = float(-np.float64(a) * np.float64(b)) * (1 + near * 2.0**-52)
    with np.errstate(all="ignore"):
        got = float(fma(*(np.array([v]) for v in (a, b, c)))[0])
    if not all(map(math.isfinite, (a, b))) or math.isnan(c):
        assert math.isnan(got) or got == a * b + c
    elif math.isinf(c):
        assert got == c
    else:
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        try:
            assert got == float(exact)
        except OverflowError:
            assert got == (math.inf if exact > 0 else -math.inf)


@settings(max_examples=300, deadline=None)
@given(a=st.floats(width=32), b=st.floats(width=32), c=st.floats(width=32), near=st.integers(-2, 2))
def test_fma_rounds_once_in_f32(a: float, b: float, c: float, near: int) -> None:
    if near and abs(a * b) < 3e38:
        c = float(np.float32(-a * b * (1 + near * 2.0**-23)))
    if not all(map(math.isfinite, (a, b, c))):
        return
    with np.errstate(all="ignore"):
        got = float(fma(*(np.array([v], np.float32) for v in (a, b, c)))[0])
    assert got == nearest(Fraction(a) * Fraction(b) + Fraction(c), "f32")
