"""A walk as the rest of the compiler sees it: who makes which output, and what waits where."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from layoutc.layout import Layout
from layoutc.plan.frame import Choice
from layoutc.plan.halo import children
from layoutc.plan.masks import masks_of
from layoutc.plan.nodes import Pass, Ring, Storage
from layoutc.plan.ownership import by_layout
from layoutc.plan.strategies.nodes import Work
from layoutc.plan.window.bands import Band
from layoutc.plan.window.shape import Shape, lines_of, rows_of
from layoutc.resolve.program import Equation, Kernel, Reduce, Value

MOST_VECTOR = 16            # elements an access, of the smallest type


def choice_of(work: Work, shape: Shape) -> Choice:
    """Everything that is decided before the text is made."""
    knobs, tile, indices = shape.knobs, shape.tile, shape.indices
    step = {i: prod(tile[n + 1:]) for n, i in enumerate(indices)}
    walked, beside = step.get(shape.walked or "", 0), step.get(shape.beside or "", 0)
    lined = step.get(shape.lined or "", 0)
    under = shape.lines
    threads = [(knobs.across // shape.widths, knobs.columns * lined), (under, knobs.rows * walked),
               (shape.widths, knobs.across // shape.widths * knobs.columns * lined),
               (knobs.beside if shape.beside else 1, beside), (knobs.down // under, under * knobs.rows * walked)]
    items = [(knobs.columns, lined), (knobs.rows, walked)]
    layout = Layout((mode_of(threads, 0), mode_of(items, 0)), (mode_of(threads, 1), mode_of(items, 1)))
    owner = replace(by_layout(tile, layout), vector=knobs.columns)
    vector = knobs.most_vector or MOST_VECTOR
    return Choice(work.equations, tile, owner, shape.weights, tuple(shape.found.values()), vector,
                  frozenset(binders_of(work.kernel)))


def mode_of(leaves: list[tuple[int, int]], part: int) -> int | tuple[int, ...]:
    """The shapes (0) or strides (1) of a mode without its leaves of extent 1."""
    kept = [leaf[part] for leaf in leaves if leaf[0] > 1]
    return tuple(kept) if len(kept) > 1 else kept[0] if kept else 1 - part


def binders_of(kernel: Kernel) -> set[str]:
    """Every reduction index: what is held in registers is read at places known when the text is compiled."""
    found: set[str] = set()
    waiting: list[Value] = [*(e.value for e in kernel.equations), *(s.value for s in kernel.stages)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Reduce):
            found |= {b.name for b in value.binders}
        waiting += children(value)
    return found


def with_bands(made: Pass, kernel: Kernel, equations: tuple[Equation, ...], shape: Shape) -> Pass:
    """The pass with the rows that threads hold."""
    storage = (*made.storage, *(_storage(b, shape) for b in shape.bands))
    masks = masks_of(kernel, equations, made.extents, made.tile, made.footprints, storage)
    return replace(made, storage=storage, masks=masks)


def with_staged(made: Pass, kernel: Kernel, equations: tuple[Equation, ...], shape: Shape) -> Pass:
    """The pass with the box that a block shares, and the rows of the let that threads hold."""
    source, let = shape.bands
    found = shape.found[source.tensor]
    tile = dict(zip(shape.indices, shape.tile, strict=True))
    box = tuple(a.extent(tile[a.index] if a.index is not None else 1) for a in found.axes or ())
    storage = (*made.storage, Storage(source.tensor, "shared", source.type, box, found.axes), _storage(let, shape))
    masks = masks_of(kernel, equations, made.extents, made.tile, made.footprints, storage)
    return replace(made, storage=storage, masks=masks)


def _storage(band: Band, shape: Shape) -> Storage:
    held = [band.depth if n == band.walked else band.extent(n) for n in range(len(band.axes))]
    passing, axes = list(held), list(band.axes)
    if band.walked is not None:
        passing[band.walked] = shape.knobs.rows + band.high - band.taken_from
        axes[band.walked] = replace(band.axes[band.walked], low=band.taken_from)
    return Storage(band.tensor, "registers", band.type, tuple(held), tuple(axes), passing=tuple(passing),
                   vector=band.vector, ring=_ring(band, shape, passing) if band.ring else None)


def _ring(band: Band, shape: Shape, passing: list[int]) -> Ring:
    line = lines_of(shape, band)
    through = tuple(passing[n] if n == band.walked else wide for n, wide in enumerate(line))
    return Ring(shape.knobs.down, (rows_of(band), *(n for n in line if n > 1)), through)
