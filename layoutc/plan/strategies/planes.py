"""Strategy: planes pass through shared memory, a block walks along the slowest index of its outputs.

Copies in the background bring planes some turns before they are read; edge rules are applied on the way, so that all
blocks compute alike. Each thread makes vectors of several lines. What lies before and behind its outputs it holds in
registers from plane to plane, what lies around them in one plane comes from shared memory; a reduction that planes lead
keeps partial results (2.5D blocking: Micikevicius, GPGPU-2, 2009). Where threads read little of each plane, they take
it from memory themselves, and the first cache answers what their neighbours asked for: no barrier holds them together.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from layoutc.plan.cost import busy, nominal_outputs
from layoutc.plan.names import Names
from layoutc.plan.passing.length import UNKNOWN_RANGE
from layoutc.plan.planes.choose import chosen_shape
from layoutc.plan.planes.parts import covers, taken_anew
from layoutc.plan.planes.shape import Shape
from layoutc.plan.planes.text import write_march
from layoutc.plan.planes.told import told_shape
from layoutc.plan.strategies.walked import Walked
from layoutc.plan.work import Made, Work

CACHED = 0.5        # of a byte's price, where the first cache answers while others are on their way


@dataclass(frozen=True, slots=True)
class Planes(Walked[Shape]):
    """A walk through planes."""

    @staticmethod
    def shaped(work: Work) -> Shape | str:
        """Where neighbours in three directions are read: as the schedule asks for it, or all left open."""
        return told_shape(work, work.schedule) if work.schedule is not None else chosen_shape(work)

    @staticmethod
    def priced(work: Work, shape: Shape) -> float:
        """Bytes of planes with their halos, those at the ends of a walk taken twice, and what threads take of them."""
        outputs = max(nominal_outputs(work.kernel, e) for e in work.equations)
        planes = shape.knobs.planes
        bytes = sum(r.plane * r.type.bytes * (planes + r.high - r.low) / planes for r in shape.rings)
        anew = sum(taken_anew(p, covers(shape.parts, p)) * p.type.bytes for p in shape.parts)
        taken = anew * (CACHED if shape.knobs.cached else 1.0)
        types = {t.name: t.type for t in work.kernel.inputs}
        held = {r.tensor for r in shape.rings} | {w.tensor for w in shape.weights}
        others = sum((f.reads or UNKNOWN_RANGE) * types[t].bytes for t, f in shape.found.items() if t not in held)
        return outputs * (bytes / prod(shape.tile[-2:]) + taken / shape.items.count + others) / busy(outputs)

    @staticmethod
    def written(work: Work, shape: Shape, names: Names, entry: str) -> Made:
        """The walk through planes."""
        return write_march(work, shape, names, entry)
