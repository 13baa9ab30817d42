"""A walk with rows in rings in the making."""

from __future__ import annotations

from collections.abc import Mapping

from layoutc.index import Expr, Name
from layoutc.plan.names import Names
from layoutc.plan.ringed.shape import Ring, Shape
from layoutc.plan.values import Text
from layoutc.plan.window.state import Walk
from layoutc.plan.work import Work


class Ringed(Walk):
    """What the parts share."""

    takes_lines = True

    def __init__(self, work: Work, ringed: Shape, names: Names, entry: str) -> None:
        super().__init__(work, ringed.walk, names, entry)
        self.ringed_shape = ringed
        self.waiting: dict[Ring, str] = {}          # the array in shared memory
        self.beside: dict[Ring, tuple[str, str]] = {}   # what a thread brings beside the columns: row and place
        self.columns_there: dict[Ring, str] = {}    # whether the columns that a thread brings are there
        self.beside_there: dict[Ring, str] = {}     # whether what lies beside the block's columns is
        self.behind = names.take("behind")
        self.thread = Name("thread", 0, ringed.knobs.threads - 1)

    def sure(self, test: Expr) -> Text:
        """Without a test a thread knows in the interior alone that its outputs are there."""
        return super().sure(test) if self.ringed_shape.knobs.peeled else test

    def valid(self, at: Mapping[str, Expr]) -> Expr:
        """Whether there is an output at a place of a row that is the block's."""
        return self.inside(at, tuple(i for i in self.frame.indices if i != self.ringed_shape.walked))
