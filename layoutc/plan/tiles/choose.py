"""What the schedule says of a pass, and what it leaves open: tile, owner, unrolling."""

from __future__ import annotations

from functools import partial
from math import prod

from layoutc.diagnostics import LayoutcError
from layoutc.layout import Layout
from layoutc.plan.kernel.frame import Choice, told_to
from layoutc.plan.nodes import Storage, Target
from layoutc.plan.ownership import Ownership, by_layout, over_box, striped, vectored
from layoutc.plan.reads.chunks import CannotChunkError, Chunk, check_chunks, chunks_of
from layoutc.plan.reads.footprints import Footprint
from layoutc.plan.reads.fusing import Fusing
from layoutc.plan.redistributions.redistributed import (
    CannotRedistributeError,
    DealtAccess,
    check_cover,
    exchange_of,
    made,
    needed,
)
from layoutc.plan.refusal import refusal
from layoutc.plan.tiles.staging import Staging
from layoutc.resolve.program import AccessLayout, Equation, Kernel, Program, Schedule
from layoutc.resolve.types import Type, compute_type
from layoutc.source import Span

DEFAULT_TILES: tuple[tuple[int, ...], ...] = ((), (1024,), (16, 64), (2, 8, 64))   # by rank, the last repeated
DEFAULT_THREADS = 256
LONE_OUTPUTS = 512      # up to which a tile has a thread for each output
COUNT_THEM = "give a count of threads instead, such as `threads 256`"


class Chooser:
    """Decides one pass: tile, owner, storage."""

    def __init__(
        self, program: Program, kernel: Kernel, equations: tuple[Equation, ...], schedule: Schedule | None,
        target: Target, fusing: Fusing | None = None,
    ) -> None:
        self.program, self.kernel, self.equations, self.target = program, kernel, equations, target
        self.fusing = fusing
        self.schedule = schedule or Schedule(None)
        self.indices = equations[0].indices
        self.stages = {s.tensor: s for s in self.schedule.stages}

    def choose(self) -> Choice:
        """Everything that the pass needs to know."""
        tile = self._tile()
        chunks = chunks_of(self.kernel, self.equations, self.schedule)
        staging = self.staging = Staging(
            self.program, self.kernel, self.equations, self.schedule, self.target, tile, chunks, self.fusing)
        owner = self._owner(tile, staging.found)
        self._check_chunks(chunks, owner)
        storage = staging.choose(owner)
        return Choice(self.equations, tile, owner, storage, tuple(staging.found.values()), self.schedule.vector or 1,
                      told_to(self.schedule), self._accesses(tile, owner, storage), chunks,
                      self.target.has_asynchronous_copies)

    def refuse(self, slug: str, message: str, span: Span, help: str = "") -> LayoutcError:
        """The error at a place of the schedule."""
        return refusal(self.program, slug, message, span, help)

    def _span(self, word: str) -> Span:
        return dict(self.schedule.clause_spans).get(word, self.schedule.span)

    def refuse_chunks(self, error: CannotChunkError) -> LayoutcError:
        """The error at the tile."""
        return self.refuse("cannot-chunk", error.why, self._span("tile"), error.help)

    def _check_chunks(self, chunks: tuple[Chunk, ...], owner: Ownership) -> None:
        """Reductions over the chunks' indices can be made so, and a thread can hold their partial results."""
        if not chunks:
            return
        if self.fusing is not None:
            raise self.refuse("cannot-chunk", "with `fuse` every step makes its reductions whole", self._span("tile"),
                              f"leave {', '.join(f'`{c.index}`' for c in chunks)} out of the tile")
        try:
            check_chunks(self.kernel, self.equations, self.staging.kept, chunks)
        except CannotChunkError as error:
            raise self.refuse_chunks(error) from None
        widest = max(compute_type(self._output_type(e)).bytes for e in self.equations)
        if owner.items * widest > self.target.register_bytes:
            raise self.refuse("cannot-chunk", f"a thread would hold {owner.items} partial results of {widest} bytes in "
                              f"registers, and there are {self.target.register_bytes} bytes", self._span("tile"),
                              "make the tile smaller or the threads more")

    # ---- tile and threads

    def _tile(self) -> tuple[int, ...]:
        rank = len(self.indices)
        if self.schedule.tile is not None:
            sizes = dict(self.schedule.tile)
            return tuple(sizes.get(i, 1) for i in self.indices)
        threads = self.schedule.threads
        if threads is not None and rank == 1 and (threads.layout is not None or threads.count is not None):
            return (threads.layout.size if threads.layout is not None else threads.count or 1,)
        known = DEFAULT_TILES[min(rank, len(DEFAULT_TILES) - 1)]
        return (1,) * (rank - len(known)) + known

    def _owner(self, tile: tuple[int, ...], found: dict[str, Footprint]) -> Ownership:
        threads = self.schedule.threads
        if threads is not None and threads.layout is not None:
            layout = threads.layout
            if not isinstance(layout, Layout):
                raise self.refuse("threads-layout", f"`{layout}` is no shape:stride", self._span("threads"),
                                  "own outputs by a plain layout; a swizzle has no place here")
            if layout.size != prod(tile):
                raise self.refuse(
                    "threads-layout", f"`{layout}` places {layout.size} outputs, the tile has {prod(tile)}",
                    self._span("threads"), "name all of the tile's outputs once")
            return by_layout(tile, layout)
        if threads is not None and threads.over is not None:
            return self._over_box(tile, threads.over, found)
        count = threads.count if threads is not None and threads.count is not None else self._default_threads(tile)
        widest = min(16 // self._output_type(e).bytes for e in self.equations)
        vector = min(self.schedule.vector or 1, widest)
        if vector > 1 and not self._stores() and tile and tile[-1] % vector == 0 and prod(tile) % (count * vector) == 0:
            return vectored(tile, count, vector)
        return striped(tile, count)

    def _default_threads(self, tile: tuple[int, ...]) -> int:
        """Those of the layouts of loads and stores, if there are any."""
        for access in (*self.schedule.loads, *self.schedule.stores):
            return access.layout[0].size
        return prod(tile) if prod(tile) <= LONE_OUTPUTS else DEFAULT_THREADS

    def _output_type(self, equation: Equation) -> Type:
        return next(t.type for t in self.kernel.outputs if t.name == equation.output)

    # ---- loads and stores with layouts of their own

    def _stores(self) -> list[tuple[AccessLayout, Equation]]:
        """Those of this pass."""
        told = {a.tensor: a for a in self.schedule.stores}
        return [(told[e.output], e) for e in self.equations if e.output in told]

    def _accesses(
        self, tile: tuple[int, ...], owner: Ownership, storage: tuple[Storage, ...]
    ) -> tuple[DealtAccess, ...]:
        held = {s.tensor: s for s in storage}
        out = []
        loads = [(a, partial(self._load, a, held.get(a.tensor), owner)) for a in self.schedule.loads
                 if a.tensor in self.staging.found and a.tensor in self.staging.loads]
        stores = [(a, partial(self._store, a, self._output_type(e), tile, owner)) for a, e in self._stores()]
        for written, decide in (*loads, *stores):
            try:
                out.append(decide())
            except CannotRedistributeError as error:
                raise self.refuse("bad-access", error.why, written.span, error.help) from None
        return tuple(out)

    def _load(self, a: AccessLayout, held: Storage | None, owner: Ownership) -> DealtAccess:
        if held is None or held.where not in ("shared", "registers"):
            where = "constant memory" if held is not None else "global memory"
            raise CannotRedistributeError(f"nothing of `{a.tensor}` is staged, it is read from {where}",
                                          f"`stage {a.tensor} in shared` or `in registers`")
        if held.where == "shared":
            access = DealtAccess("load", a.tensor, held.type, a.layout, held.extents)
            check_cover(access, owner.threads)
            return access
        box = self.staging.box_of(self.staging.found[a.tensor])
        access = DealtAccess("load", a.tensor, held.type, a.layout, box)
        check_cover(access, owner.threads)
        return exchange_of(access, needed(owner, self.indices, held.axes or (), held.extents, box), self.target)

    def _store(self, a: AccessLayout, type: Type, tile: tuple[int, ...], owner: Ownership) -> DealtAccess:
        access = DealtAccess("store", a.tensor, type, a.layout, tile)
        check_cover(access, owner.threads)
        return exchange_of(access, made(owner, max(a.layout.values) + 1), self.target)

    def _over_box(self, tile: tuple[int, ...], tensor: str, found: dict[str, Footprint]) -> Ownership:
        span = self._span("threads")
        if self.fusing is not None:
            raise self.refuse("threads-over", f"with `fuse` the box of `{tensor}` is another at each step", span,
                              COUNT_THEM)
        footprint = found.get(tensor)
        stage = self.stages.get(tensor)
        if footprint is None or footprint.axes is None:
            why = footprint.why if footprint is not None else f"`{tensor}` is not read"
            raise self.refuse("threads-over", f"no thread for each element of `{tensor}`: {why}", span, COUNT_THEM)
        if tuple(a.index for a in footprint.axes) != self.indices or any(a.scale != 1 for a in footprint.axes):
            raise self.refuse("threads-over", f"`{tensor}` is not read along the outputs' own indices", span,
                              COUNT_THEM)
        if stage is None or stage.where != "shared":
            raise self.refuse("threads-over", f"`{tensor}` is not staged", span, f"add `stage {tensor} in shared`")
        box = tuple(a.extent(size) for a, size in zip(footprint.axes, tile, strict=True))
        if prod(box) > self.target.block_threads:
            raise self.refuse("threads-over", f"the box of `{tensor}` has {prod(box)} elements, "
                              f"a block {self.target.block_threads} threads at most", span, "make the tile smaller")
        if any(a.low > 0 or a.high < 0 for a in footprint.axes):
            raise self.refuse("threads-over", f"the box of `{tensor}` does not cover the tile", span, COUNT_THEM)
        return over_box(tile, box, tuple(-a.low for a in footprint.axes))
