"""Strategy: warps walk along the first index, each lane a few columns of all steps of a launch in registers.

Rows come in one after the other. Of every step the rows that the next one reads are held, so that a new row of the
tensor gives a row of each step, one halo farther back (2.5D blocking, AN5D). Neighbours along the last index come from
other lanes by shuffles; the outer columns of a warp are lost, one halo a step, and made by the warps beside it too.
Rows of the indices between lie in registers side by side. There is no shared memory, and no barrier.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from typing import Self

from layoutc.index import Call, Expr, Int, Name, Select, compare, dot, every
from layoutc.plan.dealt import cleared
from layoutc.plan.frame import Choice, Frame
from layoutc.plan.fusing import Fusing, fusing_of, kinds
from layoutc.plan.halo import children, footprints
from layoutc.plan.names import Names
from layoutc.plan.nodes import Refusal
from layoutc.plan.ownership import Ownership, thread_and_item
from layoutc.plan.places import InConstant, InStream
from layoutc.plan.steps import Assign, Let, Loop, Registers, Rounds, Step, When
from layoutc.plan.strategies.nodes import Made, Work
from layoutc.plan.values import Choice as Chosen
from layoutc.plan.values import Element, memory_type, register_type, store
from layoutc.resolve.program import Const, EdgeRule, Index, Kernel, Read, Schedule, Sides, Value

WARP = 32
WARPS = 4                       # of a block
ROWS = {2: (128,), 3: (64, 8)}   # that a block makes, by rank: along the walk, and side by side in registers
COLUMNS = {2: (2, 1, 4), 3: (1, 2)}     # of a lane, the best first
MOST_REGISTERS = 128            # of 32 bits a thread, for the rows of all steps
CLOCKS = 16                     # that a place takes, about; in shared memory 45


@dataclass(frozen=True, slots=True)
class Shape:
    """What a block holds."""

    columns: int                    # of a lane
    warps: int
    window: int                     # rows of each step
    sides: tuple[int, ...]          # per index between: rows in registers, halos counted
    outputs: int                    # columns that a warp makes in the end

    @property
    def row(self) -> int:
        """Elements of a lane in one row of the walk."""
        return prod(self.sides) * self.columns


@dataclass(frozen=True, slots=True)
class Streamed:
    """All steps of a launch in registers."""

    work: Work
    choice: Choice
    fusing: Fusing
    shape: Shape
    cost: float

    @classmethod
    def try_plan(cls, work: Work) -> Self | Refusal:
        """The shape of a block.

        Raises LayoutcError where the steps cannot share a launch.
        """
        fusing = fusing_of(work.program, work.kernel, work.equations, work.schedule)
        assert fusing is not None
        schedule = work.schedule or Schedule()
        why = _why_not(work, fusing, schedule)
        shaped = [] if why else list(_shapes(work, fusing, schedule))
        if not shaped:
            return Refusal("streamed", why or "no shape of a block has the schedule's tile and enough registers")
        tile, shape = shaped[0]
        found = fusing.grown(footprints(work.kernel, work.equations), work.indices)
        choice = Choice(work.equations, tile, _owner(tile, fusing, shape), (), tuple(found.values()),
                        unroll=frozenset(schedule.unroll))
        whole = replace(fusing, columns=WARP * shape.columns * shape.warps)
        cost = CLOCKS * whole.evaluations(tile) / (fusing.steps * prod(tile))
        return cls(work, choice, whole, shape, cost)

    def plan(self, names: Names, entry: str) -> Made:
        """The pass under its name in the text."""
        frame = Frame(self.work.kernel, self.choice, self.work.signature, names.copy(), entry)
        with frame.lowering.block() as body:
            frame.emit_thread_and_block()
            _Stream(frame, self.fusing, self.shape).emit()
        return Made((replace(frame.record(), fusing=self.fusing),), (frame.function(body),))


def _why_not(work: Work, fusing: Fusing, schedule: Schedule) -> str:
    """What keeps the steps of a kernel from being walked."""
    if len(work.indices) not in ROWS:
        return f"it walks in 2 or 3 dimensions, not in {len(work.indices)}"
    if not fusing.stepped:
        return "nothing that is stepped is read"
    if any(kind not in ("", "constant", "wrap") for edges in fusing.edges for sides in edges for kind in kinds(sides)):
        return "an edge rule folds into the tensor: only constants and tori are walked"
    if any(kinds(sides).count("wrap") == 1 for edges in fusing.edges for sides in edges):
        return "one side wraps, and the other does not"
    if len(work.indices) > 2 and any("wrap" in kinds(sides) for edges in fusing.edges for sides in edges):
        return "a torus of three dimensions folds too many places"
    if any(stage.edges for stage in work.kernel.stages):
        return "a let has an edge rule"
    if schedule.loads or schedule.stores or schedule.vector or any(s.where != "global" for s in schedule.stages):
        return "the schedule says where elements wait or how they are moved"
    if schedule.threads is not None and (schedule.threads.count is None or schedule.threads.count % WARP):
        return "the schedule has threads that are no whole warps"
    return ""


def _shapes(work: Work, fusing: Fusing, schedule: Schedule) -> Iterator[tuple[tuple[int, ...], Shape]]:
    """The tiles and shapes that a block may have, the best first."""
    rank, steps = len(work.indices), fusing.steps
    told = None if schedule.tile is None else tuple(dict(schedule.tile).get(i, 1) for i in work.indices)
    *between, (low, high) = fusing.halo[1:]
    widest = max(t.type.bytes for t in work.kernel.inputs if t.name in fusing.stepped)
    for columns in COLUMNS[rank]:
        outputs = WARP * columns - steps * (low + high)
        if outputs < max(1, steps * max(low, high)):
            continue
        count = None if schedule.threads is None else schedule.threads.count
        warps = count // WARP if count is not None else WARPS if told is None else told[-1] // outputs
        tile = told or (*ROWS[rank], warps * outputs)
        sides = tuple(n + steps * (a + b) for n, (a, b) in zip(tile[1:-1], between, strict=True))
        shape = Shape(columns, warps, sum(fusing.halo[0]) + 1, sides, outputs)
        registers = len(fusing.stepped) * steps * shape.window * shape.row * max(widest // 4, 1)
        if tile[-1] == warps * outputs and 0 < warps <= work.target.block_threads // WARP and (
                registers <= MOST_REGISTERS):
            yield tile, shape


def _owner(tile: tuple[int, ...], fusing: Fusing, shape: Shape) -> Ownership:
    """Per index the place that an item makes; the outer columns of a warp are moved out of the tile."""
    threads, items = WARP * shape.warps, prod(tile[:-1]) * shape.columns
    thread, item = thread_and_item(threads, items)
    in_warp = thread % WARP * shape.columns + item % shape.columns - fusing.steps * fusing.halo[-1][0]
    beyond = (in_warp + shape.outputs) // shape.outputs - 1
    column = thread // WARP * shape.outputs + in_warp + beyond * (beyond * (2 * tile[-1]))
    rest, places = item // shape.columns, []
    for size in reversed(tile[1:-1]):
        places.append(rest % size)
        rest = rest // size
    layout = f"{shape.columns} column{'s' if shape.columns > 1 else ''} a lane, row after row"
    return Ownership(threads, items, layout, (rest, *reversed(places), column), True)


class _Stream:
    """The walk of a block."""

    def __init__(self, frame: Frame, fusing: Fusing, shape: Shape) -> None:
        self.frame, self.fusing, self.shape, self.lowering = frame, fusing, shape, frame.lowering
        self.steps = fusing.steps
        self.tensors = {t.name: t for t in frame.kernel.inputs if t.name in fusing.stepped}
        self.edges = dict(zip(fusing.stepped, fusing.edges, strict=True))
        self.sources = {u: frame.place_of(u) for u in fusing.stepped}
        self.arrays = {u: frame.names.take(f"{frame.arrays[u]}_rows") for u in fusing.stepped}
        made = {e.output: e for e in frame.choice.equations}
        self.equations = {u: made[v] for u, v in frame.kernel.steps}
        self.used = _used_indices(frame.kernel, frozenset(fusing.stepped))
        self.asked = self.used | {i for number, i in enumerate(frame.indices) for t in self.tensors.values()
                                  if "constant" in kinds(t.edges[number])}      # where a step's places count
        self.places = {i: frame.names.take(f"place_{frame.spelled[i]}") for i in frame.indices}
        self.column: Expr = Int(0)
        if shape.columns > 1:
            self.column = Name(frame.names.take("column"), 0, shape.columns - 1)
        self.sides = tuple(Name(frame.names.take(f"side_{frame.spelled[i]}"), 0, n - 1)
                           for i, n in zip(frame.indices[1:-1], shape.sides, strict=True))
        self.lane = frame.names.take("lane")
        self.first = frame.names.take(f"first_{frame.spelled[frame.indices[-1]]}")
        self.row = frame.names.take("row")

    def emit(self) -> None:
        """Registers, then row after row."""
        emit, shape, frame = self.lowering.emit, self.shape, self.frame
        low = self.fusing.halo[-1][0]
        thread = thread_and_item(WARP * shape.warps, 1)[0]
        emit(Let("int", self.lane, thread % WARP),
             Let("Index", self.first, frame.origin(frame.indices[-1]) + thread // WARP * shape.outputs
                 + Name(self.lane, 0, WARP - 1) * shape.columns - self.steps * low))
        held, count = frame.names.take("held"), self.steps * shape.window * shape.row
        for u, array in self.arrays.items():
            type = memory_type(self.tensors[u].type)
            emit(Registers(type, array, count),
                 Loop(True, "int", held, Int(0), Int(count), (cleared(array, type, Name(held)),)))
        self._hold_scalars()
        walked, turn = frame.names.take("walked"), frame.names.take("turn")
        with self.lowering.block() as body:
            start = frame.origin(frame.indices[0]) - self.steps * self.fusing.halo[0][0]
            emit(Let("Index", self.row, start + Name(walked) + Name(turn)))
            self._shift(held, count - shape.row)
            self._load()
            self._emit_steps()
            self._emit_outputs()
        more, first = self.steps * sum(self.fusing.halo[0]), frame.indices[0]
        left, most = frame.counts[0] - frame.origin(first) + more, Int(frame.choice.tile[0] + more)
        rows = Name(self.lowering.let("Index", "rows", Select(compare("<", left, most), left, most)))
        turns = Loop(True, "int", turn, Int(0), Int(shape.window), tuple(body))
        emit(Rounds(walked, Int(0), rows, shape.window, (turns,)))

    def _hold_scalars(self) -> None:
        """Single numbers wait in registers."""
        read = {f.tensor for f in self.frame.choice.footprints}
        for t in self.frame.kernel.inputs:
            if t.name in read and not t.extents and t.name not in self.tensors:
                place = self.frame.place_of(t.name)
                array = self.frame.names.take(f"{self.frame.arrays[t.name]}_held")
                self.lowering.emit(Registers(memory_type(t.type), array, 1),
                                   Assign(Element(array, Int(0)), Element(place.array, Int(0))))
                self.lowering.places[t.name] = InConstant(array, t.type, ())

    def _shift(self, held: str, count: int) -> None:
        """Every row takes the place of the one before it; those of a step come last."""
        moves = tuple(Assign(Element(a, Name(held)), Element(a, Name(held) + self.shape.row))
                      for a in self.arrays.values())
        self.lowering.emit(Loop(True, "int", held, Int(0), Int(count), moves))

    # ---- places

    @contextmanager
    def _each(self, after: Expr, asked: Collection[str]) -> Iterator[list[Step]]:
        """Loops over the elements of a lane in a row that step ``after`` makes; places along them are declared."""
        frame, indices = self.frame, self.frame.indices
        at = [frame.origin(index) + side - self.steps * low
              for index, side, (low, _) in zip(indices[1:-1], self.sides, self.fusing.halo[1:-1], strict=True)]
        with self.lowering.block() as body:
            for index, place in zip(indices[1:], (*at, Name(self.first) + self.column), strict=True):
                if index in asked:
                    self.lowering.emit(Let("Index", self.places[index], place))
            yield body
        steps: tuple[Step, ...] = tuple(body)
        if isinstance(self.column, Name):
            steps = (Loop(True, "int", self.column.id, Int(0), Int(self.shape.columns), steps),)
        between = list(zip(self.sides, self.shape.sides, self.fusing.halo[1:-1], strict=True))
        for side, n, (low, high) in reversed(between):
            steps = (Loop(True, "int", side.id, after * low, n - after * high, steps),)
        self.lowering.emit(*steps)

    def _element(self, u: str, after: Expr) -> Element:
        """Where the newest row of a step lies."""
        at = self._position(after, Int(self.shape.window - 1), self.sides, self.column)
        return Element(self.arrays[u], at)

    def _position(self, after: Expr, slot: Expr, sides: Sequence[Expr], column: Expr) -> Expr:
        at = after * self.shape.window + slot
        for side, n in zip(sides, self.shape.sides, strict=True):
            at = at * n + side
        return at * self.shape.columns + column

    def _at(self, row: Expr) -> tuple[Expr, ...]:
        return (row, *(Name(self.places[i]) for i in self.frame.indices[1:]))

    # ---- rows

    def _load(self) -> None:
        """The next row of the tensors."""
        with self._each(Int(0), self.frame.indices):
            for u, source in self.sources.items():
                place = replace(source, edges=self._loaded_edges(u))
                value = self.lowering.in_global(place, self._at(Name(self.row)), self.frame.extents)
                self.lowering.emit(Assign(self._element(u, Int(0)), store(value, self.tensors[u].type)))

    def _loaded_edges(self, u: str) -> tuple[Sides, ...]:
        """Beyond an axis without a rule there is nothing that counts."""
        zero = EdgeRule("constant", Const(0, self.tensors[u].type))
        return tuple(own if any(own) else sides if "wrap" in kinds(sides) else (zero, zero)
                     for own, sides in zip(self.tensors[u].edges, self.edges[u], strict=True))

    def _emit_steps(self) -> None:
        """A row of every step but the last."""
        step = Name(self.frame.names.take("step"), 1, self.steps - 1)
        with self.lowering.block() as body:
            if self.frame.indices[0] in self.asked:
                self._declare_row(step)
            with self._each(step, self.asked):
                env = self._env(step)
                for u, equation in self.equations.items():
                    if u in self.tensors:
                        value = self.lowering.named(
                            self.lowering.value(equation.value, env), register_type(self.tensors[u].type), "made")
                        outside = self.lowering.edges(
                            self.tensors[u].edges, self._at(Name(self.places[self.frame.indices[0]])),
                            self.frame.counts)[1]
                        for test, constant in reversed(outside):
                            value = Chosen(test, value, self.lowering.value(constant, self.frame.extents))
                        self.lowering.emit(Assign(self._element(u, step), store(value, self.tensors[u].type)))
        self.lowering.emit(Loop(True, "int", step.id, Int(1), Int(self.steps), tuple(body)))

    def _emit_outputs(self) -> None:
        """A row of the last step, as far as it lies in the tile; all lanes compute, for all take part in shuffles."""
        frame, last = self.frame, Int(self.steps)
        first, size = frame.indices[0], frame.choice.tile[0]
        with self.lowering.block() as outer:
            self._declare_row(last)
            row = Name(self.places[first])
            with self.lowering.block() as body, self._each(last, frame.indices):
                self._emit_row(row)
            here = every((compare(">=", row, frame.origin(first)), compare("<", row, frame.origin(first) + size),
                          compare("<", row, frame.counts[0])))
            self.lowering.emit(When(here, tuple(body)))
        self.lowering.emit(*outer)

    def _emit_row(self, row: Name) -> None:
        frame, at = self.frame, self._at(row)
        env = self._env(Int(self.steps))
        values = [(e, store(self.lowering.value(e.value, env), frame.output(e).type)) for e in frame.choice.equations]
        low = self.steps * self.fusing.halo[-1][0]
        own = Name(self.lane, 0, WARP - 1) * self.shape.columns + self.column - low
        tests = [Call("within", (own, Int(self.shape.outputs))),
                 *(compare("<", p, n) for p, n in zip(at[1:], frame.counts[1:], strict=True))]
        stores = []
        for equation, value in values:
            place = frame.place_of(equation.output)
            stores.append(Assign(Element(place.array, dot(at, place.strides)), value))
        self.lowering.emit(When(every(tests), tuple(stores)))

    def _declare_row(self, after: Expr) -> None:
        """Where the row of a step lies."""
        name = self.places[self.frame.indices[0]]
        self.lowering.emit(Let("Index", name, Name(self.row) - after * self.fusing.halo[0][1]))

    def _env(self, after: Expr) -> dict[str, Expr]:
        """The indices as the equations see them, and where what they read of the step before lies."""
        frame, lowering = self.frame, self.lowering
        env: dict[str, Expr] = dict(frame.extents)
        for number, (index, n) in enumerate(zip(frame.indices, frame.counts, strict=True)):
            name = frame.spelled[index]
            if index in self.used:
                wraps = any("wrap" in kinds(edges[number]) for edges in self.edges.values())
                rule = "wrap" if wraps else "nearest"
                lowering.emit(Let("Index", name, Call(rule, (Name(self.places[index]), n))))
            lowering.limits[name] = n
            env[index] = Name(name, 0)
        at = tuple(env[i] for i in frame.indices)
        for u, tensor in self.tensors.items():
            lowering.places[u] = InStream(
                self.arrays[u], tensor.type, at, after - 1, self.fusing.halo[0][0], self.shape.window, self.sides,
                self.shape.sides, self.column, self.shape.columns, self.lane)
        return env


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
