"""A walk as the rest of the compiler sees it: who makes which output, and what waits where."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from layoutc.plan.kernel.frame import Choice
from layoutc.plan.kernel.masks import masks_of
from layoutc.plan.nodes import Pass, Ring, Storage
from layoutc.plan.passing.owner import choice_of as owned
from layoutc.plan.window.bands import Band
from layoutc.plan.window.shape import Shape, lines_of, rows_of
from layoutc.plan.work import Work
from layoutc.resolve.program import Equation, Kernel


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
    return owned(work, tile, threads, items, shape.weights, shape.found, knobs.most_vector)


def with_bands(made: Pass, kernel: Kernel, equations: tuple[Equation, ...], shape: Shape) -> Pass:
    """The pass with the rows that threads hold."""
    storage = (*made.storage, *(storage_of(b, shape) for b in shape.bands))
    masks = masks_of(kernel, equations, made.extents, made.tile, made.footprints, storage)
    return replace(made, storage=storage, masks=masks)


def with_staged(made: Pass, kernel: Kernel, equations: tuple[Equation, ...], shape: Shape) -> Pass:
    """The pass with the box that a block shares, and the rows of the let that threads hold."""
    source, let = shape.bands
    found = shape.found[source.tensor]
    tile = dict(zip(shape.indices, shape.tile, strict=True))
    box = tuple(a.extent(tile[a.index] if a.index is not None else 1) for a in found.axes or ())
    storage = (*made.storage, Storage(source.tensor, "shared", source.type, box, found.axes), storage_of(let, shape))
    masks = masks_of(kernel, equations, made.extents, made.tile, made.footprints, storage)
    return replace(made, storage=storage, masks=masks)


def storage_of(band: Band, shape: Shape) -> Storage:
    """The rows of a band that a thread holds."""
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
