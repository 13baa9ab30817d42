"""Whether a layout takes every value once."""

from __future__ import annotations

from collections.abc import Sequence

from layoutc.layout.composed import AnyLayout, bit_columns, first_of, reduced_bits
from layoutc.layout.errors import DECIDABLE, too_large
from layoutc.layout.layout import Layout, Mode, merged


def spaced(modes: Sequence[Mode]) -> bool:
    """Whether each stride, by size, passes the span of all smaller ones, which makes the layout injective."""
    span = 0
    for extent, stride in sorted(modes, key=lambda mode: abs(mode[1])):
        if abs(stride) <= span:
            return False
        span += (extent - 1) * abs(stride)
    return True


def first_repeat(layout: AnyLayout) -> int | None:
    """The first index, colexicographic, whose value an earlier one has; None where the layout is injective.

    By structure where it shows, else by evaluation up to a size of 2^20; beyond, a repeat among the first 2^20
    values is still found. Raises LayoutError ("too large to decide") where neither settles it.
    """
    if isinstance(layout, Layout) and spaced(merged(layout.leaves)):
        return None
    columns = bit_columns(layout)
    if columns is not None and len(reduced_bits(columns)) == len(columns):
        return None
    seen: set[int] = set()
    for index, value in enumerate(first_of(layout, min(layout.size, DECIDABLE))):
        if value in seen:
            return index
        seen.add(value)
    if layout.size > DECIDABLE:
        raise too_large(f"whether `{layout}` takes a value twice", layout.size)
    return None
