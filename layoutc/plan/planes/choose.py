"""The sizes of a walk through planes that the compiler chooses: those that were fastest on an H200, where they fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from layoutc.plan.passing.widths import columns_of
from layoutc.plan.planes.shape import Knobs, Shape, shape_of
from layoutc.plan.work import Work

PLANES, AHEAD = 128, 2
LITTLE_HELD = 64        # registers from plane to plane, up to which a block has twice the warps


def chosen_shape(work: Work) -> Shape | str:
    """The first of the walks that can be made, or why there is none."""
    why = ""
    for knobs in _candidates(columns_of(work)):
        made = shape_of(work, knobs)
        if not isinstance(made, str):
            wide = shape_of(work, replace(knobs, warps=2 * knobs.warps, resident=1))
            return wide if isinstance(wide, Shape) and wide.registers <= LITTLE_HELD else made
        why = why or made
    return why


def chosen_knobs(work: Work) -> Knobs:
    """Its sizes; where there is none, those of the least."""
    made = chosen_shape(work)
    return made.knobs if isinstance(made, Shape) else list(_candidates(columns_of(work)))[-1]


def _candidates(columns: int) -> Iterator[Knobs]:
    """From the most outputs a thread to the fewest: neighbours share what they read, if registers hold it."""
    while columns:
        for lines in (2, 1):
            yield Knobs(columns, lines, 8, PLANES, AHEAD, 2)
        columns //= 2
