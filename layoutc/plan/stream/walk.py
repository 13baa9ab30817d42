"""The text of a stream: a warp takes row after row, and makes a row of every step with each."""

from __future__ import annotations

from layoutc.index import Expr, Int, Name, compare, every, select
from layoutc.plan.kernel.dealt import cleared
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.lowering.places import InConstant
from layoutc.plan.machine import WARP
from layoutc.plan.ownership import thread_and_item
from layoutc.plan.reads.fusing import Fusing
from layoutc.plan.steps import Assign, Do, Either, Function, Inlined, Let, Loop, Registers, Rounds
from layoutc.plan.stream.beside import declare_beside, declare_turn, finish_turn, name_neighbours
from layoutc.plan.stream.rows import load_row, make_outputs, make_steps
from layoutc.plan.stream.shape import Shape
from layoutc.plan.stream.state import Stream
from layoutc.plan.values import Element, memory_type
from layoutc.plan.values import Function as Called
from layoutc.plan.values import Variable as Held


def write_stream(frame: Frame, fusing: Fusing, shape: Shape) -> tuple[Inlined, Function]:
    """What a warp does, and the kernel that says where."""
    stream = Stream(frame, fusing, shape)
    with frame.lowering.block() as kernel:
        frame.emit_thread_and_block()
        declare_beside(stream)
        _place(stream)
        _call(stream)
    with frame.lowering.block() as body:
        _walk(stream)
    lines = tuple(line.replace("CONSTANT_PARAM Constant", "const Constant") for line in frame.parameter_lines())
    shared = tuple(f"Shared<{memory_type(stream.tensors[u].type)}> {a}" for u, a in stream.shared.items())
    told = ", ".join(f"{type} {name}" for type, name in (*_origins(stream), *stream.parameters()))
    note = (f"A warp takes row after row of {WARP * shape.warps.columns} columns"
            f"{f' and {shape.warps.rows} lines' if stream.sides else ''}; "
            "interior: all that its block reads and writes is there.")
    function = Inlined((note,), "bool interior", stream.name, (*lines, *shared, told), tuple(body))
    return function, frame.function(list(kernel))


def _origins(stream: Stream) -> tuple[tuple[str, str], ...]:
    """Where the tile begins, as far as a warp asks."""
    return tuple(("Index", str(stream.frame.origin(i))) for i in stream.frame.indices[:-1])


def _place(stream: Stream) -> None:
    """Lane and warp, and where the lane's columns and the warp's lines begin."""
    frame, shape, emit = stream.frame, stream.shape, stream.lowering.emit
    thread = thread_and_item(shape.threads, 1)[0]
    emit(Let("int", stream.lane, thread % WARP))
    warp: Expr = thread // WARP
    if shape.exchanges:
        emit(Let("int", stream.warp, warp))
        warp = Name(stream.warp, 0, shape.threads // WARP - 1)
    for i in frame.indices[1:-1]:
        line = warp // shape.warps.across * shape.warps.rows - stream.steps * shape.beside[0]
        emit(Let("Index", stream.firsts[i], frame.origin(i) + line))
    last = frame.indices[-1]
    column = warp % shape.warps.across * shape.outputs + stream.lanes * shape.warps.columns - shape.first
    emit(Let("Index", stream.firsts[last], frame.origin(last) + column))


def _call(stream: Stream) -> None:
    """The walk of a warp, without a test where its block lies inside."""
    frame = stream.frame
    args = tuple(Held(n) for n in (*frame.parameter_names, *stream.shared.values(),
                                   *(name for _, name in (*_origins(stream), *stream.parameters()))))
    tests: list[Expr] = []
    for index, n, before, after in zip(frame.indices, frame.counts, *_reach(stream), strict=True):
        origin = frame.origin(index)
        tests += [compare(">=", origin - before, Int(0)), compare("<=", origin + after, n)]
    calls = [(Do(Called(f"{stream.name}<{flag}>", args)),) for flag in ("true", "false")]
    stream.lowering.emit(Either(every(tests), *calls))


def _reach(stream: Stream) -> tuple[list[int], list[int]]:
    """Per index how far before and after its tile's first output a block computes."""
    shape, steps, (low, high) = stream.shape, stream.steps, stream.fusing.halo[0]
    before, after = [steps * (low + high + 1) + shape.ahead], [shape.tile[0] + steps * (high + 1) + shape.window - 1]
    if stream.sides:
        before.append(steps * shape.beside[0])
        after.append(shape.warps.rows * shape.warps.stacked - steps * shape.beside[0])
    before.append(shape.first)
    after.append((shape.warps.across - 1) * shape.outputs + WARP * shape.warps.columns - shape.first)
    return before, after


def _walk(stream: Stream) -> None:
    """Registers, then row after row."""
    frame, shape, lowering = stream.frame, stream.shape, stream.lowering
    count = shape.held(stream.steps)
    for u, array in stream.arrays.items():
        type = memory_type(stream.tensors[u].type)
        lowering.emit(Registers(type, array, count), Loop(
            True, "int", stream.held, Int(0), Int(count), (cleared(array, type, Name(stream.held)),)))
    _hold_scalars(stream)
    name_neighbours(stream)
    walked, turn = frame.names.take("walked"), frame.names.take("turn")
    first = frame.origin(frame.indices[0])
    with lowering.block() as body:
        at = Name(walked, 0) + Name(turn, 0, shape.window - 1)
        declare_turn(stream, at)
        lowering.emit(Let("Index", stream.row, first - stream.steps * stream.fusing.halo[0][0] + at))
        make_outputs(stream)
        make_steps(stream)
        load_row(stream)
        finish_turn(stream)
    more = shape.turns(stream.fusing) - shape.tile[0]
    left, most = frame.counts[0] - first + more, Int(shape.tile[0] + more)
    rows = Name(lowering.let("Index", "rows", select(compare("<", left, most), left, most)))
    turns = Loop(True, "int", turn, Int(0), Int(shape.window), tuple(body))
    lowering.emit(Rounds(walked, Int(0), rows, shape.window, (turns,)))


def _hold_scalars(stream: Stream) -> None:
    """Single numbers wait in registers."""
    frame = stream.frame
    read = {f.tensor for f in frame.choice.footprints}
    for t in frame.kernel.inputs:
        if t.name in read and not t.extents and t.name not in stream.tensors:
            place = frame.place_of(t.name)
            array = frame.names.take(f"{frame.arrays[t.name]}_held")
            frame.lowering.emit(Registers(memory_type(t.type), array, 1),
                                Assign(Element(array, Int(0)), Element(place.array, Int(0))))
            frame.lowering.places[t.name] = InConstant(array, t.type, ())
