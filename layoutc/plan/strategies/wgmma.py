"""Strategy: sums of products by warpgroups, whose tensor cores read both factors in shared memory themselves.

As in ``mma`` rows are all that the outputs' indices of one factor count, columns those of the other, and chunks of both
come in the background. Here a chunk lies in panels of 128-byte lines, and four warps multiply 64 rows of it by all
columns of the tile at once (``wgmma``), while copies set out and the next chunk lands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from layoutc.index import Int
from layoutc.plan.head import plain
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.matrix.blocks import choice_of, cost
from layoutc.plan.matrix.boxed import BoxMultiplication
from layoutc.plan.matrix.maps import Coming, boxes_of
from layoutc.plan.matrix.operand import vector_of
from layoutc.plan.matrix.product import DEPTHS, LEAST_SIDE, NoProductError, Product, product_of
from layoutc.plan.matrix.tiling import VECTOR_BYTES, Tiling, shared_bytes
from layoutc.plan.matrix.warpgroups import GROUP_ROWS, GroupMultiplication, Outputs, clocks, resident, sums_of, tiles
from layoutc.plan.names import Names
from layoutc.plan.nodes import Refusal
from layoutc.plan.ownership import by_layout
from layoutc.plan.products.sides import counted_through
from layoutc.plan.reads.subscripts import as_index
from layoutc.plan.refusal import refusal
from layoutc.plan.work import Made, Work
from layoutc.resolve.program import Schedule

BARRIER_BYTES = 1024        # of shared memory, which they take as panels begin at multiples of so many
NO_TILE = "no tile of warpgroups is as the schedule says"
MANY = 3 << 14              # outputs along a side that the call decides: whole tiles of every size


@dataclass(frozen=True, slots=True)
class Wgmma:
    """A product and how blocks divide it."""

    work: Work
    product: Product
    tiling: Tiling
    coming: tuple[Coming, Coming] | str     # what copies of boxes are told; or why the threads themselves copy
    cost: float

    @classmethod
    def try_plan(cls, work: Work) -> Self | Refusal:
        """The best tile, if the equations are a product of factors that both lie along the sum.

        Whatever a schedule asks for, ``mma`` is there to make it or to say why not; but for boxes, which come to
        warpgroups alone: raises LayoutcError where a schedule insists on them and cannot have them.
        """
        told = work.schedule or Schedule(None)
        try:
            product = _product(work, told)
            outputs = _outputs(work, product)
            tiling, coming = _ways(work, product, told, outputs)
        except NoProductError as error:
            if told.copies == "boxes":
                raise refusal(work.program, "cannot-mma", f"no boxes are copied: {error}",
                              dict(told.clause_spans)["mma"], "`mma` leaves open how factors come") from None
            return Refusal("wgmma", str(error))
        taken = (GROUP_ROWS, tiling.columns)
        ahead = tiling.buffers - (2 if isinstance(coming, str) else 1)
        return cls(work, product, tiling, coming, cost(
            work, product, tiling, (outputs.rows, outputs.columns), taken, ahead))

    def plan(self, names: Names, entry: str) -> Made:
        """The pass under its name in the text."""
        work, product, tiling = self.work, self.product, self.tiling
        owner = by_layout((tiling.rows, tiling.columns), sums_of(tiling))
        choice = choice_of(work, product, tiling, owner)
        if not isinstance(self.coming, str):
            sides = zip((product.rows, product.columns), self.coming, strict=True)
            choice = replace(choice, maps={factor.tensor.name: coming.map for factor, coming in sides})
        frame = Frame(work.kernel, choice, work.signature, names.copy(), entry)
        multiplication = GroupMultiplication(frame, product, tiling) if isinstance(self.coming, str) else (
            BoxMultiplication(frame, product, tiling, self.coming))
        with frame.lowering.block() as body:
            multiplication.emit()
        frame.shared_bytes = multiplication.shared_bytes
        one = counted_through(frame.record(), (product.rows.side, product.columns.side))
        one = replace(one, dynamic_bytes=frame.shared_bytes, notes=self._notes(multiplication))
        blocks = resident(tiling, product.rows.type, work.target.asked_bytes)
        return Made((one,), (replace(frame.function(body), resident=blocks),))

    def _notes(self, made: GroupMultiplication) -> tuple[str, ...]:
        """Who multiplies what, and the layout by which it is stored."""
        tiling, sum = self.tiling, "f32" if self.product.sum.type.is_float else "i32"
        type, groups = self.product.rows.type, tiling.rows // GROUP_ROWS
        ahead = tiling.buffers - (2 if isinstance(self.coming, str) else 1)
        lines = [f"{groups} warpgroup{'s' if groups > 1 else ''}, each {GROUP_ROWS} x {tiling.columns} by wgmma "
                 f"m{GROUP_ROWS}n{tiling.columns}k{DEPTHS[type]}, {type.name} into {sum}; {ahead} of {tiling.buffers} "
                 f"chunks on their way, {_brought(self.coming)}"]
        for operand in (made.rows, made.columns):
            side = operand.factor.side
            order = f" (of {', '.join(map(plain, side))} the last fastest)" if len(side) > 1 else ""
            word = "rows" if operand.is_rows else "columns"
            lines.append(f"{plain(operand.factor.tensor.name)}: {word}{order}; 16-byte vectors at {operand.panel}")
        return tuple(lines)


def _product(work: Work, told: Schedule) -> Product:
    """The sum of products, if warpgroups can take its factors. Raises NoProductError."""
    if not told.mma and (told.tile or told.threads or told.stages or told.vector or told.loads or told.stores):
        raise NoProductError("the schedule says how outputs are divided or where tensors wait")
    if not work.target.has_warpgroup_products:
        raise NoProductError(f"{work.target.arch} has no `wgmma`, which compute capability 9.0 has")
    product = product_of(work)
    for factor in (product.rows, product.columns):
        if not factor.by_depth:
            raise NoProductError(f"`{factor.tensor.name}` does not lie along the sum")
        if vector_of(work.kernel, work.signature, factor) * factor.type.bytes != VECTOR_BYTES:
            raise NoProductError(f"no copy of 16 bytes brings `{factor.tensor.name}` to its panel")
    if min(work.outputs_along(*side.side) for side in (product.rows, product.columns)) < LEAST_SIDE:
        raise NoProductError("the outputs are too few for factors to serve many of them")
    return product


def _brought(coming: tuple[Coming, Coming] | str) -> str:
    if isinstance(coming, str):
        return f"copied by all threads: {coming.encode('ascii', 'replace').decode()}"
    return "as boxes that one thread asks for"


def _ways(
    work: Work, product: Product, told: Schedule, outputs: Outputs
) -> tuple[Tiling, tuple[Coming, Coming] | str]:
    """The fastest tile by the target's model, and how its chunks come. Raises NoProductError."""
    room = work.target.asked_bytes if told.shared_budget is None else told.shared_budget
    coming: tuple[Coming, Coming] | str = "the schedule says so"
    if told.copies != "threads":
        boxed = _tiling(work, product, told, outputs, room - BARRIER_BYTES, boxes=True)
        coming = NO_TILE if boxed is None else boxes_of(work, product, boxed)
        if boxed is not None and not isinstance(coming, str):
            return boxed, coming
        if told.copies == "boxes":
            raise NoProductError(str(coming))
    copied = _tiling(work, product, told, outputs, room, boxes=False)
    if copied is None:
        raise NoProductError(NO_TILE)
    return copied, coming


def _tiling(
    work: Work, product: Product, told: Schedule, outputs: Outputs, room: int, *, boxes: bool
) -> Tiling | None:
    """The fastest tile among those that the schedule leaves."""
    said, type = dict(told.tile or ()), product.rows.type
    threads = told.threads.count if told.threads is not None else None
    names = (product.rows.side[-1], product.columns.side[-1], product.depth.index)
    left = [t for t in tiles(product, room, work.signature.wide)
            if all(said.get(i, size) == size for i, size in zip(names, (t.rows, t.columns, t.depth), strict=True))
            and threads in (None, t.threads) and shared_bytes(t, type) <= room]
    if not left or any(size > 1 for i, size in said.items() if i not in names):
        return None
    return min(left, key=lambda t: (clocks(t, outputs, boxes), t.rows * t.columns))


def _outputs(work: Work, product: Product) -> Outputs:
    """Rows, columns and batch; many where the call decides."""
    output = next(t for t in work.kernel.outputs if t.name == work.equations[0].output)
    extents = {i: as_index(n, {}) for i, n in zip(work.indices, output.extents, strict=True)}
    counts, known = [], True
    for side in (product.rows.side, product.columns.side, product.batch):
        count = 1
        for index in side:
            n = extents[index]
            known = known and isinstance(n, Int)
            count *= max(n.value, 1) if isinstance(n, Int) else MANY
        counts.append(count)
    return Outputs(counts[0], counts[1], counts[2], known)
