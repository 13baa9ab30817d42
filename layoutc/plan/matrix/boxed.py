"""Products by warpgroups of chunks that come as boxes: one thread asks for them, barriers say when they are there."""

from __future__ import annotations

from collections.abc import Mapping

from layoutc.index import Call, Expr, Int, Name, ceildiv, compare, multiplied
from layoutc.index import both as both_of
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.used import with_used
from layoutc.plan.machine import LINE_BYTES, WARP
from layoutc.plan.matrix.maps import Coming
from layoutc.plan.matrix.operand import Operand
from layoutc.plan.matrix.product import Product
from layoutc.plan.matrix.results import coordinates
from layoutc.plan.matrix.tiling import Tiling
from layoutc.plan.matrix.warpgroups import GroupMultiplication
from layoutc.plan.steps import Barrier, Barriers, Do, Let, Loop, Step, Steps, WarpBarrier, When
from layoutc.plan.values import Function, Operation, Text, Variable

TOGETHER = 16           # blocks below each other that come before those beside: what they read meets in a cache


class BoxMultiplication(GroupMultiplication):
    """The steps of one pass whose chunks come as boxes into a ring of buffers.

    A buffer is ``full`` when its bytes are there, and ``empty`` when every warp has multiplied what it held.
    """

    def __init__(self, frame: Frame, product: Product, tiling: Tiling, coming: tuple[Coming, Coming]) -> None:
        super().__init__(frame, product, tiling)
        self.coming = dict(zip((self.rows.name, self.columns.name), coming, strict=True))
        self.full, self.empty = frame.names.take("full"), frame.names.take("empty")
        self.at: dict[str, Expr] = {}           # indices of the tile's first row and column

    def _emit_tile(self) -> None:
        """Where the block's rows and columns begin: blocks that run together share some rows and some columns."""
        across = ceildiv(self._count(self.columns), self.tiling.columns)
        if across == Int(1):
            super()._emit_tile()
            return
        self._emit_block()
        blocks = []
        for operand, size in ((self.columns, self.tiling.columns), (self.rows, self.tiling.rows)):
            word = "rows" if operand.is_rows else "columns"
            operand.outputs = self._named(word, self._count(operand))
            blocks.append(self._named(f"blocks_of_{word}", ceildiv(operand.outputs, size)))
        across, down = blocks
        let, place = self.lowering.let, Name("block", 0)
        if self.product.batch:
            self._emit_batch(place // (across * down))
            place = Name(let("Index", "place", place % (across * down)), 0)
        together = across * TOGETHER
        first = Name(let("Index", "first_block", place // together * TOGETHER), 0)
        high = Name(let("Index", "blocks_beside", Call("minimum", (down - first, Int(TOGETHER)))), 1)
        after = Name(let("Index", "blocks_after", place % together), 0)
        self.columns.first = Name(let("Index", "tile_columns", after // high * self.tiling.columns), 0)
        self.rows.first = Name(let("Index", "tile_rows", (first + after % high) * self.tiling.rows), 0)

    def _count(self, operand: Operand) -> Expr:
        return multiplied(self.counts[i] for i in operand.factor.side)

    def _emit_lines(self) -> None:
        """The barriers, and where the tile begins along each of its indices."""
        names, emit = self.frame.names, self.lowering.emit
        buffer = names.take("buffer")
        warps = self.tiling.threads // WARP
        begin = tuple(Do(Function("barrier_begin", (self._of(name, Name(buffer, 0)), Int(count))))
                      for name, count in ((self.full, 1), (self.empty, warps)))
        emit(Barriers(self.full, self.tiling.buffers), Barriers(self.empty, self.tiling.buffers),
             When(compare("==", Name("thread", 0), Int(0)), (
                 Loop(False, "int", buffer, Int(0), Int(self.tiling.buffers), begin),)),
             Barrier())
        names.release(buffer)
        for operand in (self.rows, self.columns):
            side = operand.factor.side
            self.at[side[0]] = operand.first
            for step in coordinates(self.frame, self.counts, side, operand.first):
                assert isinstance(step, Let)
                index = next(i for i in side if self.frame.spelled[i] == step.name)
                name = names.take(f"tile_{step.name}")
                emit(Let("Index", name, step.value))
                self.at[index] = Name(name, 0)

    def _of(self, barriers: str, number: Expr) -> Text:
        return Operation("+", Variable(barriers), number)

    def _begin(self, chunk: Expr, counts: Mapping[str, Expr]) -> Steps:
        """The copies of a chunk, and how many bytes they are."""
        into = Name(self.frame.names.take("into"), 0, self.tiling.buffers - 1)
        bytes = (self.tiling.rows + self.tiling.columns) * LINE_BYTES
        full = self._of(self.full, into)
        copies = tuple(self._copy(operand, into, full) for operand in (self.rows, self.columns))
        self.frame.names.release(str(into))
        return with_used(self._indices_of(chunk, counts), (
            Let("int", str(into), chunk % self.tiling.buffers), Do(Function("barrier_expect", (full, Int(bytes)))),
            *copies))

    def _copy(self, operand: Operand, into: Expr, full: Text) -> Step:
        coming = self.coming[operand.name]
        to = Operation("+", Variable(operand.array), into * operand.panel.elements)
        numbers = (operand.over(e, self.at) for e in (*coming.subscripts, *coming.taps))
        name = "copy_taps" if coming.map.windows else "copy_box"
        return Do(Function(name, (to, Variable(operand.name), full, *numbers)))

    def _least(self, chunks: Expr) -> Expr:
        """Chunks that set out before any is multiplied."""
        buffers = self.tiling.buffers
        return Int(min(buffers, chunks.value)) if isinstance(chunks, Int) else Call("minimum", (Int(buffers), chunks))

    def _emit_chunks(self) -> None:
        """One turn: a chunk is multiplied; the one before it is done with, and what follows comes in its place."""
        names, emit, buffers = self.frame.names, self.lowering.emit, self.tiling.buffers
        counts, chunks = self._count_chunks()
        begin, chunk = names.take("begin"), Name(names.take("chunk"), 0)
        self._emit_routine(begin, chunk, self._begin(chunk, counts))
        first = compare("==", Name("thread", 0), Int(0))
        emit(When(first, (Loop(False, "Index", str(chunk), Int(0), self._least(chunks), (
            Do(Function(begin, (chunk,))),)),)))
        sums, left = self.tiling.columns // 2, Name(names.take("left"), 0, buffers - 1)
        buffer, *products = self._products(chunk, sums)
        assert isinstance(buffer, Let)
        following = chunk + (buffers - 1)
        emit(Loop(False, "Index", str(chunk), Int(0), chunks, (
            buffer,
            Do(Function("barrier_wait", (self._of(self.full, Name(buffer.name, 0)), chunk // buffers % 2))),
            *products,
            Do(Function("wgmma_wait<1>", ())),
            When(compare(">", chunk, Int(0)), (
                Let("int", str(left), following % buffers),
                When(compare("==", Name("thread", 0) % WARP, Int(0)), (
                    Do(Function("barrier_arrive", (self._of(self.empty, left),))),)),
                When(both_of(first, compare("<", following, chunks)), (
                    Do(Function("barrier_wait", (self._of(self.empty, left), (following // buffers + 1) % 2))),
                    Do(Function(begin, (following,))))),
                WarpBarrier(""))))))
        emit(Do(Function(f"wgmma_end<{sums}>", (Variable(self.sums),))))
