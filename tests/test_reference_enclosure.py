"""Enclosures enclose: whatever numbers lie between the ends, what NumPy makes of them lies between the new ends."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

from layoutc.reference import functions, numbers
from layoutc.reference.arithmetic import Block, Plain, Reduction
from layoutc.reference.bounded import Bounded
from layoutc.reference.enclosure import Enclosure, between
from layoutc.resolve.types import BOOL, F32, F64, I32, I64, TYPES, U8, Type
from tests.reference_support import Array

COUNT, SAMPLES, POINTS = 1500, 10, 5
FLOATS = [F32, F64]
ARGUMENTS = {"min": 2, "max": 2, "fmin": 2, "fmax": 2, "atan2": 2, "hypot": 2, "pow": 2, "clamp": 3, "fma": 3}
EXACT = ("min", "max", "fmin", "fmax", "clamp", "fma", "sqrt", "abs", "sign", "floor", "ceil", "round", "trunc")


def draw(rng: np.random.Generator, type: Type) -> tuple[Enclosure, list[Array]]:
    """An enclosure at many points, and arrays of numbers (and NaN, where it says so) inside."""
    if not type.is_float:
        return draw_integers(rng, type)
    dtype = numbers.held_dtype(type)
    first, second = some_floats(rng, dtype), some_floats(rng, dtype)
    close = (first * (1 + rng.integers(0, 4, COUNT) * np.finfo(dtype).eps)).astype(dtype)
    kind = rng.random(COUNT)
    second = np.select([kind < 0.3, kind < 0.6], [first, close], second)
    low, high = np.minimum(first, second), np.maximum(first, second)
    nan = (rng.random(COUNT) < 0.1) & ~np.isnan(low)
    return between(low, high, nan), [inside(rng, low, high, nan) for _ in range(SAMPLES)]


def some_floats(rng: np.random.Generator, dtype: np.dtype[np.float64]) -> Array:
    info = np.finfo(dtype)
    special = [0.0, -0.0, 1, -1, 0.5, 2, 3, np.inf, -np.inf, np.nan, 1e-3, np.pi / 2, np.pi, 100, 1e30, 1e-30]
    table = np.array([*special, info.max, -info.max, info.smallest_subnormal], dtype)
    plain = (rng.standard_normal(COUNT) * 10.0 ** rng.integers(-3, 4, COUNT)).astype(dtype)
    return np.where(rng.random(COUNT) < 0.5, rng.choice(table, COUNT), plain)


def inside(rng: np.random.Generator, low: Array, high: Array, nan: Array) -> Array:
    middle = np.clip((low + (high - low) * rng.random(COUNT)).astype(low.dtype), low, high)
    other = some_floats(rng, low.dtype)
    kind = rng.random(COUNT)
    chosen = np.where((kind < 0.4) & (low <= other) & (other <= high), other, middle)
    chosen = np.where(np.isnan(chosen) | (kind > 0.6), np.where(kind > 0.8, low, high), chosen)
    chosen = np.where(low == high, np.where(kind < 0.5, low, high), chosen)     # zeros keep their signs
    return np.where(nan & (rng.random(COUNT) < 0.3), np.nan, chosen).astype(low.dtype)


def draw_integers(rng: np.random.Generator, type: Type) -> tuple[Enclosure, list[Array]]:
    dtype = numbers.held_dtype(type)
    if type == BOOL:
        first, second = rng.random(COUNT) < 0.5, rng.random(COUNT) < 0.5
    else:
        info = np.iinfo(dtype)
        table = np.array([info.min, info.min + 1, 0, 1, 2, 5, info.max - 1, info.max], dtype)
        small = rng.integers(0, 100, COUNT).astype(dtype)
        first, second = (np.where(rng.random(COUNT) < 0.3, rng.choice(table, COUNT), small) for _ in range(2))
    second = np.where(rng.random(COUNT) < 0.3, first, second)
    low, high = np.minimum(first, second), np.maximum(first, second)
    ends = [np.where(rng.random(COUNT) < 0.5, low, high) for _ in range(SAMPLES // 2)]
    steps = [np.where(low < high, low + (type != BOOL), low).astype(dtype) for _ in range(1)]
    return between(low, high), [*ends, *steps]


def assert_encloses(found: Enclosure, value: Array) -> None:
    right = (found.low <= value) & (value <= found.high)
    if value.dtype.kind == "f":
        right |= np.isnan(value) & found.may_be_nan
    at = np.argwhere(~np.broadcast_to(right, value.shape))
    assert not len(at), (value[tuple(at[0])], found)


def check(types: list[Type], bound: Callable[..., Enclosure], exact: Callable[..., Array], seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        drawn = [draw(rng, type) for type in types]
        found = bound(*(enclosure for enclosure, _ in drawn))
        for values in zip(*(samples for _, samples in drawn), strict=True):
            assert_encloses(found, np.asarray(exact(*values)))


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("op", ["+", "-", "*", "/", "//", "%", "**"])
@pytest.mark.parametrize("seed", range(3))
def test_float_operators(type: Type, op: str, seed: int) -> None:
    def exact(a: Array, b: Array) -> Array:
        wide = np.float64 if op == "**" else a.dtype
        return numbers.binary(op, a.astype(wide), b.astype(wide)).astype(a.dtype)

    check([type, type], lambda a, b: Bounded().binary(op, a, b, type), exact, seed)


@pytest.mark.parametrize("type", [I32, I64, U8], ids=str)
@pytest.mark.parametrize("op", ["+", "-", "*", "//", "%", "**"])
def test_integer_operators(type: Type, op: str) -> None:
    check([type, type], lambda a, b: Bounded().binary(op, a, b, type), lambda a, b: numbers.binary(op, a, b))


@pytest.mark.parametrize("type", [F32, I32, BOOL], ids=str)
@pytest.mark.parametrize("op", ["<", "<=", ">", ">=", "==", "!="])
def test_comparisons(type: Type, op: str) -> None:
    check([type, type], lambda a, b: Bounded().compare(op, a, b), lambda a, b: numbers.compare(op, a, b))


@pytest.mark.parametrize("source", [F32, F64, I32, I64, BOOL], ids=str)
@pytest.mark.parametrize("target", TYPES.values(), ids=str)
def test_casts(source: Type, target: Type) -> None:
    check([source], lambda a: Bounded().cast(a, source, target), lambda a: numbers.cast(a, source, target))


def test_choices_logic_and_signs() -> None:
    do = Bounded()
    check(
        [F32] * 3,
        lambda a, b, c: do.where(do.compare("<", a, b), b, c),
        lambda a, b, c: np.asarray(np.where(a < b, b, c)),
    )
    check([BOOL] * 2, lambda a, b: do.logic("and", a, b), lambda a, b: a & b)
    check([BOOL] * 2, lambda a, b: do.logic("or", a, b), lambda a, b: a | b)
    check([BOOL], lambda a: do.unary("not", a, BOOL), lambda a: ~a)
    check([F32], lambda a: do.unary("-", a, F32), lambda a: -a)
    check([I32], lambda a: do.unary("-", a, I32), lambda a: -a)


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("function", functions.FUNCTIONS)
def test_functions(type: Type, function: str) -> None:
    def exact(*values: Array) -> Array:
        wide = values if function in EXACT else tuple(v.astype(np.float64) for v in values)
        result = functions.call(function, wide)
        return result if result.dtype.kind == "b" else result.astype(values[0].dtype)

    check([type] * ARGUMENTS.get(function, 1), lambda *a: Bounded().call(function, a, type), exact)


@pytest.mark.parametrize("function", ["abs", "sign", "min", "max", "clamp"])
def test_functions_of_integers(function: str) -> None:
    types = [I32] * ARGUMENTS.get(function, 1)
    check(types, lambda *a: Bounded().call(function, a, I32), lambda *a: functions.call(function, a))


def over_points(a: Enclosure) -> Enclosure:
    nan = None if a.nan is None else a.nan.reshape(POINTS, -1)
    return between(a.low.reshape(POINTS, -1), a.high.reshape(POINTS, -1), nan)


def in_order(op: str, body: Type, type: Type, values: Array) -> Array:
    block = Block(np.arange(POINTS), (values.reshape(POINTS, -1),), 1)
    return Plain().reduce(Reduction(op, body, type, True, [block]))


@pytest.mark.parametrize("body", [F32, F64, I32], ids=str)
@pytest.mark.parametrize("op", ["sum", "prod", "min", "max", "argmin", "argmax", "median"])
@pytest.mark.parametrize("ordered", [True, False])
def test_reductions(body: Type, op: str, ordered: bool) -> None:
    type = I64 if op.startswith("arg") else body

    def bound(a: Enclosure) -> Enclosure:
        block = Block(np.arange(POINTS), (over_points(a),), 1)
        return Bounded().reduce(Reduction(op, body, type, ordered, [block]))

    check([body], bound, lambda a: in_order(op, body, type, a))


@pytest.mark.parametrize("op", ["any", "all", "count"])
def test_reductions_of_truth_values(op: str) -> None:
    type = I64 if op == "count" else BOOL

    def bound(a: Enclosure) -> Enclosure:
        block = Block(np.arange(POINTS), (over_points(a),), 1)
        return Bounded().reduce(Reduction(op, BOOL, type, True, [block]))

    check([BOOL], bound, lambda a: in_order(op, BOOL, type, a))


@pytest.mark.parametrize("type", FLOATS, ids=str)
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("fused", [True, False])
def test_sums_of_products(type: Type, ordered: bool, fused: bool) -> None:
    def bound(a: Enclosure, b: Enclosure) -> Enclosure:
        block = Block(np.arange(POINTS), (over_points(a), over_points(b)), 1)
        return Bounded(fused).reduce(Reduction("sum", type, type, ordered, [block]))

    def exact(a: Array, b: Array) -> Array:
        total = np.zeros(COUNT // POINTS, a.dtype)
        for x, y in zip(a.reshape(POINTS, -1), b.reshape(POINTS, -1), strict=True):
            total = functions.call("fma", (x, y, total)) if fused else total + x * y
        return total

    check([type, type], bound, exact)


@pytest.mark.parametrize("op", ["sum", "prod"])
def test_any_order_of_a_sum_or_product_is_enclosed(op: str) -> None:
    rng = np.random.default_rng(1)
    terms = (rng.standard_normal((4, 300)) * 10.0 ** rng.integers(-3, 3, (4, 300))).astype(np.float32)
    block = Block(np.arange(4), (Enclosure(terms, terms),), 1)
    with np.errstate(all="ignore"):
        found = Bounded().reduce(Reduction(op, F32, F32, False, [block]))
        join = np.add if op == "sum" else np.multiply
        for a, b, c, d in permutations(terms):
            assert_encloses(found, join(join(join(a, b), c), d))
            assert_encloses(found, join(join(a, b), join(c, d)))
    assert (found.high - found.low <= 1e-5 * np.maximum(np.abs(terms).sum(axis=0), np.abs(found.low))).all()


def test_whole_numbers_add_up_exactly_in_any_order() -> None:
    terms = np.arange(1000, dtype=np.float32).reshape(1000, 1)
    found = Bounded().reduce(Reduction("sum", F32, F32, False, [Block(np.arange(1000), (Enclosure(terms, terms),), 1)]))
    assert found.exact
    assert found.low == 499500


@pytest.mark.parametrize("function", ["exp", "log", "sin", "cos", "tanh", "atan", "erf", "sqrt"])
def test_functions_of_certain_values_are_held_to_a_few_units(function: str) -> None:
    x = np.linspace(0.1, 9, 500, dtype=np.float32)
    found = Bounded().call(function, (Enclosure(x, x),), F32)
    assert (found.high - found.low <= 10 * np.spacing(np.maximum(np.abs(found.low), 1e-3))).all()


def test_exact_operands_give_exact_results() -> None:
    x = np.linspace(-3, 3, 50, dtype=np.float32)
    one = Enclosure(x, x)
    do = Bounded()
    for op in ("+", "-", "*", "/", "//", "%"):
        assert do.binary(op, one, one, F32).exact, op
    assert do.call("fma", (one, one, one), F32).exact
    assert do.cast(one, F32, I32).exact
    assert do.compare("<", one, one).exact
