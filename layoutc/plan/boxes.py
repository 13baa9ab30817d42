"""Filling the boxes that a block or a thread holds: tensors through their edge rules, lets by their formula."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import prod

from layoutc.index import TRUE, Call, Expr, Int, Name, compare, dot, every
from layoutc.plan.dealt import cleared, dealt, item_of, moved
from layoutc.plan.frame import Frame
from layoutc.plan.halo import Axis
from layoutc.plan.nodes import Storage
from layoutc.plan.places import InBox, InGlobal
from layoutc.plan.reach import reached
from layoutc.plan.redistributed import DealtAccess
from layoutc.plan.steps import Assign, Barrier, Blank, Do, Either, Let, Loop, Registers, Rounds, Shared, Step, When
from layoutc.plan.values import Element, Function, Operation, Variable, memory_type, register_type, store
from layoutc.resolve.program import Sides, Stage
from layoutc.resolve.types import compute_type


def fill_shared(frame: Frame) -> None:
    """Shared boxes of tensors, then of lets in order; a barrier wherever one reads another."""
    shared = [s for s in frame.choice.storage if s.where == "shared"]
    lets = {s.name: s for s in frame.kernel.stages}
    boxes = {s.tensor: _declare(frame, s, s.tensor in lets) for s in shared}
    tensors = [s for s in shared if s.tensor not in lets]
    for s in tensors:
        _fill_tensor(frame, s, boxes[s.tensor])
    for s in tensors:
        frame.lowering.places[s.tensor] = replace(boxes[s.tensor], source=frame.place_of(s.tensor))
    if tensors:
        frame.lowering.emit(Barrier())
    for s in (s for s in shared if s.tensor in lets):
        _fill_let(frame, s, boxes[s.tensor], lets[s.tensor])
        frame.lowering.places[s.tensor] = boxes[s.tensor]
        frame.lowering.emit(Barrier())
    if shared:
        frame.lowering.emit(Blank())


def fill_registers(frame: Frame) -> None:
    """What each thread holds: the box around all its items."""
    first = dict(zip(frame.indices, frame.choice.owner.at_first_item(), strict=True))
    for s in (s for s in frame.choice.storage if s.where == "registers"):
        place = frame.place_of(s.tensor)
        array = frame.names.take(f"{frame.arrays[s.tensor]}_held")
        origin = tuple((frame.origin(a.index) + (first[a.index] if a.index else 0)) * a.scale + a.low
                       for a in s.axes or ())
        box = InBox(array, s.type, s.axes or (), s.extents, origin, place, of_thread=True)
        if s.tensor in frame.loads:
            _fill_by_layout(frame, s, frame.loads[s.tensor], array)
        else:
            frame.lowering.emit(Registers(memory_type(s.type), array, prod(s.extents)))
            at, subscripts, body = _walk(frame, s, box)
            with frame.lowering.block() as steps:
                frame.lowering.emit(*body)
                _copy_one(frame, s, place, Element(array, Name(at)), subscripts)
            frame.lowering.emit(Loop(True, "int", at, Int(0), Int(prod(s.extents)), tuple(steps)), Blank())
            frame.names.release(at)
        frame.lowering.places[s.tensor] = box


def _fill_by_layout(frame: Frame, s: Storage, access: DealtAccess, array: str) -> None:
    """What each thread holds, loaded by the threads that the layout names."""
    place, type, item = frame.place_of(s.tensor), memory_type(s.type), item_of(access)
    loaded = array if access.move is None else frame.names.take(f"{frame.arrays[s.tensor]}_loaded")
    origin = tuple(frame.origin(a.index) * a.scale + a.low for a in s.axes or ())
    whole = InBox(loaded, s.type, s.axes or (), access.extents, origin, place)
    frame.lowering.emit(Registers(type, loaded, access.items))
    at, subscripts, body = _walk(frame, s, whole)
    with frame.lowering.block() as steps:
        frame.lowering.emit(*body)
        _copy_one(frame, s, place, Element(loaded, item), subscripts)
    clear = () if access.move is None else (cleared(loaded, type, item),)
    frame.lowering.emit(dealt(access, at, steps, clear, unroll=True))
    if access.move is None:
        frame.lowering.emit(Blank())
    else:
        frame.lowering.emit(Registers(type, array, access.held))
        moved(frame, access, loaded, array)
    frame.names.release(at)


def _declare(frame: Frame, s: Storage, is_let: bool) -> InBox:
    """The array of a shared box; rows begin at whole vectors where vectors fill it."""
    array = frame.names.take(f"{frame.arrays[s.tensor]}_tile")
    vector = 1 if is_let else _vector(frame, s)
    axes, extents = in_whole_vectors(s, vector)
    origin = tuple(frame.origin(a.index) * a.scale + a.low for a in axes)
    frame.shared_bytes += prod(extents) * (compute_type(s.type) if is_let else s.type).bytes
    frame.lowering.emit(Shared(register_type(s.type) if is_let else memory_type(s.type), array, extents or (1,)))
    return InBox(array, s.type, axes, extents, origin, partial=s.halo_global)


def _vector(frame: Frame, s: Storage) -> int:
    if s.tensor in frame.loads:
        return 1
    return fill_vector(s, dict(zip(frame.indices, frame.choice.tile, strict=True)), frame.vector_of(s.tensor))


def fill_vector(s: Storage, tile: Mapping[str, int], most: int) -> int:
    """Elements (``most`` or 1) that one access moves into a shared box: rows of the tensor must be rows of the box."""
    if s.halo_global or not s.axes or s.axes[-1].index is None or s.axes[-1].scale != 1:
        return 1
    return most if tile[s.axes[-1].index] % most == 0 else 1


def in_whole_vectors(s: Storage, vector: int) -> tuple[tuple[Axis, ...], tuple[int, ...]]:
    """The axes and extents of a box whose rows are widened to begin and end at whole vectors."""
    if vector == 1 or not s.axes:
        return s.axes or (), s.extents
    *outer, last = s.axes
    low = last.low // vector * vector
    width = -(-(s.extents[-1] + last.low - low) // vector) * vector
    return (*outer, replace(last, low=low)), (*s.extents[:-1], width)


def _walk(frame: Frame, s: Storage, box: InBox, vector: int = 1) -> tuple[str, tuple[Expr, ...], list[Step]]:
    """A variable that counts a box's vectors, the subscripts of their first elements, and their declarations."""
    at = frame.names.take("at")
    extents = (*box.extents[:-1], box.extents[-1] // vector) if box.extents else ()
    coordinates = list(_unravel(Name(at, 0, prod(extents) - 1), extents))
    if vector > 1:
        coordinates[-1] = coordinates[-1] * vector
    subscripts: list[Expr] = []
    steps: list[Step] = []
    for number, (axis, origin, c) in enumerate(zip(box.axes, box.origin, coordinates, strict=True)):
        suffix = frame.spelled[axis.index] if axis.index else str(number)
        name = frame.names.take(f"{frame.arrays[s.tensor]}_{suffix}")
        steps.append(Let("Index", name, origin + c))
        subscripts.append(Name(name, 0 if axis.low >= 0 else None))
        frame.lowering.local[name] = origin + c
    return at, tuple(subscripts), steps


def _fill_tensor(frame: Frame, s: Storage, box: InBox) -> None:
    place, vector = frame.place_of(s.tensor), _vector(frame, s)
    at, subscripts, body = _walk(frame, s, box, vector)
    with frame.lowering.block() as steps:
        frame.lowering.emit(*body)
        if vector == 1:
            _copy_one(frame, s, place, Element(box.array, Name(at)), subscripts)
        else:
            _copy_vector(frame, s, place, box, Name(at), subscripts, vector)
    if s.tensor in frame.loads:
        frame.lowering.emit(dealt(frame.loads[s.tensor], at, steps))
        frame.names.release(at)
        return
    extents = (*box.extents[:-1], box.extents[-1] // vector) if box.extents else ()
    _rounds(frame, at, extents, steps)


def _copy_one(frame: Frame, s: Storage, place: InGlobal, target: Element, subscripts: tuple[Expr, ...]) -> None:
    """One element by its edge rules; outside, where none answers, nothing: no valid output needs it."""
    with frame.lowering.block() as copy:
        value = store(frame.lowering.in_global(place, subscripts, frame.extents), s.type)
        frame.lowering.emit(Assign(target, value))
    tests = [] if _is_certain(frame, s.tensor) else _holds_something(frame, place.extents, place.edges)
    for i, n, axis, (low, high) in zip(subscripts, place.extents, s.axes or (), place.edges, strict=True):
        if low is None and axis.low < 0:
            tests.append(compare(">=", i, Int(0)))
        known = axis.index is None and isinstance(n, Int) and axis.high < n.value
        if high is None and not known:
            tests.append(compare("<", i, n))
    emit_when(frame, every(tests), copy)


def _is_certain(frame: Frame, tensor: str) -> bool:
    """Whether every output reads some of a tensor, so that the call was refused where there is nothing to fold into."""
    return all(f.certain for f in frame.choice.footprints if f.tensor == tensor)


def _holds_something(frame: Frame, extents: Iterable[Expr], edges: Iterable[Sides]) -> list[Expr]:
    """Tests that no fold is into an extent of 0; where there are outputs, their own extents are none."""
    return [compare(">", n, Int(0)) for n, sides in zip(extents, edges, strict=True)
            if n not in frame.counts and any(rule is not None and rule.name != "constant" for rule in sides)]


def _copy_vector(
    frame: Frame, s: Storage, place: InGlobal, box: InBox, at: Expr, subscripts: tuple[Expr, ...], vector: int
) -> None:
    """A whole vector where it lies inside the tensor, else element by element."""
    *outer, last = subscripts
    inside = every((
        *(Call("within", (i, n)) for i, n in zip(outer, place.extents[:-1], strict=True)),
        compare(">=", last, Int(0)), compare("<=", last + vector, place.extents[-1])))
    source = dot(subscripts, place.strides)
    whole = Do(Function("store", (
        Operation("+", Variable(box.array), at * vector),
        Function(f"load<{vector}>", (Operation("+", Variable(place.array), source),)))))
    element = Name(frame.names.take("element"), 0, vector - 1)
    with frame.lowering.block() as each:
        _copy_one(frame, s, place, Element(box.array, at * vector + element), (*outer, last + element))
    frame.lowering.emit(Either(inside, (whole,), (
        Loop(True, "int", str(element), Int(0), Int(vector), tuple(each)),)))
    frame.names.release(str(element))


def _fill_let(frame: Frame, s: Storage, box: InBox, stage: Stage) -> None:
    """The let at every place of its box that some valid output needs."""
    at, subscripts, body = _walk(frame, s, box)
    counts = dict(zip(frame.indices, frame.counts, strict=True))
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
    _rounds(frame, at, box.extents, steps)


def _readable(frame: Frame, s: Storage, stage: Stage) -> list[Expr]:
    """Tests that what a let folds into holds something, where not every output reads the let."""
    if _is_certain(frame, s.tensor):
        return []
    tests: list[Expr] = []
    for name in reached(frame.kernel, stage):
        place = frame.lowering.places.get(name)
        source = place.source if isinstance(place, InBox) else place
        if isinstance(source, InGlobal):
            tests += _holds_something(frame, source.extents, source.edges)
    return tests


def _rounds(frame: Frame, at: str, extents: tuple[int, ...], body: list[Step]) -> None:
    count = Variable(" * ".join(map(str, extents)) or "1")
    frame.lowering.emit(Rounds(at, Name("thread"), count, frame.choice.owner.threads, tuple(body)))
    frame.names.release(at)


def emit_when(frame: Frame, test: Expr, body: list[Step]) -> None:
    """The body under a test, or plainly where the test always holds."""
    frame.lowering.emit(*([When(test, tuple(body))] if test != TRUE else body))


def _unravel(position: Expr, extents: tuple[int, ...]) -> tuple[Expr, ...]:
    return tuple(position // prod(extents[k + 1:]) % extents[k] for k in range(len(extents)))
