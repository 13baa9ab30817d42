"""What a walk asks of memory, in the units of ``layoutc.plan.cost``."""

from __future__ import annotations

from math import prod

from layoutc.plan.cost import busy, nominal_outputs
from layoutc.plan.strategies.nodes import Work
from layoutc.plan.window.length import UNKNOWN_RANGE
from layoutc.plan.window.shape import Shape, lines_of


def cost_of_walk(work: Work, shape: Shape) -> float:
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
