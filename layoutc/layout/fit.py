"""Which layout, if any, has given values: additive refit over refinements of given modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutc.layout.layout import Mode


@dataclass(frozen=True, slots=True)
class Misfit:
    """The first value that no layout can have after those before it."""

    index: int          # colexicographic
    expected: int       # by the refinement that fits longest
    found: int


def fit(values: Sequence[int], extents: Sequence[int]) -> list[list[Mode]] | Misfit:
    """For every extent, the modes that refine it in the one layout that has these values, or the misfit.

    ``values`` are those at the first coordinates (colexicographic, ``values[0]`` 0) of a domain with the given
    extents; where they end early, the modes fit as far as they go. A layout adds up: its value is the sum of its
    values along each axis, and each axis is a layout by itself. Along an axis a layout in its fewest modes begins
    with a run of equal steps exactly as long as its first extent, so the longest run is the only one to try; a
    run whose length does not divide the extent ends every refinement. That makes the fit unique and the misfit
    the first coordinate that no refinement can fit, found in one pass.
    """
    refined = []
    block = 1
    for extent in extents:
        modes = fit_axis(values, block, extent)
        if isinstance(modes, Misfit):
            return modes
        refined.append(modes)
        block *= extent
    return refined


def fit_axis(values: Sequence[int], block: int, extent: int) -> list[Mode] | Misfit:
    """The modes of one axis, whose steps lie ``block`` values apart; the values below ``block`` fit already."""
    if extent == 1 or block >= len(values):
        return [(extent, 0)]
    modes: list[Mode] = []
    lower = list(values[:block])
    whole, stride = 1, values[block]
    for step in range(1, min(extent, -(-len(values) // block))):
        start = step * block
        expected, found = step // whole * stride + values[step % whole * block], values[start]
        if found != expected:
            if step % whole or extent % step:
                return Misfit(start, expected, found)
            modes.append((step // whole, stride))
            whole, stride = step, found
        misfit = None if block == 1 else fit_block(values, lower, start)
        if misfit is not None:
            return misfit
    return [*modes, (extent // whole, stride)]


def fit_block(values: Sequence[int], lower: list[int], start: int) -> Misfit | None:
    """Whether the values from ``start`` on are the lower ones moved by ``values[start]``."""
    base = values[start]
    expected = [base + value for value in lower]
    found = list(values[start:start + len(lower)])
    if found == expected[:len(found)]:
        return None
    offset = next(k for k, (x, y) in enumerate(zip(found, expected, strict=False)) if x != y)
    return Misfit(start + offset, expected[offset], found[offset])
