"""A walk past rows in the making: its names, its arrays, and what every part of its text needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import ClassVar

from layoutc.index import TRUE, Expr, Int, Name
from layoutc.plan.lowering.places import InRows
from layoutc.plan.names import Names
from layoutc.plan.passing.led import Led
from layoutc.plan.passing.state import Passing
from layoutc.plan.steps import Loop, Step, When
from layoutc.plan.values import Operation, Text, Variable
from layoutc.plan.window.bands import Band
from layoutc.plan.window.owner import choice_of
from layoutc.plan.window.shape import Shape
from layoutc.plan.work import Work

INTERIOR = Variable("interior")


class Walk(Passing):
    """What the parts share."""

    made = "row"
    pack = "part"
    takes_lines: ClassVar[bool] = False     # whether sums read weights that a block shares by whole lines

    def __init__(self, work: Work, shape: Shape, names: Names, entry: str) -> None:
        super().__init__(work, choice_of(work, shape), names, entry)
        self.shape = shape
        self.name = names.take(f"{entry}_walk")
        self.finished: Expr | None = None           # the output row of this turn
        for i in self.frame.indices:
            self.frame.at[i] = Name(self.frame.spelled[i], 0)
        self.first = names.take(f"first_{self.frame.spelled[shape.walked]}") if shape.walked else ""
        self.arrays: dict[str, str] = {}            # band -> its array
        self.shared: dict[str, str] = {}            # array of the block -> element type
        self.begun: dict[str, tuple[str, int]] = {}     # array of registers -> element type, elements
        self.rings: dict[str, str] = {}             # band -> its array of the block
        self.begins: dict[str, Expr] = {}           # index -> where the group's outputs begin
        self.lane = names.take("lane") if self.ringed else ""
        self.exchanged: dict[str, str] = {}         # output -> the array of the block from which it is stored

    @property
    def columns(self) -> int:
        """Outputs side by side of a thread."""
        return self.shape.knobs.columns

    @property
    def count(self) -> int:
        """Outputs that a thread finishes in a turn: those side by side."""
        return self.columns

    @property
    def led(self) -> tuple[Led, ...]:
        """The reductions that rows are taken into."""
        return self.shape.led

    @property
    def tensors(self) -> tuple[Band, ...]:
        """The bands that come from memory."""
        return tuple(b for b in self.shape.bands if not b.is_let)

    @property
    def ringed(self) -> tuple[Band, ...]:
        """The bands whose rows come through shared memory."""
        return tuple(b for b in self.shape.bands if b.ring)

    def place(self, band: Band) -> InRows:
        """Where the rows of a band are held, as seen from the output row that is finished."""
        origin: list[Expr] = []
        for number, a in enumerate(band.axes):
            if number == band.walked:
                assert self.finished is not None
                origin.append(self.finished + a.low)
            else:
                origin.append((self.frame.at[a.index] * a.scale if a.index else Int(0)) + a.low)
        source = None if band.is_let else self.frame.source_of(band.tensor)
        return InRows(self.arrays[band.tensor], tuple(origin), band.strides, source)

    def moved_by(self, columns: Expr, at: Mapping[str, Expr]) -> dict[str, Expr]:
        """The place so many columns on."""
        lined = self.shape.lined
        return {**at, lined: at[lined] + columns} if lined is not None else dict(at)

    @contextmanager
    def over_items(self, at: Mapping[str, Expr]) -> Iterator[tuple[Expr, dict[str, Expr]]]:
        """A loop over outputs side by side."""
        item = Name("item", 0, self.columns - 1)
        with self.frame.lowering.block() as body:
            yield item, self.moved_by(item, at)
        self.frame.lowering.emit(Loop(True, "int", "item", Int(0), Int(self.columns), tuple(body)))

    def valid(self, at: Mapping[str, Expr]) -> Expr:
        """Whether there is an output at a place."""
        return self.inside(at, self.frame.indices)

    def sure(self, test: Expr) -> Text:
        """The test, which need not be made in the interior."""
        return Operation("||", INTERIOR, test)

    def where_valid(self, at: Mapping[str, Expr], body: list[Step]) -> None:
        """A test only where something else than rows is read at the output's own place."""
        valid = self.valid(at) if self.shape.apart else TRUE
        self.frame.lowering.emit(*(body if valid == TRUE else (When(self.sure(valid), tuple(body)),)))


def when(test: Expr, body: list[Step]) -> list[Step]:
    """The body under a test; bare where that always holds."""
    return [When(test, tuple(body))] if test != TRUE else body
