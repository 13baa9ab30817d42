"""Swizzles: maps on integers, exact however they are composed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pycute
import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutc.layout import (
    Layout,
    LayoutError,
    coalesce,
    complement,
    composition,
    cosize,
    depth,
    flat_divide,
    left_inverse,
    logical_divide,
    logical_product,
    rank,
    right_inverse,
    size,
    swizzle,
    tiled_divide,
    zipped_divide,
)
from layoutc.layout.composed import ComposedLayout
from layoutc.layout.swizzles import Swizzle
from tests.layout_support import attempt, layouts, unhurried, value, values_of

L = Layout.parse


@st.composite
def swizzles(draw: st.DrawFn) -> Swizzle:
    bits = draw(st.integers(0, 3))
    shift = draw(st.integers(bits, 4)) * draw(st.sampled_from([-1, 1]))
    return swizzle(bits, draw(st.integers(0, 3)), shift)


def by_definition(bits: int, base: int, shift: int, number: int) -> int:
    """CuTe's picture: bits Y, |shift| away from bits Z, are exclusive-ored into these one by one."""
    low, high = base, base + abs(shift)
    taken, changed = (high, low) if shift >= 0 else (low, high)
    for bit in range(bits):
        if number >> (taken + bit) & 1:
            number ^= 1 << (changed + bit)
    return number


@pytest.mark.parametrize("parameters", [(3, 0, 3), (2, 4, 3), (1, 0, -1), (3, 4, -4), (0, 0, 0), (0, 5, 2), (2, 1, 5)])
def test_a_swizzle_is_cute_s(parameters: tuple[int, int, int]) -> None:
    own = swizzle(*parameters)
    theirs = pycute.Swizzle(*parameters) if parameters[0] else None     # pycute recurses without end on 0 bits
    for number in [*range(2048), 2**40 + 123, 2**62 - 1]:
        assert own(number) == by_definition(*parameters, number)
        assert theirs is None or own(number) == theirs(number)
        assert own(own(number)) == number


@pytest.mark.parametrize("parameters", [(3, 0, 2), (-1, 0, 1), (2, -1, 2), (40, 0, 40), ("3", 0, 3), (1.0, 0, 1)])
def test_what_is_no_swizzle_is_refused(parameters: tuple[Any, ...]) -> None:
    with pytest.raises(LayoutError) as caught:
        swizzle(*parameters)
    assert caught.value.diagnostics[0].slug == "layout-swizzle"


@unhurried
@given(st.lists(swizzles(), min_size=1, max_size=5))
def test_compositions_of_swizzles_are_exact_and_equal_by_their_matrix(factors: list[Swizzle]) -> None:
    whole = factors[0]
    for factor in factors[1:]:
        whole = composition(whole, factor)
    for number in [*range(256), *(1 << bit for bit in range(8, 12)), 0x5A5A5, 2**60 + 77]:
        expected = number
        for factor in reversed(factors):
            expected = factor(expected)
        assert whole(number) == expected
        assert whole.inverse(expected) == number
        assert expected // whole.block == number // whole.block
    assert composition(whole, whole.inverse) == swizzle(0, 0, 0)
    assert hash(composition(whole, composition(swizzle(1, 0, 1), swizzle(1, 0, 1)))) == hash(whole)


def test_equal_maps_are_equal_whatever_their_factors() -> None:
    both = swizzle(2, 0, 2)
    apart = composition(swizzle(1, 0, 2), swizzle(1, 1, 2))
    assert both == apart
    assert hash(both) == hash(apart)
    assert swizzle(1, 0, 1) != swizzle(1, 0, -1)
    assert swizzle(1, 0, 1) != 1


@unhurried
@given(swizzles(), layouts(least=0))
def test_a_swizzled_layout_is_exact_and_used_like_any(map_: Swizzle, layout: Layout) -> None:
    swizzled = composition(map_, layout)
    truth = [map_(v) for v in values_of(layout)]
    assert [swizzled(i) for i in range(layout.size)] == list(swizzled.values) == truth
    assert list(swizzled.image) == sorted(set(truth))
    assert (size(swizzled), cosize(swizzled)) == (layout.size, max(truth) - min(truth) + 1)
    assert coalesce(swizzled).values == tuple(truth)
    assert swizzled == composition(map_, layout)
    assert hash(swizzled) == hash(composition(map_, layout))
    if isinstance(swizzled, ComposedLayout):
        assert swizzled.shape == layout.shape
        assert (rank(swizzled), depth(swizzled)) == (layout.rank, layout.depth)
        assert swizzled != layout
        assert layout != swizzled
    for k, mode in enumerate(layout.modes):
        if layout.rank > 1:
            assert [swizzled[k](i) for i in range(mode.size)] == [map_(v) for v in values_of(mode)]


@unhurried
@given(swizzles(), layouts(least=0), layouts(least=0))
def test_a_swizzled_layout_composes_on_the_right_with_anything(map_: Swizzle, left: Layout, right: Layout) -> None:
    if right.greatest >= left.size:
        return          # past its size a plain layout that has the swizzled values may go on otherwise
    swizzled = composition(map_, left)
    composed = attempt(composition, swizzled, right)
    if isinstance(composed, LayoutError):
        assert isinstance(swizzled, Layout)
    else:
        assert [composed(i) for i in range(right.size)] == [map_(value(left, p)) for p in values_of(right)]


@unhurried
@given(layouts(least=0), swizzles())
def test_a_layout_after_a_swizzle_has_the_layout_s_size(left: Layout, map_: Swizzle) -> None:
    composed = composition(left, map_)
    assert size(composed) == left.size
    assert [composed(i) for i in range(left.size)] == [value(left, map_(i)) for i in range(left.size)]


@unhurried
@given(layouts(least=0), swizzles(), layouts(least=0))
def test_a_layout_after_a_swizzled_layout_is_exact(left: Layout, map_: Swizzle, right: Layout) -> None:
    swizzled = composition(map_, right)
    composed = attempt(composition, left, swizzled)
    if isinstance(composed, LayoutError):
        assert isinstance(swizzled, Layout)
    else:
        assert [composed(i) for i in range(right.size)] == [value(left, map_(p)) for p in values_of(right)]


@unhurried
@given(swizzles(), layouts(least=0))
def test_inverses_of_swizzled_layouts(map_: Swizzle, layout: Layout) -> None:
    swizzled = composition(map_, layout)
    inverse = right_inverse(swizzled)
    assert [swizzled(inverse(i)) for i in range(inverse.size)] == list(range(inverse.size))
    back = attempt(left_inverse, swizzled) if isinstance(swizzled, Layout) else swizzled
    if isinstance(back, ComposedLayout) and not isinstance(attempt(left_inverse, layout), LayoutError):
        way_back = left_inverse(back)
        assert [way_back(v) for v in back.values] == list(range(layout.size))


def test_a_swizzle_that_adds_up_leaves_a_plain_layout() -> None:
    assert composition(swizzle(3, 4, 3), L("16:1")) == L("16:1")
    assert composition(swizzle(2, 0, 3), L("4:8")) == L("4:9")
    assert isinstance(composition(swizzle(2, 0, 3), L("4:8")), Layout)
    assert isinstance(composition(swizzle(2, 0, 3), L("32:1")), ComposedLayout)


def test_equality_across_kinds_is_that_of_the_functions() -> None:
    twice = composition(swizzle(3, 0, 3), composition(swizzle(3, 0, 3), L("(8,8):(8,1)")))
    assert twice == L("(8,8):(8,1)")
    one = composition(swizzle(2, 0, 2), L("16:1"))
    other = composition(composition(swizzle(1, 0, 2), swizzle(1, 1, 2)), L("16:1"))
    assert one == other
    assert hash(one) == hash(other)
    assert one != composition(swizzle(2, 0, 2), L("(4,4):(1,4)"))
    assert one != composition(swizzle(1, 0, 2), L("16:1"))
    assert one != 16


def test_the_128_byte_swizzle_has_no_two_rows_in_one_bank_group() -> None:
    tile = composition(swizzle(3, 3, 3), L("(8,64):(64,1)"))       # 8 rows of 64 halves, 8 halves to 16 bytes
    for chunk in range(0, 64, 8):
        assert {tile(row, chunk) // 8 % 8 for row in range(8)} == set(range(8))
    assert tile.image == tuple(range(512))


def test_divides_and_products_reach_through_a_swizzle() -> None:
    layout, map_ = L("(8,8):(8,1)"), swizzle(3, 0, 3)
    swizzled = composition(map_, layout)
    for split in (logical_divide, zipped_divide, tiled_divide, flat_divide, logical_product):
        result = split(swizzled, (2, 4))
        assert result.values == tuple(map_(v) for v in split(layout, (2, 4)).values)
    for tiler in (8, L("(2,2):(1,8)")):
        assert logical_divide(swizzled, tiler).values == tuple(map_(v) for v in logical_divide(layout, tiler).values)


def test_the_text_of_a_composed_layout_names_it() -> None:
    assert str(composition(swizzle(3, 0, 3), L("(8,8):(8,1)"))) == "composition(swizzle(3,0,3), (8,8):(8,1))"
    both = composition(composition(swizzle(3, 0, 3), swizzle(1, 2, 1)), L("64:1"))
    assert str(both) == "composition(composition(swizzle(3,0,3), swizzle(1,2,1)), 64:1)"
    assert str(swizzle(0, 0, 0)) == "swizzle(0,0,0)"


def test_what_needs_shape_and_stride_refuses_other_operands() -> None:
    swizzled = composition(swizzle(3, 0, 3), L("64:1"))
    refused: list[tuple[Callable[..., Any], tuple[object, ...]]] = [
        (complement, (swizzled, 24)), (logical_divide, (L("64:1"), swizzled)), (size, (swizzle(3, 0, 3),)),
        (coalesce, (swizzle(1, 0, 1),)), (composition, ("4:1", swizzled)), (composition, (swizzled, (4, 4))),
    ]
    for operation, operands in refused:
        assert isinstance(attempt(operation, *operands), LayoutError)


def test_large_swizzled_layouts_are_decided_by_their_bits() -> None:
    huge = composition(swizzle(3, 4, 3), Layout((2**20, 2**20), (2**20, 1)))
    assert huge.cosize == 2**40
    assert huge == composition(composition(swizzle(2, 4, 3), swizzle(1, 6, 3)), Layout((2**20, 2**20), (2**20, 1)))
    assert huge != composition(swizzle(2, 4, 3), Layout((2**20, 2**20), (2**20, 1)))
    odd = composition(swizzle(3, 4, 3), Layout(3**20, 1))
    assert odd != composition(swizzle(3, 4, 4), Layout(3**20, 1))
    with pytest.raises(LayoutError, match="too large"):
        odd.cosize  # noqa: B018
    with pytest.raises(LayoutError, match="too large"):
        odd.values  # noqa: B018


def test_values_beyond_64_bits_are_refused() -> None:
    for inner in (Layout(8, 2**20), Layout(2**22, 2**20)):
        with pytest.raises(LayoutError) as caught:
            composition(Layout((4, 4), (1, 2**50)), composition(swizzle(1, 0, 20), inner))
        assert caught.value.diagnostics[0].slug == "layout-overflow"
    kept = composition(Layout((2**30, 2**30), (2**30, 1)), composition(swizzle(3, 0, 3), Layout(2**40, 1)))
    assert kept(2**35 + 8) == 9 * 2**30 + 2**5
    with pytest.raises(LayoutError, match="too large"):
        composition(Layout((3, 2**30), (-1, 3)), composition(swizzle(3, 0, 3), Layout(2**40, 1)))


def test_a_chain_that_asks_a_layout_below_zero_is_refused_there() -> None:
    with pytest.raises(LayoutError) as caught:
        composition(L("(4,3):(3,1)"), composition(swizzle(1, 0, 1), L("(3,2):(1,-1)")))
    assert caught.value.witness == (0, 1)
    flipped = composition(L("12:3"), composition(swizzle(1, 0, 1), L("(3,2):(1,-1)")))
    draw = random.Random(1)
    for _ in range(10):
        i, j = draw.randrange(3), draw.randrange(2)
        assert flipped(i, j) == 3 * swizzle(1, 0, 1)(i - j)
