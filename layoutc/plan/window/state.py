"""A walk in the making: its names, its arrays, and what every part of its text needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from layoutc.index import TRUE, Expr, Int, Name, compare, every
from layoutc.plan.frame import Frame
from layoutc.plan.names import Names
from layoutc.plan.places import InRows
from layoutc.plan.reduce import Accumulator
from layoutc.plan.steps import Assign, Loop, Step, When
from layoutc.plan.steps import Variable as Declared
from layoutc.plan.strategies.nodes import Work
from layoutc.plan.values import Element, Function, Text, Variable
from layoutc.plan.window.bands import Band
from layoutc.plan.window.owner import choice_of
from layoutc.plan.window.shape import Shape
from layoutc.resolve.program import Reduce

INTERIOR = Variable("interior")


class Walk:
    """What the parts share."""

    def __init__(self, work: Work, shape: Shape, names: Names, entry: str) -> None:
        self.work, self.shape, self.names = work, shape, names
        self.frame = Frame(work.kernel, choice_of(work, shape), work.signature, names, entry)
        self.name = names.take(f"{entry}_walk")
        self.finished: Expr | None = None           # the output row of this turn
        self.turn: Expr = Int(0)
        for i in self.frame.indices:
            self.frame.at[i] = Name(self.frame.spelled[i], 0)
        self.first = names.take(f"first_{self.frame.spelled[shape.walked]}") if shape.walked else ""
        self.arrays: dict[str, str] = {}            # band -> its array
        self.shared: dict[str, str] = {}            # array of the block -> element type
        self.begun: dict[str, tuple[str, int]] = {}     # array of registers -> element type, elements
        self.rings: dict[str, str] = {}             # band -> its array of the block
        self.begins: dict[str, Expr] = {}           # index -> where the group's outputs begin
        self.lane = names.take("lane") if self.ringed else ""
        self.sums: dict[Reduce, Accumulator] = {}
        self.exchanged: dict[str, str] = {}         # output -> the array of the block from which it is stored

    @property
    def columns(self) -> int:
        """Outputs side by side of a thread."""
        return self.shape.knobs.columns

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

    def each(self, count: int, one: Callable[[Expr], Assign]) -> Loop:
        """A loop over elements of registers."""
        name = self.names.take("k")
        made = Loop(True, "int", name, Int(0), Int(count), (one(Name(name, 0, count - 1)),))
        self.names.release(name)
        return made

    def cleared(self, array: str, first: int, count: int, value: Text) -> Loop:
        """Elements that begin anew."""
        return self.each(count, lambda k: Assign(Element(array, k + first), value))

    def moved(self, array: str, count: int, by: int) -> Loop:
        """The elements that stay, to their new places."""
        return self.each(count, lambda k: Assign(Element(array, k), Element(array, k + by)))

    def moved_by(self, columns: Expr, at: Mapping[str, Expr]) -> dict[str, Expr]:
        """The place so many columns on."""
        lined = self.shape.lined
        return {**at, lined: at[lined] + columns} if lined is not None else dict(at)

    @contextmanager
    def over_columns(self) -> Iterator[Expr]:
        """A loop over outputs side by side."""
        with self.frame.lowering.block() as body:
            yield Name("item", 0, self.columns - 1)
        self.frame.lowering.emit(Loop(True, "int", "item", Int(0), Int(self.columns), tuple(body)))

    @contextmanager
    def packed(self, type: str, row: str, first: Expr, count: int, scoped: bool = True) -> Iterator[str]:
        """Elements of a row as one vector of a C type; ``scoped``: its name is free for what follows."""
        part = self.frame.names.take("part")
        pack = f"Pack<{type}, {count}>"
        self.frame.lowering.emit(
            Declared(pack, part, Function(pack, ())),
            self.each(count, lambda k: Assign(Element(part, k), Element(row, first + k))))
        yield part
        if scoped:
            self.frame.names.release(part)

    def valid(self, at: Mapping[str, Expr]) -> Expr:
        """Whether there is an output at a place."""
        tests = [compare("<", at[i], n) for i, n in zip(self.frame.indices, self.frame.counts, strict=True)]
        return every(t for t in tests if t != TRUE)


def when(test: Expr, body: list[Step]) -> list[Step]:
    """The body under a test; bare where that always holds."""
    return [When(test, tuple(body))] if test != TRUE else body
