"""Divides: a layout cut into tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, overload

from layoutc.layout.compose import Operand, Tiler, as_layout, compose, plain_layout
from layoutc.layout.composed import AnyLayout, ComposedLayout
from layoutc.layout.errors import refusal
from layoutc.layout.gaps import complement, first_hole
from layoutc.layout.layout import Layout
from layoutc.layout.tuples import coordinate_of

Split: TypeAlias = "Callable[[Layout, Layout], Layout]"      # gives two modes


@overload
def logical_divide(layout: int | Layout, tiler: Tiler) -> Layout: ...
@overload
def logical_divide(layout: ComposedLayout, tiler: Tiler) -> AnyLayout: ...
def logical_divide(layout: Operand, tiler: Tiler) -> AnyLayout:
    """``composition(A, (B, complement(B, size(A))))``: mode 0 runs inside a tile, mode 1 over the tiles.

    B is a layout of positions in A, or an integer for ``n:1``; every position of A falls into exactly one tile.
    A tiler that does not divide A makes the last tiles stick out, where A continues along its last mode (tiles are
    counted by ceiling division, as in CuTe). A tuple divides mode by mode, None and modes past its end stay.
    Raises LayoutError where a position of A would be in no tile, or the composition is no layout.
    """
    whole = as_layout(layout)
    if isinstance(whole, ComposedLayout):
        if isinstance(tiler, tuple):
            return ComposedLayout(whole.outer, logical_divide(whole.inner, tiler))
        return compose(whole, tiles(plain_layout(tiler, "tiler"), whole.size))
    return by_mode(whole, tiler, divide)


def divide(layout: Layout, tiler: Layout) -> Layout:
    """Tile and rest of one layout by one tiler."""
    result = compose(layout, tiles(tiler, layout.size))
    assert isinstance(result, Layout)
    return result


def tiles(tiler: Layout, count: int) -> Layout:
    """``(B, complement(B, count))``. Raises LayoutError where it misses one of the first ``count`` positions."""
    if tiler.least < 0:
        steps = zip(Layout(tiler.shape).leaves, tiler.leaves, strict=True)
        below = next(step for (_, step), (extent, stride) in steps if extent > 1 and stride < 0)
        raise refusal(
            "layout-divide",
            f"the tiler `{tiler}` has positions below 0",
            witness=coordinate_of(below, tiler.shape),
        )
    hole = first_hole(tiler)
    if hole is not None and hole < count:
        raise refusal(
            "layout-divide",
            f"no tile `{tiler}` would hold position {hole} of {count}",
            witness=hole,
            help="choose strides that divide one another, so that copies of the tile fill its gaps",
        )
    return Layout.of([tiler, complement(tiler, count)])


def by_mode(layout: Layout, tiler: Tiler, split: Split) -> Layout:
    """A divide or product, mode by mode where the tiler is a tuple; None leaves a mode as it is."""
    if tiler is None:
        return layout
    if not isinstance(tiler, tuple):
        return split(layout, plain_layout(tiler, "tiler"))
    modes = matching_modes(layout, tiler)
    parts = [by_mode(mode, entry, split) for mode, entry in zip(modes, tiler, strict=False)]
    return Layout.of([*parts, *modes[len(tiler):]])


def unzipped(layout: Layout, tiler: Tiler, split: Split) -> tuple[Layout, Layout]:
    """What falls to the tiles and what falls to the rest, each gathered over the modes of a tuple."""
    if tiler is None:
        return Layout(1, 0), layout
    if not isinstance(tiler, tuple):
        first, second = split(layout, plain_layout(tiler, "tiler"))
        return first, second
    modes = matching_modes(layout, tiler)
    pairs = [unzipped(mode, entry, split) for mode, entry in zip(modes, tiler, strict=False)]
    rest = [second for _, second in pairs]
    return Layout.of([first for first, _ in pairs]), Layout.of([*rest, *modes[len(tiler):]])


def matching_modes(layout: Layout, tiler: tuple[Tiler, ...]) -> tuple[Layout, ...]:
    """The modes of a layout that a tuple tiles. Raises LayoutError where the tuple has more entries, or none."""
    if not 1 <= len(tiler) <= layout.rank:
        raise refusal(
            "layout-tiler",
            f"a tiler of {len(tiler)} entries does not match the {layout.rank} modes of `{layout}`",
        )
    return layout.modes


def zipped(layout: Operand, tiler: Tiler, split: Split) -> AnyLayout:
    """The two gathered modes of a plain layout, or those of the inner one behind the same maps."""
    whole = as_layout(layout)
    if isinstance(whole, Layout):
        return Layout.of(unzipped(whole, tiler, split))
    if split is divide and not isinstance(tiler, tuple):
        return logical_divide(whole, tiler)
    inner = zipped(whole.inner, tiler, split)
    assert isinstance(inner, Layout)
    return ComposedLayout(whole.outer, inner)


def opened(layout: AnyLayout, *unpack: bool) -> AnyLayout:
    """The modes of a layout, those marked replaced by their own modes."""
    if isinstance(layout, ComposedLayout):
        inner = opened(layout.inner, *unpack)
        assert isinstance(inner, Layout)
        return ComposedLayout(layout.outer, inner)
    parts: list[Layout] = []
    for mode, marked in zip(layout.modes, unpack, strict=True):
        parts += mode.modes if marked else [mode]
    return Layout.of(parts)


@overload
def zipped_divide(layout: int | Layout, tiler: Tiler) -> Layout: ...
@overload
def zipped_divide(layout: ComposedLayout, tiler: Tiler) -> AnyLayout: ...
def zipped_divide(layout: Operand, tiler: Tiler) -> AnyLayout:
    """As logical_divide, gathered to ``((tile0, tile1, …), (rest0, rest1, …))``."""
    return zipped(layout, tiler, divide)


@overload
def tiled_divide(layout: int | Layout, tiler: Tiler) -> Layout: ...
@overload
def tiled_divide(layout: ComposedLayout, tiler: Tiler) -> AnyLayout: ...
def tiled_divide(layout: Operand, tiler: Tiler) -> AnyLayout:
    """As logical_divide, gathered to ``((tile0, tile1, …), rest0, rest1, …)``."""
    return opened(zipped(layout, tiler, divide), False, True)


@overload
def flat_divide(layout: int | Layout, tiler: Tiler) -> Layout: ...
@overload
def flat_divide(layout: ComposedLayout, tiler: Tiler) -> AnyLayout: ...
def flat_divide(layout: Operand, tiler: Tiler) -> AnyLayout:
    """As logical_divide, gathered to ``(tile0, tile1, …, rest0, rest1, …)``."""
    return opened(zipped(layout, tiler, divide), True, True)
