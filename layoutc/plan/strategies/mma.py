"""Strategy: sums of products on tensor cores, as a matrix product of rows by columns that is never laid out.

Rows are all that the outputs' indices of one factor count, columns those of the other. Chunks of both factors come to
shared memory in the background, some ahead of the products; a warp takes them from there in the fragments of
``mma.sync`` and keeps its sums in registers until all chunks have passed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from layoutc.integers import next_power_of_two
from layoutc.layout import Layout, composition, mma_a, mma_b, mma_c
from layoutc.plan.head import plain
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.machine import WARP
from layoutc.plan.matrix.blocks import choice_of, cost
from layoutc.plan.matrix.emit import Multiplication
from layoutc.plan.matrix.operand import vector_of
from layoutc.plan.matrix.product import DEPTHS, LEAST_SIDE, NoProductError, Product, product_of
from layoutc.plan.matrix.tiling import BUFFERS, FRAGMENT, MOST_SUMS, ROW_BYTES, Tiling, arranged, shared_bytes
from layoutc.plan.names import Names
from layoutc.plan.nodes import Refusal
from layoutc.plan.ownership import by_layout
from layoutc.plan.products.sides import counted_through
from layoutc.plan.refusal import refusal
from layoutc.plan.work import Made, Work
from layoutc.resolve.program import Schedule

MOST_SIDE = 128                     # rows and columns of a block
MOST_SHARED = 99 << 10              # bytes that every target with these instructions gives a block


@dataclass(frozen=True, slots=True)
class Mma:
    """A product and how blocks divide it."""

    work: Work
    product: Product
    tiling: Tiling
    cost: float

    @classmethod
    def try_plan(cls, work: Work) -> Self | Refusal:
        """The tiling, if the equations are a product and the schedule leaves it open.

        Raises LayoutcError where the schedule insists and cannot have it.
        """
        told = work.schedule or Schedule(None)
        try:
            return cls._planned(work, told)
        except NoProductError as error:
            if not told.mma:
                return Refusal("mma", str(error))
            spans = dict(told.clause_spans)
            raise refusal(work.program, "cannot-mma", f"tensor cores do not make this: {error}",
                          spans[error.clause if error.clause in spans else "mma"],
                          error.help or "leave `mma` out, and the compiler takes another way") from None

    @classmethod
    def _planned(cls, work: Work, told: Schedule) -> Self:
        if not told.mma and (told.tile or told.threads or told.stages or told.vector or told.loads or told.stores):
            raise NoProductError("the schedule says how outputs are divided or where tensors wait")
        if not work.target.has_tensor_cores:
            raise NoProductError(f"{work.target.arch} has no matrix instructions of compute capability 8.0")
        product = product_of(work)
        for factor in (product.rows, product.columns):
            if not told.mma and vector_of(work.kernel, work.signature, factor) == 1:
                raise NoProductError(f"no copy in the background moves so little of `{factor.tensor.name}`")
        outputs = [work.outputs_along(*side.side) for side in (product.rows, product.columns)]
        if not told.mma and min(outputs) < LEAST_SIDE:
            raise NoProductError("the outputs are too few for factors to serve many of them")
        tiling = _tiling(product, told, outputs)
        return cls(work, product, tiling, cost(work, product, tiling, outputs, tiling.warp, BUFFERS - 1))

    def plan(self, names: Names, entry: str) -> Made:
        """The pass under its name in the text."""
        work, product, tiling = self.work, self.product, self.tiling
        owner = by_layout((tiling.rows, tiling.columns), accumulators(tiling, product))
        frame = Frame(work.kernel, choice_of(work, product, tiling, owner), work.signature, names.copy(), entry)
        multiplication = Multiplication(frame, product, tiling)
        with frame.lowering.block() as body:
            multiplication.emit()
        frame.shared_bytes = multiplication.shared_bytes
        one = counted_through(frame.record(), (product.rows.side, product.columns.side))
        one = replace(one, dynamic_bytes=frame.shared_bytes, notes=self._notes(multiplication))
        return Made((one,), (replace(frame.function(body), resident=tiling.resident),))

    def _notes(self, made: Multiplication) -> tuple[str, ...]:
        """Who multiplies what, and the layouts by which it is stored and held."""
        tiling, sum = self.tiling, "f32" if self.product.sum.type.is_float else "i32"
        type, depth = self.product.rows.type.name, DEPTHS[self.product.rows.type]
        shape = (16, 8, depth, type)
        (down, across), (rows, columns) = tiling.warps, tiling.warp
        lines = [f"{down} x {across} warps, each {rows} x {columns} by mma.sync m16n8k{depth}, {type} into {sum}"]
        for operand, name, layout in ((made.rows, "mma_a", mma_a(*shape)), (made.columns, "mma_b", mma_b(*shape))):
            side = operand.factor.side
            order = f" (of {', '.join(map(plain, side))} the last fastest)" if len(side) > 1 else ""
            word = "rows" if operand.is_rows else "columns"
            lines.append(f"{plain(operand.factor.tensor.name)}: {word}{order}; 16-byte vectors at {operand.panel}, "
                         f"fragments {name} {layout}")
        return tuple(lines)


def _depth(product: Product, most: int) -> int:
    """Elements of a chunk: no more than the sum has, in whole instructions."""
    ends = product.depth.range
    needed = most if ends is None else max(ends[1] - ends[0], 1)
    return min(max(next_power_of_two(needed), DEPTHS[product.rows.type]), most)


def _tiling(product: Product, told: Schedule, outputs: list[int]) -> Tiling:
    """As the schedule says, or the largest tile that outputs fill; fewer buffers where the budget has no room.

    Raises NoProductError.
    """
    type, said = product.rows.type, dict(told.tile or ())
    sizes = {product.rows.side[-1]: min(max(next_power_of_two(outputs[0]), FRAGMENT), MOST_SIDE),
             product.columns.side[-1]: min(max(next_power_of_two(outputs[1]), FRAGMENT), MOST_SIDE),
             product.depth.index: _depth(product, ROW_BYTES // type.bytes)}
    for index, size in said.items():
        whole = DEPTHS[type] if index == product.depth.index else FRAGMENT
        if index == product.depth.index and size & (size - 1):
            raise NoProductError(f"{size} of `{index}` are no power of two", "tile", f"{whole}, or a power of two more")
        if index not in sizes and size > 1:
            raise NoProductError(f"`{index}` is one a block", "tile", f"the tile names {_listed(sizes)}")
        if index in sizes and size % whole:
            raise NoProductError(
                f"{size} of `{index}` are no whole fragments", "tile", f"make it a multiple of {whole}")
    rows, columns, depth = (said.get(index, size) for index, size in sizes.items())
    count = told.threads.count if told.threads is not None else None
    warps = arranged(rows, columns, None if count is None else count // WARP)
    if warps is None or (count is not None and count % WARP):
        raise NoProductError(
            f"{count or 'no'} threads share a tile of {rows} by {columns} in whole fragments",
            "threads" if count else "tile", f"at most {MOST_SUMS} sums a thread, and warps of 32")
    room = MOST_SHARED if told.shared_budget is None else told.shared_budget
    for buffers in range(BUFFERS, 1, -1):
        tiling = Tiling(rows, columns, warps, depth, buffers)
        if shared_bytes(tiling, type) <= room:
            return tiling
    raise NoProductError(f"two buffers of {shared_bytes(tiling, type) // 2} bytes are more than {room}",
                         "budget", "make the tile smaller")


def _listed(indices: Iterable[str]) -> str:
    return ", ".join(f"`{i}`" for i in indices)


def accumulators(tiling: Tiling, product: Product) -> Layout:
    """(thread, item) -> place in the block's tile, row-major."""
    rows, columns = tiling.warp
    width, type = tiling.columns, "f32" if product.sum.type.is_float else "i32"
    one = composition(Layout((8, 16), (1, width)), mma_c(16, 8, DEPTHS[product.rows.type], type))
    (down, across), wide = tiling.warps, width
    threads = [one[0], *(Layout(n, s) for n, s in ((across, columns), (down, rows * wide)) if n > 1)]
    items = [one[1], *(Layout(n, s) for n, s in ((columns // 8, 8), (rows // 16, 16 * wide)) if n > 1)]
    return Layout.of([Layout.of(threads) if len(threads) > 1 else threads[0],
                      Layout.of(items) if len(items) > 1 else items[0]])

