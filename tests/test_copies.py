"""Copies: transposes of any axes, records to fields and back, gathers by index arrays; NumPy's own answers decide."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc import LayoutcError, compile
from layoutc.backend.types import numpy_dtype
from tests.padding import padded
from tests.random_kernels import problem_of

Array = NDArray[Any]

TYPES = ("bool", "i8", "u8", "i16", "u16", "f16", "bf16", "i32", "u32", "f32", "i64", "u64", "f64")
EXTENTS, INDICES = "ABCDE", "abcde"
SCHEDULES = ("staged", "wide", "held", "direct")


def permutations() -> list[tuple[int, ...]]:
    """All of up to three axes, and three of four and five."""
    few = [order for rank in (1, 2, 3) for order in itertools.permutations(range(rank))]
    many = [Random(rank).sample(list(itertools.permutations(range(rank))), 3) for rank in (4, 5)]
    return few + [order for some in many for order in some]


def transposition(order: tuple[int, ...], type: str) -> str:
    """Axis a of y is axis ``order[a]`` of x; tiled along the last axis of both."""
    rank = len(order)
    indices = [INDICES[axis] for axis in order]
    x, y = (", ".join(EXTENTS[axis] for axis in axes) for axes in (range(rank), order))
    tile = ", ".join(f"{index}: 8" for index in dict.fromkeys((INDICES[rank - 1], indices[-1])))
    return (f"kernel move(x: {type}[{x}]) -> (y: {type}[{y}]) "
            f"{{ y[{', '.join(indices)}] = x[{', '.join(INDICES[:rank])}] }}\n"
            f"schedule move as staged {{ tile ({tile})  threads 8  stage x in shared }}\n"
            f"schedule move as wide {{ tile ({tile})  threads 2  vector 4  stage x in shared }}\n"
            f"schedule move as held {{ tile ({tile})  threads 4  vector 2  stage x in registers }}\n"
            f"schedule move as direct {{ tile ({tile})  threads 2  vector 4  stage x in global }}\n")


def values(type: str, shape: tuple[int, ...]) -> Array:
    """Any bits that an element of the type may have."""
    random, dtype = np.random.default_rng(1), numpy_dtype(type)
    if type == "bool":
        return random.integers(0, 2, shape).astype(np.bool_)
    bits: Array = random.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype).reshape(shape)
    return bits


def views(x: Array) -> list[Array]:
    """Arrays of one shape in several places of memory: as it comes, backwards, by columns, spaced, repeated."""
    return [x, np.flip(x), np.asfortranarray(x), np.repeat(x, 2, -1)[..., ::2], np.broadcast_to(x[:1], x.shape)]


def same(got: Array, wanted: Array) -> bool:
    """Bit for bit: a copy keeps those of a NaN too."""
    return (got.shape, got.dtype) == (wanted.shape, wanted.dtype) and got.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("order", permutations(), ids=lambda order: "".join(map(str, order)))
def test_any_permutation_of_axes(order: tuple[int, ...], device: str) -> None:
    """Types, schedules and places of memory in turn."""
    number = permutations().index(order)
    type, schedule = TYPES[number % len(TYPES)], (None, *SCHEDULES)[number % 5]
    kernel = compile(transposition(order, type)).move
    for shape in ((3, 9, 2, 5, 4), (10, 17, 1, 2, 3), (3, 0, 2, 2, 2)):
        x = views(values(type, shape[:len(order)]))[number // 2 % 5]
        assert same(kernel(x, schedule=schedule, device=device), np.transpose(x, order))


@pytest.mark.parametrize("type", TYPES)
def test_a_transpose_of_every_type_by_wide_accesses(type: str, device: str) -> None:
    kernel, x = compile(transposition((1, 0), type)).move, values(type, (16, 32))
    assert same(kernel(x, schedule="wide", device=device), x.T)


# ---- records and fields

RECORDS = """
kernel fields(x: {type}[N, 3]) -> (y: {type}[3, N]) {{ y[f, n] = x[n, f] }}
schedule fields as staged {{ tile (f: 3, n: 16)  threads 16  stage x in shared }}
schedule fields as wide {{ tile (f: 3, n: 16)  threads 12  vector 4  stage x in shared }}
kernel records(x: {type}[3, N]) -> (y: {type}[N, 3]) {{ y[n, f] = x[f, n] }}
schedule records as staged {{ tile (f: 3, n: 16)  threads 16  stage x in shared }}
schedule records as wide {{ tile (f: 3, n: 16)  threads 12  vector 4  stage x in shared }}
"""


@pytest.mark.parametrize("type", ["bool", "f16", "f32", "f64"])
def test_records_to_fields_and_back(type: str, device: str) -> None:
    module = compile(RECORDS.format(type=type))
    schedule = SCHEDULES[TYPES.index(type) % 2]
    for count in (0, 15, 64):
        x = values(type, (count, 3))
        fields = module.fields(x, schedule=schedule, device=device)
        assert same(fields, x.T)
        assert same(module.records(fields, schedule=schedule, device=device), x)


# ---- gathers

RULES = ("constant(7)", "nearest", "reflect", "mirror", "wrap")
INDEX_TYPES = ("i8", "u16", "u32", "i64")
NUMBERS = ", ".join(f"x{n}: i32[N]" for n in range(len(RULES)))
OUTPUTS = ", ".join(f"y{n}: i32[M]" for n in range(len(RULES)))
GATHER = (f"kernel gather({NUMBERS}, at: {{type}}[M]) -> ({OUTPUTS}) {{{{\n"
          + "".join(f"    edge x{n} = {rule};  y{n}[m] = x{n}[at[m]]\n" for n, rule in enumerate(RULES)) + "}}\n")


def extended(x: Array, rule: str, places: Array) -> Array:
    """What NumPy's pad puts at these places."""
    room = 130
    there: Array = padded(x, room, rule)[places + room]
    return there


@pytest.mark.parametrize("type", INDEX_TYPES)
def test_an_index_out_of_range_is_answered_by_the_edge_rule(type: str, device: str) -> None:
    kernel = compile(GATHER.format(type=type)).gather
    places = np.arange(-128 if type.startswith("i") else 0, 128).astype(numpy_dtype(type))
    for extent in (1, 2, 3, 50):
        x = np.arange(extent, dtype=np.int32) + 100
        for rule, got in zip(RULES, kernel(*[x] * len(RULES), places, device=device), strict=True):
            np.testing.assert_array_equal(got, extended(x, rule, places.astype(np.int64)))


def test_indices_at_the_ends_of_their_type(device: str) -> None:
    """Python's integers have no end."""
    kernel = compile(GATHER.format(type="i64")).gather
    places = [-2**63, -2**63 + 1, -2**40 - 1, 2**31, 2**40 + 1, 2**62, 2**63 - 1]
    for extent in (1, 5):
        x = np.arange(extent, dtype=np.int32) + 100
        there_and_back = [*range(extent), *reversed(range(extent))]
        ends_once = there_and_back[:extent] + there_and_back[extent + 1:-1]
        wanted = [[7] * len(places), [x[0 if i < 0 else -1] for i in places],
                  [x[there_and_back[i % len(there_and_back)]] for i in places],
                  [x[ends_once[i % len(ends_once)]] for i in places], [x[i % extent] for i in places]]
        for got, right in zip(kernel(*[x] * len(RULES), np.array(places), device=device), wanted, strict=True):
            np.testing.assert_array_equal(got, right)


GATHERS = """
kernel rows(x: {type}[N, D], at: i32[M]) -> (y: {type}[M, D]) {{ edge x = wrap; y[m, d] = x[at[m], d] }}
schedule rows {{ tile (m: 4, d: 8)  threads 8  vector 4  stage at in shared }}
kernel columns(x: {type}[N, D], at: i32[M]) -> (y: {type}[N, M]) {{ edge x = wrap; y[n, m] = x[n, at[m]] }}
kernel along(x: {type}[N, D], at: i32[M, D]) -> (y: {type}[M, D]) {{ edge x = wrap; y[m, d] = x[at[m, d], d] }}
schedule along {{ tile (m: 4, d: 8)  stage at in shared  store y as striped(8, 4) }}
kernel points(x: {type}[N, D], r: i32[M], c: i32[M]) -> (y: {type}[M]) {{ edge x = wrap; y[m] = x[r[m], c[m]] }}
"""


@pytest.mark.parametrize("type", ["f16", "f32"])
def test_gathers_are_numpys(type: str, device: str) -> None:
    """Negative indices too: under ``wrap`` they count from the end."""
    module, random = compile(GATHERS.format(type=type)), np.random.default_rng(3)
    x = values(type, (7, 11))
    n, d = (random.integers(-size, size, 13).astype(np.int32) for size in x.shape)
    there = random.integers(-7, 7, (5, 11)).astype(np.int32)
    assert same(module.rows(x, n, device=device), x[n])
    assert same(module.columns(x, d, device=device), x[:, d])
    assert same(module.along(x, there, device=device), np.take_along_axis(x, there % 7, 0))
    assert same(module.points(x, n, d, device=device), x[n, d])
    assert module.rows(x, n[:0], device=device).shape == (0, 11)


def test_a_gather_from_nothing(device: str) -> None:
    """A constant can be had there; there is nothing to fold into."""
    nothing, places = np.empty(0, np.int32), np.array([0, -1, 5])
    text = "kernel gather(x: i32[N], at: i64[M]) -> (y: i32[M]) {{ edge x = {rule}; y[m] = x[at[m]] }}"
    sevens = compile(text.format(rule="constant(7)")).gather(nothing, places, device=device)
    np.testing.assert_array_equal(sevens, [7] * 3)
    with pytest.raises(LayoutcError) as refused:
        compile(text.format(rule="nearest")).gather(nothing, places, device=device)
    assert refused.value.diagnostics[0].slug == "empty-fold"


# ---- under any schedule, at any extents, in any places of memory


@pytest.mark.parametrize("number", range(3))
def test_copies_under_random_schedules(number: int, device: str) -> None:
    texts = [transposition((1, 3, 0, 2), "u8"), RECORDS.format(type="f16"), GATHERS.format(type="f32")]
    assert not problem_of(texts[number], number, device)
