"""What a walk with rows in rings asks of memory, in the units of ``layoutc.plan.cost``."""

from __future__ import annotations

from layoutc.plan.cost import busy, nominal_outputs
from layoutc.plan.passing.length import UNKNOWN_RANGE
from layoutc.plan.ringed.choose import warps_of
from layoutc.plan.ringed.shape import Shape
from layoutc.plan.window.cost import TAKEN, read_of_row
from layoutc.plan.work import Work

ROWS = 128              # of a block, where arrays are large
APART = 0.2             # of a byte's price, what a thread takes out of shared memory where the interior is apart
HIDING = 8              # warps of a multiprocessor that hide it


def cost_of_rings(work: Work, shape: Shape) -> float:
    """Bytes of every row, those at the ends of a walk taken twice; of what threads take of it; of what else is read."""
    knobs, walk = shape.knobs, shape.walk
    types = {t.name: t.type for t in work.kernel.inputs}
    rows, price = (knobs.rows, APART) if knobs.peeled else (ROWS, TAKEN)
    turns = (rows + walk.delay) / rows
    bytes = 0.0
    for ring in shape.rings:
        brought = (ring.main + ring.sides) * ring.vector / (knobs.threads * knobs.columns)
        taken = price * read_of_row(walk, ring.band) / knobs.columns
        bytes += turns * (brought + taken) * ring.band.type.bytes
    held = {b.tensor for b in walk.bands} | {w.tensor for w in walk.weights}
    for tensor, found in walk.found.items():
        if tensor not in held and tensor in types:
            bytes += (found.reads or UNKNOWN_RANGE) * types[tensor].bytes
    outputs = max(nominal_outputs(work.kernel, e) for e in work.equations)
    return outputs * bytes * max(1.0, HIDING / max(warps_of(work, shape), 1)) / busy(outputs)
