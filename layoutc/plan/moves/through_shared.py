"""Move: through shared memory, by vectors, spread over the banks without padding."""

from __future__ import annotations

from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import Refusal, ThroughShared
from layoutc.plan.moves.placement import positions
from layoutc.plan.moves.search import best_buffer
from layoutc.plan.moves.writers import writers

SHARED_BYTES = 48 * 1024    # a block, without opting in for more


def try_plan(exchange: Exchange, budget: int = SHARED_BYTES) -> ThroughShared | Refusal:
    """The buffer and its barrier; the buffer is filled in slices where the whole would exceed the budget."""
    buffer = best_buffer(exchange)
    before, _ = positions(exchange, buffer.placement.order)
    elements = int(before.max()) + 1
    slices = -(-elements * exchange.bytes // budget)
    apart = slices == 1 and writers(exchange, buffer).warp_local       # slices of one warp lie where another's lay
    return ThroughShared(buffer, elements, "warp" if apart else "block", slices)


def simulate(move: ThroughShared, exchange: Exchange, held: list[list[object]]) -> list[list[object]]:
    """What every thread holds afterwards, by the plan alone."""
    before, after = positions(exchange, move.buffer.placement.order)
    written = move.buffer.placement.addresses(before)
    memory: dict[int, object] = {}
    for t, row in enumerate(held):
        for r, value in enumerate(row):
            memory[int(written[t, r])] = value
    read = move.buffer.placement.addresses(after)
    return [[memory[int(a)] for a in row] for row in read]
