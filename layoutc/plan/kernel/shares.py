"""Tiles that blocks share evenly: each takes as many that follow one another, and walks on where the next one does.

A launch has as many blocks as the machine holds at a time, or some rounds of them, so that none is left over for a
last round that is nearly empty; what a block must make before its first rows is made once a share, not once a tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from layoutc.index import Expr, Int, Name, Select, ceildiv, compare, multiply, select
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.steps import Let, Strided
from layoutc.plan.values import Variable as Held


@contextmanager
def each_share(frame: Frame, walked: str, behind: str) -> Iterator[None]:
    """A loop over the walks of a block along an index: where each begins, and the row ``behind`` its last one."""
    lowering = frame.lowering
    sizes = dict(zip(frame.indices, frame.choice.tile, strict=True))
    extents = dict(zip(frame.indices, frame.counts, strict=True))
    counts = {i: _named(frame, f"tiles_{frame.spelled[i]}", ceildiv(extents[i], size)) for i, size in sizes.items()}
    others = [i for i in frame.indices if i != walked]
    tiles = counts[walked]
    for i in others:
        tiles = multiply(tiles, counts[i])
    lowering.emit(Let("Index", "block", Name("blockIdx.x")))
    block = Name("block", 0)
    sharing = Name(lowering.let("Index", "sharing", Name("gridDim.x")), 1)
    tiles = Name(lowering.let("Index", "tiles", tiles), 0)
    more = Name(lowering.let("Index", "more", tiles % sharing), 0)
    begin = block * (tiles // sharing) + select(compare("<", block, more), block, more)
    first = Name(lowering.let("Index", "first", begin), 0)
    end = first + tiles // sharing + Select(compare("<", block, more), Int(1), Int(0))
    end = Name(lowering.let("Index", "end", end), 0)
    tile = Name(frame.names.take("tile"), 0)
    with lowering.block() as body:
        rest: Expr = tile // counts[walked]
        origins: dict[str, Expr] = {walked: tile % counts[walked]}
        for i in reversed(others):
            origins[i], rest = (rest, Int(0)) if i == others[0] else (rest % counts[i], rest // counts[i])
        for i in frame.indices:
            frame.begin_at(i, multiply(origins[i], Int(sizes[i])))
        row = frame.origin(walked) + multiply(end - tile, Int(sizes[walked]))
        lowering.emit(Let("Index", behind, select(compare("<", row, extents[walked]), row, extents[walked])))
        yield
    step = counts[walked] - tile % counts[walked]
    lowering.emit(Strided(0, "Index", tile.id, first, Held(end.id), step, tuple(body)))


def _named(frame: Frame, wanted: str, e: Expr) -> Expr:
    return e if isinstance(e, Int) else Name(frame.lowering.let("Index", wanted, e), 0)
