"""Who holds what before and after a redistribution: the exact ownership map, and how far values travel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from layoutc.layout.composed import AnyLayout, inner_of, outer_of

Slot = tuple[int, int]          # thread, item
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Exchange:
    """A redistribution of register-held values between two thread/value layouts of one tile.

    ``came_from[thread][item]`` is the slot whose value a destination slot takes: of several copies the nearest,
    which is the same thread's (the same register's, if it can be), then the same warp's (``warp`` lanes), there
    item ``k`` from copy ``k`` of them in turn, so that no lane must show all; then the lowest-numbered thread's.
    """

    source: AnyLayout
    destination: AnyLayout
    bytes: int                  # of an item: 1, 2, 4, 8
    warp: int = 32              # lanes that shuffles may use together, a power of two

    @cached_property
    def threads(self) -> int:
        """Threads of the block."""
        return self.source[0].size

    @cached_property
    def items_before(self) -> int:
        """Items that a thread holds before."""
        return self.source[1].size

    @cached_property
    def items_after(self) -> int:
        """Items that a thread holds afterwards."""
        return self.destination[1].size

    @cached_property
    def origins(self) -> tuple[Numbers, Numbers]:
        """Thread and item that every destination slot's value comes from, each ``[thread, item]``."""
        held, wanted = image(self.source).ravel(), image(self.destination)
        order = np.argsort(held, kind="stable")
        first = np.searchsorted(held[order], wanted, "left")
        copies = np.searchsorted(held[order], wanted, "right") - first
        here = np.arange(self.threads)[:, None]
        if copies.max() == 1:
            thread, item = np.divmod(order[first], self.items_before)
            return thread, item
        slots = [order[first + np.minimum(copy, copies - 1)] for copy in range(int(copies.max()))]
        near = [(copy < copies) & (slot // self.items_before // self.warp == here // self.warp)
                for copy, slot in enumerate(slots)]
        turn = slots[0] % self.items_before % np.maximum(sum(map(_counted, near)), 1)
        best = np.full(wanted.shape, np.iinfo(np.int64).max)
        for slot, in_warp in zip(slots, near, strict=True):
            thread, item = np.divmod(slot, self.items_before)
            away = (thread != here) * 8 + (thread // self.warp != here // self.warp) * 4
            away += (item != np.arange(self.items_after)) * ((thread == here) * 2) + (turn != 0) * (thread != here)
            turn = turn - in_warp
            best = np.minimum(best, away * held.size + slot)
        thread, item = np.divmod(best % held.size, self.items_before)
        return thread, item

    @cached_property
    def came_from(self) -> tuple[tuple[Slot, ...], ...]:
        """Per destination thread and item the slot that its value comes from."""
        threads, items = self.origins
        return tuple(tuple(zip(*row, strict=True)) for row in zip(threads.tolist(), items.tolist(), strict=True))

    @cached_property
    def foreign(self) -> NDArray[np.bool_]:
        """Destination slots whose values come from another thread, ``[thread, item]``."""
        away: NDArray[np.bool_] = self.origins[0] != np.arange(self.threads)[:, None]
        return away

    def leaves_thread(self) -> tuple[Slot, Slot] | None:
        """The first destination slot, and its source, whose value comes from another thread."""
        return self._first(self.foreign)

    def leaves_warp(self) -> tuple[Slot, Slot] | None:
        """The first destination slot, and its source, whose value comes from another warp."""
        return self._first(self.origins[0] // self.warp != np.arange(self.threads)[:, None] // self.warp)

    def _first(self, differs: NDArray[np.bool_]) -> tuple[Slot, Slot] | None:
        if not differs.any():
            return None
        thread, item = divmod(int(differs.argmax()), self.items_after)
        return (thread, item), (int(self.origins[0][thread, item]), int(self.origins[1][thread, item]))

    @cached_property
    def rounds(self) -> int:
        """D, the fewest shuffles in which single items can be exchanged inside warps.

        The most distinct values that any lane must take from others, or must show to others: in one shuffle a lane
        takes one value and shows one register, for any number of lanes to take.
        """
        slots = (self.origins[0] * self.items_before + self.origins[1])[self.foreign]
        takers = np.broadcast_to(np.arange(self.threads)[:, None], self.foreign.shape)[self.foreign]
        if not slots.size:
            return 0
        taken = np.unique(takers * self.threads * self.items_before + slots) // (self.threads * self.items_before)
        shown = np.unique(slots) // self.items_before
        return int(max(np.bincount(taken).max(), np.bincount(shown).max()))


def _counted(present: NDArray[np.bool_]) -> Numbers:
    return present.astype(np.int64)


def image(layout: AnyLayout) -> Numbers:
    """``layout(thread, item)`` for all, ``[thread, item]``."""
    found = np.zeros(1, np.int64)
    for extent, stride in inner_of(layout).leaves:
        found = (np.arange(extent)[:, None] * stride + found).ravel()
    if outer_of(layout):
        found = np.array(layout.values)
    return found.reshape(layout[1].size, layout[0].size).T
