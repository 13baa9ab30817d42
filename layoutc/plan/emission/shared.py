"""The steps of a move through shared memory: write, meet, read."""

from __future__ import annotations

from layoutc.plan.emission.copying import Copy, filled
from layoutc.plan.emission.frame import Frame
from layoutc.plan.moves.nodes import Barrier as Kind
from layoutc.plan.moves.nodes import ThroughShared
from layoutc.plan.steps import Barrier, Step, Steps, WarpBarrier


def shared_steps(frame: Frame, move: ThroughShared, buffer: str) -> Steps:
    """The whole move. A barrier comes first, so that calls may follow one another."""
    meet = barrier(frame, move.barrier)
    return filled(frame, move.buffer, buffer, move.elements, move.slices, lambda copy: _both(copy, meet), Copy.copies)


def _both(copy: Copy, meet: Step) -> Steps:
    return (meet, *copy.writes(), meet, *copy.reads())


def barrier(frame: Frame, kind: Kind) -> Step:
    """The barrier of a move."""
    return Barrier() if kind == "block" else WarpBarrier(frame.lanes_mask())
