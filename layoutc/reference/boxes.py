"""Which points of an index space are evaluated when: the boxes of lets, and pieces that fit into the caches."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.resolve.demand import Demand
from layoutc.resolve.extents import Extents, evaluate_index
from layoutc.resolve.program import (
    Binary,
    Call,
    Cast,
    Compare,
    Logic,
    Read,
    Reduce,
    Stage,
    Unary,
    Value,
    Where,
)

Array = NDArray[Any]
Box = tuple[tuple[int, int], ...]       # per index, half-open

POINTS = 1 << 18            # evaluated at once: what the caches hold
HELD_POINTS = 1 << 28       # of a let at most; a larger one is evaluated where it is read


def domain_box(stage: Stage, extents: Extents) -> Box:
    """The domain of a let that has one, in numbers."""
    assert stage.domain is not None
    return tuple((int(evaluate_index(a, extents)), int(evaluate_index(b, extents))) for a, b in stage.domain)


def binder_ranges(reduce: Reduce, extents: Extents) -> list[tuple[int, int]]:
    """The half-open range of each binder, in numbers."""
    return [(int(evaluate_index(b.low, extents)), int(evaluate_index(b.high, extents))) for b in reduce.binders]


def stage_boxes(read: Demand) -> dict[str, Box]:
    """The box over which each let is evaluated once; a let without one is evaluated where it is read."""
    boxes: dict[str, Box] = {}
    for name, hull in read.inside.items():
        if None in hull:
            continue
        box = tuple((i[0], max(i[1] + 1, i[0])) for i in hull if i is not None)
        if prod(b - a for a, b in box) <= HELD_POINTS:
            boxes[name] = box
    return boxes


def hull_of(places: tuple[Array, ...]) -> tuple[tuple[int, int], ...] | None:
    """The hull of some places, ends included; None where it has many more points than they."""
    hull = tuple((int(p.min()), int(p.max())) for p in places)
    points = prod(np.broadcast_shapes(*(p.shape for p in places)))
    return hull if prod(b - a + 1 for a, b in hull) <= max(POINTS, 4 * points) else None


def points_at_once(value: Value, extents: Extents) -> int:
    """How many points of an equation fit into memory at once; a median holds all that it sorts."""
    match value:
        case Reduce("median"):
            held = prod(max(high - low, 1) for low, high in binder_ranges(value, extents))
            return max(1, min(POINTS, 64 * POINTS // held))
    return min((points_at_once(child, extents) for child in children(value)), default=POINTS)


def children(value: Value) -> tuple[Value, ...]:
    """The values right below a value."""
    match value:
        case Read(_, values) | Call(_, values):
            return values
        case Unary(_, a) | Cast(a) | Reduce(_, _, a):
            return (a,)
        case Binary(_, a, b) | Compare(_, a, b) | Logic(_, a, b):
            return a, b
        case Where(a, b, c):
            return a, b, c
    return ()


def mesh(names: tuple[str, ...], box: Box) -> dict[str, Array]:
    """Each index as an array along its own axis."""
    rank = len(box)
    return {
        name: np.arange(low, high).reshape((1,) * axis + (-1,) + (1,) * (rank - axis - 1))
        for axis, (name, (low, high)) in enumerate(zip(names, box, strict=True))
    }


def pieces(box: Box, limit: int) -> Iterator[Box]:
    """Boxes of at most ``limit`` points that tile a box, cut across its longest sides."""
    lengths = [max(b - a, 0) for a, b in box]
    if prod(lengths) == 0:
        return
    if prod(lengths) <= limit:
        yield box
        return
    axis = max(range(len(box)), key=lengths.__getitem__)
    low, high = box[axis]
    middle = (low + high) // 2
    for half in ((low, middle), (middle, high)):
        yield from pieces((*box[:axis], half, *box[axis + 1 :]), limit)
