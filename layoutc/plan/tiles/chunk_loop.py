"""The loop over the chunks of a reduction: boxes filled, products taken into accumulators that live across chunks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod

from layoutc.index import Call, Expr, Int, Name, compare, every
from layoutc.plan.kernel.boxes import fill_registers, fill_shared
from layoutc.plan.kernel.dealt import when
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.items import ItemPlace, place_of_item
from layoutc.plan.kernel.sums import Sum, Sums
from layoutc.plan.kernel.used import names_in, with_used
from layoutc.plan.lowering.loops import loop, take
from layoutc.plan.lowering.places import InBox
from layoutc.plan.nodes import Storage
from layoutc.plan.reads.chunks import Chunk, number_of_chunks
from layoutc.plan.steps import Barrier, Do, Let, Loop, Step, Steps, Unroll, When
from layoutc.plan.tiles.outer import outer_product
from layoutc.plan.tiles.transfers import transfer
from layoutc.plan.values import Function
from layoutc.resolve.program import Binder

UNROLLED = 64           # steps of a chunk that are written out
UNROLLED_PRODUCTS = 512 # and how many products of a thread they may come to


def emit_chunks(frame: Frame, held: Sequence[Storage], boxes: Mapping[str, InBox]) -> ItemPlace | None:
    """Every chunk into the accumulators, where the equations then find their sums; the place of a lone item.

    ``held`` are the tensors and lets of which each chunk brings its own part.

    Raises CannotChunkError.
    """
    loop = _ChunkLoop(frame, held, boxes)
    loop.emit()
    return loop.place if loop.sums.items == 1 else None


class _ChunkLoop:
    def __init__(self, frame: Frame, held: Sequence[Storage], boxes: Mapping[str, InBox]) -> None:
        self.frame, self.boxes = frame, boxes
        self.double = [s for s in held if s.copies == 2]
        self.single = [s for s in held if s.copies == 1 and s.where == "shared"]
        self.registers = [s for s in held if s.where == "registers"]
        self.sums = Sums(frame)
        self.place = place_of_item(frame, {})
        self.sums.rehearse(self.place.at)
        self.unsafe = _unsafe(frame, boxes)
        self.chunk = Name(frame.names.take("chunk"), 0)
        self.buffer = Name(frame.names.take("buffer"), 0, 1) if self.double else None
        self.counts: dict[str, Expr] = {}       # per chunked index, where there are several: how many chunks

    def emit(self) -> None:
        """The accumulators, the loop."""
        frame, emit = self.frame, self.frame.lowering.emit
        if self.sums.items == 1:
            emit(*self.place.steps)
        emit(*self.sums.declarations())
        chunks = self._number_of_chunks()
        with frame.lowering.block() as body:
            if self.double:
                self._double_buffered(chunks)
            else:
                self._chunk(self.chunk)
                if self.single or any(a.move is not None for a in frame.loads.values()):
                    emit(Barrier())
        high = chunks + 1 if self.double else chunks
        emit(Loop(False, "Index", str(self.chunk), Int(0), high, tuple(body)))
        names = [step.name for step in self.place.steps if isinstance(step, Let)]
        if self.sums.items > 1:         # the equations declare their own
            for name in set(names) - set(frame.spelled.values()):
                frame.names.release(name)

    def _number_of_chunks(self) -> Expr:
        frame, chunks = self.frame, self.frame.choice.chunks
        if len(chunks) > 1:
            self.counts = {c.index: self._named(c.count(frame.extents), f"chunks_{frame.spelled[c.index]}")
                           for c in chunks}
            total: Expr = Int(1)
            for n in self.counts.values():
                total = total * n if isinstance(n, Int) else n * total
        else:
            total = number_of_chunks(chunks, frame.extents)
        return self._named(total, "chunks")

    def _named(self, n: Expr, wanted: str) -> Expr:
        return n if isinstance(n, Int) else Name(self.frame.lowering.let("Index", wanted, n), 0)

    def _double_buffered(self, chunks: Expr) -> None:
        """One turn: the next chunk sets out, the present one is computed with, the next one arrives."""
        assert self.buffer is not None
        frame, emit = self.frame, self.frame.lowering.emit
        on_its_way = [transfer(frame, s, replace(self.boxes[s.tensor], buffer=self.buffer)) for s in self.double]
        waiting = any(t.asynchronous for t in on_its_way)
        if waiting:
            emit(Do(Function("copy_async_wait<0>", ())))
        emit(Barrier())
        for t in on_its_way:
            emit(*t.declared)
        commit = (Do(Function("copy_async_commit", ())),) if waiting else ()
        there = compare("<", self.chunk, chunks)
        into = Let("int", str(self.buffer), self.chunk % 2)
        begin = (*(step for t in on_its_way for step in t.begin), *commit)
        emit(When(there, with_used((into, *self._begins(self.chunk)), begin)))
        for s in self.double:
            frame.lowering.places[s.tensor] = replace(self.boxes[s.tensor], buffer=self.buffer)
        with frame.lowering.block() as steps:
            self._chunk(Name(str(self.chunk), 1) - 1)
        present = Let("int", str(self.buffer), (self.chunk + 1) % 2)
        emit(When(compare(">", self.chunk, Int(0)), with_used((present,), tuple(steps))))
        finish = tuple(step for t in on_its_way for step in t.finish)
        if finish:
            emit(When(there, (into, *finish)))

    def _begins(self, chunk: Expr) -> Steps:
        """Where the chunk of a number begins along each of its indices."""
        frame, out, rest = self.frame, list[Step](), chunk
        for c in reversed(frame.choice.chunks):
            here = rest
            if c is not frame.choice.chunks[0]:
                here, rest = rest % self.counts[c.index], rest // self.counts[c.index]
            begin = frame.origin(c.index)
            out.append(Let("Index", str(begin), here * c.size + c.first(frame.extents)))
        return tuple(reversed(out))

    def _chunk(self, chunk: Expr) -> None:
        """What a chunk needs, and its products."""
        frame = self.frame
        with frame.lowering.block() as steps:
            fill_shared(frame, self.single, self.boxes)
            fill_registers(frame, self.registers)
            counts = {c.index: self._count(c) for c in frame.choice.chunks}
            for s in self.sums.found:
                self._products(s, counts)
        frame.lowering.emit(*with_used(self._begins(chunk), tuple(steps)))

    def _count(self, c: Chunk) -> Expr:
        """Values of an index that the chunk has."""
        if c.whole or c.size == 1:
            return Int(c.size)
        frame = self.frame
        begin = frame.origin(c.index)
        end = Call("minimum", (begin + c.size, c.last(frame.extents)))
        return Name(frame.lowering.let("int", f"count_{frame.spelled[c.index]}", end - begin), 0, c.size)

    # ---- products

    def _products(self, s: Sum, counts: Mapping[str, Expr]) -> None:
        with self.frame.lowering.block() as steps:
            self._nest(s, s.reduce.binders, dict(s.env), counts)
        self.frame.lowering.emit(*(self._guarded(tuple(steps)) if self.sums.items == 1 else steps))

    def _guarded(self, steps: Steps) -> Steps:
        """Steps of one item, kept from items outside the tile, and from all that are no outputs where that matters."""
        safe = names_in(steps).isdisjoint(self.unsafe)
        return when(every(self.place.tests) if safe else self.place.valid, steps)

    def _nest(self, s: Sum, binders: tuple[Binder, ...], env: dict[str, Expr], counts: Mapping[str, Expr]) -> None:
        if not binders:
            self._take(s, env)
            return
        first, *rest = binders
        unroll = self._is_unrolled(binders, counts)
        chunk = next((c for c in self.frame.choice.chunks if c.index == first.name), None)
        around = (loop(self.frame.lowering, first, env, unroll) if chunk is None
                  else self._steps_of(chunk, env, counts[chunk.index], unroll))
        with around as inner:
            self._nest(s, tuple(rest), inner, counts)

    def _take(self, s: Sum, env: dict[str, Expr]) -> None:
        """One product of every item."""
        lowering, items = self.frame.lowering, self.sums.items
        if items == 1:
            take(lowering, s.reduce, env, s.into)
            return
        into = s.of_item(several=True)
        if not self.place.tests and self._is_safe(s, env):
            outer = outer_product(self.frame, s.reduce, env, into, self.place, items)
            if outer is not None:
                lowering.emit(*outer)
                return
        with lowering.block() as steps:
            take(lowering, s.reduce, env, into)
        body = with_used(self.place.steps, self._guarded(tuple(steps)))
        lowering.emit(Loop(True, "int", "item", Int(0), Int(items), body))

    def _is_safe(self, s: Sum, env: dict[str, Expr]) -> bool:
        """Whether an item that is no output may take its product too."""
        lowering = self.frame.lowering
        with lowering.rehearsal(), lowering.block() as steps:
            take(lowering, s.reduce, env, s.into)
        return names_in(steps).isdisjoint(self.unsafe)

    @contextmanager
    def _steps_of(self, c: Chunk, env: Mapping[str, Expr], count: Expr, unroll: Unroll) -> Iterator[dict[str, Expr]]:
        """A loop over one chunk of an index."""
        frame, lowering = self.frame, self.frame.lowering
        local, name = frame.names.take(f"item_{frame.spelled[c.index]}"), frame.spelled[c.index]
        at = frame.origin(c.index) + (Name(local, 0, c.size - 1) if c.size > 1 else Int(0))
        lowering.local[name], lowering.limits[name] = at, c.last(frame.extents)
        low, high = c.first(frame.extents).interval[0], c.last(frame.extents)
        with lowering.block() as steps:
            yield {**env, c.index: Name(name, low, high.value - 1 if isinstance(high, Int) else None)}
        body = with_used((Let("Index", name, at),), tuple(steps))
        alone = c.size == 1 and len(self.sums.found) == 1      # else each reduction's index needs a scope of its own
        lowering.emit(*(body if alone else (Loop(unroll, "int", local, Int(0), count, body),)))
        frame.names.release(local)

    def _is_unrolled(self, binders: Sequence[Binder], counts: Mapping[str, Expr]) -> Unroll:
        """Whether the loop over the first of the binders is written out."""
        if binders[0].name in self.frame.choice.unroll:
            known = binders[0].name not in counts or isinstance(counts[binders[0].name], Int)
            return known and self.frame.choice.unroll[binders[0].name]
        sizes = [self._size(b, counts) for b in binders]
        steps = prod(n for n in sizes if n is not None)
        return None not in sizes and steps <= UNROLLED and steps * self.sums.items <= UNROLLED_PRODUCTS

    @staticmethod
    def _size(b: Binder, counts: Mapping[str, Expr]) -> int | None:
        if b.name in counts:
            count = counts[b.name]
            return count.value if isinstance(count, Int) else None
        return b.count


def _unsafe(frame: Frame, boxes: Mapping[str, InBox]) -> frozenset[str]:
    """Arrays that only valid outputs may read: global and constant memory, and lets where no output needs them.

    Boxes of tensors hold something everywhere.
    """
    held = {s.tensor for s in frame.choice.storage if s.where in ("shared", "registers") and not s.halo_global}
    outside = {array for name, array in frame.arrays.items() if name not in held}
    return frozenset(outside | {boxes[s.name].array for s in frame.kernel.stages if s.name in boxes})
