"""Which of several copies in a source is written to shared memory, and whether a warp's barrier is enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.placement import Buffer, positions

LANES = 32


@dataclass(frozen=True, slots=True)
class Writers:
    """``writes[group][thread]``: whether a thread writes a group, so that every element is written once.

    ``warp_local``: whether all who read an element are in the warp that writes it.
    """

    writes: tuple[tuple[bool, ...], ...]
    warp_local: bool


def writers(exchange: Exchange, buffer: Buffer) -> Writers:
    """The lowest thread that holds an element writes it, of the readers' warp where all of them are in one."""
    before, after = positions(exchange, buffer.placement.order)
    # of items that are moved by columns none is beside another, and none has a copy
    width = 1 if buffer.write.columns else buffer.write.vector
    firsts = [item for group in buffer.write.groups for item in group[::width]]
    written = buffer.placement.addresses(before)[:, firsts] // width
    read = buffer.placement.addresses(after) // width
    count = int(max(written.max(), read.max())) + 1
    warps = np.broadcast_to(np.arange(exchange.threads)[:, None] // LANES, read.shape)
    lowest, highest = np.full(count, np.iinfo(np.int64).max), np.full(count, -1)
    np.minimum.at(lowest, read, warps)
    np.maximum.at(highest, read, warps)
    unread = highest < 0
    local = _lowest(written, (np.arange(exchange.threads)[:, None] // LANES == lowest[written]) | unread[written])
    apart = ((lowest == highest) | unread)[written].all() and (
        np.unique(written[local]).size == np.unique(written).size)
    writes = local if apart else _lowest(written, np.ones(written.shape, bool))
    return Writers(_rows(writes[:, ::buffer.write.vector // width]), bool(apart))


def _lowest(written: NDArray[np.int64], allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of the allowed slots of every element the first, thread by thread."""
    slots = np.flatnonzero(allowed)
    _, first = np.unique(written.ravel()[slots], return_index=True)
    chosen = np.zeros(written.size, bool)
    chosen[slots[first]] = True
    return chosen.reshape(written.shape)


def _rows(writes: NDArray[np.bool_]) -> tuple[tuple[bool, ...], ...]:
    return tuple(tuple(map(bool, column)) for column in writes.T)
