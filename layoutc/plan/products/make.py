"""The steps of a product: chunks of both factors on their way while a thread multiplies what has arrived."""

from __future__ import annotations

from collections.abc import Mapping

from layoutc.index import Call, Expr, Int, Name, ceildiv, compare, multiplied
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.sums import Sums
from layoutc.plan.kernel.used import with_used
from layoutc.plan.products.division import BUFFERS, Division
from layoutc.plan.products.fill import Fill
from layoutc.plan.products.lines import Line, Walk, Words
from layoutc.plan.products.multiply import Multiply
from layoutc.plan.products.results import Results
from layoutc.plan.products.shape import Factor, Product
from layoutc.plan.reads.chunks import number_of_chunks
from layoutc.plan.steps import Barrier, Do, Let, Loop, Shared, Step, Steps, When
from layoutc.plan.values import Function, memory_type


class Making:
    """The text of one product."""

    def __init__(self, frame: Frame, product: Product, division: Division) -> None:
        self.frame, self.product, self.division = frame, product, division
        counts = dict(zip(frame.indices, frame.counts, strict=True))
        self.batch: dict[str, Expr] = {i: Name(frame.names.take(f"tile_{frame.spelled[i]}"), 0) for i in product.batch}
        lines = [self._line(f, word, counts) for f, word in zip(product.factors, ("row", "column"), strict=True)]
        self.lines = (lines[0], lines[1])
        self.words = Words.of(frame.names)
        spelled = {c.index: frame.spelled[c.index] for c in division.steps.chunks}
        spelled |= {b.name: frame.names.take(b.name) for b in division.steps.inner}
        self.walk = Walk(frame, division.steps, product.reduce.binders, spelled)
        self.sums = Sums(frame)

    def _line(self, f: Factor, word: str, counts: Mapping[str, Expr]) -> Line:
        frame = self.frame
        spelled = tuple(frame.spelled[i] for i in f.side)
        frame.lowering.limits |= {name: counts[i] for name, i in zip(spelled, f.side, strict=True)}
        number = spelled[0] if len(f.side) == 1 else frame.names.take(word)
        own = tuple(counts[i] for i in f.side)
        return Line(f.side, spelled, own, number, Name(frame.names.take(f"tile_{number}"), 0), multiplied(own))

    def emit(self) -> None:
        """All of it."""
        frame, division, emit = self.frame, self.division, self.frame.lowering.emit
        emit(Let("int", "thread", Name("threadIdx.x")))
        self._emit_tiles()
        frame.name_chunks()
        fills = [Fill(frame, f, side, division, line, self.walk, self.batch, self.words)
                 for f, side, line in zip(self.product.factors, division.sides, self.lines, strict=True)]
        for f in fills:
            f.before()
        for f in fills:
            count = division.size(f.side)
            emit(Shared(memory_type(f.factor.type), f.array, (BUFFERS, count)))
            frame.shared_bytes += BUFFERS * count * f.factor.type.bytes
        self.sums.rehearse(tuple(Name(frame.spelled[i], 0) for i in frame.indices))
        first = division.first(Name("thread", 0, division.threads - 1))
        places = [Name(frame.lowering.let("int", f"{line.number}_of_thread", at), 0)
                  for line, at in zip(self.lines, first, strict=True)]
        emit(*self.sums.declarations())
        self._emit_chunks(fills, Multiply(frame, self.product, division, self.sums.found[0], places, self.words))
        Results(frame, division, self.lines, self.batch, self.sums, places, self.words).emit()

    def _emit_tiles(self) -> None:
        """Where the block's tile begins: the columns' tiles go by first, then the rows', then what both share."""
        frame, emit = self.frame, self.frame.lowering.emit
        emit(Let("Index", "block", Name("blockIdx.x")))
        counts = dict(zip(frame.indices, frame.counts, strict=True))
        rest: Expr = Name("block", 0)
        tiles: list[Step] = []
        digits = [(line.origin, f"blocks_{line.number}", ceildiv(line.total, side.outputs), side.outputs)
                  for line, side in zip(reversed(self.lines), reversed(self.division.sides), strict=True)]
        digits += [(at, f"blocks_{frame.spelled[i]}", counts[i], 1) for i, at in reversed(self.batch.items())]
        for number, (origin, name, blocks, size) in enumerate(digits):
            here = rest
            if number < len(digits) - 1:
                if not isinstance(blocks, Int | Name):
                    blocks = Name(frame.lowering.let("Index", name, blocks), 0)
                here, rest = rest % blocks, rest // blocks
            tiles.append(Let("Index", str(origin), here * size))
        emit(*reversed(tiles))

    # ---- chunks

    def _emit_chunks(self, fills: list[Fill], multiply: Multiply) -> None:
        """One turn: the next chunk sets out while the present one is multiplied."""
        frame, emit = self.frame, self.frame.lowering.emit
        chunk = Name(frame.names.take("chunk"), 0)
        buffer = Name(frame.names.take("buffer"), 0, BUFFERS - 1)
        chunks = number_of_chunks(self.division.steps.chunks, frame.extents)
        if not isinstance(chunks, Int):
            chunks = Name(frame.lowering.let("Index", "chunks", chunks), 0)
        with frame.lowering.block() as begin:
            count = self._count()
            for f in fills:
                emit(*f.copies(buffer, count))
            emit(Do(Function("copy_async_commit", ())))
        self._release(count)
        with frame.lowering.block() as steps:
            count = self._count()
            multiply.emit(fills, buffer, count)
        self._release(count)
        present = Name(str(chunk), 1) - 1
        body = (
            Do(Function("copy_async_wait<0>", ())), Barrier(),
            When(compare("<", chunk, chunks), with_used(
                (Let("int", str(buffer), chunk % BUFFERS), *self._begins(chunk)), tuple(begin))),
            When(compare(">", chunk, Int(0)), with_used(
                (Let("int", str(buffer), (chunk + 1) % BUFFERS), *self._begins(present)), tuple(steps))))
        emit(Loop(False, "Index", str(chunk), Int(0), chunks + 1, body))

    def _begins(self, chunk: Expr) -> Steps:
        """Where the chunk of a number begins along each of its indices."""
        frame, out, rest = self.frame, list[Step](), chunk
        chunks = self.division.steps.chunks
        for c in reversed(chunks):
            here = rest
            if c is not chunks[0]:
                n = c.count(frame.extents)
                here, rest = rest % n, rest // n
            out.append(Let("Index", str(frame.origin(c.index)), here * c.size + c.first(frame.extents)))
        return tuple(reversed(out))

    def _count(self) -> Name | None:
        """Values of the chunked index in the chunk in hand; None where every chunk is whole."""
        c, frame = self.division.steps.chunk, self.frame
        if c.whole:
            return None
        end = Call("minimum", (frame.origin(c.index) + c.size, c.last(frame.extents)))
        name = frame.lowering.let("int", f"count_{frame.spelled[c.index]}", end - frame.origin(c.index))
        return Name(name, 0, c.size)

    def _release(self, count: Name | None) -> None:
        if count is not None:
            self.frame.names.release(str(count))
