"""Strategy: what lies along another index than the outputs is turned in registers.

Each thread makes a block of outputs: it reads vectors along the tensor's last axis and stores vectors along the
output's. Lanes stand so that both sides move whole sectors. Transposes, and records to fields.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from layoutc.plan.machine import WARP
from layoutc.plan.names import Names
from layoutc.plan.passing.widths import columns_of
from layoutc.plan.strategies.walked import Walked
from layoutc.plan.window.cost import cost_of_walk
from layoutc.plan.window.shape import Knobs, Shape, shape_of
from layoutc.plan.window.walk import write_walk
from layoutc.plan.work import Made, Work
from layoutc.resolve.program import Const

LANES, SIDE = 4, 16         # of a warp along the last index; threads of a block along both
THREADS = 128
MOST_FIELDS = 16            # of a record that one thread reads
BLOCK_BYTES = 64            # of a thread's block of records


@dataclass(frozen=True, slots=True)
class Turned(Walked[Shape]):
    """A walk whose rows are taken at once."""

    @staticmethod
    def shaped(work: Work) -> Shape | str:
        """A block of outputs, where some tensor's last axis follows another index than the outputs' last."""
        if work.schedule is not None:
            return "the schedule has another form"
        why = "every tensor lies along the outputs' last index"
        for walked in reversed(work.indices[:-1]):
            made = shape_of(work, walked, _knobs(work, walked))
            if isinstance(made, str):
                why = made
            elif any(b.turned for b in made.bands):
                return _exchanged(work, made) or made
        return why

    @staticmethod
    def priced(work: Work, shape: Shape) -> float:
        """Of its bytes."""
        return cost_of_walk(work, shape)

    @staticmethod
    def written(work: Work, shape: Shape, names: Names, entry: str) -> Made:
        """The walk."""
        return write_walk(work, shape, names, entry)


def _exchanged(work: Work, shape: Shape) -> Shape | None:
    """The block whose outputs change hands, where all that it reads lies along the other index."""
    alone = all(b.turned for b in shape.bands) and not shape.apart
    if not alone or shape.knobs.across != shape.knobs.down:
        return None
    made = shape_of(work, shape.walked, replace(shape.knobs, exchanged=True, lanes=WARP))
    if isinstance(made, str):
        return None
    outputs = {e.output for e in work.equations}
    waiting = made.outputs * sum(t.type.bytes for t in work.kernel.outputs if t.name in outputs)
    return made if waiting + made.shared_bytes <= work.target.shared_bytes else None


def _knobs(work: Work, walked: str) -> Knobs:
    """A square block of whole accesses; of short records all fields."""
    columns = columns_of(work)
    output = next(t for t in work.kernel.outputs if t.name == work.equations[0].output)
    extent = output.extents[work.indices.index(walked)]
    if isinstance(extent, Const) and 0 < int(extent.value) <= MOST_FIELDS:
        rows = int(extent.value)
        while columns > 1 and rows * columns * output.type.bytes > BLOCK_BYTES:
            columns //= 2
        return Knobs(columns, rows, THREADS, turned=True)
    return Knobs(columns, columns, SIDE, SIDE, lanes=LANES, turned=True)
