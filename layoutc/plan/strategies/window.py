"""Strategy: each thread makes neighbouring columns of several rows; what it reads moves past in registers.

Rows of 16-byte vectors with their aligned neighbours; a reduction that the rows lead keeps the partial results of as
many output rows, anything else the last rows themselves. Warps that touch no edge run without a test.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Self

from layoutc.plan.cost import busy, nominal_outputs
from layoutc.plan.names import Names
from layoutc.plan.nodes import Refusal
from layoutc.plan.staging import spread
from layoutc.plan.strategies.nodes import Made, Work
from layoutc.plan.window.length import UNKNOWN_RANGE, operations
from layoutc.plan.window.ring import lines_of
from layoutc.plan.window.shape import Knobs, Shape, columns_of, shape_of
from layoutc.plan.window.walk import write_walk

NAME = "window"
THREADS = 128
LONG = 32                   # rows of a walk that is a loop
LONGEST_TEXT = 4000         # operations of a walk that is written out: what the instruction cache holds
LONGEST_ROW = 4000


@dataclass(frozen=True, slots=True)
class Window:
    """A walk."""

    work: Work
    shape: Shape
    cost: float

    @classmethod
    def try_plan(cls, work: Work) -> Self | Refusal:
        """A walk, where the compiler is free to choose one and neighbours read rows in common."""
        shape = _shape(work)
        if isinstance(shape, str):
            return Refusal(NAME, shape)
        return cls(work, shape, _cost(work, shape))

    def plan(self, names: Names, entry: str) -> Made:
        """The pass under its name in the text."""
        return write_walk(self.work, self.shape, names.copy(), entry)


def _shape(work: Work) -> Shape | str:
    """The walk that the compiler chooses, or why there is none."""
    if work.schedule is not None:
        return "the schedule has another form"
    walked = work.indices[-2] if len(work.indices) > 1 else None
    columns = columns_of(work)
    shape = shape_of(work, walked, Knobs(columns, 1, THREADS))
    if isinstance(shape, str):
        return shape
    rows, ahead = _short(shape.delay)
    if walked is not None:
        shape = shape_of(work, walked, Knobs(columns, rows, THREADS, ahead=ahead))
    if isinstance(shape, str):
        return shape
    if not any(spread(shape.found[b.tensor]) for b in shape.bands):
        return "neighbouring outputs read nothing in common"
    a_row = operations(work, frozenset(s.name for s in shape.kept)) * columns
    if a_row > LONGEST_ROW:
        return f"the text of a row would be {a_row:.0f} operations long, more than {LONGEST_ROW}"
    if walked is not None and a_row * shape.steps > LONGEST_TEXT:
        return shape_of(work, walked, Knobs(columns, LONG, THREADS, turns=1, exact=True))
    return shape


def _short(delay: int) -> tuple[int, int]:
    """Rows of a walk that is written out, and rows ahead: a few that are all on their way, or more of them in turn."""
    return (4, 1) if delay <= 2 else (8, 2) if delay <= 4 else (8, 0)


def _cost(work: Work, shape: Shape) -> float:
    """Bytes of every row, those at the ends of a walk taken twice, and of what is read apart from them."""
    knobs = shape.knobs
    types = {t.name: t.type for t in work.kernel.inputs}
    bytes = 0.0
    for band in (b for b in shape.bands if not b.is_let):
        rows = knobs.rows + band.high - band.taken_from if band.walked is not None else 1
        row = prod(lines_of(shape, band)) / shape.group if band.ring else band.row
        bytes += rows / knobs.rows * row / knobs.columns * band.type.bytes
    held = {b.tensor for b in shape.bands} | {w.tensor for w in shape.weights}
    for tensor, found in shape.found.items():
        if tensor not in held and tensor in types:
            bytes += (found.reads or UNKNOWN_RANGE) * types[tensor].bytes
    outputs = max(nominal_outputs(work.kernel, e) for e in work.equations)
    return outputs * bytes / busy(outputs)      # a thread's rows are on their way together
