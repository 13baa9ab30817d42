"""Where a tile's elements wait in shared memory: vectors of neighbours, spread over the banks without padding.

An element of position p (in one of several orders) lies in vector ``m = p // vector``; vector m is kept in slot
``m ^ (m // row % spread)``, spread a power of two: the low bits of the slot turn with the row, so that the vectors of
one column of rows lie in different banks. No memory is added.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutc.plan.moves.exchange import Exchange, image
from layoutc.plan.moves.numbering import numbering

WIDEST = 16         # bytes of an access
Groups = tuple[tuple[int, ...], ...]    # items moved by one access each, in the order of their addresses


@dataclass(frozen=True, slots=True)
class Placement:
    """How positions become addresses, in elements."""

    order: str              # position, source, destination, source or destination columns: what numbers the elements
    vector: int             # elements of a slot
    row: int                # vectors of a row
    spread: int             # rows that differ, a power of two; 1: plain

    def addresses(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The address of every position."""
        m = positions // self.vector
        return (m ^ (m // self.row % self.spread)) * self.vector + positions % self.vector


@dataclass(frozen=True, slots=True)
class Side:
    """How one side moves its items: which together, and at what cost in wavefronts of the whole block.

    By ``columns`` a warp moves 8 x 8 matrices of 16-bit elements, whose rows its lanes name, and each lane has the
    elements of one column and two rows: a lane's items then lie in different rows, each beside those of other lanes.
    """

    groups: Groups
    wavefronts: int
    ideal: int
    columns: bool = False
    shuffles: int = 0       # of all warps, where lanes exchange what they loaded by columns

    @property
    def vector(self) -> int:
        """Elements of an access."""
        return len(self.groups[0])


@dataclass(frozen=True, slots=True)
class Buffer:
    """A placement and what it costs."""

    placement: Placement
    write: Side
    read: Side

    @property
    def cost(self) -> tuple[int, int, int, int]:
        """Wavefronts and shuffles, wavefronts that wait for a bank, accesses, how unlike the plain order it is."""
        wavefronts = self.write.wavefronts + self.read.wavefronts
        accesses = len(self.write.groups) + len(self.read.groups)
        waiting = wavefronts - self.write.ideal - self.read.ideal
        return wavefronts + self.read.shuffles, waiting, accesses, self.placement.spread


def positions(exchange: Exchange, order: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each slot's element before and after, ``[thread, item]``, in one of the orders."""
    found = numbering(exchange, order)
    assert found is not None, "an order without a numbering is no candidate"
    return image(found.before) - found.least, image(found.after) - found.least


def groups_of(numbers: NDArray[np.int64], vector: int, items: list[int]) -> Groups | None:
    """``items`` that lie in one aligned vector of every thread, in one order; None where some do not.

    ``numbers[thread, item]`` are in elements.
    """
    if len(items) % vector:
        return None
    ordered = np.array(sorted(items, key=lambda item: int(numbers[0, item]))).reshape(-1, vector)
    grouped = numbers[:, ordered]
    if (grouped[..., 0] % vector).any() or (grouped - grouped[..., :1] != np.arange(vector)).any():
        return None
    return tuple(sorted(tuple(map(int, group)) for group in ordered))


def distinct(numbers: NDArray[np.int64]) -> list[int]:
    """The items of ``numbers[thread, item]`` that are no copies of an earlier item in every thread."""
    seen: dict[bytes, int] = {}
    for item, column in enumerate(np.ascontiguousarray(numbers.T)):
        seen.setdefault(column.tobytes(), item)
    return sorted(seen.values())
