"""Scatter and gather: values travel to, or from, positions that are known only when the kernel runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from layoutc.layout import Layout, LayoutError, left_inverse
from layoutc.plan.moves.banks import wavefronts
from layoutc.plan.moves.costs import Costs, spare_lanes
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


@dataclass(frozen=True, slots=True)
class GatherByShuffles:
    """Each lane reads every item of the lane that holds the position it wants, and keeps the one it is."""

    slots: Layout               # position, counted from the least -> item + items * thread
    least: int
    elements: int
    items: int                  # of a thread before
    wanted: int                 # of a thread afterwards
    kind: Literal["gather"] = "gather"

    @property
    def rounds(self) -> int:
        """Shuffles of a thread, of items; as many selects."""
        return self.items * self.wanted


Ranked = ByRank | GatherByShuffles
Kind = Literal["scatter", "gather"]


def choose(
    exchange: Exchange, kind: Kind, costs: Costs, via: str | None, budget: int
) -> tuple[Ranked | None, tuple[Refusal, ...]]:
    """The cheapest move (of the means insisted on) and why each other was not taken."""
    tried = [_try(exchange, kind, means, budget) for means in ((via,) if via else ("registers", "shuffle", "shared"))]
    possible = sorted(((_cost(move, exchange, costs), number) for number, move in enumerate(tried)
                       if not isinstance(move, Refusal)))
    dearer = tuple(Refusal(_via(tried[number]), "costs more", price) for price, number in possible[1:])
    refused = (*(move for move in tried if isinstance(move, Refusal)), *dearer)
    best = tried[possible[0][1]] if possible else None
    return None if isinstance(best, Refusal) else best, refused


def _via(move: Ranked | Refusal) -> str:
    return "shuffle" if isinstance(move, GatherByShuffles) else "shared"


def _try(exchange: Exchange, kind: Kind, via: str, budget: int) -> Ranked | Refusal:
    """A means, or why it cannot be right."""
    if via == "shared":
        return try_plan(exchange, kind, budget)
    if via == "shuffle" and kind == "gather" and exchange.threads <= exchange.warp:
        return _by_shuffles(exchange)
    witness = "item 0 of thread 0 may go to" if kind == "scatter" else "item 0 of thread 0 may come from"
    return Refusal(via, f"{witness} any thread: its rank is known only when the kernel runs")


def _by_shuffles(exchange: Exchange) -> GatherByShuffles | Refusal:
    """Where a layout says which slot a position is in."""
    positions, items = image(exchange.source), exchange.items_before
    least, elements = int(positions.min()), int(np.ptp(positions)) + 1
    own = exchange.source
    if isinstance(own, Layout) and np.unique(positions).size == elements == positions.size:
        try:
            slots = left_inverse(Layout.of((own[1], own[0])))
        except LayoutError:
            slots = None
        if slots is not None and [slots(k) for k in range(elements)] == np.argsort(positions.ravel()).tolist():
            return GatherByShuffles(slots, least, elements, items, exchange.items_after)
    return Refusal("shuffle", "no layout says which thread holds the position that a rank names")


def _cost(move: Ranked | Refusal, exchange: Exchange, costs: Costs) -> float:
    """Picoseconds an item and conversion over the whole GPU; of a scatter, which has one means, 0."""
    if isinstance(move, Refusal) or move.kind == "scatter":
        return 0.0
    words, spare = max(exchange.bytes // 4, 1), spare_lanes(exchange.threads)
    if isinstance(move, GatherByShuffles):      # each with a comparison and a select
        return move.items * words * max(costs.shuffle, 2 * costs.select) * spare
    meeting = _meeting(move.elements, exchange.bytes, min(exchange.threads, LANES))
    barrier = costs.block_barrier if move.barrier == "block" else costs.warp_barrier
    written = move.buffer.write.wavefronts * 32 / exchange.threads * costs.wavefront + 2 * barrier * move.slices
    return written / exchange.items_after + meeting * costs.wavefront * spare


@lru_cache(64)
def _meeting(elements: int, bytes: int, lanes: int) -> float:
    """Wavefronts of a warp's read of elements that lie anywhere, the mean of some."""
    places = np.random.default_rng(0).integers(0, elements, (256, lanes))
    return float(wavefronts(places * bytes, bytes).mean())


def try_plan(exchange: Exchange, kind: Kind, budget: int = SHARED_BYTES) -> ByRank | Refusal:
    """Through shared memory, or why that cannot be."""
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
