"""What blocks of a product are to the rest of the planner: the choice and the cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from layoutc.index import Int
from layoutc.plan.cost import cost_of
from layoutc.plan.kernel.frame import Choice
from layoutc.plan.matrix.product import Product
from layoutc.plan.matrix.tiling import VECTOR_BYTES, Tiling
from layoutc.plan.nodes import Storage
from layoutc.plan.ownership import Ownership
from layoutc.plan.reads.footprints import footprints
from layoutc.plan.work import Work

SHARED_SPEED = 8                    # bytes that come from shared memory while memory gives one


def choice_of(work: Work, product: Product, tiling: Tiling, owner: Ownership) -> Choice:
    """All that is decided before the text; ``owner`` is of rows and columns."""
    names = (product.rows.side[-1], product.columns.side[-1])
    at = dict(zip(names, owner.places, strict=True))
    last = dict(zip(names, (tiling.rows, tiling.columns), strict=True))
    tile = tuple(last.get(i, 1) for i in work.indices)
    chunks = (replace(product.depth, size=tiling.depth), *product.taps)     # taps read much the same lines
    found = footprints(work.kernel, work.equations, chunked=tuple(c.index for c in chunks))
    owner = replace(owner, places=tuple(at.get(i, Int(0)) for i in work.indices))
    return Choice(work.equations, tile, owner, _storage(product, tiling), tuple(found.values()), chunks=chunks,
                  asynchronous=True)


def _storage(product: Product, tiling: Tiling) -> tuple[Storage, ...]:
    """A chunk of either factor, in all its buffers."""
    made = []
    for factor, count in ((product.rows, tiling.rows), (product.columns, tiling.columns)):
        extents = (count, tiling.depth) if factor.by_depth else (tiling.depth, count)
        made.append(Storage(factor.tensor.name, "shared", factor.type, extents, copies=tiling.buffers))
    return tuple(made)


def cost(
    work: Work, product: Product, tiling: Tiling, outputs: Sequence[int], taken: tuple[int, int], ahead: int
) -> float:
    """Every chunk from memory, and what is taken from them; ragged ends are multiplied as zeros.

    ``outputs``: rows and columns; ``taken``: those that share what is taken from shared memory at once; ``ahead``:
    chunks on their way.
    """
    shared = {}
    for factor, block, own in ((product.rows, tiling.columns, taken[1]), (product.columns, tiling.rows, taken[0])):
        shared[factor.tensor.name] = factor.type.bytes * (1 / block + 1 / own / SHARED_SPEED)
    down, across = -(-outputs[0] // tiling.rows), -(-outputs[1] // tiling.columns)
    padded = down * tiling.rows * across * tiling.columns / max(prod(outputs), 1)
    ends = product.depth.range
    if ends is not None and ends[1] > ends[0]:
        padded *= -(-(ends[1] - ends[0]) // tiling.depth) * tiling.depth / (ends[1] - ends[0])
    vectors = (tiling.rows + tiling.columns) * tiling.depth * product.rows.type.bytes // VECTOR_BYTES
    on_their_way = down * across * work.outputs_along(*product.batch) * vectors * ahead
    return cost_of(work.kernel, work.equations, product.columns.side[-1], on_their_way, shared) * padded
