"""The sizes of a walk with rows in rings that the compiler chooses: the fastest on an H200, where they fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from layoutc.plan.machine import WORD
from layoutc.plan.passing.length import operations
from layoutc.plan.passing.widths import MOST_COLUMNS, columns_of
from layoutc.plan.ringed.shape import Knobs, Shape, shape_of
from layoutc.plan.work import Work

THREADS = 128
ROWS = 8                # of a tile; a block has many of them
STAGES, FEW_STAGES = 3, 2
GROUP = 4               # rows that come together
MOST_TOGETHER = 16      # of narrow types, whose walks wait for arithmetic: about as many as a window has
WRITTEN = (8, 4, 2, 1)  # of them
LONGEST_TEXT = 1600     # operations of the rows that are written out
ROUNDS = 4              # of blocks, where rows are many: the last is nearly full
LEAST_WARPS = 12        # of a multiprocessor, to hide what a group of rows waits for
MORE_WARPS = 16         # of narrow types, where arithmetic waits for itself
SHORT = 2               # rows that a walk takes before its first output, below which threads read for themselves
LONG = 10               # times as many rows of a long walk as it takes before its first output
IN_LINES = 8            # where weights come in lines: each of them is then for as many outputs as there are columns


def chosen_shape(work: Work, walked: str) -> Shape | str:
    """Tiles whose ends are written out, else the widest walk with room for warps enough; or why there is none."""
    peeled = _peeled(work, walked)
    if peeled is not None:
        return peeled
    why = "too few warps would fit a multiprocessor"
    for knobs in candidates(work, *_together(work, walked)):
        made = shape_of(work, walked, knobs)
        if isinstance(made, str):
            return made
        an_output = operations(work, frozenset(s.name for s in made.walk.kept))
        lines = any(s.where == "shared" for s in made.walk.weights)     # each row that is written out would hold some
        short = not lines and an_output * knobs.columns * knobs.written <= LONGEST_TEXT
        fits = (short or knobs.written == WRITTEN[-1]) and (lines or knobs.columns <= columns_of(work))
        least = IN_LINES if lines else MORE_WARPS if made.is_narrow else LEAST_WARPS
        if fits and warps_of(work, made) >= least:
            return made
    return why


def _peeled(work: Work, walked: str) -> Shape | None:
    """Tiles of few rows, which blocks that run together find in a cache, or of so many that it matters little.

    None where a group of rows makes all of a window's sums, or too long a text.
    """
    columns = columns_of(work)
    least = shape_of(work, walked, Knobs(columns, THREADS, GROUP, GROUP, GROUP, STAGES, 0))
    if isinstance(least, str) or least.walk.delay < SHORT or any(s.where == "shared" for s in least.walk.weights):
        return None
    outputs = {e.output for e in work.equations}
    widths = [r.band.type.bytes for r in least.rings]
    widths += [t.type.bytes for t in work.kernel.outputs if t.name in outputs]
    an_output = operations(work, frozenset(s.name for s in least.walk.kept))
    if min(widths) < WORD or an_output * columns * GROUP > LONGEST_TEXT:
        return None
    delay = least.walk.delay
    groups = 2 if delay <= GROUP else LONG * delay // GROUP + 1
    knobs = replace(least.knobs, rows=groups * GROUP - delay % GROUP, peeled=True)
    made = shape_of(work, walked, knobs)
    return made if isinstance(made, Shape) and warps_of(work, made) >= LEAST_WARPS else None


def _together(work: Work, walked: str) -> tuple[int, int]:
    """Rows that come together, of narrow types about as many as a window has; and groups of them."""
    least = shape_of(work, walked, Knobs(columns_of(work), THREADS, ROWS, GROUP, 1, STAGES))
    if isinstance(least, str) or not least.is_narrow or any(s.where == "shared" for s in least.walk.weights):
        return GROUP, STAGES
    group = min(max(1 << (least.walk.delay - 1).bit_length(), GROUP), MOST_TOGETHER)
    while group > GROUP and isinstance(shape_of(work, walked, replace(least.knobs, group=group)), str):
        group //= 2
    return group, FEW_STAGES


def candidates(work: Work, group: int = GROUP, stages: int = STAGES) -> Iterator[Knobs]:
    """From the most outputs a thread to the fewest, and the most rows at once."""
    columns = min(2 * columns_of(work), MOST_COLUMNS)
    while columns:
        for written in (n for n in WRITTEN if n <= group):
            yield Knobs(columns, THREADS, ROWS, group, written, stages, ROUNDS)
        columns //= 2


def warps_of(work: Work, shape: Shape) -> int:
    """Of a multiprocessor."""
    return shape.resident(work.target.asked_bytes) * shape.knobs.threads // 32


def least_tiles(shape: Shape) -> int:
    """Tiles of a block from which on there are more rounds: what it reads before its first output is little of all."""
    return max(24 * shape.walk.delay // shape.knobs.rows, 1)
