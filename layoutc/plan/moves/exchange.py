"""Who holds what before and after a redistribution: the exact ownership map, and how far values travel."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from layoutc.layout import Layout

Slot = tuple[int, int]          # thread, item


@dataclass(frozen=True)
class Exchange:
    """A redistribution of register-held values between two thread/value layouts of one tile.

    ``came_from[thread][item]`` is the slot whose value a destination slot takes: of several copies the nearest,
    which is the same thread's, then the same warp's (``warp`` lanes), then the lowest-numbered thread's.
    """

    source: Layout
    destination: Layout
    bytes: int                  # of an item: 1, 2, 4, 8
    warp: int = 32              # lanes that shuffles may use together, a power of two

    @property
    def threads(self) -> int:
        """Threads of the block."""
        return self.source[0].size

    @property
    def items_before(self) -> int:
        """Items that a thread holds before."""
        return self.source[1].size

    @property
    def items_after(self) -> int:
        """Items that a thread holds afterwards."""
        return self.destination[1].size

    @cached_property
    def holders(self) -> dict[int, list[Slot]]:
        """Position in the tile -> every slot that holds it before, thread by thread."""
        found: dict[int, list[Slot]] = {}
        for thread in range(self.threads):
            for item in range(self.items_before):
                found.setdefault(self.source(thread, item), []).append((thread, item))
        return found

    @cached_property
    def came_from(self) -> tuple[tuple[Slot, ...], ...]:
        """Per destination thread and item the slot that its value comes from."""
        return tuple(
            tuple(self._nearest(thread, item) for item in range(self.items_after)) for thread in range(self.threads)
        )

    def _nearest(self, thread: int, item: int) -> Slot:
        def distance(slot: Slot) -> tuple[bool, bool, bool, Slot]:
            there, register = slot
            return there != thread, there // self.warp != thread // self.warp, register != item, slot

        return min(self.holders[self.destination(thread, item)], key=distance)

    def leaves_thread(self) -> tuple[Slot, Slot] | None:
        """The first destination slot, and its source, whose value comes from another thread."""
        return self._first(lambda here, there: here != there)

    def leaves_warp(self) -> tuple[Slot, Slot] | None:
        """The first destination slot, and its source, whose value comes from another warp."""
        return self._first(lambda here, there: here // self.warp != there // self.warp)

    def _first(self, differs: object) -> tuple[Slot, Slot] | None:
        for thread, row in enumerate(self.came_from):
            for item, slot in enumerate(row):
                if differs(thread, slot[0]):  # type: ignore[operator]
                    return (thread, item), slot
        return None

    @cached_property
    def rounds(self) -> int:
        """D, the fewest shuffles that a warp-local exchange can take: the most items any lane must send or receive.

        A value that several lanes want is published once for all of them in one round, so a sender's count is of
        distinct registers only where each of them can be served in one round; the bound counts receivers exactly.
        """
        most = 0
        sent: Counter[Slot] = Counter()
        for thread, row in enumerate(self.came_from):
            foreign = {slot for slot in row if slot[0] != thread}
            most = max(most, len(foreign))
            sent.update(foreign)
        by_thread = Counter(slot[0] for slot in sent)
        return max([most, *by_thread.values()])
