"""Divides: a layout cut into tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, overload

from layoutc.layout.compose import Operand, Tiler, as_layout, compose_layouts, plain_layout
from layoutc.layout.composed import AnyLayout, ComposedLayout
from layoutc.layout.errors import refusal
from layoutc.layout.gaps import complement, first_hole
from layoutc.layout.layout import Layout
from layoutc.layout.tuples import coordinate_of

Split: TypeAlias = "Callable[[Layout, Layout], tuple[Layout, Layout]]"      # what each tile holds, and the rest
Gather: TypeAlias = "Callable[[Parts], Layout]"


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
        return ComposedLayout(whole.outer, by_mode(whole.inner, tiler, divide))
    return by_mode(whole, tiler, divide)


def divide(layout: Layout, tiler: Layout) -> tuple[Layout, Layout]:
    """Tile and rest of one layout by one tiler."""
    tile, rest = compose_layouts(layout, tiles(tiler, layout.size))
    return tile, rest


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
        return Layout.of(split(layout, plain_layout(tiler, "tiler")))
    modes = matching_modes(layout, tiler)
    parts = [by_mode(mode, entry, split) for mode, entry in zip(modes, tiler, strict=False)]
    return Layout.of([*parts, *modes[len(tiler):]])


@dataclass(frozen=True, slots=True)
class Parts:
    """What falls to the tiles and what to the rest, mode by mode of the tiler."""

    tiles: tuple[Layout, ...]
    rests: tuple[Layout, ...]
    by_mode: bool                   # of a tuple; else one tile and one rest


def unzipped(layout: Layout, tiler: Tiler, split: Split) -> Parts:
    """A divide or product with the parts of each mode held apart."""
    if tiler is None:
        return Parts((Layout(1, 0),), (layout,), False)
    if not isinstance(tiler, tuple):
        tile, rest = split(layout, plain_layout(tiler, "tiler"))
        return Parts((tile,), (rest,), False)
    modes = matching_modes(layout, tiler)
    parts = [unzipped(mode, entry, split) for mode, entry in zip(modes, tiler, strict=False)]
    rests = [Layout.of(part.rests) for part in parts]
    return Parts(tuple(Layout.of(part.tiles) for part in parts), (*rests, *modes[len(tiler):]), True)


def matching_modes(layout: Layout, tiler: tuple[Tiler, ...]) -> tuple[Layout, ...]:
    """The modes of a layout that a tuple tiles. Raises LayoutError where the tuple has more entries, or none."""
    if not 1 <= len(tiler) <= layout.rank:
        raise refusal(
            "layout-tiler",
            f"a tiler of {len(tiler)} entries does not match the {layout.rank} modes of `{layout}`",
        )
    return layout.modes


def gathered(layout: Operand, tiler: Tiler, split: Split, gather: Gather) -> AnyLayout:
    """The gathered parts of a plain layout, or those of the inner one behind the same maps."""
    whole = as_layout(layout)
    if isinstance(whole, ComposedLayout):
        return ComposedLayout(whole.outer, gather(unzipped(whole.inner, tiler, split)))
    return gather(unzipped(whole, tiler, split))


def zipped(parts: Parts) -> Layout:
    """``((tile0, tile1, …), (rest0, rest1, …))``."""
    return Layout.of([Layout.of(parts.tiles), Layout.of(parts.rests)])


def tiled(parts: Parts) -> Layout:
    """``((tile0, tile1, …), rest0, rest1, …)``; of a single tiler the rest's own modes."""
    return Layout.of([Layout.of(parts.tiles), *(parts.rests if parts.by_mode else parts.rests[0].modes)])


def flat(parts: Parts) -> Layout:
    """``(tile0, tile1, …, rest0, rest1, …)``; of a single tiler the own modes of tile and rest."""
    if parts.by_mode:
        return Layout.of([*parts.tiles, *parts.rests])
    return Layout.of([*parts.tiles[0].modes, *parts.rests[0].modes])


@overload
def zipped_divide(layout: int | Layout, tiler: Tiler) -> Layout: ...
@overload
def zipped_divide(layout: ComposedLayout, tiler: Tiler) -> AnyLayout: ...
def zipped_divide(layout: Operand, tiler: Tiler) -> AnyLayout:
    """As logical_divide, gathered to ``((tile0, tile1, …), (rest0, rest1, …))``."""
    return gathered(layout, tiler, divide, zipped)


@overload
def tiled_divide(layout: int | Layout, tiler: Tiler) -> Layout: ...
@overload
def tiled_divide(layout: ComposedLayout, tiler: Tiler) -> AnyLayout: ...
def tiled_divide(layout: Operand, tiler: Tiler) -> AnyLayout:
    """As logical_divide, gathered to ``((tile0, tile1, …), rest0, rest1, …)``."""
    return gathered(layout, tiler, divide, tiled)


@overload
def flat_divide(layout: int | Layout, tiler: Tiler) -> Layout: ...
@overload
def flat_divide(layout: ComposedLayout, tiler: Tiler) -> AnyLayout: ...
def flat_divide(layout: Operand, tiler: Tiler) -> AnyLayout:
    """As logical_divide, gathered to ``(tile0, tile1, …, rest0, rest1, …)``."""
    return gathered(layout, tiler, divide, flat)
