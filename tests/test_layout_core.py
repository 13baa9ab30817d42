"""What a layout is: its text, its coordinates, its equality, and what it refuses to be."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import layoutc.layout
from layoutc.diagnostics import LayoutcError
from layoutc.layout import Layout, LayoutError, coalesce, cosize, depth, rank, size
from layoutc.layout.tuples import coordinate_of
from tests.layout_support import Nest, attempt, colex, flat, layouts, nested, table, unhurried, value, values_of


def slug(error: LayoutError) -> str:
    (diagnostic,) = error.diagnostics
    return diagnostic.slug


def test_the_public_names_are_those_promised() -> None:
    promised = """Layout LayoutError coalesce composition complement right_inverse left_inverse logical_divide
        zipped_divide tiled_divide flat_divide logical_product zipped_product tiled_product blocked_product
        raked_product flat_product swizzle row_major col_major blocked striped warp_striped mma_a mma_b mma_c
        size cosize rank depth"""
    assert sorted(layoutc.layout.__all__) == sorted(promised.split())


def test_importing_the_algebra_brings_no_numpy() -> None:
    probe = "import sys, layoutc.layout; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout == "False\n"


@unhurried
@given(layouts())
def test_a_layout_is_its_definition(layout: Layout) -> None:
    values = values_of(layout)
    assert layout.values == values
    assert layout.image == tuple(sorted(set(values)))
    assert layout.size == size(layout) == len(values)
    assert layout.cosize == cosize(layout) == max(values) - min(values) + 1


@unhurried
@given(layouts(), st.data())
def test_every_way_to_write_a_coordinate_names_the_same_value(layout: Layout, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, layout.size - 1))
    nested = coordinate_of(index, layout.shape)
    assert colex(nested, layout.shape) == index
    assert layout(index) == layout(nested) == values_of(layout)[index]
    if isinstance(nested, tuple):
        by_mode = [colex(part, mode.shape) for part, mode in zip(nested, layout.modes, strict=True)]
        assert layout(*nested) == layout(*by_mode) == layout(index)
        assert layout(index) == sum(mode(i) for mode, i in zip(layout, by_mode, strict=True))


@unhurried
@given(layouts(), st.integers(0, 1000))
def test_past_its_size_a_layout_runs_on_along_the_last_mode(layout: Layout, index: int) -> None:
    assert layout(index) == value(layout, index)


@unhurried
@given(layouts())
def test_a_layout_prints_as_it_is_read(layout: Layout) -> None:
    assert Layout.parse(str(layout)) == layout
    assert eval(repr(layout), {"Layout": Layout}) == layout
    assert pickle.loads(pickle.dumps(layout)) == copy.deepcopy(layout) == layout


@unhurried
@given(layouts(), layouts())
def test_equal_layouts_are_those_of_one_shape_that_agree_everywhere(a: Layout, b: Layout) -> None:
    assert (a == b) == (a.shape == b.shape and values_of(a) == values_of(b))
    again = Layout(a.shape, nested(a.shape, [d if n > 1 else 99 for n, d in a.leaves]))
    assert again == a
    assert hash(again) == hash(a)


@unhurried
@given(layouts())
def test_coalescing_keeps_the_function_in_the_fewest_modes(layout: Layout) -> None:
    merged = coalesce(layout)
    assert values_of(merged) == values_of(layout)
    assert merged.depth <= 1
    assert coalesce(merged) == merged
    extents = flat(merged.shape)
    assert 1 not in extents or extents == [1]
    for (n, d), (_, following) in zip(merged.leaves, merged.leaves[1:], strict=False):
        assert following != n * d


@pytest.mark.parametrize(
    ("text", "shape", "stride"),
    [
        ("(4,3):(3,1)", (4, 3), (3, 1)),
        ("8", 8, 1),
        (" ( ( 2 , 2 ) , 3 ) : ( (1,\t4) , -2 ) ", ((2, 2), 3), ((1, 4), -2)),
        ("4:-1", 4, -1),
        ("(4):(1)", 4, 1),
        ("(2,(3)):(0,(7))", (2, 3), (0, 7)),
        (f"1:{2**63 - 1}", 1, 2**63 - 1),
    ],
)
def test_literals_are_read(text: str, shape: Nest, stride: Nest) -> None:
    layout = Layout.parse(text)
    assert (layout.shape, layout.stride) == (shape, stride)


@pytest.mark.parametrize(
    ("text", "code", "start", "end"),
    [
        ("", "layout-text", 0, 0),
        ("(4,3)", "layout-text", 5, 5),
        ("(4,3):", "layout-text", 6, 6),
        ("(4,3):(1,x)", "layout-text", 9, 10),
        ("(4,3):(1,2", "layout-text", 10, 10),
        ("(4,,3):(1,2)", "layout-text", 3, 4),
        ("()", "layout-text", 1, 2),
        ("4:1 2", "layout-text", 4, 5),
        ("4:1.5", "layout-text", 3, 4),
        ("9223372036854775808:1", "layout-text", 0, 19),
        ("9" * 5000, "layout-text", 0, 5000),
        ("(" * 300, "layout-text", 200, 201),
        ("(4,0):(1,4)", "layout-shape", 0, 11),
        ("(4,3):1", "layout-shape", 0, 7),
        ("(4,(3,2)):((1,4),2)", "layout-shape", 0, 19),
        ("(4294967296,4294967296):(0,0)", "layout-overflow", 0, 29),
        ("3:9223372036854775807", "layout-overflow", 0, 21),
    ],
)
def test_other_texts_are_refused_where_they_go_wrong(text: str, code: str, start: int, end: int) -> None:
    with pytest.raises(LayoutError) as caught:
        Layout.parse(text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.source is not None
    assert diagnostic.source.text == text
    assert diagnostic.span is not None
    assert (diagnostic.slug, diagnostic.span.start, diagnostic.span.end) == (code, start, end)


@unhurried
@given(st.text("(),:-0123456789 x", max_size=30))
def test_no_text_is_read_but_to_a_layout_or_a_refusal(text: str) -> None:
    outcome = attempt(Layout.parse, text)
    if isinstance(outcome, LayoutError):
        assert outcome.diagnostics[0].span is not None
    else:
        assert Layout.parse(str(outcome)) == outcome


@pytest.mark.parametrize(
    ("shape", "stride", "code"),
    [
        ((4, 3), (1,), "layout-shape"), (4, (1, 2), "layout-shape"), ((), (), "layout-shape"),
        ("43", "31", "layout-shape"), (4.0, 1, "layout-shape"), (True, 1, "layout-shape"), (-1, 1, "layout-shape"),
        (2**63, 1, "layout-overflow"), (2, -(2**63) - 1, "layout-overflow"), (3, -(2**63), "layout-overflow"),
    ],
)
def test_what_is_no_layout_is_refused(shape: Any, stride: Any, code: str) -> None:
    with pytest.raises(LayoutError) as caught:
        Layout(shape, stride)
    assert slug(caught.value) == code
    assert isinstance(caught.value, LayoutcError)
    assert isinstance(caught.value, ValueError)


def test_a_shape_nested_without_end_is_refused() -> None:
    shape: Nest = 1
    for _ in range(5000):
        shape = (shape, 1)
    with pytest.raises(LayoutError, match="nested too deeply"):
        Layout(shape)


def test_without_a_stride_a_layout_is_compact_as_in_cute() -> None:
    assert Layout((4, (2, 3))) == Layout((4, (2, 3)), (1, (4, 8)))
    assert Layout(np.zeros((2, 5)).shape) == Layout((2, 5), (1, 2))
    assert Layout(np.int64(4), np.int8(2)) == Layout(4, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize("coordinate", [(1, 2, 3), ((1, 2), 0), ("1",), (None,), (1.0, 0), (-1,), (1, (0, 0))])
def test_what_is_no_coordinate_is_refused(coordinate: tuple[object, ...]) -> None:
    with pytest.raises(LayoutError) as caught:
        Layout((4, 3), (3, 1))(*coordinate)
    assert slug(caught.value) == "layout-coordinate"


def test_below_zero_only_one_mode_is_defined() -> None:
    assert Layout(4, 3)(-2) == -6
    assert Layout((4, 3), (1, 4))(-5) == -5             # coalesces to 12:1
    assert Layout((4, 3), (3, 1))(-1, 0) == -3          # each mode by itself
    with pytest.raises(LayoutError):
        Layout((4, 3), (3, 1))(-1)


def test_modes_and_measures() -> None:
    layout = Layout(((2, 2), 3), ((1, 4), -2))
    assert layout[0] == Layout((2, 2), (1, 4))
    assert layout[1] == layout[-1] == Layout(3, -2)
    assert list(layout) == [layout[0], layout[1]]
    assert Layout(4, 2)[0] == Layout(4, 2)
    assert (layout.rank, layout.depth, rank(layout), depth(layout)) == (2, 2, 2, 2)
    assert (rank(8), depth(8), size(8), cosize(8)) == (1, 0, 8, 8)
    assert cosize(Layout(4, -1)) == 4
    for k in (2, -3, 1.5):
        with pytest.raises(LayoutError):
            layout[k]  # type: ignore[index]


def test_a_layout_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Layout(4, 1).shape = 5  # type: ignore[misc]


def test_large_layouts_are_measured_and_not_listed() -> None:
    huge = Layout((2**30, 2**30), (2**30, -1))
    assert (huge.size, huge.cosize, huge(5, 7), huge(2**30)) == (2**60, 2**60, 5 * 2**30 - 7, -1)
    for listing in ("values", "image"):
        with pytest.raises(LayoutError) as caught:
            getattr(huge, listing)
        assert slug(caught.value) == "layout-too-large"


def test_the_definition_used_here_is_the_textbook_one() -> None:
    assert table((4, 3), (3, 1)) == (0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11)
