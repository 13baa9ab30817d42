"""Strategy: warps walk along the first index, each lane some columns of all steps of a launch in registers.

Rows come in one after the other. Of every step the rows that the next one reads are held, so that a new row of the
tensor gives a row of each step, one halo and one row farther back (2.5D blocking, AN5D): a step reads what was made a
turn before, so that no step of a turn waits for another. Neighbours along the last index come from other lanes by
shuffles, along the index between from the warp's own registers, and from the warps beside it through shared memory.
What a block lacks at its outer edges, one halo a step, is made by the blocks beside it too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Self

from layoutc.diagnostics import LayoutcError
from layoutc.plan.cost import BYTE
from layoutc.plan.kernel.frame import Choice, Frame, told_to
from layoutc.plan.machine import WARP
from layoutc.plan.names import Names
from layoutc.plan.nodes import Refusal, Signature, Target
from layoutc.plan.reads.footprints import footprints
from layoutc.plan.reads.fusing import Fusing, fusing_of, kinds
from layoutc.plan.stream.cost import clocks
from layoutc.plan.stream.shape import FORMS, Shape, owner_of, shapes
from layoutc.plan.stream.walk import write_stream
from layoutc.plan.work import Made, Work
from layoutc.resolve.program import Kernel, Program, Schedule

BESIDE = {2: 2, 3: 6}           # operations that a place takes beside its own, by rank, measured on an H200
MOST_STEPS = 12                 # of a launch, that are tried where nothing is said
WAITING = 0.5                   # of the time that memory takes, what is not hidden by arithmetic


@dataclass(frozen=True, slots=True)
class Streamed:
    """All steps of a launch in registers."""

    work: Work
    choice: Choice
    fusing: Fusing
    shape: Shape
    cost: float

    @classmethod
    def try_plan(cls, work: Work) -> Self | Refusal:
        """The shape of a block.

        Raises LayoutcError where the steps cannot share a launch.
        """
        fusing = fusing_of(work.program, work.kernel, work.equations, work.schedule)
        assert fusing is not None
        schedule = work.schedule or Schedule()
        why = _why_not(work, fusing, schedule)
        shape = None if why else next(shapes(work, fusing, schedule), None)
        if shape is None:
            return Refusal("streamed", why or "no shape of a block has the schedule's tile and enough registers")
        found = fusing.grown(footprints(work.kernel, work.equations), work.indices)
        choice = Choice(work.equations, shape.tile, owner_of(shape, fusing), (), tuple(found.values()),
                        unroll=told_to(schedule))
        whole = replace(fusing, made=shape.made(fusing))
        cost = clocks(work, BESIDE[len(work.indices)]) * whole.evaluations(shape.tile) / (
            fusing.steps * prod(shape.tile))
        return cls(work, choice, whole, shape, cost)

    def plan(self, names: Names, entry: str) -> Made:
        """The pass under its name in the text."""
        frame = Frame(self.work.kernel, self.choice, self.work.signature, names.copy(), entry)
        functions = write_stream(frame, self.fusing, self.shape)
        return Made((replace(frame.record(), fusing=self.fusing),), functions)


def usual_steps(program: Program, kernel: Kernel, signature: Signature, target: Target) -> int:
    """Steps a launch that pay where nothing is said: what a step computes, and its share of what memory moves."""
    if len({e.indices for e in kernel.equations}) > 1:
        return 1
    work = Work(program, kernel, kernel.equations, None, signature, target)
    stepped = {u for u, _ in kernel.steps}
    stepped_bytes = sum(t.type.bytes for t in kernel.inputs if t.name in stepped)
    moved = BYTE * (stepped_bytes + sum(t.type.bytes for t in kernel.outputs))
    others = BYTE * sum(t.type.bytes for t in kernel.inputs if t.extents and t.name not in stepped)
    best, least = 1, max(moved + others, clocks(work, 0))
    for steps in range(2, MOST_STEPS + 1):
        try:
            found = Streamed.try_plan(replace(work, schedule=Schedule(fuse=steps)))
        except LayoutcError:
            return 1
        if isinstance(found, Streamed) and (cost := found.cost + others + WAITING * moved / steps) < least:
            best, least = steps, cost
    return best


def _why_not(work: Work, fusing: Fusing, schedule: Schedule) -> str:
    """What keeps the steps of a kernel from being walked."""
    if len(work.indices) not in FORMS:
        return f"it walks in 2 or 3 dimensions, not in {len(work.indices)}"
    if not fusing.stepped:
        return "nothing that is stepped is read"
    if any(kind not in ("", "constant", "wrap") for edges in fusing.edges for sides in edges for kind in kinds(sides)):
        return "an edge rule folds into the tensor: only constants and tori are walked"
    if any(kinds(sides).count("wrap") == 1 for edges in fusing.edges for sides in edges):
        return "one side wraps, and the other does not"
    if any(stage.edges for stage in work.kernel.stages):
        return "a let has an edge rule"
    if schedule.loads or schedule.stores or schedule.vector or any(s.where != "global" for s in schedule.stages):
        return "the schedule says where elements wait or how they are moved"
    if schedule.threads is not None and (schedule.threads.count is None or schedule.threads.count % WARP):
        return "the schedule has threads that are no whole warps"
    return ""
