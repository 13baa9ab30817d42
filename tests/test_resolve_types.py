"""Which type every operation computes in, what is widened, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutc.diagnostics import LayoutcError
from layoutc.resolve import program as p
from layoutc.resolve.functions import convert
from layoutc.resolve.types import BF16, F16, F32, F64, TYPES, integer_range, meet, round_to
from tests.resolve_support import kernel, refusals, shown

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")

INPUTS = ", ".join(f"{t}_x: {t}[N]" for t in TYPES)


def text(destination: str, expression: str) -> str:
    return f"kernel k({INPUTS}, s: f32[]) -> (y: {destination}[N]) {{ y[i] = {expression} }}"


def value(destination: str, expression: str) -> p.Value:
    return kernel(text(destination, expression)).equations[0].value


def typed(destination: str, expression: str) -> str:
    return shown(value(destination, expression))


def slugs(destination: str, expression: str) -> list[str]:
    return [slug for slug, _ in refusals(text(destination, expression))]


# ---- bare numbers, constants and extents


@pytest.mark.parametrize(("destination", "expression", "meaning"), [
    ("i32", "u8_x[i] + 300", "(i32(u8_x[i]) + 300:i32)"),
    ("f32", "f32_x[i] + 1", "(f32_x[i] + 1.0:f32)"),
    ("f32", "2 * f32_x[i] * N", "((2.0:f32 * f32_x[i]) * N:f32)"),
    ("u64", "u64_x[i] + 18446744073709551615", "(u64_x[i] + 18446744073709551615:u64)"),
    ("i8", "-128", "-128:i8"),
    ("u8", "100 + 127", "227:u8"),
    ("f32", "1 / 2", "0.5:f32"),
    ("f32", "N", "N:f32"),
    ("i64", "i + N", "(i + N:i64)"),
    ("f16", "f16_x[i] * 0.1", "(f16_x[i] * 0.0999755859375:f16)"),
    ("u8", "min(u8_x[i], 255)", "min(u8_x[i], 255:u8)"),
    ("f32", "where(f32_x[i] > 0, f32_x[i], -inf)", "where((f32_x[i] > 0.0:f32), f32_x[i], -inf:f32)"),
    ("f32", "sqrt(2)", "sqrt(2.0:f32)"),
    ("f32", "sum(u in 0..3) 1", "sum(u in 0:i64..3:i64) 1.0:f32"),
    ("bool", "u8_x[i] > 300", "(i32(u8_x[i]) > 300:i32)"),
    ("bool", "3 > 2", "True:bool"),
    ("f32", "f32(N // 2)", "f32((N:i64 // 2:i64))"),
    ("f32", "f32(N / 2)", "(N:f32 / 2.0:f32)"),
])
def test_a_bare_number_takes_the_type_that_is_computed_in(destination: str, expression: str, meaning: str) -> None:
    assert typed(destination, expression) == meaning


@pytest.mark.parametrize(("destination", "expression"), [
    ("u8", "min(u8_x[i], 256)"), ("i8", "128"), ("u32", "u32_x[i] * 4294967296"), ("i32", "i32_x[i] + 0.5"),
    ("f32", "1e39"), ("f16", "65520"), ("i64", "2 ** 63"), ("i32", "inf"), ("bool", "1"), ("f32", "f32_x[0.5]"),
])
def test_a_number_that_its_type_does_not_hold_is_refused(destination: str, expression: str) -> None:
    assert slugs(destination, expression) == ["does-not-fit"]


def test_an_extent_in_a_narrow_type_is_checked_at_the_call() -> None:
    checks = kernel(text("u8", "min(u8_x[i], N)")).checks
    assert [shown(c.condition) for c in checks] == ["(N:i64 <= 255:i64)"]


# ---- two operands


@pytest.mark.parametrize("left", TYPES)
@pytest.mark.parametrize("right", TYPES)
def test_types_meet_where_numpy_meets_them_unless_precision_would_be_lost(left: str, right: str) -> None:
    """NumPy promotes alike, but takes integers with floats to a float, and bool for the narrowest integer."""
    met = meet(TYPES[left], TYPES[right])
    assert met == meet(TYPES[right], TYPES[left])
    if "bf16" in (left, right) or "bool" in (left, right):
        return
    one, two = TYPES[left], TYPES[right]
    promoted = np.promote_types(f"{one.kind[0]}{one.bytes}", f"{two.kind[0]}{two.bytes}")
    mixed = one.is_float != two.is_float or (promoted.kind == "f" and not one.is_float)
    if mixed:
        assert met is None
    else:
        assert met is not None
        assert (met.kind[0], met.bytes) == (promoted.kind, promoted.itemsize)


@pytest.mark.parametrize(("left", "right", "met"), [
    ("f16", "bf16", "f32"), ("bf16", "f64", "f64"), ("bool", "i8", "i32"), ("bool", "u32", "i64"),
    ("bool", "i64", "i64"), ("bool", "bool", "bool"),
])
def test_what_numpy_does_not_say(left: str, right: str, met: str) -> None:
    assert str(meet(TYPES[left], TYPES[right])) == met


@pytest.mark.parametrize("type", INTEGERS)
def test_integers_below_32_bits_compute_in_i32_and_the_others_in_themselves(type: str) -> None:
    computes = type if type in ("i32", "i64", "u32", "u64") else "i32"
    operand = f"{type}_x[i]" if computes == type else f"i32({type}_x[i])"
    for op in ("+", "-", "*", "//", "%"):
        assert typed(computes, f"{type}_x[i] {op} {type}_x[i]") == f"({operand} {op} {operand})"
    assert typed(computes, f"-{type}_x[i]") == f"(- {operand})"
    assert typed(computes, f"sum(u) {type}_x[u]") == f"sum(u in 0:i64..N:i64) {operand.replace('[i]', '[u]')}"


@pytest.mark.parametrize("type", [*INTEGERS, *FLOATS])
def test_reads_where_min_max_clamp_and_median_keep_their_operands_type(type: str) -> None:
    x = f"{type}_x[i]"
    one = "1.0" if type in FLOATS else "1"
    assert typed(type, x) == x
    assert typed(type, f"where(bool_x[i], {x}, 1)") == f"where(bool_x[i], {x}, {one}:{type})"
    assert typed(type, f"max({x}, 1)") == f"max({x}, {one}:{type})"
    assert typed(type, f"clamp({x}, 1, {x})") == f"clamp({x}, {one}:{type}, {x})"
    assert typed(type, f"median(u) {type}_x[u]") == f"median(u in 0:i64..N:i64) {type}_x[u]"
    assert typed(type, f"max(u) {type}_x[u]") == f"max(u in 0:i64..N:i64) {type}_x[u]"


@pytest.mark.parametrize(("left", "right"), [
    ("f32_x[i]", "i32_x[i]"), ("f32_x[i]", "i"), ("i64_x[i]", "u64_x[i]"), ("i8_x[i]", "u64_x[i]"),
    ("f16_x[i]", "bool_x[i]"),
])
def test_an_integer_with_a_float_and_i64_with_u64_ask_for_a_cast(left: str, right: str) -> None:
    for expression in (f"{left} + {right}", f"max({left}, {right})", f"where(true, {left}, {right})"):
        assert slugs("f64", expression) == ["type"]
    assert slugs("bool", f"{left} < {right}") == ["type"]


def test_f16_and_bf16_meet_in_f32() -> None:
    assert typed("f32", "f16_x[i] + bf16_x[i]") == "(f32(f16_x[i]) + f32(bf16_x[i]))"


def test_division_and_powers_of_integers() -> None:
    assert slugs("i32", "i32_x[i] / 2") == ["integer-division"]
    assert slugs("i32", "7 / 2") == ["integer-division"]
    assert slugs("i32", "i32_x[i] ** -1") == ["negative-exponent"]
    assert slugs("i32", "i32_x[i] ** i32_x[i]") == ["negative-exponent"]
    assert typed("i32", "i32_x[i] ** 2") == "(i32_x[i] ** 2:i32)"
    assert typed("i32", "i8_x[i] ** u8_x[i]") == "(i32(i8_x[i]) ** u64(u8_x[i]))"
    assert typed("f32", "f32_x[i] ** 0.5") == "(f32_x[i] ** 0.5:f32)"
    assert typed("i64", "2 ** N") == "(2:i64 ** N:u64)"


def test_an_exponent_that_may_be_negative_is_checked_at_the_call() -> None:
    checks = kernel(text("i64", "2 ** (N - 1)")).checks
    assert [shown(c.condition) for c in checks] == ["((N:i64 - 1:i64) >= 0:i64)"]


# ---- destinations


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("destination", TYPES)
def test_only_a_type_of_the_same_kind_that_holds_every_value_is_stored_silently(source: str, destination: str) -> None:
    one, two = TYPES[source], TYPES[destination]
    stored = f"kernel k(a: {source}[N]) -> (y: {destination}[N]) {{ y[i] = a[i] }}"
    if one == two:
        assert shown(kernel(stored).equations[0].value) == "a[i]"
        return
    if one.is_float and two.is_float:
        fits = two.bits > one.bits
    elif one.is_float or two.is_float or destination == "bool":
        fits = False
    else:
        low, high = integer_range(TYPES["i32"] if source == "bool" else one)
        fits = integer_range(two)[0] <= low and high <= integer_range(two)[1]
    if fits:
        assert shown(kernel(stored).equations[0].value) == f"{destination}(a[i])"
    else:
        assert [slug for slug, _ in refusals(stored)] in (["narrowing"], ["type"])
    cast = stored.replace("= a[i]", f"= {destination}(a[i])")
    assert shown(kernel(cast).equations[0].value) == f"{destination}(a[i])"


def test_a_narrow_sum_needs_its_cast() -> None:
    assert slugs("u8", "u8_x[i] + 1") == ["narrowing"]
    assert typed("u8", "u8(u8_x[i] + 1)") == "u8((i32(u8_x[i]) + 1:i32))"


def test_results_of_counting_are_i64() -> None:
    for expression in ("count(u) bool_x[u]", "argmin(u) f32_x[u]", "argmax(u) u8_x[u]", "i"):
        assert value("i64", expression).type.name == "i64"
        assert slugs("i32", expression) == ["narrowing"]


def test_a_cast_to_the_type_of_a_half_expression_still_rounds() -> None:
    assert typed("f16", "f16(f16_x[i] + 1)") == "f16((f16_x[i] + 1.0:f16))"
    assert typed("f32", "f32(f32_x[i])") == "f32_x[i]"


# ---- truth values, functions, subscripts


def test_any_all_count_where_not_and_or_need_truth_values() -> None:
    for expression in ("any(u) f32_x[u]", "all(u) i8_x[u]", "not i8_x[i]", "bool_x[i] and 1", "where(1, true, false)"):
        assert slugs("bool", expression) == ["type"]
    assert slugs("i64", "count(u) f32_x[u] > 0") == ["type"]
    assert typed("i64", "count(u) (f32_x[u] > 0)") == "count(u in 0:i64..N:i64) (f32_x[u] > 0.0:f32)"


def test_functions_of_floats_ask_integers_for_a_cast() -> None:
    for function in ("sqrt", "exp", "sin", "floor", "round", "isnan"):
        destination = "bool" if function == "isnan" else "f64"
        assert slugs(destination, f"{function}(i32_x[i])") == ["type"]
        assert slugs(destination, f"{function}(f64_x[i])") == []
    assert typed("f64", "fma(f32_x[i], 2, f64_x[i])") == "fma(f64(f32_x[i]), 2.0:f64, f64_x[i])"
    assert typed("i32", "abs(i8_x[i])") == "abs(i32(i8_x[i]))"


def test_min_of_many_values_nests_calls_of_two() -> None:
    assert typed("f32", "min(f32_x[i], s[], 1)") == "min(f32_x[i], min(s[], 1.0:f32))"
    many = ", ".join(["f32_x[i]"] * 150)
    depth, level = 0, [value("f32", f"max({many})")]
    while level:
        depth += 1
        level = [a for v in level if isinstance(v, p.Call) for a in v.arguments]
    assert depth == 9


def test_subscripts_are_i64() -> None:
    assert typed("f32", "f32_x[min(i, N - 1)]") == "f32_x[min(i, (N:i64 - 1:i64))]"
    lookup = "kernel k(t: f32[256], b: u8[N]) -> (y: f32[N]) { y[i] = t[b[i]] }"
    assert shown(kernel(lookup).equations[0].value) == "t[i64(b[i])]"
    for index in ("f32_x[i]", "u64_x[i]", "bool_x[i]"):
        assert slugs("f32", f"f32_x[{index}]") == ["type"]


# ---- numbers


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_rounding_agrees_with_numpy(number: float) -> None:
    for type, dtype in ((F16, np.float16), (F32, np.float32), (F64, np.float64)):
        with np.errstate(over="ignore"):
            nearest = float(dtype(number))
        if math.isinf(nearest):
            with pytest.raises(OverflowError):
                round_to(number, type)
        else:
            assert round_to(number, type) == nearest
            assert math.copysign(1, round_to(number, type)) == math.copysign(1, nearest)


@given(st.integers(0, 2**32 - 1))
def test_bf16_is_the_upper_half_of_f32_rounded_to_even(bits: int) -> None:
    number = float(np.uint32(bits).view(np.float32))
    if not math.isfinite(number):
        return
    upper = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    nearest = float(np.uint32(upper).view(np.float32))
    if math.isinf(nearest):
        with pytest.raises(OverflowError):
            round_to(number, BF16)
    else:
        assert round_to(number, BF16) == nearest


@given(st.integers(-(2**63), 2**63 - 1))
def test_casts_of_numbers_wrap_as_numpy_does(number: int) -> None:
    for name in INTEGERS:
        assert convert(number, TYPES[name]) == int(np.int64(number).astype(f"{TYPES[name].kind[0]}{TYPES[name].bytes}"))


def test_casts_of_float_numbers_truncate_saturate_and_take_nan_to_0() -> None:
    numbers = (-1.5, 2.9, 300.0, math.inf, -math.inf, math.nan)
    assert [convert(x, TYPES["u8"]) for x in numbers] == [0, 2, 255, 255, 0, 0]
    assert convert(-2.9, TYPES["i8"]) == -2
    assert convert(1e6, TYPES["f16"]) == math.inf


@pytest.mark.parametrize(("operand", "help"), [("(i + i)", "f32(i + i)"), ("i", "f32(i)")])
def test_a_cast_that_is_advised_has_one_pair_of_brackets(operand: str, help: str) -> None:
    with pytest.raises(LayoutcError) as caught:
        kernel(text("f32", f"f32_x[i] * {operand}"))
    assert f"write `{help}`" in caught.value.diagnostics[0].help
