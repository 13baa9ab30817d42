"""The sizes of a walk through planes that the compiler chooses: those that were fastest on an H200, where they fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from layoutc.plan.machine import WARP
from layoutc.plan.passing.widths import columns_of, words_of
from layoutc.plan.planes.parts import covers, taken_anew
from layoutc.plan.planes.shape import Knobs, Shape, shape_of
from layoutc.plan.work import Work

PLANES, AHEAD = 128, 2
NEAR_PLANES = 24        # of a block that reads through the cache: short walks keep blocks side by side together
SUMMED_PLANES = 64      # where it sums as planes come, whose first turns finish none
SHORTER_PLANES = 48     # of narrow types
HELD_OF_TWO = 88        # registers of narrow types from plane to plane, up to which a thread has two lines or more text
MOST_NEAR = 4.0         # elements an output that threads read of every plane, up to which the cache answers in time
LITTLE_HELD = 64        # registers from plane to plane, up to which a block has twice the warps, a thread two lines
MOST_WIDE = 84          # that leave room for what else a thread of so many warps needs
MOST_SIX = 4            # columns a thread of which six blocks of 8 warps have registers
LINE = 128              # outputs of a block's line: where a thread has more columns, fewer lanes stand side by side


def chosen_shape(work: Work) -> Shape | str:
    """The walk through the cache where threads read little of every plane, else the one by way of shared memory.

    Sums of narrow types leave no registers for what is on its way from the cache.
    """
    near = shape_of(work, _near(work))
    little = isinstance(near, Shape) and _read_anew(near) <= MOST_NEAR and not (near.led and _is_narrow(near))
    return near if little else _staged(work)


def chosen_ways(work: Work) -> tuple[Knobs, Knobs]:
    """The sizes of both walks, that which would be chosen first; of one that cannot be made those of the least."""
    made = chosen_shape(work)
    staged = made if isinstance(made, Shape) and not made.knobs.cached else _staged(work)
    ways = (staged.knobs if isinstance(staged, Shape) else list(_candidates(columns_of(work)))[-1], _near(work))
    return ways if made is staged else (ways[1], ways[0])


def _near(work: Work) -> Knobs:
    """Sizes of the walk through the cache: of sums for as many lines a thread as registers hold, else one line.

    What is asked for a turn early fills caches that blocks side by side share, who then read it once more.
    """
    columns = columns_of(work)
    lanes = _lanes(columns)
    for lines in (2, 1):
        summed = Knobs(columns, lines, 4, SUMMED_PLANES, 0, 8, cached=True, lanes=lanes)
        made = shape_of(work, summed)
        if isinstance(made, Shape) and made.led and (lines == 1 or _at_work(made) <= LITTLE_HELD):
            return summed
    if columns <= MOST_SIX:
        return Knobs(columns, 1, 8, NEAR_PLANES, 0, 6, cached=True, lanes=lanes)
    return Knobs(columns, 1, 8, SHORTER_PLANES, 0, 4, cached=True, lanes=lanes, prefetch=1)


def _lanes(columns: int) -> int:
    """Of a warp, along the last index."""
    return min(LINE // columns, WARP)


def _is_narrow(made: Shape) -> bool:
    """Whether a thread has more columns than registers for them in many warps."""
    return made.items.columns > MOST_SIX


def _at_work(made: Shape) -> int:
    """Registers of 32 bits that hold sums, and what is read of planes; weights that all threads share hold none."""
    sums = sum(one.rows * made.items.count * words_of(one.reduce.type) for one in made.led)
    return sums + sum(p.held * words_of(p.type) for p in made.parts)


def _read_anew(made: Shape) -> float:
    """Elements an output."""
    return sum(taken_anew(p, covers(made.parts, p)) for p in made.parts) / made.items.count


def _staged(work: Work) -> Shape | str:
    """The first of the walks by way of shared memory that can be made, or why there is none."""
    boxed = shape_of(work, Knobs(columns_of(work), 2, 16, PLANES, AHEAD, 1, turns=3, boxes=True))
    if isinstance(boxed, Shape) and not _is_narrow(boxed) and LITTLE_HELD < boxed.registers <= MOST_WIDE:
        return boxed
    why = ""
    for knobs in _candidates(columns_of(work)):
        made = shape_of(work, knobs)
        if not isinstance(made, str):
            if _is_narrow(made):
                return _staged_narrow(work, made)
            wide = shape_of(work, replace(knobs, warps=2 * knobs.warps, resident=1))
            if isinstance(wide, Shape) and wide.registers > LITTLE_HELD:        # what moves on costs more than its text
                wide = shape_of(work, replace(wide.knobs, turns=4, pace=2, ahead=4))
            return wide if isinstance(wide, Shape) and wide.registers <= MOST_WIDE else made
        why = why or made
    return why


def _staged_narrow(work: Work, made: Shape) -> Shape:
    """The same of narrow types, which wait for arithmetic: small blocks and short walks share it most evenly."""
    small = replace(made.knobs, warps=4)
    if made.led:
        knobs = replace(small, resident=6, planes=SHORTER_PLANES)
    elif made.items.lines == 2 and made.registers <= HELD_OF_TWO:
        knobs = replace(small, resident=3)
    else:
        knobs = replace(made.knobs, lines=1)
    better = shape_of(work, knobs)
    if isinstance(better, Shape) and not made.led and knobs.lines == 1 and better.registers <= HELD_OF_TWO:
        better = shape_of(work, replace(knobs, turns=4, pace=2))
    return better if isinstance(better, Shape) else made


def _candidates(columns: int) -> Iterator[Knobs]:
    """From the most outputs a thread to the fewest: neighbours share what they read, if registers hold it."""
    while columns:
        for lines in (2, 1):
            yield Knobs(columns, lines, 8, PLANES, AHEAD, 2, lanes=_lanes(columns))
        columns //= 2
