"""The kernel of a product: tables of its lines, chunks that are copied ahead of the products, outputs at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layoutc.index import Expr, Int, Name, ceildiv, compare, multiplied
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.used import with_used
from layoutc.plan.matrix.operand import Coming, Operand
from layoutc.plan.matrix.product import DEPTHS, Product
from layoutc.plan.matrix.results import Results, coordinates, position
from layoutc.plan.matrix.tiling import Tiling
from layoutc.plan.steps import (
    Assign,
    Barrier,
    Do,
    Let,
    Loop,
    Registers,
    Step,
    Steps,
    When,
)
from layoutc.plan.values import Element, Function, Literal, Operation, c_type
from layoutc.plan.values import Variable as Held

if TYPE_CHECKING:
    from collections.abc import Mapping


class Multiplication:
    """The steps of one pass; ``shared_bytes`` are known once it is emitted."""

    def __init__(self, frame: Frame, product: Product, tiling: Tiling) -> None:
        self.frame, self.product, self.tiling, self.lowering = frame, product, tiling, frame.lowering
        self.counts = dict(zip(frame.indices, frame.counts, strict=True))
        for index, n in self.counts.items():
            self.lowering.limits[frame.spelled[index]] = n
        for c in frame.choice.chunks:
            self.lowering.limits[frame.spelled[c.index]] = c.last(frame.extents)
        self.rows = Operand(frame, product.rows, tiling, True)
        self.columns = Operand(frame, product.columns, tiling, False)
        self.shared_bytes = 0
        self.sums = frame.names.take("sums")
        self.type = "float" if product.sum.type.is_float else "int"

    def emit(self) -> None:
        """All of it."""
        emit = self.lowering.emit
        self._declare_shared()
        emit(Let("int", "thread", Name("threadIdx.x")))
        self._emit_tile()
        self._emit_lines()
        self._emit_places()
        count = self.tiling.rows * self.tiling.columns // self.tiling.threads
        zero = Assign(Element(self.sums, Name("item")), Literal(0, self.product.sum.type))
        emit(Registers(self.type, self.sums, count), Loop(True, "int", "item", Int(0), Int(count), (zero,)))
        self._emit_chunks()
        Results(self.frame, self.product, self.tiling, self.rows, self.columns, self.sums, self.counts).emit()

    def _emit_lines(self) -> None:
        """What a thread keeps of the lines that it copies."""
        emit = self.lowering.emit
        for operand in (self.rows, self.columns):
            side = operand.factor.side
            line = position(self.frame, side, "row" if operand.is_rows else "column")
            emit(*operand.remember(coordinates(self.frame, self.counts, side, Name(line, 0)), line))
            if len(side) > 1:
                self.frame.names.release(line)

    # ---- shared memory, the block's tile

    def _declare_shared(self) -> None:
        for operand in (self.rows, self.columns):
            step, bytes = operand.shared(self.shared_bytes)
            self.lowering.emit(step)
            self.shared_bytes += bytes

    def _named(self, wanted: str, n: Expr) -> Expr:
        return n if isinstance(n, Int | Name) else Name(self.lowering.let("Index", wanted, n), 0)

    def _emit_tile(self) -> None:
        """Where the block's rows and columns begin, columns fastest; its place along the other indices."""
        self._emit_block()
        rest: Expr = Name("block", 0)
        for operand, size in ((self.columns, self.tiling.columns), (self.rows, self.tiling.rows)):
            word = "rows" if operand.is_rows else "columns"
            outputs = self._named(word, multiplied(self.counts[i] for i in operand.factor.side))
            operand.outputs = outputs
            here = rest
            if not operand.is_rows or self.product.batch:
                blocks = self._named(f"blocks_of_{word}", ceildiv(outputs, size))
                here, rest = rest % blocks, rest // blocks
            name = self.lowering.let("Index", f"tile_{word}", here * size)
            operand.first = Name(name, 0)
        self._emit_batch(rest)

    def _emit_block(self) -> None:
        """The block's number, and names of extents that are no names."""
        self.lowering.emit(Let("Index", "block", Name("blockIdx.x")))
        for index, n in self.counts.items():
            self.counts[index] = self._named(f"extent_{self.frame.spelled[index]}", n)

    def _emit_batch(self, rest: Expr) -> None:
        """The block's place along the indices that are neither rows nor columns, by its number among those places."""
        for index in reversed(self.product.batch):
            here = rest
            if index != self.product.batch[0]:
                here, rest = rest % self.counts[index], rest // self.counts[index]
            self.lowering.emit(Let("Index", self.frame.spelled[index], here))

    def _emit_places(self) -> None:
        """The warp's first row and column in the tile; what a lane names of its fragments."""
        emit, names = self.lowering.emit, self.frame.names
        thread = Name("thread", 0, self.tiling.threads - 1)
        emit(Let("int", names.take("lane"), thread % 32))
        places = []
        across = self.tiling.warps[1]
        for word, number, size, count in (("rows", thread // 32 // across, self.tiling.warp[0], self.tiling.warps[0]),
                                          ("columns", thread // 32 % across, self.tiling.warp[1], across)):
            name = self.lowering.let("int", f"warp_{word}", number * size)
            places.append(Name(name, 0, (count - 1) * size))
        for operand, first in ((self.rows, places[0]), (self.columns, places[1])):
            emit(*operand.lanes(Name("lane", 0, 31), first))

    # ---- chunks

    def _emit_chunks(self) -> None:
        """One turn: a chunk sets out, and that which set out some turns before is multiplied."""
        counts, chunks = self._count_chunks()
        ahead = self.tiling.buffers - 1
        chunk = Name(self.frame.names.take("chunk"), 0)
        waits = any(o.vector > 1 for o in (self.rows, self.columns))
        with self.lowering.block() as body:
            if waits:
                self.lowering.emit(Do(Function(f"copy_async_wait<{ahead - 1}>", ())))
            self.lowering.emit(Barrier(), When(compare("<", chunk, chunks), self._begin(chunk, counts)))
            if waits:
                self.lowering.emit(Do(Function("copy_async_commit", ())))
            self.lowering.emit(When(compare(">=", chunk, Int(ahead)), self._multiply(chunk)))
        self.lowering.emit(Loop(False, "Index", str(chunk), Int(0), chunks + ahead, tuple(body)))

    def _count_chunks(self) -> tuple[dict[str, Expr], Expr]:
        """Of every index of the sum, and in all."""
        frame = self.frame
        counts = {c.index: self._named(f"chunks_of_{frame.spelled[c.index]}", c.count(frame.extents))
                  for c in frame.choice.chunks}
        return counts, self._named("chunks", multiplied(counts.values()))

    def _begin(self, chunk: Expr, counts: Mapping[str, Expr]) -> Steps:
        """Which values the sum's indices have, and the copies."""
        frame = self.frame
        depth = next(c for c in frame.choice.chunks if c.index == self.product.depth.index)
        left = depth.last(frame.extents) - Name(frame.spelled[depth.index], 0)
        into = Name(frame.names.take("into"), 0, self.tiling.buffers - 1)
        steps: list[Step] = [Let("int", str(into), chunk % self.tiling.buffers)]
        for operand in (self.rows, self.columns):
            steps += operand.begin(Coming(depth.index, left, depth.whole, operand.outputs), into)
        frame.names.release(str(into))
        return with_used(self._indices_of(chunk, counts), tuple(steps))

    def _indices_of(self, chunk: Expr, counts: Mapping[str, Expr]) -> Steps:
        """Which values the sum's indices have in a chunk."""
        frame, found, rest = self.frame, list[Step](), chunk
        for c in reversed(frame.choice.chunks):
            here = rest
            if c is not frame.choice.chunks[0]:
                here, rest = rest % counts[c.index], rest // counts[c.index]
            found.append(Let("Index", frame.spelled[c.index], here * c.size + c.first(frame.extents)))
        return tuple(reversed(found))

    def _multiply(self, chunk: Expr) -> Steps:
        """The products of the oldest chunk that waits: fragments of the columns first, then row after row."""
        take, tiling = self.frame.names.take, self.tiling
        a, b = self.rows.factor.type, self.columns.factor.type
        rows, columns = tiling.warp[0] // 16, tiling.warp[1] // 8
        buffer, step, part = Name(take("buffer"), 0, tiling.buffers - 1), take("step"), take("part")
        of_columns, of_row = take(f"{self.columns.name}_parts"), take(f"{self.rows.name}_part")
        row, column = Name(take("row"), 0, rows - 1), Name(take("column"), 0, columns - 1)
        steps = tiling.depth // DEPTHS[a]
        at = Name(step, 0, steps - 1) if steps > 1 else Int(0)
        sums = Operation("+", Held(self.sums), row * (columns * 4) + column * 4)
        words = Element(of_columns, column // 2)
        factors = tuple(Element(str(words), column % 2 * 2 + k) for k in (0, 1))
        multiply = Do(Function(f"mma<{c_type(a)}, {c_type(b)}>", (sums, Held(of_row), *factors)))
        load = Assign(Element(of_columns, Name(part)),
                      self.columns.fragment(at, Name(part, 0, columns // 2 - 1), buffer))
        body: Steps = (
            Registers("Pack<unsigned, 4>", of_columns, columns // 2),
            Loop(True, "int", part, Int(0), Int(columns // 2), (load,)),
            Loop(True, "int", str(row), Int(0), Int(rows), (
                Let("auto", of_row, self.rows.fragment(at, row, buffer)),
                Loop(True, "int", str(column), Int(0), Int(columns), (multiply,)))))
        for name in (str(buffer), step, part, of_columns, of_row, str(row), str(column)):
            self.frame.names.release(name)
        return (Let("int", str(buffer), (chunk + 1) % tiling.buffers),
                *((Loop(True, "int", step, Int(0), Int(steps), body),) if steps > 1 else body))
