"""Move: through shared memory, by vectors or columns of matrices, spread over the banks without padding."""

from __future__ import annotations

import numpy as np

from layoutc.plan.moves.columns import LOADS_SINCE, STORES_SINCE, rows_of, taken_of
from layoutc.plan.moves.exchange import Exchange, Numbers
from layoutc.plan.moves.nodes import Refusal, ThroughShared
from layoutc.plan.moves.numbering import COLUMN_ORDERS
from layoutc.plan.moves.placement import Buffer, Side, positions
from layoutc.plan.moves.search import ORDERS, PLAIN_ORDERS, best_buffer
from layoutc.plan.moves.writers import writers

SHARED_BYTES = 48 * 1024    # a block, without opting in for more


def orders_of(capability: int) -> tuple[str, ...]:
    """The orders of elements that a compute capability has accesses for."""
    stores, loads = COLUMN_ORDERS
    return (*PLAIN_ORDERS, *((stores,) * (capability >= STORES_SINCE)), *((loads,) * (capability >= LOADS_SINCE)))


def try_plan(
    exchange: Exchange, budget: int = SHARED_BYTES, orders: tuple[str, ...] = ORDERS
) -> ThroughShared | Refusal:
    """The buffer and its barrier; the buffer is filled in slices where the whole would exceed the budget.

    Of a slice some lanes may have nothing, and columns are moved by whole warps.
    """
    buffer = best_buffer(exchange, orders)
    elements = _elements(exchange, buffer)
    slices = -(-elements * exchange.bytes // budget)
    if slices > 1 and (buffer.write.columns or buffer.read.columns):
        return try_plan(exchange, budget, PLAIN_ORDERS)
    apart = slices == 1 and writers(exchange, buffer).warp_local       # slices of one warp lie where another's lay
    return ThroughShared(buffer, elements, "warp" if apart else "block", slices)


def _elements(exchange: Exchange, buffer: Buffer) -> int:
    before, _ = positions(exchange, buffer.placement.order)
    return int(before.max()) + 1


def simulate(move: ThroughShared, exchange: Exchange, held: list[list[object]]) -> list[list[object]]:
    """What every thread holds afterwards, by the plan alone."""
    before, after = positions(exchange, move.buffer.placement.order)
    written = _addresses(move.buffer, move.buffer.write, before, exchange.bytes)
    memory: dict[int, object] = {}
    for t, row in enumerate(held):
        for r, value in enumerate(row):
            memory[int(written[t, r])] = value
    read = _addresses(move.buffer, move.buffer.read, after, exchange.bytes)
    return [[memory[int(a)] for a in row] for row in read]


def _addresses(buffer: Buffer, side: Side, numbers: Numbers, bytes: int) -> Numbers:
    """``[thread, item]``: where each item is written or read."""
    if not side.columns:
        return buffer.placement.addresses(numbers)
    rows = buffer.placement.addresses(rows_of(numbers, side.groups, bytes))
    return np.moveaxis(taken_of(rows, side.vector, bytes), 1, 2).reshape(numbers.shape)
