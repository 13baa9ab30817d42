"""Strategy: sums of products by warpgroups, whose tensor cores read both factors in shared memory themselves.

As in ``mma`` rows are all that the outputs' indices of one factor count, columns those of the other, and chunks of both
come in the background. Here a chunk lies in panels of 128-byte lines, and four warps multiply 64 rows of it by all
columns of the tile at once (``wgmma``), while copies set out and the next chunk lands.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from layoutc.index import Expr, Int, Name, multiplied
from layoutc.plan.head import plain
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.matrix.blocks import choice_of, cost
from layoutc.plan.matrix.boxed import BoxMultiplication
from layoutc.plan.matrix.maps import Coming, boxes_of
from layoutc.plan.matrix.operand import vector_of
from layoutc.plan.matrix.product import DEPTHS, LEAST_SIDE, NoProductError, Product, product_of
from layoutc.plan.matrix.sizes import Outputs, chosen, clocks, taken
from layoutc.plan.matrix.tiling import VECTOR_BYTES, Tiling, shared_bytes
from layoutc.plan.matrix.warpgroups import GROUP_ROWS, GroupMultiplication, resident, sums_of, tiles
from layoutc.plan.names import Names
from layoutc.plan.nodes import Pass, Refusal
from layoutc.plan.ownership import by_layout
from layoutc.plan.products.sides import counted_through
from layoutc.plan.reads.subscripts import as_index
from layoutc.plan.refusal import refusal
from layoutc.plan.steps import Function
from layoutc.plan.work import Made, Work
from layoutc.resolve.program import Schedule

BARRIER_BYTES = 1024        # of shared memory, which they take as panels begin at multiples of so many
NO_TILE = "no tile of warpgroups is as the schedule says"


@dataclass(frozen=True, slots=True)
class Way:
    """A tile, and how its chunks come."""

    tiling: Tiling
    coming: tuple[Coming, Coming] | str     # what copies of boxes are told; or why the threads themselves copy
    sharing: Expr = Int(1)                  # 1 where it is taken, else 0, over the spec's extent names

    @property
    def ahead(self) -> int:
        """Chunks on their way."""
        return self.tiling.buffers - (2 if isinstance(self.coming, str) else 1)


@dataclass(frozen=True, slots=True)
class Wgmma:
    """A product and how blocks divide it: by one of several tiles, as the call's extents say."""

    work: Work
    product: Product
    ways: tuple[Way, ...]
    cost: float

    @classmethod
    def try_plan(cls, work: Work) -> Self | Refusal:
        """The best tiles, if the equations are a product of factors that both lie along the sum.

        Whatever a schedule asks for, ``mma`` is there to make it or to say why not; but for boxes, which come to
        warpgroups alone: raises LayoutcError where a schedule insists on them and cannot have them.
        """
        told = work.schedule or Schedule(None)
        try:
            product = _product(work, told)
            outputs = _outputs(work, product)
            ways = _ways(work, product, told, outputs)
        except NoProductError as error:
            if told.copies == "boxes":
                raise refusal(work.program, "cannot-mma", f"no boxes are copied: {error}",
                              dict(told.clause_spans)["mma"], "`mma` leaves open how factors come") from None
            return Refusal("wgmma", str(error))
        first, counts = ways[0], outputs.many()
        return cls(work, product, ways, cost(
            work, product, first.tiling, (counts["rows"], counts["columns"]), (GROUP_ROWS, first.tiling.columns),
            first.ahead))

    def plan(self, names: Names, entry: str) -> Made:
        """A pass for each tile; the first under its name in the text, the others by their sizes too."""
        entries = [entry, *(names.take(f"{entry}_{w.tiling.rows}x{w.tiling.columns}") for w in self.ways[1:])]
        made = [self._pass(way, names.copy(), name) for way, name in zip(self.ways, entries, strict=True)]
        return Made(tuple(one for one, _ in made), tuple(function for _, function in made))

    def _pass(self, way: Way, names: Names, entry: str) -> tuple[Pass, Function]:
        work, product, tiling, coming = self.work, self.product, way.tiling, way.coming
        owner = by_layout((tiling.rows, tiling.columns), sums_of(tiling))
        choice = choice_of(work, product, tiling, owner)
        if not isinstance(coming, str):
            sides = zip((product.rows, product.columns), coming, strict=True)
            choice = replace(choice, maps={factor.tensor.name: come.map for factor, come in sides})
        frame = Frame(work.kernel, choice, work.signature, names, entry)
        multiplication = GroupMultiplication(frame, product, tiling) if isinstance(coming, str) else (
            BoxMultiplication(frame, product, tiling, coming))
        with frame.lowering.block() as body:
            multiplication.emit()
        frame.shared_bytes = multiplication.shared_bytes
        one = counted_through(frame.record(), (product.rows.side, product.columns.side))
        one = replace(one, dynamic_bytes=frame.shared_bytes, notes=self._notes(way, multiplication),
                      sharing=way.sharing)
        blocks = resident(tiling, product.rows.type, work.target.asked_bytes)
        return one, replace(frame.function(body), resident=blocks)

    def _notes(self, way: Way, made: GroupMultiplication) -> tuple[str, ...]:
        """Who multiplies what, and the layout by which it is stored."""
        tiling, sum = way.tiling, "f32" if self.product.sum.type.is_float else "i32"
        type, groups = self.product.rows.type, tiling.rows // GROUP_ROWS
        lines = [f"{groups} warpgroup{'s' if groups > 1 else ''}, each {GROUP_ROWS} x {tiling.columns} by wgmma "
                 f"m{GROUP_ROWS}n{tiling.columns}k{DEPTHS[type]}, {type.name} into {sum}; {way.ahead} of "
                 f"{tiling.buffers} chunks on their way, {_brought(way.coming)}"]
        if len(self.ways) > 1:
            lines.append(f"of {len(self.ways)} tiles that one is taken whose blocks are multiplied first")
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


def _ways(work: Work, product: Product, told: Schedule, outputs: Outputs) -> tuple[Way, ...]:
    """The fastest tiles by the target's model, and how their chunks come. Raises NoProductError."""
    room = work.target.asked_bytes if told.shared_budget is None else told.shared_budget
    why = "the schedule says so"
    if told.copies != "threads":
        boxed = _tilings(work, product, told, room - BARRIER_BYTES)
        coming = [boxes_of(work, product, tiling) for tiling in boxed]
        why = next((come for come in coming if isinstance(come, str)), NO_TILE)
        ways = [Way(tiling, come) for tiling, come in zip(boxed, coming, strict=True) if not isinstance(come, str)]
        if ways:
            return _fastest(work, product, ways, outputs)
        if told.copies == "boxes":
            raise NoProductError(why)
    copied = [Way(tiling, why) for tiling in _tilings(work, product, told, room)]
    if not copied:
        raise NoProductError(NO_TILE)
    return _fastest(work, product, copied, outputs)


def _fastest(work: Work, product: Product, ways: list[Way], outputs: Outputs) -> tuple[Way, ...]:
    """Those that are made, and where each is taken."""
    times = [clocks(w.tiling, resident(w.tiling, product.rows.type, work.target.asked_bytes),
                    boxes=not isinstance(w.coming, str)) for w in ways]
    numbers = chosen(times, outputs)
    where = taken([times[n] for n in numbers], outputs)
    return tuple(replace(ways[n], sharing=sharing) for n, sharing in zip(numbers, where, strict=True))


def _tilings(work: Work, product: Product, told: Schedule, room: int) -> list[Tiling]:
    """The tiles that the schedule leaves, small ones first."""
    said, type = dict(told.tile or ()), product.rows.type
    threads = told.threads.count if told.threads is not None else None
    names = (product.rows.side[-1], product.columns.side[-1], product.depth.index)
    if any(size > 1 for i, size in said.items() if i not in names):
        return []
    left = [t for t in tiles(product, room, work.signature.wide)
            if all(said.get(i, size) == size for i, size in zip(names, (t.rows, t.columns, t.depth), strict=True))
            and threads in (None, t.threads) and shared_bytes(t, type) <= room]
    return sorted(left, key=lambda t: t.rows * t.columns)


def _outputs(work: Work, product: Product) -> Outputs:
    """Rows, columns and batch."""
    output = next(t for t in work.kernel.outputs if t.name == work.equations[0].output)
    env: dict[str, Expr] = {e: Name(e, 0) for e in work.kernel.extents}
    extents = {i: as_index(n, env) for i, n in zip(work.indices, output.extents, strict=True)}
    sides = (product.rows.side, product.columns.side, product.batch)
    rows, columns, batch = (multiplied(e for i in side if (e := extents[i]) is not None) for side in sides)
    return Outputs(rows, columns, batch)
