"""What can be said of a layout at a glance."""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.layout.compose import as_layout
from layoutc.layout.composed import AnyLayout, bit_columns, first_of, reduced_bits, span_of_bits
from layoutc.layout.errors import DECIDABLE, LayoutError
from layoutc.layout.injective import first_repeat
from layoutc.layout.layout import Layout

LISTED = 2**16          # coordinates up to which values and image are listed
TABLED = 2**12          # cells up to which the table of a layout of two modes is drawn up


@dataclass(frozen=True, slots=True)
class Description:
    """A layout and its properties; None where one is too large to decide or to list."""

    layout: str
    size: int
    cosize: int | None
    rank: int
    depth: int
    values: tuple[int, ...] | None              # at every coordinate, colexicographically
    image: tuple[int, ...] | None               # distinct values, rising
    injective: bool | None                      # no value twice
    bijective: bool | None                      # onto 0 .. size-1
    contiguous: bool | None                     # the image has no holes
    table: tuple[tuple[int, ...], ...] | None   # row i, column j: the value at (i, j); of two modes


@dataclass(frozen=True, slots=True)
class Reach:
    """The image of a layout in three words."""

    least: int
    span: int                                   # largest - smallest
    contiguous: bool


def describe(layout: object) -> Description:
    """The description of a layout, or of an integer ``n`` as ``n:1``. Raises LayoutError for anything else."""
    whole = as_layout(layout)
    reach = reach_of(whole)
    values = tuple(first_of(whole, whole.size)) if whole.size <= LISTED else None
    return Description(
        layout=str(whole),
        size=whole.size,
        cosize=None if reach is None else reach.span + 1,
        rank=whole.rank,
        depth=whole.depth,
        values=values,
        image=None if values is None else tuple(sorted(set(values))),
        injective=is_injective(whole, reach),
        bijective=None if reach is None else is_onto(whole, reach),
        contiguous=None if reach is None else reach.contiguous,
        table=table_of(whole),
    )


def reach_of(layout: AnyLayout) -> Reach | None:
    """Where the image lies and whether it has holes; None where it is too large to decide."""
    if isinstance(layout, Layout):
        return Reach(layout.least, layout.cosize - 1, fills_its_span(layout))
    columns = bit_columns(layout)
    if columns is not None:
        span = span_of_bits(columns)
        return Reach(0, span, 1 << len(reduced_bits(columns)) == span + 1)
    if layout.size > DECIDABLE:
        return None
    image = set(layout.values)
    span = max(image) - min(image)
    return Reach(min(image), span, len(image) == span + 1)


def fills_its_span(layout: Layout) -> bool:
    """Whether no stride, by size, passes one more than the span of all smaller ones: else that one is a hole."""
    span = 0
    for stride, extent in sorted((abs(stride), extent) for extent, stride in layout.leaves if extent > 1):
        if stride > span + 1:
            return False
        span += (extent - 1) * stride
    return True


def is_onto(layout: AnyLayout, reach: Reach) -> bool:
    """Whether the image is 0 .. size-1, each value once."""
    return reach.contiguous and reach.least == 0 and reach.span + 1 == layout.size


def is_injective(layout: AnyLayout, reach: Reach | None) -> bool | None:
    """Whether no value comes twice; None where it is too large to decide."""
    if reach is not None and reach.span + 1 < layout.size:
        return False
    try:
        return first_repeat(layout) is None
    except LayoutError:
        return None


def table_of(layout: AnyLayout) -> tuple[tuple[int, ...], ...] | None:
    """The values of a layout of two modes, mode 0 down and mode 1 across; None of others and of large ones."""
    if layout.rank != 2 or layout.size > TABLED:
        return None
    rows, columns = (mode.size for mode in layout.modes)
    return tuple(tuple(layout(i, j) for j in range(columns)) for i in range(rows))
