"""Strategy: sums of products of two inputs on the arithmetic units (matrix products, convolution layers).

Rows of outputs move one factor alone, columns the other. Both are counted through all of their indices, so that no
extent has to be a multiple of a tile's; the sum is walked in chunks that come into shared memory, one while another
is multiplied, as vectors along whatever lies side by side there; a thread makes an outer product of some of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Self

from layoutc.index import Expr, Int, Name, ceildiv
from layoutc.plan.chunks import CannotChunkError, check_chunks, number_of_chunks
from layoutc.plan.cost import cost_of, nominal_extents
from layoutc.plan.frame import Choice, Frame
from layoutc.plan.halo import as_index, footprints
from layoutc.plan.masks import masks_of
from layoutc.plan.names import Names
from layoutc.plan.nodes import THROUGH, Pass, Refusal, Storage
from layoutc.plan.ownership import Ownership
from layoutc.plan.products.division import ACCESS_BYTES, BUFFERS, Division, divide
from layoutc.plan.products.lines import total_of
from layoutc.plan.products.make import Making
from layoutc.plan.products.shape import Product as Shape
from layoutc.plan.products.shape import product_of
from layoutc.plan.strategies.nodes import Made, Work
from layoutc.resolve.program import Schedule

SHARED_SPEED = 16       # bytes that come from shared memory, as vectors, while memory gives one
CACHE_SPEED = 4         # bytes that come from a cache while memory gives one: windows read an element again and again
OUTPUTS_AT_WORK = 16    # of a thread that keep as much of the machine busy as one thread that waits for its loads


@dataclass(frozen=True, slots=True)
class Product:
    """Rows times columns."""

    work: Work
    shape: Shape
    division: Division
    cost: float

    @classmethod
    def try_plan(cls, work: Work) -> Self | Refusal:
        """The division, if the equations are one sum of products and the schedule leaves it open."""
        told = work.schedule or Schedule(None)
        if told.tile or told.threads or told.stages or told.vector or told.loads or told.stores or told.unroll:
            return Refusal("product", "the schedule says how outputs are divided or where tensors wait")
        if not work.target.has_asynchronous_copies:
            return Refusal("product", "the target does not copy to shared memory in the background")
        shape = product_of(work.kernel, work.equations)
        if isinstance(shape, str):
            return Refusal("product", shape)
        sides, room = [work.outputs_along(*f.side) for f in shape.factors], work.target.shared_bytes
        division = divide(shape, sides[0], sides[1], min(told.shared_budget or room, room))
        if isinstance(division, str):
            return Refusal("product", division)
        try:
            check_chunks(work.kernel, work.equations, frozenset(), division.steps.chunks)
        except CannotChunkError as error:
            return Refusal("product", error.why)
        return cls(work, shape, division, _cost(work, shape, division))

    def plan(self, names: Names, entry: str) -> Made:
        """The pass under its name in the text."""
        work, division = self.work, self.division
        groups = self._groups()
        tile = tuple(self._tile(g) for g in groups)
        chunks = division.steps.chunks
        found = footprints(work.kernel, work.equations, chunked=tuple(c.index for c in chunks))
        owner = Ownership(division.threads, division.items, self._layout(), self._places(groups), False)
        widest = max(t.type.bytes for t in work.kernel.outputs)
        choice = Choice(work.equations, tile, owner, self._storage(), tuple(found.values()), ACCESS_BYTES // widest,
                        chunks=chunks, asynchronous=True)
        frame = Frame(work.kernel, choice, work.signature, names.copy(), entry)
        with frame.lowering.block() as body:
            Making(frame, self.shape, division).emit()
        return Made((self._record(frame, groups, tile),), (frame.function(body),))

    # ---- the record

    def _groups(self) -> tuple[tuple[str, ...], ...]:
        """Indices that are counted through together, in the order of the outputs' brackets."""
        order = self.work.indices.index
        alone = [(i,) for i in self.shape.batch]
        return tuple(sorted([*alone, *(f.side for f in self.shape.factors)], key=lambda g: order(g[0])))

    def _side(self, group: tuple[str, ...]) -> int | None:
        """0 of the rows, 1 of the columns."""
        sides = [f.side for f in self.shape.factors]
        return sides.index(group) if group in sides else None

    def _tile(self, group: tuple[str, ...]) -> int:
        side = self._side(group)
        return 1 if side is None else self.division.sides[side].outputs

    def _layout(self) -> str:
        rows, columns = self.division.rows, self.division.columns
        return (f"warps {rows.warps} x {columns.warps}, lanes {rows.lanes} x {columns.lanes}, "
                f"outputs {rows.items} x {columns.items}")

    def _places(self, groups: tuple[tuple[str, ...], ...]) -> tuple[Expr, ...]:
        """Per group the place of a thread's item in the tile."""
        division = self.division
        thread = Name("thread", 0, division.threads - 1)
        item = Name("item", 0, division.items - 1)
        items = (item // division.columns.items, item % division.columns.items)
        made = [first + side.after(own)
                for first, side, own in zip(division.first(thread), division.sides, items, strict=True)]
        return tuple(Int(0) if (side := self._side(g)) is None else made[side] for g in groups)

    def _storage(self) -> tuple[Storage, ...]:
        """Both factors' chunks, twice."""
        count = self.division.steps.count
        return tuple(
            Storage(f.tensor, "shared", f.type, (count, side.outputs) if side.along else (side.outputs, count),
                    copies=BUFFERS)
            for f, side in zip(self.shape.factors, self.division.sides, strict=True))

    def _record(self, frame: Frame, groups: tuple[tuple[str, ...], ...], tile: tuple[int, ...]) -> Pass:
        work, division = self.work, self.division
        spec = {e: Name(e, 0) for e in work.kernel.extents}
        values = [as_index(v, spec) for v in frame.output(work.equations[0]).extents]
        counts = dict(zip(work.indices, (e for e in values if e is not None), strict=True))
        extents = tuple(total_of(tuple(counts[i] for i in g)) for g in groups)
        ones = tuple(self._tile((i,)) for i in work.indices)
        masks = masks_of(work.kernel, work.equations, tuple(counts.values()), ones, frame.choice.footprints,
                         frame.choice.storage, division.steps.chunks)
        return Pass(
            frame.entry, tuple(e.output for e in work.equations), tuple(THROUGH.join(g) for g in groups), extents, tile,
            division.threads, division.items, frame.choice.owner.layout,
            tuple(ceildiv(n, size) for n, size in zip(extents, tile, strict=True)),
            frame.arguments, frame.parameter_names, frame.choice.footprints, frame.choice.storage, frame.shared_bytes,
            masks, frame.choice.owner.places, division.run, chunks=division.steps.chunks, access=frame.choice.vector)


def _cost(work: Work, shape: Shape, division: Division) -> float:
    """Every chunk's elements from memory, and what a thread takes from them for all of its outputs."""
    rows, columns = division.rows, division.columns
    nominal = nominal_extents(work.kernel)
    chunks = number_of_chunks(division.steps.chunks, nominal)
    found = footprints(work.kernel, work.equations, extents=nominal)
    shared = {}
    for f, other in zip(shape.factors, (columns, rows), strict=True):
        if isinstance(chunks, Int):
            steps = chunks.value * division.steps.count / max(found[f.tensor].reads, 1)
            from_memory = steps / other.outputs / (CACHE_SPEED if f.slides else 1)
            shared[f.tensor] = f.type.bytes * (from_memory + 1 / other.items / SHARED_SPEED)
    made = [work.outputs_along(*g) for g in (shape.first.side, shape.second.side)]
    blocks = [-(-n // side.outputs) for n, side in zip(made, (rows, columns), strict=True)]
    launched = prod(blocks) * rows.outputs * columns.outputs / prod(made)
    batch = work.outputs_along(*shape.batch)
    at_work = prod(blocks) * rows.outputs * columns.outputs * batch / OUTPUTS_AT_WORK
    return cost_of(work.kernel, work.equations, work.indices[-1], at_work, shared) * launched
