"""The sizes of a walk through planes that the compiler chooses: those that were fastest on an H200, where they fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from layoutc.plan.passing.widths import columns_of
from layoutc.plan.planes.parts import covers, taken_anew
from layoutc.plan.planes.shape import Knobs, Shape, shape_of
from layoutc.plan.work import Work

PLANES, AHEAD = 128, 2
NEAR_PLANES = 40        # of a block that reads through the cache: short walks end evenly
MOST_NEAR = 4.0         # elements an output that threads read of every plane, up to which the cache answers in time
LITTLE_HELD = 64        # registers from plane to plane, up to which a block has twice the warps


def chosen_shape(work: Work) -> Shape | str:
    """The walk through the cache where threads read little of every plane, else the one by way of shared memory."""
    near = shape_of(work, _near(work))
    return near if isinstance(near, Shape) and _read_anew(near) <= MOST_NEAR else _staged(work)


def chosen_ways(work: Work) -> tuple[Knobs, Knobs]:
    """The sizes of both walks, that which would be chosen first; of one that cannot be made those of the least."""
    made = chosen_shape(work)
    staged = made if isinstance(made, Shape) and not made.knobs.cached else _staged(work)
    ways = (staged.knobs if isinstance(staged, Shape) else list(_candidates(columns_of(work)))[-1], _near(work))
    return ways if made is staged else (ways[1], ways[0])


def _near(work: Work) -> Knobs:
    """Sizes of the walk through the cache: of sums for two lines a thread, else one, asked for a plane before."""
    summed = Knobs(columns_of(work), 2, 8, NEAR_PLANES, 0, 4, cached=True)
    made = shape_of(work, summed)
    return summed if isinstance(made, Shape) and made.led else replace(summed, lines=1, ahead=1)


def _read_anew(made: Shape) -> float:
    """Elements an output."""
    return sum(taken_anew(p, covers(made.parts, p)) for p in made.parts) / made.items.count


def _staged(work: Work) -> Shape | str:
    """The first of the walks by way of shared memory that can be made, or why there is none."""
    why = ""
    for knobs in _candidates(columns_of(work)):
        made = shape_of(work, knobs)
        if not isinstance(made, str):
            wide = shape_of(work, replace(knobs, warps=2 * knobs.warps, resident=1))
            return wide if isinstance(wide, Shape) and wide.registers <= LITTLE_HELD else made
        why = why or made
    return why


def _candidates(columns: int) -> Iterator[Knobs]:
    """From the most outputs a thread to the fewest: neighbours share what they read, if registers hold it."""
    while columns:
        for lines in (2, 1):
            yield Knobs(columns, lines, 8, PLANES, AHEAD, 2)
        columns //= 2
