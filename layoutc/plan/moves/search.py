"""The placement in shared memory with the fewest wavefronts, of those worth a look; the bank model decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from layoutc.plan.moves.banks import ideal, of_side, wavefronts
from layoutc.plan.moves.columns import ROWS, groups_by_columns, rows_of, shuffles
from layoutc.plan.moves.exchange import Exchange, Numbers
from layoutc.plan.moves.numbering import COLUMN_ORDERS, numbering
from layoutc.plan.moves.placement import WIDEST, Buffer, Groups, Placement, Side, distinct, groups_of, positions

PLAIN_ORDERS = ("position", "source", "destination")
ORDERS = (*PLAIN_ORDERS, *COLUMN_ORDERS)
MOST = 96           # placements measured


def best_buffer(exchange: Exchange, orders: tuple[str, ...] = ORDERS) -> Buffer:
    """The cheapest of all candidates; none is measured that cannot be cheaper."""
    spaces = sorted(_spaces(exchange, orders), key=lambda space: space.least)
    best: Buffer | None = None
    measured = 0
    for space in spaces:
        for placement in space.placements():
            if best is not None and (best.cost[:3] <= space.least or measured == MOST):
                return best
            found = space.measured(placement)
            measured += 1
            if best is None or found.cost < best.cost:
                best = found
    assert best is not None
    return best


@dataclass(frozen=True, slots=True)
class _Accesses:
    """One side's numbered elements in the widest accesses that vectors of a placement leave whole."""

    groups: Groups
    firsts: Numbers             # [thread, access]: the number of its first element
    bytes: int                  # of an item

    @property
    def width(self) -> int:
        return len(self.groups[0]) * self.bytes

    @property
    def least(self) -> int:
        """Wavefronts without conflicts."""
        threads = len(self.firsts)
        warps = [min(32, threads - first) for first in range(0, threads, 32)]
        return sum(ideal(lanes, self.width) for lanes in warps) * len(self.groups)

    def measured(self, placement: Placement) -> Side:
        addresses = placement.addresses(self.firsts)
        accesses = list(range(addresses.shape[1]))
        return Side(self.groups, of_side(addresses, accesses, self.width, self.bytes), self.least)


@dataclass(frozen=True, slots=True)
class _Columns:
    """One side's numbered elements by columns of matrices, as many of these an access as there can be."""

    groups: Groups
    rows: Numbers               # [warp, access, lane]: the number of the first element of the row that a lane names
    bytes: int                  # of an item

    @property
    def accesses(self) -> int:
        """Of all warps."""
        return len(self.rows) * len(self.groups)

    @property
    def least(self) -> int:
        """Wavefronts without conflicts, one a matrix, and shuffles."""
        return self.rows.size // ROWS + self.shuffles

    @property
    def shuffles(self) -> int:
        """Of all warps."""
        return shuffles(len(self.groups[0]), self.bytes) * self.accesses

    def measured(self, placement: Placement) -> Side:
        total = int(wavefronts(placement.addresses(self.rows) * self.bytes, WIDEST).sum())
        least = ideal(32, len(self.groups[0]) * self.bytes) * self.accesses
        return Side(self.groups, total, least, True, self.shuffles)


@dataclass(frozen=True, slots=True)
class _Space:
    """The placements of one order and one vector."""

    order: str
    vector: int
    count: int                  # vectors of the tile
    per_thread: int             # vectors of a thread before
    write: _Accesses | _Columns
    read: _Accesses | _Columns

    @property
    def least(self) -> tuple[int, int, int]:
        """Wavefronts without conflicts and shuffles, none that wait for a bank, accesses."""
        return self.write.least + self.read.least, 0, len(self.write.groups) + len(self.read.groups)

    def measured(self, placement: Placement) -> Buffer:
        return Buffer(placement, self.write.measured(placement), self.read.measured(placement))

    def placements(self) -> Iterator[Placement]:
        """The plain order; rows that likely make a column's vectors meet in one bank; powers of two; divisors.

        Slots stay distinct and no memory is added: ``spread`` divides the whole, so that a slot stays among the
        ``spread`` around it; and it divides the row, which is then one for these, or the row is a power of two, so that
        every bit of a slot turns with higher bits only.
        """
        yield Placement(self.order, self.vector, 1, 1)
        lanes = min(max(1, 128 // (self.vector * self.write.bytes)), 32)
        odd = self.per_thread // (self.per_thread & -self.per_thread)
        likely = {odd * max(lanes, self.per_thread // odd), lanes, self.per_thread}
        powers = _powers(self.count)[1:]
        dividing = (row for row in range(2, self.count, 2) if self.count % row == 0)
        for row in dict.fromkeys((*sorted(likely), *powers, *dividing)):
            for spread in _powers(lanes)[1:]:
                distinct = row % spread == 0 or (row > 1 and row & (row - 1) == 0)
                if row < self.count and distinct and self.count % spread == 0:
                    yield Placement(self.order, self.vector, row, spread)


def _spaces(exchange: Exchange, orders: tuple[str, ...]) -> Iterator[_Space]:
    """Every order and vector; a tile with gaps is numbered by position only where nothing else is possible."""
    possible = [order for order in orders if numbering(exchange, order) is not None]
    for order in possible:
        before, after = positions(exchange, order)
        elements = int(before.max()) + 1
        if order == "position" and len(possible) > 1 and elements > np.unique(before).size:
            continue
        if order in COLUMN_ORDERS:
            yield _by_columns(exchange, order, before, after)
            continue
        sides = [_widths(numbers, exchange.bytes) for numbers in (before, after)]
        for vector in _powers(WIDEST // exchange.bytes):
            if vector == 1 or any(vector in side for side in sides):
                write, read = (max(width for width in side if width <= vector) for side in sides)
                yield _Space(order, vector, -(-elements // vector), max(1, exchange.items_before // vector),
                             sides[0][write], sides[1][read])


def _by_columns(exchange: Exchange, order: str, before: Numbers, after: Numbers) -> _Space:
    """One side by columns, the other in the widest accesses that its numbers allow."""
    vector = WIDEST // exchange.bytes
    own, other = (before, after) if order.startswith("source") else (after, before)
    groups = groups_by_columns(own.shape[1], exchange.bytes)
    columns = _Columns(groups, rows_of(own, groups, exchange.bytes), exchange.bytes)
    widths = _widths(other, exchange.bytes)
    accesses = widths[max(widths)]
    write, read = (columns, accesses) if order.startswith("source") else (accesses, columns)
    return _Space(order, vector, -(-(int(before.max()) + 1) // vector), max(1, exchange.items_before // vector), write,
                  read)


def _widths(numbers: Numbers, bytes: int) -> dict[int, _Accesses]:
    """By elements an access, the accesses of a side; those widths that its numbers do not allow are missing."""
    found: dict[int, _Accesses] = {}
    items = distinct(numbers)
    for vector in _powers(WIDEST // bytes):
        groups = groups_of(numbers, vector, items)
        if groups is not None:
            found[vector] = _Accesses(groups, numbers[:, [group[0] for group in groups]], bytes)
    return found


def _powers(most: int) -> list[int]:
    return [1 << k for k in range(most.bit_length())]
