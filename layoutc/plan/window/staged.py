"""A let's rows are made once, in shared memory, before the outputs walk over them.

A block's rows of a tensor are all on their way at once, copied in the background; each warp turns the rows that it
brought into rows of the let, in their place; after a barrier each thread walks down its columns. Nothing of long
windows waits in registers, so that many warps are there to hide the rows' way.
"""

from __future__ import annotations

from dataclasses import replace

from layoutc.index import TRUE, Expr, Int, Name, compare, dot, every
from layoutc.plan.kernel.boxes import fill_registers
from layoutc.plan.machine import SECTOR, WARP
from layoutc.plan.names import Names
from layoutc.plan.passing.sums import declare_sums
from layoutc.plan.steps import (
    Barrier,
    Do,
    Either,
    Let,
    Note,
    Registers,
    Shared,
    SharedAt,
    Step,
    Strided,
    Turns,
    WarpBarrier,
)
from layoutc.plan.values import Function, Operation, Variable, memory_type, register_type
from layoutc.plan.window.bands import Band
from layoutc.plan.window.owner import with_staged
from layoutc.plan.window.shape import Shape, lines_of
from layoutc.plan.window.start import farthest, interior_tests
from layoutc.plan.window.state import INTERIOR, Walk, when
from layoutc.plan.window.take import take_by_rule, vector_of_row
from layoutc.plan.window.values import finish_row, follow, make_lets, shift
from layoutc.plan.work import Made, Work


def rows_of_block(shape: Shape, band: Band) -> int:
    """Rows of a band that a block needs."""
    return shape.knobs.rows * shape.knobs.down + band.high - band.taken_from


def lead_of(band: Band) -> int:
    """Elements before those that are read, so that a row's copy begins at a whole sector."""
    return band.axes[-1].low % (SECTOR // band.type.bytes)


def pitch_of(shape: Shape, band: Band) -> int:
    """Elements from one row in shared memory to the next: whole sectors."""
    whole = SECTOR // band.type.bytes
    return -(-(lines_of(shape, band)[-1] + lead_of(band)) // whole) * whole


def bytes_of_block(shape: Shape) -> int:
    """Of the rows that wait in shared memory."""
    source, _ = shape.bands
    return rows_of_block(shape, source) * pitch_of(shape, source) * source.type.bytes


def write_staged(work: Work, shape: Shape, names: Names, entry: str) -> Made:
    """The pass and its kernel."""
    staged = _Staged(work, shape, names, entry)
    frame = staged.frame
    with frame.lowering.block() as body:
        frame.emit_thread_and_block()
        staged.begin()
        frame.lowering.emit(Either(INTERIOR, tuple(staged.bring()), tuple(staged.bring_by_rule())))
        frame.lowering.emit(WarpBarrier(""), *staged.make_rows(), Barrier())
        staged.walk_down()
    made = with_staged(frame.record(), work.kernel, work.equations, shape)
    asked = frame.shared_bytes if staged.asks else 0
    return Made((replace(made, dynamic_bytes=asked),), (frame.function(body),))


class _Staged:
    """The parts share the walk, and where a warp's rows stand."""

    def __init__(self, work: Work, shape: Shape, names: Names, entry: str) -> None:
        assert shape.walked is not None
        assert shape.lined is not None
        self.walk, self.shape = Walk(work, shape, names, entry), shape
        self.frame = self.walk.frame
        self.walked, self.lined = shape.walked, shape.lined
        self.source, self.let = shape.bands
        self.pitch, self.lead = pitch_of(shape, self.source), lead_of(self.source)
        self.rows = rows_of_block(shape, self.source)
        self.warp, self.lane = Name(names.take("warp"), 0, shape.knobs.down - 1), Name(names.take("lane"), 0, WARP - 1)
        self.array = names.take(f"{self.frame.arrays[self.source.tensor]}_tile")
        self.row = Name(names.take("row"), 0, self.rows - 1)

    @property
    def asks(self) -> bool:
        """Whether the rows are more than a kernel has without asking."""
        return bytes_of_block(self.shape) > self.walk.work.target.shared_bytes

    def begin(self) -> None:
        """The weights, the thread's place, the rows' array, and whether all that the block reads is there."""
        frame, shape = self.frame, self.shape
        fill_registers(frame, [s for s in shape.weights if s.where == "registers"])
        thread = Name("thread", 0, shape.threads - 1)
        frame.shared_bytes += self.rows * self.pitch * self.source.type.bytes
        frame.lowering.emit(
            Let("int", self.warp.id, thread // WARP), Let("int", self.lane.id, thread % WARP),
            SharedAt(memory_type(self.source.type), self.array, 0, (self.rows, self.pitch)) if self.asks else
            Shared(memory_type(self.source.type), self.array, (self.rows, self.pitch)))
        frame.at = {i: frame.origin(i) for i in frame.indices}
        spans = dict(zip(frame.indices, shape.tile, strict=True))
        tests = interior_tests(self.walk, frame.at, spans)
        first, last = self._first_column(), frame.source_of(self.source.tensor).extents[-1]
        tests += [compare(">=", first, Int(0)), compare("<=", first + self.pitch, last)]
        frame.lowering.emit(Let("bool", str(INTERIOR), every(farthest(t for t in tests if t != TRUE))))

    def bring(self) -> list[Step]:
        """The rows that a warp works on, in vectors in the background."""
        frame, band = self.frame, self.source
        with frame.lowering.block() as body:
            outer = self._subscripts()
            vectors = self.pitch // band.vector
            for first in range(0, vectors, WARP):
                at = self.lane * band.vector + first * band.vector
                source = dot((*outer, self._first_column() + at), frame.source_of(band.tensor).strides)
                copy = Do(Function("copy_async16", (
                    self._slot(self.row, at), Operation("+", Variable(frame.source_of(band.tensor).array), source))))
                frame.lowering.emit(*when(compare("<", self.lane, Int(vectors - first)), [copy]))
        return [self._own_rows(body), Do(Function("copy_async_commit", ())), Do(Function("copy_async_wait<0>", ()))]

    def bring_by_rule(self) -> list[Step]:
        """The same rows where some of them lie outside: element by element."""
        frame, band = self.frame, self.source
        at = Name(frame.names.take("at"), 0, self.pitch - 1)
        column = frame.names.take(f"{frame.arrays[band.tensor]}_{frame.spelled[self.lined]}")
        with frame.lowering.block() as body:
            outer = self._subscripts()
            with frame.lowering.block() as each:
                frame.lowering.emit(Let("Index", column, self._first_column() + at))
                take_by_rule(self.walk, band, self.array, (*outer, Name(column)), self.row * self.pitch + at)
            frame.lowering.emit(Strided(0, "int", at.id, self.lane, Int(self.pitch), Int(WARP), tuple(each)))
        return [self._own_rows(body)]

    def make_rows(self) -> list[Step]:
        """Rows of the let in the place of the tensor's."""
        frame, walk, let = self.frame, self.walk, self.let
        with frame.lowering.block() as body:
            walk.finished = frame.origin(self.walked) + self.row - self.shape.delay
            frame.at = {**frame.at, self.walked: walk.finished,
                        self.lined: frame.origin(self.lined) + self.lane * walk.columns}
            for band in (self.source, let):
                walk.arrays[band.tensor] = frame.names.take(f"{frame.arrays[band.tensor]}_row")
                frame.lowering.emit(Registers(register_type(band.type), walk.arrays[band.tensor], band.row))
            first = self.row * self.pitch + self.lane * walk.columns
            vector_of_row(walk, self.source, self.array, first + self.lead)
            frame.lowering.places[self.source.tensor] = walk.place(self.source)
            make_lets(walk)
            with walk.packed(register_type(let.type), walk.arrays[let.tensor], Int(0), walk.columns) as part:
                frame.lowering.emit(WarpBarrier(""), Do(Function("store", (
                    self._slot(self.row, self.lane * walk.columns), Variable(part)))))
            for band in (self.source, let):
                frame.names.release(walk.arrays[band.tensor])
        what = f"each warp makes rows of {let.tensor} in the place of those of {self.source.tensor}"
        return [Note(what), self._own_rows(body, unroll=1)]

    def walk_down(self) -> None:
        """The outputs of each thread: all rows of the let that they need, one after the other."""
        frame, walk, shape, let = self.frame, self.walk, self.shape, self.let
        j = frame.spelled[self.lined]
        frame.lowering.emit(
            Let("Index", walk.first, frame.origin(self.walked) + self.warp * shape.knobs.rows),
            Let("Index", j, frame.origin(self.lined) + self.lane * walk.columns))
        frame.at = {**frame.at, self.lined: Name(j, 0)}
        walk.arrays[let.tensor] = frame.names.take(f"{frame.arrays[let.tensor]}_row")
        frame.lowering.emit(Registers(register_type(let.type), walk.arrays[let.tensor], let.row))
        declare_sums(walk)
        turn = Name(frame.names.take("turn"), 0, shape.steps - 1)
        with frame.lowering.block() as body:
            self._turn(turn)
        frame.lowering.emit(Turns(str(shape.steps), "int", str(turn), Int(0), Int(shape.steps), tuple(body)))

    def _turn(self, turn: Name) -> None:
        frame, walk, shape, let = self.frame, self.walk, self.shape, self.let
        i = frame.spelled[self.walked]
        here = Name(walk.first, 0) + turn - shape.delay
        frame.lowering.emit(Let("Index", i, here))
        walk.finished, walk.turn = Name(i, 0 if shape.delay == 0 else None), turn
        frame.lowering.local[i] = here
        frame.at[self.walked] = walk.finished
        row = self.warp * shape.knobs.rows + turn
        vector_of_row(walk, let, self.array, row * self.pitch + self.lane * walk.columns)
        frame.lowering.places[let.tensor] = walk.place(let)
        for led in shape.led:
            follow(walk, led, self.walked)
        with frame.lowering.block() as finish:
            finish_row(walk)
        frame.lowering.emit(*when(compare(">=", turn, Int(shape.delay)), finish))
        shift(walk)

    def _own_rows(self, body: list[Step], unroll: int = 0) -> Step:
        """Each warp takes every so many-th row."""
        return Strided(unroll, "int", self.row.id, self.warp, Int(self.rows), Int(self.shape.knobs.down), tuple(body))

    def _subscripts(self) -> tuple[Expr, ...]:
        """Of a row of the tensor, along all axes but the last."""
        frame, band = self.frame, self.source
        out: list[Expr] = []
        for number, a in enumerate(band.axes[:-1]):
            begin = (frame.origin(a.index) * a.scale if a.index else Int(0)) + a.low
            if number == band.walked:
                assert a.index is not None
                name = frame.names.take(f"{frame.arrays[band.tensor]}_{frame.spelled[a.index]}")
                begin = frame.origin(a.index) + (self.row + band.taken_from)
                frame.lowering.emit(Let("Index", name, begin))
                frame.names.release(name)
                begin = Name(name, 0 if band.taken_from >= 0 else None)
            out.append(begin)
        return tuple(out)

    def _first_column(self) -> Expr:
        """The subscript of a row's first element."""
        return self.frame.origin(self.lined) + (self.source.axes[-1].low - self.lead)

    def _slot(self, row: Expr, column: Expr) -> Operation:
        return Operation("+", Variable(self.array), row * self.pitch + column)
