"""A stream in the making: its names, where its rows lie, loops over what a lane holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from layoutc.index import Expr, Int, Name
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.lowering.places import InGlobal
from layoutc.plan.machine import WARP
from layoutc.plan.reads.fusing import Fusing, kinds
from layoutc.plan.steps import Assign, Let, Loop, Step
from layoutc.plan.stream.shape import Shape
from layoutc.plan.values import Element, Variable
from layoutc.resolve.program import Equation, Index, Kernel, Read, Tensor, Value
from layoutc.resolve.trees import children

INTERIOR = Name("interior", 0, 1)


class Stream:
    """What the parts share.

    Rows are counted by the steps that are still to come: those of the tensor have ``fusing.steps`` of them left. They
    lie in one array a tensor, the rows with one step left first, of each the window, the newest row last.
    """

    def __init__(self, frame: Frame, fusing: Fusing, shape: Shape) -> None:
        self.frame, self.fusing, self.shape, self.lowering = frame, fusing, shape, frame.lowering
        names, indices = frame.names, frame.indices
        self.steps = fusing.steps
        self.tensors: dict[str, Tensor] = {t.name: t for t in frame.kernel.inputs if t.name in fusing.stepped}
        self.edges = dict(zip(fusing.stepped, fusing.edges, strict=True))
        self.sources: dict[str, InGlobal] = {u: frame.place_of(u) for u in fusing.stepped}
        self.name = names.take(f"{frame.entry}_stream")
        self.arrays = {u: names.take(f"{frame.arrays[u]}_rows") for u in fusing.stepped}
        self.shared = {u: names.take(f"{frame.arrays[u]}_beside") for u in fusing.stepped if shape.exchanges}
        made = {e.output: e for e in frame.choice.equations}
        self.equations: dict[str, Equation] = {u: made[v] for u, v in frame.kernel.steps if u in self.tensors}
        self.used = _used_indices(frame.kernel, frozenset(fusing.stepped))
        self.asked = self.used | {i for number, i in enumerate(indices) for t in self.tensors.values()
                                  if "constant" in kinds(t.edges[number])}      # where a step's places count
        self.places = {i: names.take(f"place_{frame.spelled[i]}") for i in indices}
        self.firsts = {i: names.take(f"first_{frame.spelled[i]}") for i in indices[1:]}
        self.column: Expr = Int(0)
        if shape.warps.columns > 1:
            self.column = Name(names.take("column"), 0, shape.warps.columns - 1)
        self.sides = tuple(Name(names.take(f"side_{frame.spelled[i]}"), 0, shape.sides - 1) for i in indices[1:-1])
        self.lane, self.warp = names.take("lane"), names.take("warp")
        self.before, self.after = names.take("warp_before"), names.take("warp_after")
        self.row, self.held, self.now = names.take("row"), names.take("held"), names.take("now")

    @property
    def lanes(self) -> Name:
        """The lane's number."""
        return Name(self.lane, 0, WARP - 1)

    @property
    def per_step(self) -> int:
        """Elements of a lane that the rows of one step take."""
        return self.shape.window * self.shape.row

    def element(self, u: str, left: Expr, slot: int, side: Expr, column: Expr) -> Element:
        """A column of the lane in a row of the window of the rows with so many steps left."""
        at = (left - 1) * self.per_step + slot * self.shape.row
        return Element(self.arrays[u], at + side * self.shape.warps.columns + column)

    def newest(self, u: str, left: Expr, column: Expr) -> Element:
        """A column of the newest row."""
        slot = self._rows(left) - 1
        return self.element(u, left, slot, self.sides[0] if self.sides else Int(0), column)

    def of_row(self, array: str, column: Expr | None = None) -> Element:
        """A column, the loop's own if none is said, in an array of as many values as a lane makes of a row."""
        line = self.sides[0] - self.shape.beside[0] if self.sides else Int(0)
        return Element(array, line * self.shape.warps.columns + (self.column if column is None else column))

    def is_bounded(self, u: str) -> bool:
        """Whether a constant stands for what a tensor has beyond some side."""
        return any("constant" in kinds(sides) for sides in self.tensors[u].edges)

    def _rows(self, left: Expr) -> int:
        """Rows held; of the tensors also those that nothing reads yet."""
        return self.shape.window + (self.shape.ahead if left == Int(self.steps) else 0)

    def at(self, index: str) -> Expr:
        """The place of the row, side or column that a loop stands at."""
        if index == self.frame.indices[-1]:
            return Name(self.firsts[index]) + self.column
        return Name(self.firsts[index]) + (self.sides[0] - self.shape.beside[0])

    def shift(self, left: Expr) -> None:
        """Every row takes the place of the one before it."""
        base, held = (left - 1) * self.per_step, Name(self.held)
        moves = tuple(Assign(Element(a, held + base), Element(a, held + (base + self.shape.row)))
                      for a in self.arrays.values())
        self.lowering.emit(Loop(True, "int", self.held, Int(0), Int((self._rows(left) - 1) * self.shape.row), moves))

    @contextmanager
    def each_side(self) -> Iterator[None]:
        """A loop over the rows of the index between that the warp makes."""
        with self.lowering.block() as body:
            yield
        steps: tuple[Step, ...] = tuple(body)
        for side in self.sides:
            low = self.shape.beside[0]
            steps = (Loop(True, "int", side.id, Int(low), Int(low + self.shape.warps.rows), steps),)
        self.lowering.emit(*steps)

    @contextmanager
    def each_column(self) -> Iterator[None]:
        """A loop over the columns of a lane."""
        with self.lowering.block() as body:
            yield
        steps: tuple[Step, ...] = tuple(body)
        if isinstance(self.column, Name):
            steps = (Loop(True, "int", self.column.id, Int(0), Int(self.shape.warps.columns), steps),)
        self.lowering.emit(*steps)

    def declare_places(self, indices: Collection[str], asked: Collection[str]) -> None:
        """Where the row, side or column that a loop stands at lies, as far as it is asked."""
        for index in indices:
            if index in asked:
                self.lowering.emit(Let("Index", self.places[index], self.at(index)))

    def declare_row(self, left: Expr) -> None:
        """Where the row that is made with so many steps left lies: rows wait one turn for the next step."""
        behind = (left - self.steps) * (self.fusing.halo[0][1] + 1) - self.shape.ahead
        self.lowering.emit(Let("Index", self.places[self.frame.indices[0]], Name(self.row) + behind))

    def parameters(self) -> tuple[tuple[str, str], ...]:
        """(type, name) of what the kernel tells a thread beside the tensors."""
        between = [(("int"), self.warp)] if self.shape.exchanges else []
        return (("int", self.lane), *between, *(("Index", n) for n in self.firsts.values()))

    def arguments(self) -> tuple[Variable, ...]:
        """The same as the kernel passes it."""
        return tuple(Variable(name) for _, name in self.parameters())


def _used_indices(kernel: Kernel, stepped: frozenset[str]) -> frozenset[str]:
    """The output indices whose values count: not those alone in the subscripts of what is stepped."""
    found: set[str] = set()
    waiting: list[Value] = [*(e.value for e in kernel.equations), *(s.value for s in kernel.stages)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Index):
            found.add(value.name)
        elif not (isinstance(value, Read) and value.tensor in stepped):
            waiting += children(value)
    return frozenset(found)
