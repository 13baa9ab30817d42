"""Strategy: long windows of a let; its rows are made once, in shared memory, then each thread walks over them."""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.plan.machine import ACCESS_BYTES, WARP
from layoutc.plan.names import Names
from layoutc.plan.passing.length import operations
from layoutc.plan.passing.widths import columns_of
from layoutc.plan.reads.footprints import footprints
from layoutc.plan.strategies.walked import Walked
from layoutc.plan.window.cost import cost_of_staged
from layoutc.plan.window.shape import Knobs, Shape, shape_of
from layoutc.plan.window.staged import bytes_of_block, write_staged
from layoutc.plan.work import Made, Work
from layoutc.resolve.types import compute_type

ROWS = 8                # of a thread, whose text is written out
SHORT = 4               # rows of a window that a walk takes at once
WARPS = (8, 4)          # of a block, one above the other
BESIDE = 5              # times what lies beside a warp's columns, that they are at least
MOST_SHARED = 56 * 1024     # bytes of a block, of which four fit a multiprocessor
LONGEST_TEXT = 4000     # operations of a walk that is written out


@dataclass(frozen=True, slots=True)
class Staged(Walked[Shape]):
    """A walk over rows that a block made before."""

    @staticmethod
    def shaped(work: Work) -> Shape | str:
        """A walk, where all is left open and outputs read long windows of one let that reads one tensor's rows."""
        if work.schedule is not None:
            return "the schedule has another form"
        if len(work.indices) < 2:
            return "there is no index along which rows follow each other"
        why = "no block's rows fit into shared memory"
        for warps in WARPS:
            made = shape_of(work, work.indices[-2], Knobs(columns_of(work), ROWS, WARP, warps))
            if isinstance(made, str):
                return made
            problem = _problem(work, made)
            if problem:
                return problem
            if bytes_of_block(made) <= min(MOST_SHARED, work.target.asked_bytes):
                return made
        return why

    @staticmethod
    def priced(work: Work, shape: Shape) -> float:
        """Of its bytes, and of what is made."""
        return cost_of_staged(work, shape)

    @staticmethod
    def written(work: Work, shape: Shape, names: Names, entry: str) -> Made:
        """The rows and the walk over them."""
        return write_staged(work, shape, names, entry)


def _problem(work: Work, shape: Shape) -> str:
    """Why rows cannot be made in the place of those that they are made from; "" where they can."""
    if len(shape.kept) != 1 or len(shape.bands) != 2:
        return "rows are made of one let from the rows of one tensor"
    source, let = shape.bands
    if let.depth != 1 or let.row != shape.knobs.columns or source.depth != 1 or len(shape.led) == 0:
        return "the let is not summed down its columns alone, or not made along its rows alone"
    if source.row != source.extent(len(source.axes) - 1) or let.row != let.extent(len(let.axes) - 1):
        return "a row is not one line"
    if source.tensor in footprints(work.kernel, work.equations, frozenset({let.tensor})):
        return f"the outputs read `{source.tensor}` itself too"
    if source.vector * source.type.bytes != ACCESS_BYTES or source.type != compute_type(let.type):
        return "rows of the let do not fit into the place of the tensor's"
    if (source.row - shape.knobs.columns) * BESIDE > WARP * shape.knobs.columns:
        return "warps would read much beside their own columns"
    if any(w.where == "shared" for w in shape.weights):
        return "weights wait in shared memory"
    if shape.delay <= SHORT:
        return "windows are short: their rows are on their way at once"
    if operations(work, frozenset({let.tensor})) * shape.knobs.columns * shape.steps > LONGEST_TEXT:
        return "the text would be too long"
    return ""
