"""The text of a stream: a warp takes row after row, and makes a row of every step with each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from layoutc.index import Expr, Int, Name, compare, every, select
from layoutc.plan.kernel.dealt import cleared
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.lowering.places import InConstant
from layoutc.plan.machine import WARP
from layoutc.plan.ownership import thread_and_item
from layoutc.plan.reads.fusing import Fusing
from layoutc.plan.steps import Assign, Do, Either, Function, Inlined, Let, Loop, Registers, Rounds, Step
from layoutc.plan.stream.beside import declare_beside, declare_turn, finish_turn, name_neighbours
from layoutc.plan.stream.rows import load_row, make_outputs, make_steps
from layoutc.plan.stream.shape import Shape
from layoutc.plan.stream.shares import each_share
from layoutc.plan.stream.state import Stream
from layoutc.plan.values import Element, memory_type
from layoutc.plan.values import Function as Called
from layoutc.plan.values import Variable as Held


def write_stream(frame: Frame, fusing: Fusing, shape: Shape) -> tuple[Inlined, Function]:
    """What a warp does, and the kernel that says where."""
    stream = Stream(frame, fusing, shape)
    return _by_shares(stream) if shape.dealt else _by_tiles(stream)


def _by_tiles(stream: Stream) -> tuple[Inlined, Function]:
    """A block makes one tile; the walk of a warp is a function."""
    frame = stream.frame
    with frame.lowering.block() as kernel:
        frame.emit_thread_and_block()
        declare_beside(stream)
        _name_warp(stream)
        _place(stream)
        _call(stream, _inside(stream), ())
    with frame.lowering.block() as body:
        _begin(stream)
        _walk(stream, frame.names.take("walked"), lambda walked: _turns(stream, walked))
    return _function(stream, body, ()), frame.function(list(kernel))


def _by_shares(stream: Stream) -> tuple[Inlined, Function]:
    """Blocks walk from tile to tile; some turns of a warp are a function, for a walk is inside but at its ends."""
    frame, shape = stream.frame, stream.shape
    walked = frame.names.take("walked")
    told = [*stream.arrays.values()]
    neighbours = [n for n, count in ((stream.before, shape.beside[0]), (stream.after, shape.beside[1]))
                  if count and shape.exchanges]

    def turns(at: Expr) -> None:
        _call(stream, every((beside, *_in_rows(stream, at))), (*told, *neighbours, stream.behind, walked))

    with frame.lowering.block() as kernel:
        frame.emit_thread()
        declare_beside(stream)
        _name_warp(stream)
        name_neighbours(stream)
        with each_share(stream):
            _place(stream)
            beside = Name(frame.lowering.let("bool", "beside", _beside(stream)), 0, 1)
            _begin(stream)
            told += [name for _, name in stream.scalars]
            _walk(stream, walked, turns)
    with frame.lowering.block() as body:
        _turns(stream, Name(walked, 0))
    rows = [f"{memory_type(stream.tensors[u].type)}* {a}" for u, a in stream.arrays.items()]
    scalars = [f"const {type}* {name}" for type, name in stream.scalars]
    last = [*(f"int {n}" for n in neighbours), f"Index {stream.behind}", f"int {walked}"]
    return _function(stream, body, (", ".join([*rows, *scalars]), ", ".join(last))), frame.function(
        list(kernel), shape.resident if shape.resident > 1 else 0)


def _function(stream: Stream, body: Sequence[Step], told: tuple[str, ...]) -> Inlined:
    """What a warp does, for blocks inside and for those at the edges."""
    frame, shape = stream.frame, stream.shape
    lines = tuple(line.replace("CONSTANT_PARAM Constant", "const Constant") for line in frame.parameter_lines())
    shared = tuple(f"Shared<{memory_type(stream.tensors[u].type)}> {a}" for u, a in stream.shared.items())
    places = ", ".join(f"{type} {name}" for type, name in (*_origins(stream), *stream.parameters()))
    what = "these turns read and write" if shape.dealt else "its block reads and writes"
    note = (f"A warp takes row after row of {WARP * shape.warps.columns} columns"
            f"{f' and {shape.warps.rows} lines' if stream.sides else ''}; interior: all that {what} is there.")
    return Inlined((note,), "bool interior", stream.name, (*lines, *shared, places, *told), tuple(body))


def _origins(stream: Stream) -> tuple[tuple[str, str], ...]:
    """Where the tile begins, as far as a warp asks."""
    return tuple(("Index", str(stream.frame.origin(i))) for i in stream.frame.indices[:-1])


def _name_warp(stream: Stream) -> None:
    """The lane, and the warp where it counts which."""
    thread = thread_and_item(stream.shape.threads, 1)[0]
    stream.lowering.emit(Let("int", stream.lane, thread % WARP))
    if stream.shape.exchanges:
        stream.lowering.emit(Let("int", stream.warp, thread // WARP))


def _place(stream: Stream) -> None:
    """Where the lane's columns and the warp's lines begin."""
    frame, shape, emit = stream.frame, stream.shape, stream.lowering.emit
    warp: Expr = thread_and_item(shape.threads, 1)[0] // WARP
    if shape.exchanges:
        warp = Name(stream.warp, 0, shape.threads // WARP - 1)
    for i in frame.indices[1:-1]:
        line = warp // shape.warps.across * shape.warps.rows - stream.steps * shape.beside[0]
        emit(Let("Index", stream.firsts[i], frame.origin(i) + line))
    last = frame.indices[-1]
    column = warp % shape.warps.across * shape.outputs + stream.lanes * shape.warps.columns - shape.first
    emit(Let("Index", stream.firsts[last], frame.origin(last) + column))


def _call(stream: Stream, inside: Expr, more: tuple[str, ...]) -> None:
    """What a warp does, without a test where all of it lies inside."""
    args = tuple(Held(n) for n in (*stream.frame.parameter_names, *stream.shared.values(),
                                   *(name for _, name in (*_origins(stream), *stream.parameters())), *more))
    calls = [(Do(Called(f"{stream.name}<{flag}>", args)),) for flag in ("true", "false")]
    stream.lowering.emit(Either(inside, *calls))


def _inside(stream: Stream) -> Expr:
    """Whether all that a block computes lies inside."""
    frame, shape, steps, (low, high) = stream.frame, stream.shape, stream.steps, stream.fusing.halo[0]
    origin, n = frame.origin(frame.indices[0]), frame.counts[0]
    return every((compare(">=", origin - (steps * (low + high + 1) + shape.ahead), Int(0)),
                  compare("<=", origin + (shape.tile[0] + steps * (high + 1) + shape.window - 1), n), _beside(stream)))


def _in_rows(stream: Stream, walked: Expr) -> tuple[Expr, Expr]:
    """Whether the rows that some turns read, make and write lie inside."""
    steps, (low, high) = stream.steps, stream.fusing.halo[0]
    newest = stream.frame.origin(stream.frame.indices[0]) - steps * low + walked
    return (compare(">=", newest - (steps * (high + 1) + stream.shape.ahead), Int(0)),
            compare("<=", newest + stream.shape.window, stream.frame.counts[0]))


def _beside(stream: Stream) -> Expr:
    """Whether a block lies inside along all indices but that of the walk."""
    frame, shape, steps = stream.frame, stream.shape, stream.steps
    across = (shape.warps.across - 1) * shape.outputs + WARP * shape.warps.columns - shape.first
    reach = [(shape.first, across)]
    if stream.sides:
        reach.insert(0, (steps * shape.beside[0], shape.warps.rows * shape.warps.stacked - steps * shape.beside[0]))
    tests: list[Expr] = []
    for index, n, (before, after) in zip(frame.indices[1:], frame.counts[1:], reach, strict=True):
        origin = frame.origin(index)
        tests += [compare(">=", origin - before, Int(0)), compare("<=", origin + after, n)]
    return every(tests)


def _begin(stream: Stream) -> None:
    """Registers, with nothing in them."""
    count = stream.shape.held(stream.steps)
    for u, array in stream.arrays.items():
        type = memory_type(stream.tensors[u].type)
        stream.lowering.emit(Registers(type, array, count), Loop(
            True, "int", stream.held, Int(0), Int(count), (cleared(array, type, Name(stream.held)),)))
    _hold_scalars(stream)
    if not stream.shape.dealt:
        name_neighbours(stream)


def _walk(stream: Stream, walked: str, turns: Callable[[Expr], None]) -> None:
    """Row after row, a window of them at a time."""
    frame, shape, lowering = stream.frame, stream.shape, stream.lowering
    first = frame.origin(frame.indices[0])
    with lowering.block() as body:
        turns(Name(walked, 0))
    more = shape.turns(stream.fusing) - shape.tile[0]
    left, most = frame.counts[0] - first + more, Int(shape.tile[0] + more)
    rows = Name(stream.behind) - first + more if shape.dealt else select(compare("<", left, most), left, most)
    lowering.emit(Rounds(walked, Int(0), Name(lowering.let("Index", "rows", rows)), shape.window, tuple(body)))


def _turns(stream: Stream, walked: Expr) -> None:
    """As many turns as a window has rows, so that each row is in the same registers again."""
    turn, lowering = stream.frame.names.take("turn"), stream.lowering
    first = stream.frame.origin(stream.frame.indices[0])
    with lowering.block() as body:
        at = walked + Name(turn, 0, stream.shape.window - 1)
        declare_turn(stream, at)
        lowering.emit(Let("Index", stream.row, first - stream.steps * stream.fusing.halo[0][0] + at))
        make_outputs(stream)
        make_steps(stream)
        load_row(stream)
        finish_turn(stream)
    lowering.emit(Loop(True, "int", turn, Int(0), Int(stream.shape.window), tuple(body)))


def _hold_scalars(stream: Stream) -> None:
    """Single numbers wait in registers."""
    frame = stream.frame
    read = {f.tensor for f in frame.choice.footprints}
    for t in frame.kernel.inputs:
        if t.name in read and not t.extents and t.name not in stream.tensors:
            place = frame.place_of(t.name)
            array = frame.names.take(f"{frame.arrays[t.name]}_held")
            stream.scalars.append((memory_type(t.type), array))
            frame.lowering.emit(Registers(memory_type(t.type), array, 1),
                                Assign(Element(array, Int(0)), Element(place.array, Int(0))))
            frame.lowering.places[t.name] = InConstant(array, t.type, ())
