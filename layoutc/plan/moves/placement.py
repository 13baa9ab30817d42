"""Where a tile's elements wait in shared memory: vectors of neighbours, spread over the banks without padding.

An element of position p (in one of three orders) lies in vector ``m = p // vector``; vector m is kept in slot
``m ^ (m // row % spread)``, spread a power of two: the low bits of the slot turn with the row, so that the vectors of
one column of rows lie in different banks. No memory is added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutc.layout import Layout
from layoutc.plan.moves.banks import ideal, of_side
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.numbering import numbering

WIDEST = 16         # bytes of an access
Groups = tuple[tuple[int, ...], ...]    # items moved by one access each, in the order of their addresses


@dataclass(frozen=True, slots=True)
class Placement:
    """How positions become addresses, in elements."""

    order: str              # position, source, destination: what numbers the elements
    vector: int             # elements of a slot
    row: int                # vectors of a row
    spread: int             # rows that differ, a power of two; 1: plain

    def addresses(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The address of every position."""
        m = positions // self.vector
        return (m ^ (m // self.row % self.spread)) * self.vector + positions % self.vector


@dataclass(frozen=True, slots=True)
class Side:
    """How one side moves its items: which together, and at what cost in wavefronts of the whole block."""

    groups: Groups
    wavefronts: int
    ideal: int

    @property
    def vector(self) -> int:
        """Elements of an access."""
        return len(self.groups[0])

    @property
    def is_ideal(self) -> bool:
        """Whether no lane waits for another's bank."""
        return self.wavefronts == self.ideal


@dataclass(frozen=True, slots=True)
class Buffer:
    """A placement and what it costs."""

    placement: Placement
    write: Side
    read: Side

    @property
    def cost(self) -> tuple[int, int, int]:
        """Wavefronts, then accesses, then how unlike the plain order it is."""
        accesses = len(self.write.groups) + len(self.read.groups)
        return self.write.wavefronts + self.read.wavefronts, accesses, self.placement.spread


def positions(exchange: Exchange, order: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each slot's element before and after, ``[thread, item]``, in one of the three orders."""
    found = numbering(exchange, order)
    assert found is not None, "an order without a numbering is no candidate"
    return image(found.before) - found.least, image(found.after) - found.least


def image(layout: Layout) -> NDArray[np.int64]:
    """``layout(thread, item)`` for all."""
    return np.array(layout.values, np.int64).reshape(layout[1].size, layout[0].size).T


def groups_of(addresses: NDArray[np.int64], vector: int) -> Groups | None:
    """Items that lie in one aligned vector of every thread, in one order; None where some do not.

    An item that is a copy of an earlier one in every thread is in no group.
    """
    first = distinct(addresses)
    if vector == 1:
        return tuple((item,) for item in first)
    found: dict[int, list[int]] = {}
    for item in first:
        found.setdefault(int(addresses[0, item]) // vector, []).append(item)
    groups = []
    for members in found.values():
        members.sort(key=lambda item: int(addresses[0, item]))
        if len(members) != vector:
            return None
        group = addresses[:, members]
        if (group[:, :1] % vector != 0).any() or (group - group[:, :1] != np.arange(vector)).any():
            return None
        groups.append(tuple(members))
    return tuple(sorted(groups))


def distinct(addresses: NDArray[np.int64]) -> list[int]:
    """The items of ``addresses[thread, item]`` that are no copies of an earlier item in every thread."""
    _, first = np.unique(addresses, axis=1, return_index=True)
    return sorted(map(int, first))


def best_buffer(exchange: Exchange) -> Buffer:
    """The placement with the fewest wavefronts of both sides, of all that are tried; decided by the bank model."""
    best: Buffer | None = None
    for found in candidates(exchange):
        if best is None or found.cost < best.cost:
            best = found
        widest = max(found.write.vector, found.read.vector)
        if found.write.is_ideal and found.read.is_ideal and widest == found.placement.vector:
            return found        # what follows has narrower vectors
    assert best is not None
    return best


def candidates(exchange: Exchange) -> Iterator[Buffer]:
    """Every placement worth a look."""
    widest = max(1, WIDEST // exchange.bytes)
    for order in ("position", "source", "destination"):
        if numbering(exchange, order) is None:
            continue
        before, after = positions(exchange, order)
        for vector in reversed(_powers(widest)):
            if groups_of(before, vector) is None and groups_of(after, vector) is None:
                continue
            for row, spread in _turns(exchange, vector, int(before.max()) + 1):
                yield _measured(exchange, Placement(order, vector, row, spread), before, after)


def _powers(most: int) -> list[int]:
    return [1 << k for k in range(most.bit_length())]


def _turns(exchange: Exchange, vector: int, elements: int) -> Iterator[tuple[int, int]]:
    """(row, spread): the plain order, and rows that make a column's vectors meet in one bank.

    ``spread`` divides the row and the whole, so that slots stay distinct and no memory is added.
    """
    yield 1, 1
    lanes = min(max(1, 128 // (vector * exchange.bytes)), 32)
    per_thread = max(1, exchange.items_before // vector)
    odd = per_thread // (per_thread & -per_thread)
    rows = {odd * max(lanes, per_thread // odd), lanes, per_thread}
    count = -(-elements // vector)
    for row in sorted(rows):
        for spread in _powers(lanes):
            if spread > 1 and row < count and row % spread == 0 and count % spread == 0:
                yield row, spread


def _measured(
    exchange: Exchange, placement: Placement, before: NDArray[np.int64], after: NDArray[np.int64]
) -> Buffer:
    return Buffer(placement, _side(exchange, placement, before), _side(exchange, placement, after))


def _side(exchange: Exchange, placement: Placement, numbers: NDArray[np.int64]) -> Side:
    """The widest access that the placement leaves whole."""
    addresses = placement.addresses(numbers)
    for vector in reversed(_powers(placement.vector)):
        groups = groups_of(addresses, vector)
        if groups is not None:
            break
    assert groups is not None
    warps = [min(32, exchange.threads - first) for first in range(0, exchange.threads, 32)]
    least = sum(ideal(lanes, vector * exchange.bytes) for lanes in warps) * len(groups)
    return Side(groups, of_side(addresses, [g[0] for g in groups], vector * exchange.bytes, exchange.bytes), least)
