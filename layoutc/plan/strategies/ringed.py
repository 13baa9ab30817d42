"""Strategy: rows pass through shared memory in groups, a block walks down its columns of them.

Copies in the background bring groups of rows while one before them is worked on; they take no registers, edge rules
are applied on the way, and one barrier serves a group. A thread holds the partial results of as many output rows as a
window has, and of what is read one row. Blocks are as many as the machine holds, in rounds, and share the rows evenly.
"""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.plan.names import Names
from layoutc.plan.ringed.choose import chosen_shape
from layoutc.plan.ringed.cost import cost_of_rings
from layoutc.plan.ringed.shape import Shape
from layoutc.plan.ringed.text import write_ringed
from layoutc.plan.ringed.told import told_shape
from layoutc.plan.strategies.walked import Walked
from layoutc.plan.work import Made, Work


@dataclass(frozen=True, slots=True)
class Ringed(Walked[Shape]):
    """A walk with rows in rings."""

    @staticmethod
    def shaped(work: Work) -> Shape | str:
        """Where sums follow the rows of all that is read: as the schedule asks for it, or all left open."""
        if len(work.indices) < 2:
            return "there is no index along which rows follow each other"
        if work.schedule is not None:
            return told_shape(work, work.schedule)
        return chosen_shape(work, work.indices[-2])

    @staticmethod
    def priced(work: Work, shape: Shape) -> float:
        """Of its bytes, in memory and in shared memory."""
        return cost_of_rings(work, shape)

    @staticmethod
    def written(work: Work, shape: Shape, names: Names, entry: str) -> Made:
        """The walk."""
        return write_ringed(work, shape, names, entry)
