"""The NumPy meaning of redistributions: worked numbers, and laws that hold for all layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from layoutc.diagnostics import LayoutcError
from layoutc.layout import Layout
from layoutc.reference import evaluate_redistribution, wrong_items
from layoutc.resolve.program import Redistribute
from tests.redistribution_support import held, pairs, redistribute

Array = NDArray[Any]


def letters(text: str) -> Array:
    """Rows of letters as numbers."""
    return np.array([[ord(letter) for letter in row] for row in text.split()], np.uint8)


PUT = redistribute("u8 = scatter blocked(4, 2) -> blocked(4, 2) warp 4")
GET = redistribute("u8 = gather striped(4, 2) -> blocked(4, 2) warp 4")


# ---- worked numbers


def test_blocked_to_striped_and_back() -> None:
    blocked, striped = np.arange(12).reshape(4, 3), np.arange(12).reshape(3, 4).T
    there = redistribute("i64 = (4, 3):(3, 1) -> (4, 3):(1, 4)")
    back = redistribute("i64 = (4, 3):(1, 4) -> (4, 3):(3, 1)")
    np.testing.assert_array_equal(evaluate_redistribution(there, blocked), striped)
    np.testing.assert_array_equal(evaluate_redistribution(back, striped), blocked)


def test_blocked_to_warp_striped() -> None:
    r = redistribute("i64 = blocked(8, 2) -> warp_striped(8, 2, 4) warp 4")
    held = [[0, 4], [1, 5], [2, 6], [3, 7], [8, 12], [9, 13], [10, 14], [11, 15]]
    np.testing.assert_array_equal(evaluate_redistribution(r, np.arange(16).reshape(8, 2)), held)


def test_scatter_to_blocked() -> None:
    rank = np.array([[7, 0], [6, 1], [5, 2], [4, 3]])
    np.testing.assert_array_equal(evaluate_redistribution(PUT, letters("AB CD EF GH"), rank), letters("BD FH GE CA"))


def test_gather_from_striped() -> None:
    rank = np.array([[7, 6], [5, 4], [3, 2], [1, 0]])
    np.testing.assert_array_equal(evaluate_redistribution(GET, letters("AE BF CG DH"), rank), letters("HG FE DC BA"))


def test_several_tiles_are_several_calls() -> None:
    v = np.random.default_rng(0).integers(0, 256, (5, 4, 2)).astype(np.uint8)
    rank = np.random.default_rng(1).permutation(8).reshape(4, 2)
    ranks = np.stack([np.roll(rank, n, 0) for n in range(5)])
    for r in (PUT, GET):
        got = evaluate_redistribution(r, v, ranks)
        for tile in range(5):
            np.testing.assert_array_equal(got[tile], evaluate_redistribution(r, v[tile], ranks[tile]))
        assert evaluate_redistribution(r, v[:0], ranks[:0]).shape == (0, 4, 2)


# ---- ranks outside the tile, duplicates, nothing reached


@pytest.mark.parametrize("outside", [-1, 8, 2**31, 2**32 + 1, -(2**63), 2**63 - 1])
def test_ranks_outside_the_tile(outside: int) -> None:
    rank = np.array([[outside, 0], [6, 1], [5, 2], [4, 3]])
    np.testing.assert_array_equal(evaluate_redistribution(PUT, letters("AB CD EF GH"), rank), letters("BD FH GE C\0"))
    np.testing.assert_array_equal(evaluate_redistribution(GET, letters("AE BF CG DH"), rank), letters("\0A GB FC ED"))


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_ranks_of_any_integer_type(dtype: str) -> None:
    rank = np.array([[7, 0], [6, 1], [5, 2], [np.iinfo(dtype).max, 3]], dtype)
    np.testing.assert_array_equal(evaluate_redistribution(PUT, letters("AB CD EF GH"), rank), letters("BD FH \0E CA"))


def test_positions_that_no_thread_holds_are_outside_the_tile() -> None:
    r = redistribute("u8 = gather (2, 2):(6, 2) -> (2, 2):(2, 6)")
    rank = np.array([[0, 1], [2, 8]])
    np.testing.assert_array_equal(evaluate_redistribution(r, letters("AB CD"), rank), letters("A\0 BD"))


def test_each_value_of_a_duplicate_rank_is_right_and_no_other() -> None:
    rank, v = np.array([[0, 0], [0, 1], [9, 9], [9, 9]]), letters("AB CD EF GH")
    for one in "ABC":
        assert wrong_items(PUT, letters(f"{one}D \0\0 \0\0 \0\0"), v, rank) == []
    wrong, = wrong_items(PUT, letters("ED \0\0 \0\0 \0\0"), v, rank)
    assert str(wrong) == "item 0 of thread 0 is 69, expected 65 or 66 or 67"
    wrong, = wrong_items(PUT, letters("AD \0\0 \0\0 \0H"), v, rank)
    assert str(wrong) == "item 1 of thread 3 is 72, expected 0"


def test_values_are_compared_bit_for_bit() -> None:
    r = redistribute("f32 = blocked(2, 2) -> blocked(2, 2)")
    v = np.array([[0x7FC00001, 0x80000000], [0x7F800001, 1]], np.uint32).view(np.float32)
    assert wrong_items(r, v.copy(), v) == []
    other = v.view(np.uint32).copy()
    other[0, 1] = 0
    assert len(wrong_items(r, other.view(np.float32), v)) == 1
    with pytest.raises(ValueError, match="float64"):
        wrong_items(r, np.zeros((2, 2)), v)


@pytest.mark.parametrize("shapes", [
    ((4, 3),), ((4, 3), (4, 2)), ((2, 4, 2), (4, 2)), ((2, 4, 2), (3, 4, 2)), ((8,), (8,)),
    ((1, 1, 4, 2), (1, 1, 4, 2))])
def test_shapes_that_do_not_fit(shapes: tuple[tuple[int, ...], ...]) -> None:
    with pytest.raises(LayoutcError, match=r"argument-count|extent-mismatch"):
        evaluate_redistribution(PUT, *[np.zeros(s, np.uint8 if n == 0 else np.int32) for n, s in enumerate(shapes)])


# ---- laws

def of(source: Layout, destination: Layout, kind: str = "exchange") -> Redistribute:
    word = "" if kind == "exchange" else kind
    return redistribute(f"i64 = {word} {source} -> {destination}")


@settings(deadline=None)
@given(pairs())
def test_an_exchange_changes_who_holds_a_tile_and_not_the_tile(pair: tuple[Layout, Layout]) -> None:
    r = of(*pair)
    tile = {position: 7 * position + 3 for position in pair[0].image}
    np.testing.assert_array_equal(evaluate_redistribution(r, held(pair[0], tile)), held(pair[1], tile))


@settings(deadline=None)
@given(pairs())
def test_scatter_and_gather_by_the_own_positions_are_the_exchange(pair: tuple[Layout, Layout]) -> None:
    places = {position: position for position in pair[0].image}
    v = held(pair[0], {position: 7 * position + 3 for position in pair[0].image})
    wanted = evaluate_redistribution(of(*pair), v)
    scattered = evaluate_redistribution(of(*pair, "scatter"), v, held(pair[0], places))
    gathered = evaluate_redistribution(of(*pair, "gather"), v, held(pair[1], places))
    np.testing.assert_array_equal(scattered, wanted)
    np.testing.assert_array_equal(gathered, wanted)
    assert wrong_items(of(*pair), wanted, v) == []
