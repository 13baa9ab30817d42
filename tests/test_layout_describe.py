"""What `layoutc layout` says, and the table of functions that the language calls by name."""

from __future__ import annotations

import inspect

import pytest
from hypothesis import given

import layoutc.layout
from layoutc.layout import Layout, LayoutError, composition, swizzle
from layoutc.layout.describe import describe
from layoutc.layout.functions import FUNCTIONS
from tests.layout_support import layouts, unhurried, values_of


@unhurried
@given(layouts())
def test_properties_are_those_of_the_values(layout: Layout) -> None:
    said, values = describe(layout), values_of(layout)
    image = sorted(set(values))
    assert (said.layout, said.size, said.cosize) == (str(layout), len(values), image[-1] - image[0] + 1)
    assert (said.rank, said.depth) == (layout.rank, layout.depth)
    assert said.values == values
    assert said.image == tuple(image)
    assert said.injective == (len(image) == len(values))
    assert said.bijective == (sorted(values) == list(range(len(values))))
    assert said.contiguous == (image == list(range(image[0], image[-1] + 1)))
    assert (said.table is None) == (layout.rank != 2)


@pytest.mark.parametrize("extents", ["64:1", "(8,8):(8,1)", "(3,8):(8,1)", "(2,8):(64,1)", "(4,4):(0,1)"])
def test_swizzled_layouts_are_described_like_any(extents: str) -> None:
    swizzled = composition(swizzle(3, 0, 3), Layout.parse(extents))
    said, image = describe(swizzled), sorted(set(swizzled.values))
    assert said.image == tuple(image)
    assert said.injective == (len(image) == swizzled.size)
    assert said.contiguous == (image == list(range(image[0], image[-1] + 1)))
    assert said.bijective == (image == list(range(swizzled.size)))


def test_the_table_has_mode_0_down_and_mode_1_across() -> None:
    assert describe(Layout((4, 3), (3, 1))).table == ((0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11))
    assert describe(Layout(((2, 2), 2), ((4, 1), 2))).table == ((0, 2), (4, 6), (1, 3), (5, 7))
    assert describe(8).values == tuple(range(8))


def test_large_layouts_are_described_by_structure() -> None:
    rows = describe(Layout((2**30, 2**30), (2**30, 1)))
    assert (rows.injective, rows.bijective, rows.contiguous) == (True, True, True)
    assert (rows.values, rows.image, rows.table) == (None, None, None)
    repeated = describe(Layout((2**40, 2), (1, 1)))
    assert (repeated.injective, repeated.bijective, repeated.contiguous) == (False, False, True)
    holes = describe(Layout((2**40, 2), (2, 2**50)))
    assert (holes.injective, holes.bijective, holes.contiguous) == (True, False, False)
    open_ = describe(composition(swizzle(3, 0, 3), Layout(3**30, 1)))
    assert (open_.cosize, open_.injective, open_.contiguous) == (None, None, None)
    assert describe(Layout((2**40, 2**10), (1023, 2**41 + 1))).injective is None


def test_what_is_no_layout_is_not_described() -> None:
    for other in (swizzle(1, 0, 1), (4, 3), "4:1", None):
        with pytest.raises(LayoutError):
            describe(other)


def test_the_language_knows_every_public_function_and_no_other() -> None:
    public = {name for name in layoutc.layout.__all__ if name not in ("Layout", "LayoutError")}
    assert set(FUNCTIONS) == public
    for name, function in FUNCTIONS.items():
        assert function.call is getattr(layoutc.layout, name)
        if not function.endless:
            parameters = inspect.signature(function.call).parameters.values()
            assert len(parameters) == function.most
            assert sum(p.default is inspect.Parameter.empty for p in parameters) == function.fewest
    assert (FUNCTIONS["row_major"].fewest, FUNCTIONS["row_major"].most) == (1, None)
