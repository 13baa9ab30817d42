"""Which factors come as boxes, by the engine that copies them: how it knows each, and what one copy is told.

A row or column with one index is a line of a box. Rows that run on over several, one of them an image's and the others
along its axes, are windows side by side, of which a chunk takes one tap each; outside of a tensor the engine finds 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from layoutc.index import Binary, Call, Expr, Int, Interval, Name, names_in, terms
from layoutc.plan.machine import BOX_AXES, BOX_SIDE
from layoutc.plan.matrix.product import Axis, Factor, Product
from layoutc.plan.matrix.tiling import Tiling
from layoutc.plan.nodes import TensorMap
from layoutc.plan.reads.chunks import Chunk
from layoutc.plan.reads.subscripts import as_index
from layoutc.plan.work import Work
from layoutc.resolve.program import Read, Value
from layoutc.resolve.trees import children

WINDOWS = 1024          # of a copy at most
STEP = 8                # from one window to the next, at most
TAP = {1: 1 << 16, 2: 1 << 8, 3: 1 << 5}        # places from a window's first tap, by its axes (CUDA driver API)


@dataclass(frozen=True, slots=True)
class Coming:
    """What a copy is told, over the kernel's names: where it begins, and how far a tap is from its window's first."""

    map: TensorMap
    subscripts: tuple[Expr, ...]
    taps: tuple[Expr, ...] = ()


def boxes_of(work: Work, product: Product, tiling: Tiling) -> tuple[Coming, Coming] | str:
    """What copies of both factors are told; or why the engine does not bring them."""
    if not work.target.has_boxes:
        return f"{work.target.arch} copies no boxes, which compute capability 9.0 does"
    if work.signature.wide:
        return "subscripts need 64 bits"
    found = []
    for factor, count in ((product.rows, tiling.rows), (product.columns, tiling.columns)):
        why = _why_not(work, product, factor, tiling.depth)
        coming = why or _coming(work, product, factor, count, tiling.depth)
        if isinstance(coming, str):
            return f"`{factor.tensor.name}` {coming}"
        found.append(coming)
    return found[0], found[1]


def _why_not(work: Work, product: Product, factor: Factor, depth: int) -> str:
    """Why no map knows a factor; "" where one may."""
    tensor, boxes = factor.tensor, work.signature.boxes
    if not boxes or not boxes[work.signature.of(work.kernel, tensor.name)]:
        return f"is no array of 2 to {BOX_AXES} axes with lines of whole vectors, one after another"
    if any(rule is not None and rule.value is None for sides in tensor.edges for rule in sides):
        return "has something else outside than 0"
    if product.rows.tensor == product.columns.tensor or tensor.name in _others(work, product):
        return "is read elsewhere too"
    extents = {name: Name(name, 0) for name in work.kernel.extents}
    end, length = as_index(product.depth.high, extents), as_index(tensor.extents[-1], extents)
    whole = replace(product.depth, size=depth).whole        # else a last box would reach past the sum's end
    return "" if whole or end == length else "goes on where the sum ends"


def _others(work: Work, product: Product) -> set[str]:
    """Tensors that are read beside the sum."""
    def read(value: Value) -> Iterator[str]:
        if value != product.sum:
            if isinstance(value, Read):
                yield value.tensor
            for child in children(value):
                yield from read(child)

    values = (*(e.value for e in work.equations), *(s.value for s in work.kernel.stages))
    return {name for value in values for name in read(value)}


def _coming(work: Work, product: Product, factor: Factor, count: int, depth: int) -> Coming | str:
    if len(factor.side) == 1:
        return _box(factor, count, depth)
    taps = {c.index: c for c in product.taps}
    return _windows(work, factor, taps, count, depth)


def _box(factor: Factor, count: int, depth: int) -> Coming | str:
    """Lines of one index, side by side along one axis; one place along all others."""
    index = factor.side[0]
    moved = [n for n, a in enumerate(factor.axes) if index in names_in(a.outer)]
    if len(moved) != 1 or _coefficient(factor.axes[moved[0]].outer, index) != 1 or count > BOX_SIDE:
        return f"has no lines side by side along `{index}`"
    box = [1] * len(factor.axes)
    box[moved[0]], box[-1] = count, depth
    return Coming(TensorMap(tuple(box), is_panel=True), tuple(a.outer + a.inner for a in factor.axes))


def _windows(work: Work, factor: Factor, taps: Mapping[str, Chunk], count: int, depth: int) -> Coming | str:
    """Windows along all axes but the first and the last, in the order in which the rows are counted."""
    images, *inner, last = factor.axes
    if not 1 <= len(inner) <= BOX_AXES - 2 or len(factor.side) != len(inner) + 1 or count > WINDOWS:
        return "has rows that are no windows side by side"
    if images != Axis(Name(factor.side[0], 0), Int(0)):
        return f"does not count images by `{factor.side[0]}`"
    output = next(t for t in work.kernel.outputs if t.name == work.equations[0].output)
    spec = {name: Name(name, 0) for name in work.kernel.extents}
    counts = {i: as_index(n, spec) for i, n in zip(work.indices, output.extents, strict=True)}
    low, step, places, far = [], [], [], []
    most, corner = TAP[len(inner)], TAP[len(inner)] // 2
    for number, (axis, index) in enumerate(zip(inner, factor.side[1:], strict=True), 1):
        by, ends, n = _coefficient(axis.outer, index), _ends(axis.inner, taps), counts[index]
        if by is None or not 1 <= by <= STEP or axis.outer != Name(index, 0) * by or ends is None or n is None:
            return f"has windows along axis {number} that no map knows"
        extent = as_index(factor.tensor.extents[number], spec)
        beyond = (None, None) if extent is None else _bounds(n * by - extent)
        first = ends[0] - by + 1
        if ends[1] - ends[0] >= most or ends[0] < -corner or beyond[0] is None or beyond[1] is None or not (
                -corner <= first + beyond[0] <= first + beyond[1] < corner):
            return f"has windows along axis {number} too far apart, or beyond its ends"
        low.append(ends[0])
        step.append(by)
        places.append(axis.outer + ends[0])
        far.append(axis.inner - ends[0])
    made = TensorMap((1,) * (len(inner) + 1) + (depth,), count, tuple(low), tuple(step),
                     tuple(n for i in factor.side[1:] if (n := counts[i]) is not None), True)
    return Coming(made, (images.outer, *places, last.inner), tuple(far))


def _bounds(e: Expr) -> Interval:
    """The values that a sum can have; of a multiple of a quotient's divisor the quotient is little less than exact."""
    least = most = Int(0) + 0
    for factor, c in terms(e):
        match factor:
            case Binary("/", a, Int(by)) | Call("floor_div", (a, Int(by))) if c > 0 and c % by == 0:
                least, most = least + (a - (by - 1)) * (c // by), most + a * (c // by)
            case _:
                least, most = least + factor * c, most + factor * c
    return least.interval[0], most.interval[1]


def _coefficient(e: Expr, index: str) -> int | None:
    """By how much an expression grows with an index; None where that is no number."""
    found = [c for factor, c in terms(e) if index in names_in(factor)]
    return found[0] if len(found) == 1 and all(
        isinstance(f, Name) for f, _ in terms(e) if index in names_in(f)) else None


def _ends(inner: Expr, taps: Mapping[str, Chunk]) -> tuple[int, int] | None:
    """The least and the greatest value of what the sum's indices decide; None where no numbers bound them."""
    low = high = 0
    for factor, c in terms(inner):
        if factor == Int(1):
            low, high = low + c, high + c
            continue
        range = taps[factor.id].range if isinstance(factor, Name) and factor.id in taps else None
        if range is None or range[0] >= range[1]:
            return None
        ends = sorted((c * range[0], c * (range[1] - 1)))
        low, high = low + ends[0], high + ends[1]
    return low, high
