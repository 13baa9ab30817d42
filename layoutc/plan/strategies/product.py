"""Strategy: sums of products of two inputs on the arithmetic units (matrix products, convolution layers).

Rows of outputs move one factor alone, columns the other. Both are counted through all of their indices, so that no
extent has to be a multiple of a tile's; the sum is walked in chunks that come into shared memory, one while another
is multiplied, as vectors along whatever lies side by side there; a thread makes an outer product of some of each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Self

from layoutc.index import Expr, Int, Name
from layoutc.plan.cost import cost_of, nominal_extents
from layoutc.plan.kernel.frame import Choice, Frame
from layoutc.plan.machine import ACCESS_BYTES
from layoutc.plan.names import Names
from layoutc.plan.nodes import Refusal, Storage
from layoutc.plan.ownership import Ownership
from layoutc.plan.products.division import BUFFERS, Division, divide
from layoutc.plan.products.make import Making
from layoutc.plan.products.shape import Product as Shape
from layoutc.plan.products.shape import product_of
from layoutc.plan.products.sides import counted_through
from layoutc.plan.reads.chunks import CannotChunkError, check_chunks, number_of_chunks
from layoutc.plan.reads.footprints import footprints
from layoutc.plan.work import Made, Work
from layoutc.resolve.program import Schedule
from layoutc.resolve.sharing import over_extents, shares_terms

BYTES = (4, 8)          # of the elements of a factor: what one copy in the background may move alone
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
        why = shape if isinstance(shape, str) else _why_not(shape)
        if isinstance(shape, str) or why:
            return Refusal("product", why)
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
        tile = tuple(self._outputs().get(i, 1) for i in work.indices)
        chunks = division.steps.chunks
        found = footprints(work.kernel, work.equations, chunked=tuple(c.index for c in chunks))
        owner = Ownership(division.threads, division.items, self._layout(), self._places(), False)
        widest = max(t.type.bytes for t in work.kernel.outputs)
        choice = Choice(work.equations, tile, owner, self._storage(), tuple(found.values()), ACCESS_BYTES // widest,
                        chunks=chunks, asynchronous=True)
        frame = Frame(work.kernel, choice, work.signature, names.copy(), entry)
        with frame.lowering.block() as body:
            Making(frame, self.shape, division).emit()
        made = replace(counted_through(frame.record(), self._sides), vector=division.run)
        return Made((made,), (frame.function(body),))

    # ---- the record

    @property
    def _sides(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The indices of the rows, those of the columns."""
        return self.shape.rows.side, self.shape.columns.side

    def _outputs(self) -> dict[str, int]:
        """Outputs of a block along either side, told of its last index."""
        return {names[-1]: side.outputs for names, side in zip(self._sides, self.division.sides, strict=True)}

    def _layout(self) -> str:
        rows, columns = self.division.rows, self.division.columns
        return (f"warps {rows.warps} x {columns.warps}, lanes {rows.lanes} x {columns.lanes}, "
                f"outputs {rows.items} x {columns.items}")

    def _places(self) -> tuple[Expr, ...]:
        """Per index the place of a thread's item in the tile, along either side told of its last index."""
        division = self.division
        thread = Name("thread", 0, division.threads - 1)
        item = Name("item", 0, division.items - 1)
        items = (item // division.columns.items, item % division.columns.items)
        made = {names[-1]: first + side.after(own) for names, first, side, own in zip(
            self._sides, division.first(thread), division.sides, items, strict=True)}
        return tuple(made.get(i, Int(0)) for i in self.work.indices)

    def _storage(self) -> tuple[Storage, ...]:
        """Both factors' chunks, twice."""
        count = self.division.steps.count
        return tuple(
            Storage(f.tensor.name, "shared", f.type, (count, side.outputs) if side.along else (side.outputs, count),
                    copies=BUFFERS)
            for f, side in zip(self.shape.factors, self.division.sides, strict=True))


def _why_not(shape: Shape) -> str:
    """Why threads do not multiply the factors chunk by chunk; "" where they do."""
    r = shape.reduce
    if r.type.is_float and over_extents(r) and not shares_terms(r):
        return "what roundings lose is added too: terms are not accumulated one by one"
    if shape.rows.tensor == shape.columns.tensor:
        return "both factors are one tensor"
    if {b.name for b in r.binders}.isdisjoint(shape.rows.names & shape.columns.names):
        return "no index of the sum moves two factors"
    narrow = next((f for f in shape.factors if f.type.bytes not in BYTES), None)
    return f"elements of {narrow.type.bytes} bytes are not copied one by one in the background" if narrow else ""


def _cost(work: Work, shape: Shape, division: Division) -> float:
    """Every chunk's elements from memory, and what a thread takes from them for all of its outputs."""
    rows, columns = division.rows, division.columns
    nominal = nominal_extents(work.kernel)
    chunks = number_of_chunks(division.steps.chunks, nominal)
    found = footprints(work.kernel, work.equations, extents=nominal)
    shared = {}
    for f, other in zip(shape.factors, (columns, rows), strict=True):
        if isinstance(chunks, Int):
            steps = chunks.value * division.steps.count / max(found[f.tensor.name].reads, 1)
            from_memory = steps / other.outputs / (CACHE_SPEED if f.slides else 1)
            shared[f.tensor.name] = f.type.bytes * (from_memory + 1 / other.items / SHARED_SPEED)
    made = [work.outputs_along(*g) for g in (shape.rows.side, shape.columns.side)]
    blocks = [-(-n // side.outputs) for n, side in zip(made, (rows, columns), strict=True)]
    launched = prod(blocks) * rows.outputs * columns.outputs / prod(made)
    batch = work.outputs_along(*shape.batch)
    at_work = prod(blocks) * rows.outputs * columns.outputs * batch / OUTPUTS_AT_WORK
    return cost_of(work.kernel, work.equations, work.indices[-1], at_work, shared) * launched
