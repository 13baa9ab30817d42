"""Laws of the algebra on drawn layouts: nested, with extents of 1 and strides 0 and negative."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutc.layout import (
    Layout,
    LayoutError,
    blocked_product,
    coalesce,
    complement,
    composition,
    flat_divide,
    flat_product,
    left_inverse,
    logical_divide,
    logical_product,
    raked_product,
    right_inverse,
    tiled_divide,
    tiled_product,
    zipped_divide,
    zipped_product,
)
from layoutc.layout.compose import by_evaluation, refined_layout, without_carry
from layoutc.layout.layout import endless, values_at
from tests.layout_support import (
    attempt,
    flat,
    layouts,
    leads_back,
    longest_fit,
    rank_1,
    rank_2,
    refused_at,
    unhurried,
    value,
    values_of,
)

natural = layouts(least=0)


@unhurried
@given(layouts(), natural)
def test_composition_is_the_function_or_no_refinement_has_its_values(left: Layout, right: Layout) -> None:
    truth = [value(left, position) for position in values_of(right)]
    result = attempt(composition, left, right)
    if isinstance(result, LayoutError):
        assert refused_at(result, right.shape) == longest_fit(truth, flat(right.shape)) < right.size
    else:
        assert list(values_of(result)) == truth
        assert result.rank == right.rank
        assert [mode.size for mode in result] == [mode.size for mode in right]


@unhurried
@given(natural, natural)
def test_what_structure_settles_evaluation_settles_alike(left: Layout, right: Layout) -> None:
    places = endless(left)
    pieces = without_carry(places, right.leaves)
    assert pieces is None or refined_layout(right, pieces) == refined_layout(right, by_evaluation(left, right, places))


@unhurried
@given(layouts(), layouts())
def test_below_zero_a_left_operand_of_several_modes_is_refused(left: Layout, right: Layout) -> None:
    result = attempt(composition, left, right)
    if right.least == 0:
        return
    if isinstance(result, Layout):
        (_, step), = endless(left)
        assert list(values_of(result)) == [position * step for position in values_of(right)]
    elif len(endless(left)) > 1:
        below = next(k for k, position in enumerate(values_of(right)) if position < 0)
        assert refused_at(result, right.shape) <= below


def test_composition_is_associative_as_far_as_both_sides_stay_inside() -> None:
    draw, checked = random.Random(3), 0
    small = rank_1() + rank_2()
    while checked < 500:
        a, b, c = (draw.choice(small) for _ in range(3))
        if c.greatest >= b.size:
            continue            # past the size of b, a after b goes on otherwise than b itself does
        ab, bc = attempt(composition, a, b), attempt(composition, b, c)
        if isinstance(ab, Layout) and isinstance(bc, Layout):
            left, right = attempt(composition, ab, c), attempt(composition, a, bc)
            assert isinstance(left, Layout) == isinstance(right, Layout)
            if isinstance(left, Layout) and isinstance(right, Layout):
                assert values_of(left) == values_of(right)
                checked += 1


@unhurried
@given(layouts())
def test_the_identity_is_neutral(layout: Layout) -> None:
    assert composition(layout, Layout(layout.shape)) == layout
    assert coalesce(composition(layout, layout.size)) == coalesce(layout)
    if min(values_of(layout)) >= 0:
        assert composition(Layout(layout.cosize, 1), layout) == layout


@unhurried
@given(layouts(), st.integers(1, 60))
def test_complements_rise_and_never_meet_the_layout(layout: Layout, n: int) -> None:
    moving = [(extent, stride) for extent, stride in layout.leaves if stride] or [(1, 0)]
    kept = Layout(tuple(extent for extent, _ in moving), tuple(stride for _, stride in moving))
    values, result = values_of(kept), attempt(complement, layout, n)
    if isinstance(result, LayoutError):
        again = layout(result.witness)
        assert again in [layout(i) for i in range(refused_at(result, layout.shape))]
        assert len(set(values)) < len(values)
        return
    starts = values_of(result)
    assert all(a < b for a, b in itertools.pairwise(starts))
    assert len({v + start for v in values for start in starts}) == len(values) * len(starts)


@unhurried
@given(layouts())
def test_right_inverses_lead_from_every_index(layout: Layout) -> None:
    inverse = right_inverse(layout)
    assert [value(layout, index) for index in values_of(inverse)] == list(range(inverse.size))


@unhurried
@given(layouts(most=3, greatest=20))
def test_left_inverses_lead_back_or_do_not_exist(layout: Layout) -> None:
    values = values_of(layout)
    inverse = attempt(left_inverse, layout)
    if len(set(values)) < len(values):
        assert isinstance(inverse, LayoutError)
        return
    if len(values) > 12:
        return
    if isinstance(inverse, Layout):
        assert [inverse(v) for v in values] == list(range(len(values)))
        assert inverse.size >= layout.cosize
    elif min(values) >= 0:
        last = refused_at(inverse, layout.shape)
        assert not leads_back(values[: last + 1])
        assert leads_back(values[:last])
    else:
        # Below 0 an inverse has one mode, whose step the first value fixes.
        assert values[1] * values[1] != 1 or any(v * values[1] != k for k, v in enumerate(values))


@pytest.mark.parametrize(
    "text",
    [
        "(2,2):(2,5)", "(2,2):(2,3)", "(64,64):(2,129)", "(16,32):(2,33)", "(3,3):(1000,2501)", "(4,8,16):(3,13,104)",
        "(1024,1024):(1,1025)", "(512,1024):(2,1025)", "4:-1",
    ],
)
def test_left_inverses_of_padded_layouts_are_found(text: str) -> None:
    layout = Layout.parse(text)
    inverse = left_inverse(layout)
    assert values_at(inverse.leaves, layout.values) == list(range(layout.size))


tilers = st.one_of(st.integers(1, 9), layouts(least=0, most=4))


@unhurried
@given(natural, tilers)
def test_a_divide_puts_every_position_into_one_tile(layout: Layout, tiler: int | Layout) -> None:
    result = attempt(logical_divide, layout, tiler)
    part = Layout(tiler, 1) if isinstance(tiler, int) else tiler
    if isinstance(result, LayoutError):
        return
    rest = complement(part, layout.size)
    positions = [t + r for r in values_of(rest) for t in values_of(part)]
    assert list(values_of(result)) == [value(layout, position) for position in positions]
    assert set(positions) >= set(range(layout.size))
    if 0 not in [d for n, d in part.leaves if n > 1]:
        assert len(set(positions)) == len(positions)
    assert [mode.size for mode in result] == [part.size, rest.size]


@unhurried
@given(natural, st.data())
def test_gathered_divides_hold_the_same_parts(layout: Layout, data: st.DataObject) -> None:
    entries = st.one_of(st.integers(1, 4), st.none())
    tiler = tuple(data.draw(st.lists(entries, min_size=1, max_size=layout.rank)))
    logical = attempt(logical_divide, layout, tiler)
    if isinstance(logical, LayoutError):
        return
    modes = layout.modes
    divided = [logical_divide(mode, entry) for mode, entry in zip(modes, tiler, strict=False)]
    assert logical == Layout.of([*divided, *modes[len(tiler):]])
    pairs = [(Layout(1, 0), part) if entry is None else tuple(part) for part, entry in zip(divided, tiler, strict=True)]
    tiles, rests = [tile for tile, _ in pairs], [rest for _, rest in pairs] + list(modes[len(tiler):])
    assert zipped_divide(layout, tiler) == Layout.of([Layout.of(tiles), Layout.of(rests)])
    assert tiled_divide(layout, tiler) == Layout.of([Layout.of(tiles), *rests])
    assert flat_divide(layout, tiler) == Layout.of([*tiles, *rests])


@unhurried
@given(layouts(), natural)
def test_a_product_sets_copies_side_by_side(block: Layout, tiler: Layout) -> None:
    result = attempt(logical_product, block, tiler)
    if isinstance(result, LayoutError):
        return
    own, copies = result
    assert own == block
    free = complement(block, 10**6)
    assert [value(free, position) for position in values_of(tiler)] == list(values_of(copies))
    if len(set(values_of(block))) == block.size and len(set(values_of(tiler))) == tiler.size:
        assert len(set(values_of(result))) == result.size
    assert zipped_product(block, tiler) == result
    assert tiled_product(block, tiler) == Layout.of([own, *copies])
    assert flat_product(block, tiler) == Layout.of([*own, *copies])


@unhurried
@given(layouts(most=3), layouts(least=0, most=3))
def test_blocked_and_raked_products_are_products_by_mode(block: Layout, tiler: Layout) -> None:
    product = attempt(logical_product, block, tiler)
    if isinstance(product, LayoutError):
        return
    blocked, raked = blocked_product(block, tiler), raked_product(block, tiler)
    assert sorted(values_of(blocked)) == sorted(values_of(raked)) == sorted(values_of(product))
    rank = max(block.rank, tiler.rank)
    assert rank == 1 or blocked.rank == raked.rank == rank
    if block.rank == tiler.rank > 1:
        for k in range(rank):
            assert blocked[k] == Layout.of([block[k], product[1][k]])
            assert raked[k] == Layout.of([product[1][k], block[k]])


def test_a_divide_that_would_lose_positions_is_refused_with_the_first() -> None:
    for tiler, lost in [("(2,2):(1,3)", 2), ("(2,2):(2,3)", 1), ("(2,3):(4,6)", 2), ("(4,2):(1,6)", 4)]:
        with pytest.raises(LayoutError, match="no tile") as caught:
            logical_divide(24, Layout.parse(tiler))
        assert caught.value.witness == lost
    with pytest.raises(LayoutError, match="below 0") as caught:
        logical_divide(24, Layout((2, 2), (1, -2)))
    assert caught.value.witness == (0, 1)
    assert logical_divide(4, Layout((4, 2), (1, 5))) == Layout(((4, 2), 1), ((1, 5), 0))    # nothing of 4 is lost


@pytest.mark.parametrize("split", [logical_divide, zipped_divide, tiled_divide, flat_divide, logical_product])
def test_tilers_that_match_no_modes_are_refused(split: Callable[..., Layout]) -> None:
    layout = Layout((4, 3), (3, 1))
    for tiler in [(2, 3, 1), (), ((2, 2), 3), (2, "3"), 0, 1.5, None if split is composition else "x"]:
        with pytest.raises(LayoutError):
            split(layout, tiler)


def test_composition_by_mode_takes_one_entry_for_every_mode() -> None:
    layout = Layout((12, (4, 8)), (59, (13, 1)))
    assert composition(layout, (Layout(3, 4), 8)) == Layout((3, (4, 2)), (236, (13, 1)))
    assert composition(layout, (None, (2, Layout(2, 4)))) == Layout((12, (2, 2)), (59, (13, 4)))
    with pytest.raises(LayoutError):
        composition(layout, (3,))
    with pytest.raises(LayoutError):
        composition(layout, (3, 4, 5))


HUGE = 2**40


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (lambda: composition(Layout((HUGE, 4), (4, 1)), Layout((1024, 4), (4, HUGE))), Layout((1024, 4), (16, 1))),
        (lambda: composition(Layout((6, HUGE), (HUGE, 1)), HUGE * 6), Layout((6, HUGE), (HUGE, 1))),
        (lambda: complement(Layout((HUGE, 4), (4, 1)), 2**50), Layout(2**8, 2**42)),
        (lambda: right_inverse(Layout((HUGE, 4), (4, 1))), Layout((4, HUGE), (HUGE, 1))),
        (lambda: left_inverse(Layout((HUGE, 4), (1, HUGE + 1))), Layout((HUGE + 1, 4), (1, HUGE))),
        (lambda: logical_divide(HUGE, 2**20), Layout((2**20, 2**20), (1, 2**20))),
        (lambda: logical_product(2**20, 2**20), Layout((2**20, 2**20), (1, 2**20))),
        (lambda: composition(Layout((10, HUGE), (1, 100)), HUGE), 10),             # 10 does not divide
        (lambda: composition(Layout((10, HUGE), (0, 0)), HUGE), Layout(HUGE, 0)),
        (lambda: composition(Layout((3 * 2**20, HUGE), (1, 3)), HUGE), None),
        (lambda: left_inverse(Layout((HUGE, 4), (2, 3))), None),
        (lambda: left_inverse(Layout((2**12, 2**12), (2, 2**13 - 3))), None),
        (lambda: left_inverse(Layout((100, 100), (101, 103))), None),
        (lambda: complement(Layout((2**30, 2**12), (3, 2**31 - 1)), 5), None),
    ],
)
def test_large_layouts_are_decided_by_structure_or_refused_soon(
    question: Callable[[], Layout], answer: Layout | int | None
) -> None:
    began = time.perf_counter()
    outcome = attempt(question)
    assert time.perf_counter() - began < 10
    if isinstance(outcome, Layout):
        assert outcome == answer
    elif answer is None:
        assert outcome.diagnostics[0].slug == "layout-too-large"
    else:
        assert outcome.witness == answer
