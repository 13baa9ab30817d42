"""Products by warpgroups: which tiles there are, the best of them, and the kernel's loop over chunks in panels."""

from __future__ import annotations

from layoutc.index import Expr, Int, Name, compare
from layoutc.layout import Layout
from layoutc.plan.machine import LINE_BYTES, REGISTERS
from layoutc.plan.matrix.emit import Multiplication
from layoutc.plan.matrix.product import Factor, Product
from layoutc.plan.matrix.tiling import Tiling, shared_bytes
from layoutc.plan.steps import Barrier, Do, Let, Loop, Routine, Steps, When
from layoutc.plan.values import Function, Operation, Text, Variable
from layoutc.resolve.types import Type

GROUP = 128                 # threads
GROUP_ROWS = 64             # that a warpgroup multiplies at once
GROUPS = (3, 2, 1, 4)       # of a block
COLUMNS = (256, 128, 64)    # of a block, which every warpgroup multiplies at once
STEPS = 4                   # products of a chunk: each takes 32 bytes of a line
VECTORS = 8                 # of a line: so many threads copy it
OTHER_REGISTERS = 28        # of a thread beside its sums and what it keeps of lines; twice as many for wide indices
ROOMY = 48                  # the same, where there are more blocks than one
LEAST_BUFFERS, MOST_BUFFERS = 3, 4


def tiles(product: Product, room: int, wide: bool) -> list[Tiling]:
    """All that registers and ``room`` bytes of shared memory allow, with as many buffers as these give."""
    found, type = [], product.rows.type
    for groups in GROUPS:
        for columns in COLUMNS:
            sides = (product.rows, groups * GROUP_ROWS), (product.columns, columns)
            lines = sum(_tables(f) * -(-n // (GROUP // VECTORS * groups)) for f, n in sides)
            own = columns // 2 + (OTHER_REGISTERS + lines) * (2 if wide else 1)
            if groups * GROUP * own > REGISTERS:
                continue
            buffers = MOST_BUFFERS
            made = _tiling(groups, columns, type, buffers)
            while buffers > LEAST_BUFFERS and shared_bytes(made, type) > room // _resident(made):
                buffers -= 1
                made = _tiling(groups, columns, type, buffers)
            if shared_bytes(made, type) <= room:
                found.append(made)
    return found


def _tables(factor: Factor) -> int:
    """Numbers that a thread keeps of each line that it copies."""
    folded = sum(any(rules) and axis.outer != Int(0) and axis.inner != Int(0)
                 for axis, rules in zip(factor.axes, factor.tensor.edges, strict=True))
    return 1 + folded if folded or len(factor.side) > 1 else 0


def resident(tiling: Tiling, type: Type, room: int) -> int:
    """Blocks for whose registers a multiprocessor must have room: as many as spill none and as its memory holds."""
    return max(min(_resident(tiling), room // shared_bytes(tiling, type)), 1)


def _resident(tiling: Tiling) -> int:
    return max(REGISTERS // (tiling.threads * (tiling.columns // 2 + ROOMY)), 1)


def _tiling(groups: int, columns: int, type: Type, buffers: int) -> Tiling:
    return Tiling(groups * GROUP_ROWS, columns, (4 * groups, 1), LINE_BYTES // type.bytes, buffers, True)


def sums_of(tiling: Tiling) -> Layout:
    """(thread, item) -> place in the tile, row-major: accumulators of ``wgmma``, a warpgroup below another."""
    wide, groups = tiling.columns, tiling.rows // GROUP_ROWS
    threads = [Layout((4, 8), (2, wide)), Layout(4, 16 * wide)]
    threads += [Layout(groups, GROUP_ROWS * wide)] if groups > 1 else []
    return Layout.of([Layout.of(threads), Layout((2, 2, wide // 8), (1, 8 * wide, 8))])


class GroupMultiplication(Multiplication):
    """The steps of one pass whose warpgroups multiply in the background, from panels."""

    group: Expr = Int(0)        # the warpgroup's first row in the tile

    def _emit_places(self) -> None:
        thread = Name("thread", 0, self.tiling.threads - 1)
        if self.tiling.threads > GROUP:
            name = self.lowering.let("int", "group_rows", thread // GROUP * GROUP_ROWS)
            self.group = Name(name, 0, self.tiling.rows - GROUP_ROWS)

    def _emit_chunks(self) -> None:
        """One turn: a chunk is multiplied while one sets out; the products before it end, so that no one reads there.

        Whoever meets at the barrier has seen the products of two turns before end: two buffers are none of the copies'.
        """
        take, emit = self.frame.names.take, self.lowering.emit
        counts, chunks = self._count_chunks()
        ahead = self.tiling.buffers - 2
        begin, chunk = take("begin"), Name(take("chunk"), 0)
        self._emit_routine(begin, chunk, (When(compare("<", chunk, chunks), self._begin(chunk, counts)),
                                          Do(Function("copy_async_commit", ()))))
        emit(Loop(True, "int", str(chunk), Int(0), Int(ahead), (Do(Function(begin, (chunk,))),)))
        sums = self.tiling.columns // 2
        emit(Loop(False, "Index", str(chunk), Int(0), chunks, (
            Do(Function(f"copy_async_wait<{ahead - 1}>", ())),
            Do(Function("copy_async_show", ())),
            Barrier(),
            *self._products(chunk, sums),
            Do(Function(begin, (chunk + ahead,))),
            Do(Function("wgmma_wait<1>", ())))))
        emit(Do(Function(f"wgmma_end<{sums}>", (Variable(self.sums),))))

    def _emit_routine(self, begin: str, chunk: Name, body: Steps) -> None:
        self.lowering.emit(Routine("Index", begin, str(chunk), body))

    def _products(self, chunk: Expr, sums: int) -> tuple[Let | Do | Loop, ...]:
        """Of one chunk, a group of their own."""
        take, tiling = self.frame.names.take, self.tiling
        buffer, step = Name(take("buffer"), 0, tiling.buffers - 1), Name(take("step"), 0, STEPS - 1)
        panels: list[Text] = []
        for operand, line in ((self.rows, self.group), (self.columns, Int(0))):
            panel = operand.panel
            at = buffer * panel.elements + line * panel.length + step * (panel.length // STEPS)
            panels.append(Operation("+", Variable(operand.array), at))
        product = Do(Function(f"wgmma<{tiling.columns}>", (Variable(self.sums), *panels)))
        for name in (str(buffer), str(step)):
            self.frame.names.release(name)
        return (
            Let("int", str(buffer), chunk % tiling.buffers),
            Do(Function(f"wgmma_begin<{sums}>", (Variable(self.sums),))),
            Loop(True, "int", str(step), Int(0), Int(STEPS), (product,)),
            Do(Function("wgmma_commit", ())))
