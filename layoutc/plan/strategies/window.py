"""Strategy: each thread makes neighbouring columns of several rows; what it reads moves past in registers.

Rows of 16-byte vectors with their aligned neighbours; a reduction that the rows lead keeps the partial results of as
many output rows, anything else the last rows themselves. Warps that touch no edge run without a test. Rows may be on
their way in shared memory, which ``march i`` with ``stage x in shared`` asks for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from layoutc.plan.machine import ACCESS_BYTES, WARP
from layoutc.plan.names import Names
from layoutc.plan.passing.length import operations
from layoutc.plan.passing.widths import columns_of
from layoutc.plan.strategies.walked import Walked
from layoutc.plan.tiles.staging import spread
from layoutc.plan.window.cost import cost_of_walk
from layoutc.plan.window.shape import Knobs, Shape, shape_of
from layoutc.plan.window.told import told_shape
from layoutc.plan.window.walk import write_walk
from layoutc.plan.work import Made, Work

THREADS = 128
LONGEST_TEXT = 4400         # operations of a walk that is written out: what the instruction cache holds
LONG_TEXT = 2500            # from which only the first and last turns are written out
LONGEST_ROW = 4000
SHORT_ROW = 256             # operations of a row, two of which are written out together
WORD = 4                    # bytes: of what is narrower memory moves more in the time of an operation
MIDDLE = 4                  # outputs side by side
BUSY = 40                   # operations an output, from which arithmetic must hide more of the rows' way
ARITHMETIC = 150            # operations an output, from which arithmetic is all that counts


@dataclass(frozen=True, slots=True)
class Window(Walked[Shape]):
    """A walk."""

    @staticmethod
    def shaped(work: Work) -> Shape | str:
        """Where the schedule asks for a walk, or leaves all open and neighbours read rows in common."""
        march = work.schedule.march if work.schedule is not None else None
        return told_shape(work, march) if march is not None and march in work.indices else _chosen(work)

    @staticmethod
    def priced(work: Work, shape: Shape) -> float:
        """Of its bytes and its arithmetic."""
        return cost_of_walk(work, shape)

    @staticmethod
    def written(work: Work, shape: Shape, names: Names, entry: str) -> Made:
        """The walk."""
        return write_walk(work, shape, names, entry)


def _chosen(work: Work) -> Shape | str:
    """The walk that the compiler chooses, or why there is none; the sizes are those that were fastest on an H200."""
    if work.schedule is not None:
        return "the schedule has another form"
    walked = work.indices[-2] if len(work.indices) > 1 else None
    columns = columns_of(work)
    least = shape_of(work, walked, Knobs(columns, 1, THREADS))
    if isinstance(least, str):
        return least
    if not any(spread(least.found[b.tensor]) for b in least.bands):
        return "neighbouring outputs read nothing in common"
    an_output = operations(work, frozenset(s.name for s in least.kept))
    if an_output * columns > LONGEST_ROW:
        return f"the text of a row would be {an_output * columns:.0f} operations long, more than {LONGEST_ROW}"
    if walked is None:
        return least
    knobs = _knobs(least, columns, an_output)
    if least.beside is not None and _spreads(least, least.beside) and knobs.turns == 0:
        return _deep(work, least, knobs)
    return shape_of(work, walked, knobs)


def _knobs(least: Shape, columns: int, an_output: float) -> Knobs:
    """Few rows that are all on their way at once, or more of them as their number rises; a loop where all is too long.

    Long walks read each row once, but jump through memory: they are slower as long as memory is what counts.
    """
    delay = least.delay
    sums = bool(least.led) and not least.kept           # a row is all that is held of what is read
    rows, ahead, across = (4, 1, THREADS) if delay <= 2 else (8, 2, 2 * THREADS) if delay <= 4 else (8, 0, THREADS)
    if sums and delay <= 4:
        ahead, across = _ahead(columns, delay), THREADS
    if delay <= 2 and (an_output >= BUSY or columns > MIDDLE):
        rows, ahead = 8, 2
    if delay <= 2 and columns > MIDDLE and not (sums and _is_whole(least)):      # else registers would be too few
        across = THREADS // 2
    width = max(ACCESS_BYTES // columns, *(b.type.bytes for b in least.bands))     # bytes of what is read or made
    if sums and width < WORD and BUSY * width <= an_output * WORD < BUSY * WORD:
        return Knobs(columns, 64, THREADS, turns=2 if an_output * columns <= SHORT_ROW else 1, prefetch=2)
    text = an_output * columns * (rows + delay)
    if sums and delay <= rows and LONG_TEXT < text <= LONGEST_TEXT:
        return Knobs(columns, 32, THREADS, turns=2, peeled=True, prefetch=2)
    if delay <= rows and text <= LONGEST_TEXT:
        return Knobs(columns, rows, across, ahead=ahead)
    if an_output >= ARITHMETIC:
        return Knobs(columns, 256 if sums else 128, THREADS, ahead=1, turns=1)
    if _is_whole(least) and an_output < BUSY + BUSY:
        return Knobs(columns, 64, WARP, 4, ring=2, turns=5)
    return Knobs(columns, 64, THREADS, turns=1)


def _is_whole(least: Shape) -> bool:
    """Whether an access moves as many bytes as it can."""
    return any(b.vector * b.type.bytes == ACCESS_BYTES for b in least.bands)


def _ahead(columns: int, delay: int) -> int:
    """Rows of a short window that set out before they are read, as many as registers of so many columns allow."""
    if delay <= 2:
        return 2 if columns <= MIDDLE else 1
    return 3 if columns >= MIDDLE else 2


def _spreads(shape: Shape, index: str) -> bool:
    """Whether outputs that are neighbours along an index read common elements."""
    return any(a.index == index and a.high > a.low for f in shape.found.values() for a in f.axes or ())


def _deep(work: Work, least: Shape, knobs: Knobs) -> Shape | str:
    """Neighbours in three directions: boxes are walked along the slowest of them, their rows shared by a block."""
    if _is_whole(least):
        boxed = shape_of(work, least.beside, Knobs(knobs.columns, 40, WARP, beside=16, ring=1, turns=1))
        if not isinstance(boxed, str) and boxed.led and boxed.shared_bytes <= work.target.shared_bytes:
            return boxed
    return shape_of(work, least.walked, replace(knobs, rows=4, ahead=0, across=WARP, beside=4))
