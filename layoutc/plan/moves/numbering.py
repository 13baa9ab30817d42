"""How the elements of a tile are numbered on both sides, as layouts that can be printed."""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.layout import Layout, LayoutError, composition, left_inverse
from layoutc.layout.composed import AnyLayout, ComposedLayout
from layoutc.plan.machine import WARP
from layoutc.plan.moves.exchange import Exchange

COLUMN_ORDERS = ("source columns", "destination columns")
UNIT = 2            # bytes of an element of the matrices that a warp loads and stores by columns


@dataclass(frozen=True, slots=True)
class Numbering:
    """``before(thread, item) - least`` numbers what a slot holds, ``after(thread, item) - least`` what it takes."""

    before: AnyLayout
    after: AnyLayout
    least: int


def numbering(exchange: Exchange, order: str) -> Numbering | None:
    """The layouts of one of placement's orders.

    ``position``: by position in the tile. ``source`` and ``destination``: thread by thread as that side holds them,
    the other side by composition with a left inverse; ``source columns`` and ``destination columns``: so that the
    side's warps move them by columns of matrices. None where no layout does that, as with copies.
    """
    if order == "position":
        least = min(map(_least, (exchange.source, exchange.destination)))
        return Numbering(exchange.source, exchange.destination, least)
    from_source = order.startswith("source")
    own, other = exchange.source, exchange.destination
    if not from_source:
        own, other = other, own
    if isinstance(own, ComposedLayout):
        return None
    by_columns = order in COLUMN_ORDERS
    if by_columns and not _has_columns(own, exchange.bytes, from_source):
        return None
    try:
        by_number, numbers = _columns(own, exchange.bytes) if by_columns else _thread_by_thread(own)
        through = composition(left_inverse(by_number), other)
    except LayoutError:
        return None
    if isinstance(through, ComposedLayout):
        return None
    return Numbering(numbers, through, 0) if from_source else Numbering(through, numbers, 0)


def _thread_by_thread(own: Layout) -> tuple[Layout, Layout]:
    """The position of each number, the number of each (thread, item)."""
    return Layout.of((own[1], own[0])), Layout((own[0].size, own[1].size), (own[1].size, 1))


def _has_columns(own: Layout, bytes: int, stores: bool) -> bool:
    """Whether whole warps hold pairs of items of a matrix's elements; of items half as large, to load only."""
    return own[0].size % WARP == 0 and own[1].size % 2 == 0 and bytes in ((UNIT,) if stores else (UNIT, UNIT // 2))


def _columns(own: Layout, bytes: int) -> tuple[Layout, Layout]:
    """The same by columns: a row of 16 bytes has one item of eight lanes, of lane ``4 * column + row``.

    Items of half an element's size lie in pairs, those of two lanes side by side.
    """
    pair, threads, items = UNIT // bytes, own[0].size, own[1].size
    lanes = Layout((pair, 4 // pair, 8, threads // WARP), (1, pair, 4, WARP))
    split = composition(own[0], lanes)
    assert isinstance(split, Layout), "no swizzle stands before a layout's mode"
    part, row, column, warp = split.modes
    by_number = Layout.of((part, column, row, own[1], warp))
    return by_number, Layout((lanes.shape, items), ((1, 8 * pair, pair, WARP * items), WARP))


def _least(layout: AnyLayout) -> int:
    return layout.least if isinstance(layout, Layout) else min(layout.values)
