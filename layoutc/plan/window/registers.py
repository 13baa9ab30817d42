"""How many blocks a multiprocessor's registers must have room for, whatever the edges' rules take.

A kernel has as many registers as its hungriest path: folds of a dozen subscripts at once, at the edges alone, would
take from the interior the warps that hide its rows' way, and so would vectors of narrow types that are taken apart one
by one. What the interior holds is known; the bound lets the compiler spill at the edges instead.
"""

from __future__ import annotations

from math import prod

from layoutc.edges import EDGES
from layoutc.plan.machine import REGISTERS, WORD
from layoutc.plan.passing.widths import words_of
from layoutc.plan.window.bands import Band
from layoutc.plan.window.cost import read_of_row
from layoutc.plan.window.state import Walk

MOST_COMMON = 32            # weights that registers which all threads have in common surely hold
PLACES = 12                 # of a thread, for places and counters
STEP = 8                    # in which registers are given out
RESIDENT_THREADS = 1024     # of a multiprocessor: all that there are from compute capability 7.5 on, and enough


def resident(walk: Walk) -> int:
    """Blocks for which registers must do; 0 where edges take few, or the interior's own needs are not known."""
    shape = walk.shape
    if shape.knobs.turns == 0:
        hungry = any(_divides(walk, b) for b in walk.tensors)
    else:
        hungry = any(b.type.bytes < WORD for b in walk.tensors)
    weights = sum(prod(w.extents) for w in shape.weights)
    if not hungry or not shape.led or shape.kept or weights > MOST_COMMON:
        return 0
    words = PLACES + sum(b.depth * read_of_row(shape, b) * words_of(b.type) for b in shape.bands)
    words += sum(b.row * b.type.bytes // WORD for b in walk.tensors if b.type.bytes < WORD)       # packed, on their way
    words += sum(r.rows * shape.knobs.columns * words_of(r.reduce.type) for r in shape.led)
    each = -(-words // STEP) * STEP
    return min(REGISTERS // each, RESIDENT_THREADS) // shape.threads


def _divides(walk: Walk, band: Band) -> bool:
    """Whether a fold of one of its subscripts takes a division."""
    return any(rule is not None and EDGES[rule.name].divides
               for sides in walk.frame.source_of(band.tensor).edges for rule in sides)
