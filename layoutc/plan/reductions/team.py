"""Who works together: how the threads of a block are divided over outputs and over what is reduced to one."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from layoutc.index import Expr, Int, Name
from layoutc.layout import Layout
from layoutc.plan.machine import WARP
from layoutc.plan.ownership import Ownership, unravel

MOST_GROUPS = 64        # of threads that meet in shared memory one after another


@dataclass(frozen=True, slots=True)
class Team:
    """``workers`` threads make an output together; a block has a team for each of ``slots``.

    By rows, the workers of an output are neighbours in the block and take elements side by side. By columns,
    neighbours make neighbouring outputs, ``vector`` each, and the workers of an output are ``slots`` threads apart.
    """

    threads: int
    workers: int
    vector: int             # elements (by columns: outputs) side by side
    by_columns: bool
    tile: tuple[int, ...]   # outputs of a block, per index
    lane_index: int = -1    # by columns: which index the neighbours run along
    walked: tuple[int, ...] = ()    # indices on which no reduction depends: a team walks them with what it has made

    @property
    def slots(self) -> int:
        """Teams of a block."""
        return self.threads // self.workers

    @property
    def thread(self) -> Expr:
        """The variable, with its bounds."""
        return Name("thread", 0, self.threads - 1) if self.threads > 1 else Int(0)

    @property
    def worker(self) -> Expr:
        """The number of a thread in its team."""
        return self.thread // self.slots if self.by_columns else self.thread % self.workers

    @property
    def width(self) -> int:
        """Lanes of a warp that belong to one team."""
        return min(self.workers, WARP)

    @property
    def mask(self) -> str:
        """The lanes of a warp that exist."""
        return "0xffffffffu" if self.threads >= WARP else f"{(1 << self.threads) - 1:#x}u"

    @property
    def ownership(self) -> Ownership:
        """Which outputs each thread works for: all of a team have the same."""
        if not self.by_columns:
            layout = Layout(((self.workers, self.slots), 1), ((1, self.workers) if self.walked else (0, 1), 0))
            kept = [size for n, size in enumerate(self.tile) if n not in self.walked]
            at = iter(unravel(self.thread // self.workers, tuple(kept)))
            places = tuple(self._walked(n) if n in self.walked else next(at) for n in range(len(self.tile)))
            return Ownership(self.threads, 1, str(layout), places, self.slots > prod(kept))
        item: Expr = Name("item", 0, self.vector - 1) if self.vector > 1 else Int(0)
        along = self.thread % self.slots * self.vector + item
        places = tuple(self._walked(n) if n in self.walked else along if n == self.lane_index else Int(0)
                       for n in range(len(self.tile)))
        layout = Layout(((self.slots, self.workers), self.vector),
                        ((self.vector, self.slots if self.walked else 0), 1))
        return Ownership(self.threads, self.vector, str(layout), places, False)

    def _walked(self, number: int) -> Expr:
        """The first place of a worker along an index that is walked."""
        return self.worker if number == self.walked[-1] else Int(0)


def can_meet(threads: int, workers: int) -> bool:
    """Whether teams of neighbours can meet by shuffles: parts of a warp, or whole warps."""
    if threads % workers or (threads % WARP and (threads > WARP or threads & (threads - 1))):
        return False
    return workers % WARP == 0 or (workers < WARP and not workers & (workers - 1))
