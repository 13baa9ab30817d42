"""Scatter and gather: values travel to, or from, positions that are known only when the kernel runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from layoutc.plan.moves.exchange import Exchange, image
from layoutc.plan.moves.nodes import Barrier, Refusal
from layoutc.plan.moves.numbering import numbering
from layoutc.plan.moves.placement import Buffer
from layoutc.plan.moves.search import best_buffer
from layoutc.plan.moves.through_shared import SHARED_BYTES

LANES = 32
MOST_SLICES = 64


@dataclass(frozen=True, slots=True)
class ByRank:
    """Through shared memory. Both sides of the buffer are those of the side whose positions are known."""

    kind: Literal["scatter", "gather"]
    buffer: Buffer
    elements: int               # positions from the least to the greatest
    barrier: Barrier            # warp where the tile is one warp's
    slices: int                 # times that the buffer is filled anew
    gaps: bool                  # positions between the least and the greatest are not of the tile
    owners_clear: bool          # of a scatter: who reads an element is one thread, which can clear it


def try_plan(
    exchange: Exchange, kind: Literal["scatter", "gather"], via: str | None, budget: int = SHARED_BYTES
) -> ByRank | Refusal:
    """The move, or why the means insisted on cannot be right."""
    if via in ("registers", "shuffle"):
        witness = "item 0 of thread 0 may go to" if kind == "scatter" else "item 0 of thread 0 may come from"
        return Refusal(via, f"{witness} any thread: its rank is known only when the kernel runs")
    side = exchange.destination if kind == "scatter" else exchange.source
    own = Exchange(side, side, exchange.bytes)
    numbers = numbering(own, "position")
    assert numbers is not None
    positions = image(side)
    elements = int(positions.max()) - numbers.least + 1
    slices = -(-elements * exchange.bytes // budget)
    if slices > MOST_SLICES:
        return Refusal("shared", f"its positions lie {elements} apart, too far for shared memory")
    return ByRank(kind, best_buffer(own, ("position",)), elements, "warp" if exchange.threads <= LANES else "block",
                  slices, np.unique(positions).size < elements, slices == 1 and _one_reader(positions))


def _one_reader(positions: object) -> bool:
    """Whether no position is held by two threads."""
    table = np.asarray(positions)
    pairs = {(int(p), t) for t, row in enumerate(table) for p in row}
    return len(pairs) == np.unique(table).size
