"""The NumPy meaning of a redistribution, and which answers of a run are right.

Values travel by way of the tile: each source item is written to a position, each destination item read from one.
In an exchange the layouts say both; in a scatter the ranks say where to write, in a gather what to read.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.reference.numbers import stored_dtype
from layoutc.resolve.program import Redistribute
from layoutc.resolve.tiles import bind_tiles

Array = NDArray[Any]
Positions = NDArray[np.int64]

NOWHERE = -1        # the number of a place outside the tile


def evaluate_redistribution(r: Redistribute, v: Array, rank: Array | None = None) -> Array:
    """What each thread holds afterwards, ``[T, I]`` or ``[tiles, T, I]`` like ``v``.

    ``rank`` holds integers, in the source's shape for a scatter and in the destination's for a gather. Of several
    values for one position the last is taken; any other were as right. Raises LayoutcError where shapes do not fit.
    """
    values, writes, reads = _tiles(r, v, rank)
    tiles, places = len(values), int(max(writes.max(initial=0), reads.max(initial=0))) + 1
    held = np.zeros((tiles, places + 1), values.dtype)      # the last place is outside: written, and read as 0
    which = np.arange(tiles)[:, None, None]
    held[which, writes] = values
    held[:, NOWHERE] = 0
    out = held[which, reads]
    return out if v.ndim == 3 else out[0]


@dataclass(frozen=True, slots=True)
class WrongItem:
    """An item of a destination that holds what cannot have come there."""

    tile: int | None
    thread: int
    item: int
    got: Any
    allowed: tuple[Any, ...]

    def __str__(self) -> str:
        tile = "" if self.tile is None else f" of tile {self.tile}"
        right = " or ".join(map(str, dict.fromkeys(map(str, self.allowed))))
        return f"item {self.item} of thread {self.thread}{tile} is {self.got}, expected {right}"


def wrong_items(
    r: Redistribute, got: Array, v: Array, rank: Array | None = None, *, limit: int = 16
) -> list[WrongItem]:
    """The first ``limit`` items of ``got`` that no conforming run gives; none: all is well.

    Values are compared bit for bit. Of several values for one position each is right, nothing reached is 0.
    Raises ValueError where ``got`` has another shape or dtype than the destination.
    """
    values, writes, reads = _tiles(r, v, rank)
    wanted = (*v.shape[:-1], reads.shape[-1])
    if got.shape != wanted or got.dtype != values.dtype:
        raise ValueError(f"out is {got.dtype}{list(got.shape)}, not {values.dtype}{list(wanted)}")
    found = got if got.ndim == 3 else got[None]
    right: dict[tuple[int, int], set[int]] = defaultdict(set)
    which = np.broadcast_to(np.arange(len(values))[:, None, None], writes.shape)
    for tile, place, bits in zip(which.flat, writes.flat, _bits(values).flat, strict=True):
        if place != NOWHERE:
            right[int(tile), int(place)].add(int(bits))
    bits_found = _bits(found)
    wrong = (
        WrongItem(None if got.ndim == 2 else tile, thread, item, found[tile, thread, item],
                  _values(right.get((tile, int(place)), {0}), values.dtype))
        for (tile, thread, item), place in np.ndenumerate(reads)
        if int(bits_found[tile, thread, item]) not in right.get((tile, int(place)), {0}))
    return list(islice(wrong, limit))


def _bits(values: Array) -> NDArray[np.unsignedinteger[Any]]:
    return np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")


def _values(bits: set[int], dtype: np.dtype[Any]) -> tuple[Any, ...]:
    return tuple(np.array(sorted(bits), f"u{dtype.itemsize}").view(dtype))


def _tiles(r: Redistribute, v: Array, rank: Array | None) -> tuple[Array, Positions, Positions]:
    """Values, the place that each is written to, and the place that each item is read from, all ``[tiles, T, I]``."""
    shapes = [v.shape, *(() if rank is None else (rank.shape,))]
    bind_tiles(r, shapes)
    values = v.astype(stored_dtype(r.type), copy=False)
    values = values if v.ndim == 3 else values[None]
    before, after = (_table(layout, r.threads, items) for layout, items in
                     zip((r.source, r.destination), r.items, strict=True))
    positions = np.unique(before)
    writes, reads = np.searchsorted(positions, before), np.searchsorted(positions, after)
    if rank is not None:
        named = _places(positions, rank if rank.ndim == 3 else rank[None])
        writes, reads = (named, reads) if r.kind == "scatter" else (writes, named)
    return values, _each(writes, len(values)), _each(reads, len(values))


def _each(places: Positions, tiles: int) -> Positions:
    return np.broadcast_to(places, (tiles, *places.shape[-2:]))


def _table(layout: Any, threads: int, items: int) -> Positions:
    return np.array([[layout(t, i) for i in range(items)] for t in range(threads)], np.int64)


def _places(positions: Positions, rank: Array) -> Positions:
    """The number of the place that each rank names, NOWHERE outside the tile; ranks of any integer type."""
    inside = (rank >= int(positions[0])) & (rank <= int(positions[-1]))
    near = np.where(inside, rank, 0).astype(np.int64)
    place = np.searchsorted(positions, near).clip(max=len(positions) - 1)
    return np.where(inside & (positions[place] == near), place, NOWHERE)
