"""Filling the boxes that a block or a thread holds: tensors through their edge rules, lets by their formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from layoutc.index import Expr, Int, Name, compare, every
from layoutc.plan.kernel.dealt import cleared, dealt, item_of, moved
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.loading import (
    Destination,
    copy_one,
    emit_when,
    holds_something,
    in_vectors,
    in_whole_vectors,
    is_certain,
    loads_of,
    vector_into,
    walk,
)
from layoutc.plan.lowering.places import InBox, InGlobal
from layoutc.plan.nodes import Storage
from layoutc.plan.reads.reach import reached
from layoutc.plan.redistributions.redistributed import DealtAccess
from layoutc.plan.steps import Assign, Barrier, Loop, Registers, Rounds, Shared, Step
from layoutc.plan.values import Element, Variable, memory_type, register_type
from layoutc.resolve.program import Stage
from layoutc.resolve.types import compute_type


def fill_shared(
    frame: Frame, shared: Sequence[Storage], boxes: Mapping[str, InBox], *, everywhere: bool = False
) -> None:
    """Shared boxes of tensors, then of lets in order; a barrier wherever one reads another.

    With ``everywhere`` elements of tensors that no valid output needs are 0.
    """
    lets = {s.name: s for s in frame.kernel.stages}
    tensors = [s for s in shared if s.tensor not in lets]
    for s in tensors:
        fill_tensor(frame, s, boxes[s.tensor], everywhere=everywhere)
    for s in tensors:
        frame.lowering.places[s.tensor] = boxes[s.tensor]
    if tensors:
        frame.lowering.emit(Barrier())
    for s in (s for s in shared if s.tensor in lets):
        _fill_let(frame, s, boxes[s.tensor], lets[s.tensor])
        frame.lowering.places[s.tensor] = boxes[s.tensor]
        frame.lowering.emit(Barrier())


def fill_registers(frame: Frame, held: Sequence[Storage]) -> None:
    """What each thread holds: the box around all its items."""
    first = dict(zip(frame.indices, frame.choice.owner.at_first_item(), strict=True))
    for s in held:
        place = frame.source_of(s.tensor)
        array = frame.names.take(f"{frame.arrays[s.tensor]}_held")
        origin = tuple((frame.origin(a.index) + first.get(a.index or "", Int(0))) * a.scale + a.low
                       for a in s.axes or ())
        box = InBox(array, s.type, s.axes or (), s.extents, origin, place, of_thread=True)
        if s.tensor in frame.loads:
            _fill_by_layout(frame, s, frame.loads[s.tensor], array)
        else:
            frame.lowering.emit(Registers(memory_type(s.type), array, prod(s.extents)))
            at, subscripts, body = walk(frame, s, box)
            with frame.lowering.block() as steps:
                frame.lowering.emit(*body)
                copy_one(frame, s, Destination(array, Name(at)), subscripts)
            frame.lowering.emit(Loop(True, "int", at, Int(0), Int(prod(s.extents)), tuple(steps)))
            frame.names.release(at)
        frame.lowering.places[s.tensor] = box


def _fill_by_layout(frame: Frame, s: Storage, access: DealtAccess, array: str) -> None:
    """What each thread holds, loaded by the threads that the layout names."""
    place, type, item = frame.source_of(s.tensor), memory_type(s.type), item_of(access)
    loaded = array if access.move is None else frame.names.take(f"{frame.arrays[s.tensor]}_loaded")
    origin = tuple(frame.origin(a.index) * a.scale + a.low for a in s.axes or ())
    whole = InBox(loaded, s.type, s.axes or (), access.extents, origin, place)
    frame.lowering.emit(Registers(type, loaded, access.items))
    at, subscripts, body = walk(frame, s, whole)
    with frame.lowering.block() as steps:
        frame.lowering.emit(*body)
        copy_one(frame, s, Destination(loaded, item), subscripts)
    clear = () if access.move is None else (cleared(loaded, type, item),)
    frame.lowering.emit(dealt(access, at, steps, clear, unroll=True))
    if access.move is not None:
        frame.lowering.emit(Registers(type, array, access.held))
        moved(frame, access, loaded, array)
    frame.names.release(at)


def declare_shared(frame: Frame) -> dict[str, InBox]:
    """The arrays of the shared boxes; rows begin at whole vectors where vectors fill them."""
    lets = {s.name for s in frame.kernel.stages}
    return {s.tensor: _declare(frame, s, s.tensor in lets) for s in frame.choice.storage if s.where == "shared"}


def _declare(frame: Frame, s: Storage, is_let: bool) -> InBox:
    array = frame.names.take(f"{frame.arrays[s.tensor]}_tile")
    vector = 1 if is_let else vector_into(frame, s)
    axes, extents = in_whole_vectors(s, vector)
    origin = tuple(frame.origin(a.index) * a.scale + a.low for a in axes)
    frame.shared_bytes += prod(extents) * s.copies * (compute_type(s.type) if is_let else s.type).bytes
    counted = (s.copies, *extents) if s.copies > 1 else extents or (1,)
    frame.lowering.emit(Shared(register_type(s.type) if is_let else memory_type(s.type), array, counted))
    return InBox(array, s.type, axes, extents, origin, None if is_let else frame.source_of(s.tensor),
                 partial=s.halo_global)


def fill_tensor(frame: Frame, s: Storage, box: InBox, *, everywhere: bool = False) -> None:
    """A shared box by the threads of the block in rounds, or as a layout deals it out."""
    vector = vector_into(frame, s)
    at, steps = loads_of(frame, s, box, lambda at: Destination(box.array, at * vector), everywhere=everywhere)
    if s.tensor in frame.loads:
        frame.lowering.emit(dealt(frame.loads[s.tensor], at, steps))
        frame.names.release(at)
        return
    emit_rounds(frame, at, in_vectors(box.extents, vector), steps)


def _fill_let(frame: Frame, s: Storage, box: InBox, stage: Stage) -> None:
    """The let at every place of its box that some valid output needs."""
    at, subscripts, body = walk(frame, s, box)
    counts = dict(zip(frame.indices, frame.counts, strict=True))
    counts |= {c.index: c.last(frame.extents) for c in frame.choice.chunks}
    with frame.lowering.block() as steps:
        frame.lowering.emit(*body)
        with frame.lowering.block() as make:
            lowering = frame.lowering
            value = (lowering.extended(stage, subscripts, frame.extents) if stage.edges
                     else lowering.formula(stage, subscripts, frame.extents))
            lowering.emit(Assign(Element(box.array, Name(at)), value))
        needed = [compare("<", i, (counts[a.index] - 1) * a.scale + (a.high + 1))
                  for i, a in zip(subscripts, s.axes or (), strict=True) if a.index is not None]
        emit_when(frame, every((*_readable(frame, s, stage), *needed)), make)
    emit_rounds(frame, at, box.extents, steps)


def _readable(frame: Frame, s: Storage, stage: Stage) -> list[Expr]:
    """Tests that what a let folds into holds something, where not every output reads the let."""
    if is_certain(frame, s.tensor):
        return []
    tests: list[Expr] = []
    for name in reached(frame.kernel, stage):
        place = frame.lowering.places.get(name)
        source = place.source if isinstance(place, InBox) else place
        if isinstance(source, InGlobal):
            tests += holds_something(frame, source.extents, source.edges)
    return tests


def emit_rounds(frame: Frame, at: str, extents: tuple[int, ...], body: list[Step]) -> None:
    """Every thread of the block takes every so many-th element of a box."""
    count = Variable(" * ".join(map(str, extents)) or "1")
    frame.lowering.emit(Rounds(at, Name("thread"), count, frame.choice.owner.threads, tuple(body)))
    frame.names.release(at)
