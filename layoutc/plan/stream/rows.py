"""What a turn does: a row of the outputs, a row of every step, the tensors' next row.

The steps wait for each other from turn to turn, so that in one turn none waits for another.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from layoutc.index import Binary, Call, Expr, Int, Name, Select, compare, dot, every, select
from layoutc.plan.lowering.places import InStream
from layoutc.plan.reads.fusing import kinds
from layoutc.plan.steps import Assign, Either, Let, Loop, Registers, When
from layoutc.plan.stream.beside import give_beside, take_beside
from layoutc.plan.stream.packs import give, take, widest
from layoutc.plan.stream.state import INTERIOR, Stream
from layoutc.plan.values import Choice as Chosen
from layoutc.plan.values import Element, c_type, memory_type, register_type, store
from layoutc.plan.values import Variable as Held
from layoutc.resolve.program import Const, EdgeRule, Equation, Sides


def load_row(stream: Stream) -> None:
    """The next row of the tensors; past the last one that counts it is read again, so that no load waits for a test."""
    lowering, left = stream.lowering, Int(stream.steps)
    stream.shift(left)
    inner = stream.frame.indices[1:]
    last = stream.frame.origin(stream.frame.indices[0]) + (
        stream.frame.choice.tile[0] + stream.steps * stream.fusing.halo[0][1] - 1)
    row = Name(lowering.let("Index", "row_read", select(compare("<", Name(stream.row), last), Name(stream.row), last)))
    with lowering.block() as whole, stream.each_side():
        at = (row, *(_start(stream, i) for i in inner))
        for u, source in stream.sources.items():
            take(stream, memory_type(source.type), _vector(stream, u), (source.array, dot(at, source.strides)),
                 partial(stream.newest, u, left), "load_here")
    with lowering.block() as careful, stream.each_side():
        stream.declare_places(inner[:-1], inner)
        with stream.each_column():
            stream.declare_places(inner[-1:], inner)
            for u, source in stream.sources.items():
                place = replace(source, edges=_loaded_edges(stream, u))
                at = (row, *(Name(stream.places[i]) for i in inner))
                value = lowering.in_global(place, at, stream.frame.extents)
                lowering.emit(Assign(stream.newest(u, left, stream.column), store(value, source.type)))
    lowering.emit(Either(Held(INTERIOR.id), tuple(whole), tuple(careful)))
    give_beside(stream, left)


def _start(stream: Stream, index: str) -> Expr:
    """Where a lane's columns begin, or the row that a loop stands at."""
    return Name(stream.firsts[index]) if index == stream.frame.indices[-1] else stream.at(index)


def _vector(stream: Stream, tensor: str) -> int:
    """Elements that one access of a tensor moves in the interior."""
    frame, shape = stream.frame, stream.shape
    columns = shape.warps.columns
    if shape.first % columns or shape.outputs % columns:
        return 1
    type = next(t.type for t in (*frame.kernel.inputs, *frame.kernel.outputs) if t.name == tensor)
    allowed = frame.signature.vectors[frame.signature.of(frame.kernel, tensor)]
    if (stream.sources.get(tensor) or frame.place_of(tensor)).strides[-1] != Int(1):
        return 1
    return next(n for n in (widest(columns, type.bytes), 8, 4, 2, 1) if n <= allowed and columns % n == 0
                and n <= widest(columns, type.bytes))


def _loaded_edges(stream: Stream, u: str) -> tuple[Sides, ...]:
    """Beyond an axis without a rule there is nothing that counts."""
    zero = EdgeRule("constant", Const(0, stream.tensors[u].type))
    return tuple(own if any(own) else sides if "wrap" in kinds(sides) else (zero, zero)
                 for own, sides in zip(stream.tensors[u].edges, stream.edges[u], strict=True))


def make_steps(stream: Stream) -> None:
    """A row of every step but the last: those with few steps left first, before what they read moves on."""
    lowering = stream.lowering
    left = Name(stream.frame.names.take("left"), 1, stream.steps - 1)
    indices = stream.frame.indices
    with lowering.block() as body:
        if indices[0] in stream.asked:
            stream.declare_row(left)
        take_beside(stream, left + 1)
        stream.shift(left)
        with stream.each_side():
            stream.declare_places(indices[1:-1], stream.asked)
            with stream.each_column():
                stream.declare_places(indices[-1:], stream.asked)
                env = _env(stream, left)
                for u, equation in stream.equations.items():
                    _make(stream, u, equation, env, left)
        give_beside(stream, left)
    lowering.emit(Loop(True, "int", left.id, Int(1), Int(stream.steps), tuple(body)))


def _make(stream: Stream, u: str, equation: Equation, env: dict[str, Expr], left: Expr) -> None:
    """One value into the newest row; outside the tensor what a constant rule has there."""
    lowering, tensor = stream.lowering, stream.tensors[u]
    value = lowering.named(lowering.value(equation.value, env), register_type(tensor.type), "made")
    at = tuple(Name(stream.places[i]) for i in stream.frame.indices)
    outside = lowering.edges(tensor.edges, at, stream.frame.counts)[1]
    for test, constant in reversed(outside):
        value = Chosen(Binary("||", INTERIOR, test), value, lowering.value(constant, stream.frame.extents))
    lowering.emit(Assign(stream.newest(u, left, stream.column), store(value, tensor.type)))


def make_outputs(stream: Stream) -> None:
    """A row of the last step, as far as it lies in the tile; all lanes compute, for all take part in shuffles."""
    frame, lowering, none = stream.frame, stream.lowering, Int(0)
    first = frame.indices[0]
    with lowering.block() as outer:
        stream.declare_row(none)
        row = Name(stream.places[first])
        take_beside(stream, Int(1))
        with lowering.block() as body, stream.each_side():
            stream.declare_places(frame.indices[1:-1], frame.indices)
            _make_outputs(stream)
        here = every((compare(">=", row, frame.origin(first)),
                      compare("<", row, frame.origin(first) + frame.choice.tile[0]),
                      compare("<", row, frame.counts[0])))
        lowering.emit(When(here, tuple(body)))
    lowering.emit(*outer)


def _make_outputs(stream: Stream) -> None:
    """The columns of a row, then to memory."""
    frame, lowering, columns = stream.frame, stream.lowering, stream.shape.warps.columns
    made = {}
    for e in frame.choice.equations:
        type = c_type(frame.output(e).type)
        made[e.output] = frame.names.take(f"{frame.arrays[e.output]}_row")
        lowering.emit(Registers(type, made[e.output], columns))
    with stream.each_column():
        stream.declare_places(frame.indices[-1:], stream.used)
        env = _env(stream, Int(0))
        for e in frame.choice.equations:
            value = store(lowering.value(e.value, env), frame.output(e).type)
            lowering.emit(Assign(Element(made[e.output], stream.column), value))
    tests: list[Expr] = [Call("within", (Name(stream.places[index]) - frame.origin(index), Int(size)))
                         for index, size in zip(frame.indices[1:-1], frame.choice.tile[1:-1], strict=True)]
    for e in frame.choice.equations:
        _store(stream, e, made[e.output], tests)
    for name in made.values():
        frame.names.release(name)


def _whole(stream: Stream) -> bool:
    """Whether a lane's columns are all outputs, or none."""
    columns = stream.shape.warps.columns
    return stream.shape.first % columns == 0 and stream.shape.outputs % columns == 0


def _store(stream: Stream, e: Equation, array: str, tests: list[Expr]) -> None:
    """A lane's columns of one output, each under one test: what is nested would keep the steps apart."""
    frame, lowering, shape = stream.frame, stream.lowering, stream.shape
    place, inner = frame.place_of(e.output), frame.indices[1:]
    row = Name(stream.places[frame.indices[0]])
    between = [Name(stream.places[i]) for i in inner[:-1]]
    first, columns = Name(stream.firsts[inner[-1]]), Name(stream.firsts[inner[-1]]) + stream.column
    own = stream.lanes * shape.warps.columns - shape.first
    with lowering.block() as whole:
        if _whole(stream):
            at = dot((row, *between, first), place.strides)
            give(stream, c_type(place.type), _vector(stream, e.output), (place.array, at), lambda c: Element(array, c))
    with lowering.block() as careful, stream.each_column():
        there = every(compare("<", p, n) for p, n in zip((*between, columns), frame.counts[1:], strict=True))
        at = dot((row, *between, columns), place.strides)
        mine = Call("within", (own if _whole(stream) else own + stream.column, Int(shape.outputs)))
        inside = there if _whole(stream) else Binary("||", INTERIOR, there)
        lowering.emit(When(every((mine, *tests, inside)), (
            Assign(Element(place.array, at), Element(array, stream.column)),)))
    if not _whole(stream):
        lowering.emit(*careful)
        return
    of_tile = every((Call("within", (own, Int(shape.outputs))), *tests))
    lowering.emit(Either(Held(INTERIOR.id), (When(of_tile, tuple(whole)),), tuple(careful)))


def _env(stream: Stream, left: Expr) -> dict[str, Expr]:
    """The indices as the equations see them, and where what they read of the step before lies."""
    frame, lowering, shape = stream.frame, stream.lowering, stream.shape
    env: dict[str, Expr] = dict(frame.extents)
    for number, (index, n) in enumerate(zip(frame.indices, frame.counts, strict=True)):
        name = frame.spelled[index]
        if index in stream.used:
            wraps = any("wrap" in kinds(edges[number]) for edges in stream.edges.values())
            place = Name(stream.places[index])
            folded = Call("wrap" if wraps else "nearest", (place, n))
            lowering.emit(Let("Index", name, Select(INTERIOR, place, folded)))
        lowering.limits[name] = n
        env[index] = Name(name, 0)
    at = tuple(env[i] for i in frame.indices)
    for u, tensor in stream.tensors.items():
        lowering.places[u] = InStream(
            stream.arrays[u], tensor.type, at, left, stream.fusing.halo[0][0], shape.window, stream.sides,
            (shape.sides,) * len(stream.sides), stream.column, shape.warps.columns, stream.lane)
    return env
