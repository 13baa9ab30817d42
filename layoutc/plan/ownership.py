"""Who makes which output of a tile: places as expressions of a thread and an item."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from layoutc.index import Expr, Int, Name
from layoutc.layout import Layout


@dataclass(frozen=True, slots=True)
class Ownership:
    """Per index of the tile the place that item ``item`` of thread ``thread`` makes."""

    threads: int
    items: int
    layout: str                     # shape:stride, or a word for what is none
    places: tuple[Expr, ...]        # over `thread` and `item`; some may lie outside the tile
    partial: bool                   # places outside the tile exist and are masked
    vector: int = 1                 # items that lie side by side, in whole runs
    map: Layout | None = None       # (thread, item) -> row-major position, where there is one

    def at_first_item(self) -> tuple[Expr, ...]:
        """The places of item 0."""
        return tuple(p.over({"item": Int(0)}) for p in self.places)


def thread_and_item(threads: int, items: int) -> tuple[Expr, Expr]:
    """The two variables with their bounds; a lone thread or item is the number 0."""
    return (Name("thread", 0, threads - 1) if threads > 1 else Int(0),
            Name("item", 0, items - 1) if items > 1 else Int(0))


def unravel(position: Expr, extents: tuple[int, ...]) -> tuple[Expr, ...]:
    """Coordinates of a row-major position; the first is not reduced, so it shows what lies past the end."""
    out = []
    for number in range(len(extents)):
        after = prod(extents[number + 1:])
        coordinate = position // after
        out.append(coordinate if number == 0 else coordinate % extents[number])
    return tuple(out)


def striped(tile: tuple[int, ...], threads: int) -> Ownership:
    """Neighbouring threads make neighbouring outputs, item after item."""
    count = prod(tile)
    items = -(-count // threads)
    thread, item = thread_and_item(threads, items)
    layout = Layout((threads, items), (1, threads))
    return Ownership(threads, items, str(layout), unravel(item * threads + thread, tile), threads * items != count,
                     map=layout)


def vectored(tile: tuple[int, ...], threads: int, vector: int) -> Ownership:
    """Each thread makes runs of ``vector`` neighbouring outputs; a whole number of rounds covers the tile."""
    items = prod(tile) // threads
    thread, item = thread_and_item(threads, items)
    runs = items // vector
    layout = (Layout((threads, (vector, runs)), (vector, (1, threads * vector))) if runs > 1
              else Layout((threads, vector), (vector, 1)))
    position = item // vector * (threads * vector) + thread * vector + item % vector
    return Ownership(threads, items, str(layout), unravel(position, tile), False, vector, layout)


def by_layout(tile: tuple[int, ...], layout: Layout) -> Ownership:
    """As a (thread, item) layout says: a bijection onto the tile's row-major positions."""
    threads, items = layout[0].size, layout[1].size
    thread, item = thread_and_item(threads, items)
    position = _image(layout[0], thread) + _image(layout[1], item)
    return Ownership(threads, items, str(layout), unravel(position, tile), False, map=layout)


def _image(mode: Layout, at: Expr) -> Expr:
    """A mode's value at a colexicographic coordinate."""
    out: Expr = Int(0)
    before = 1
    for number, (extent, stride) in enumerate(mode.leaves):
        coordinate = at // before
        out = out + (coordinate if number == len(mode.leaves) - 1 else coordinate % extent) * stride
        before *= extent
    return out


def over_box(tile: tuple[int, ...], box: tuple[int, ...], low: tuple[int, ...]) -> Ownership:
    """One thread for each element of an input's box; ``low``: the box's overhang below the tile, per index."""
    threads = prod(box)
    thread, _ = thread_and_item(threads, 1)
    places = tuple(p - overhang for p, overhang in zip(unravel(thread, box), low, strict=True))
    return Ownership(threads, 1, f"over a box of {' x '.join(map(str, box))}", places, box != tile)
