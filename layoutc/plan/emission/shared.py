"""The steps of a move through shared memory: write, meet, read."""

from __future__ import annotations

from layoutc.index import Name
from layoutc.plan.emission.copying import Copy, Window, declared, filled, slice_elements
from layoutc.plan.emission.frame import Frame
from layoutc.plan.moves.nodes import Barrier as Kind
from layoutc.plan.moves.nodes import ThroughShared
from layoutc.plan.moves.placement import WIDEST
from layoutc.plan.steps import Barrier, Step, Steps, WarpBarrier


def shared_steps(frame: Frame, move: ThroughShared, buffer: str) -> Steps:
    """The whole move. A barrier comes first, so that calls may follow one another."""
    meet = barrier(frame, move.barrier)
    return filled(frame, move.buffer, buffer, move.elements, move.slices, lambda copy: _both(copy, meet), Copy.copies)


def turned_steps(frame: Frame, move: ThroughShared, buffer: str, present: str) -> Steps:
    """Write, meet, read, in the half of the buffer that ``turn`` names.

    Who writes a half has met all others since they last read it: in the call between, which took the other half.
    """
    elements = half_bytes(frame, move) // frame.exchange.bytes
    shared, present = declared(frame, buffer, elements, present, Name("turn", 0, None) % 2)
    copy = Copy(frame, move.buffer, present, frame.after, Window(None, elements))
    return (*shared, *copy.writes(), barrier(frame, move.barrier), *copy.reads(), *copy.copies())


def half_bytes(frame: Frame, move: ThroughShared) -> int:
    """Bytes of one of two buffers, each as aligned as any access."""
    whole = slice_elements(move.buffer.placement, move.elements, move.slices) * frame.exchange.bytes
    return -(-whole // WIDEST) * WIDEST


def _both(copy: Copy, meet: Step) -> Steps:
    return (meet, *copy.writes(), meet, *copy.reads())


def barrier(frame: Frame, kind: Kind) -> Step:
    """The barrier of a move."""
    return Barrier() if kind == "block" else WarpBarrier(frame.lanes_mask())
