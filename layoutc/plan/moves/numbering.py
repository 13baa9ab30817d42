"""How the elements of a tile are numbered on both sides, as layouts that can be printed."""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.layout import Layout, LayoutError, composition, left_inverse
from layoutc.layout.composed import AnyLayout, ComposedLayout
from layoutc.plan.moves.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Numbering:
    """``before(thread, item) - least`` numbers what a slot holds, ``after(thread, item) - least`` what it takes."""

    before: AnyLayout
    after: AnyLayout
    least: int


def numbering(exchange: Exchange, order: str) -> Numbering | None:
    """The layouts of one of placement's three orders.

    ``position``: by position in the tile. ``source`` and ``destination``: thread by thread as that side holds them,
    the other side by composition with a left inverse; None where no layout does that, as with copies.
    """
    if order == "position":
        least = min(map(_least, (exchange.source, exchange.destination)))
        return Numbering(exchange.source, exchange.destination, least)
    own, other = exchange.source, exchange.destination
    if order == "destination":
        own, other = other, own
    if isinstance(own, ComposedLayout):
        return None
    try:
        items_first = Layout.of((own[1], own[0]))
        through = composition(left_inverse(items_first), other)
    except LayoutError:
        return None
    if isinstance(through, ComposedLayout):
        return None
    by_thread = Layout((own[0].size, own[1].size), (own[1].size, 1))
    return Numbering(by_thread, through, 0) if order == "source" else Numbering(through, by_thread, 0)


def _least(layout: AnyLayout) -> int:
    return layout.least if isinstance(layout, Layout) else min(layout.values)
