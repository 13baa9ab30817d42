"""Tiles that blocks share evenly: each takes as many that follow one another, and walks on where the next one does.

A launch has as many blocks as the machine holds at a time, so that none waits for a second round of them; what a block
must make before its first rows is made once a share, not once a tile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from layoutc.index import Expr, Int, Name, Select, ceildiv, compare, multiply, select
from layoutc.plan.steps import Let, Strided
from layoutc.plan.stream.state import Stream
from layoutc.plan.values import Variable as Held


@contextmanager
def each_share(stream: Stream) -> Iterator[None]:
    """A loop over the walks of a block: where each begins, and the row behind its last one."""
    frame, lowering = stream.frame, stream.lowering
    counts = [_named(stream, f"tiles_{frame.spelled[i]}", ceildiv(n, size))
              for i, n, size in zip(frame.indices, frame.counts, frame.choice.tile, strict=True)]
    tiles = counts[0]
    for count in counts[1:]:
        tiles = multiply(tiles, count)
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
        rest: Expr = tile // counts[0]
        origins: dict[str, Expr] = {frame.indices[0]: tile % counts[0]}
        for i, count in reversed(list(zip(frame.indices[1:], counts[1:], strict=True))):
            origins[i], rest = (rest, Int(0)) if i == frame.indices[1] else (rest % count, rest // count)
        for i, size in zip(frame.indices, frame.choice.tile, strict=True):
            frame.begin_at(i, multiply(origins[i], Int(size)))
        behind = frame.origin(frame.indices[0]) + multiply(end - tile, Int(frame.choice.tile[0]))
        n = frame.counts[0]
        lowering.emit(Let("Index", stream.behind, select(compare("<", behind, n), behind, n)))
        yield
    step = counts[0] - tile % counts[0]
    lowering.emit(Strided(0, "Index", tile.id, first, Held(end.id), step, tuple(body)))


def _named(stream: Stream, wanted: str, e: Expr) -> Expr:
    return e if isinstance(e, Int) else Name(stream.lowering.let("Index", wanted, e), 0)
