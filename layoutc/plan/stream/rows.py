"""What a turn does: a row of the outputs, a row of every step, the tensors' next row.

The steps wait for each other from turn to turn, so that in one turn none waits for another.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from layoutc.plan.values import Element, Text, c_type, memory_type, store
from layoutc.plan.values import Variable as Held
from layoutc.resolve.program import Const, EdgeRule, Equation, Sides
from layoutc.resolve.types import Type


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
    with lowering.block() as body:
        if stream.frame.indices[0] in stream.asked:
            stream.declare_row(left)
        take_beside(stream, left + 1)
        stream.shift(left)
        _make_row(stream, left)
        give_beside(stream, left)
    lowering.emit(Loop(True, "int", left.id, Int(1), Int(stream.steps), tuple(body)))


def _make_row(stream: Stream, left: Expr) -> None:
    """All values, and only then which of them lie in the tensor: tests in between are branches that keep them apart."""
    names, lowering, indices = stream.frame.names, stream.lowering, stream.frame.indices
    made = {u: names.take(f"{stream.frame.arrays[u]}_made") for u in stream.equations if stream.is_bounded(u)}
    for u, array in made.items():
        lowering.emit(Registers(memory_type(stream.tensors[u].type), array, stream.shape.made_of_row))
    _evaluate(stream, left, [
        (e, stream.tensors[u].type, stream.of_row(made[u]) if u in made else stream.newest(u, left, stream.column))
        for u, e in stream.equations.items()])
    if not made:
        return
    with stream.each_side():
        stream.declare_places(indices[1:-1], stream.asked)
        with stream.each_column():
            stream.declare_places(indices[-1:], stream.asked)
            for u, array in made.items():
                lowering.emit(Assign(stream.newest(u, left, stream.column), _kept(stream, u, stream.of_row(array))))
    for array in made.values():
        names.release(array)


def _evaluate(stream: Stream, left: Expr, wanted: Sequence[tuple[Equation, Type, Element]]) -> None:
    """The values of a row that has so many steps left, to where each is wanted."""
    indices = stream.frame.indices
    with stream.each_side():
        stream.declare_places(indices[1:-1], stream.used)
        with stream.each_column():
            stream.declare_places(indices[-1:], stream.used)
            env = _env(stream, left)
            for equation, type, target in wanted:
                stream.lowering.emit(Assign(target, store(stream.lowering.value(equation.value, env), type)))


def _kept(stream: Stream, u: str, made: Text) -> Text:
    """A value inside the tensor; outside what a constant rule has there."""
    lowering, tensor = stream.lowering, stream.tensors[u]
    at = tuple(Name(stream.places[i]) for i in stream.frame.indices)
    for test, constant in reversed(lowering.edges(tensor.edges, at, stream.frame.counts)[1]):
        outside = store(lowering.value(constant, stream.frame.extents), tensor.type)
        made = Chosen(Binary("||", INTERIOR, test), made, outside)
    return made


def make_outputs(stream: Stream) -> None:
    """A row of the last step, and only then what of it lies in the tile: all lanes compute, as all shuffle."""
    frame, lowering = stream.frame, stream.lowering
    first, between = frame.indices[0], frame.indices[1:-1]
    stream.declare_row(Int(0))
    take_beside(stream, Int(1))
    made = [(e, frame.output(e).type, frame.names.take(f"{frame.arrays[e.output]}_row")) for e in
            frame.choice.equations]
    lowering.emit(*(Registers(c_type(type), array, stream.shape.made_of_row) for _, type, array in made))
    _evaluate(stream, Int(0), [(e, type, stream.of_row(array)) for e, type, array in made])
    row = Name(stream.places[first])
    is_made = lowering.let("bool", "is_made", every((
        compare(">=", row, frame.origin(first)), compare("<", row, frame.origin(first) + frame.choice.tile[0]),
        compare("<", row, frame.counts[0]))))
    with stream.each_side():
        stream.declare_places(between, frame.indices)
        tests: list[Expr] = [Name(is_made, 0, 1), *(
            Call("within", (Name(stream.places[index]) - frame.origin(index), Int(size)))
            for index, size in zip(between, frame.choice.tile[1:-1], strict=True))]
        for e, _, array in made:
            _store(stream, e, array, tests)
    for _, _, array in made:
        frame.names.release(array)


def _whole(stream: Stream) -> bool:
    """Whether a lane's columns are all outputs, or none."""
    columns = stream.shape.warps.columns
    return stream.shape.first % columns == 0 and stream.shape.outputs % columns == 0


def _store(stream: Stream, e: Equation, array: str, tests: list[Expr]) -> None:
    """A lane's columns of a line of one output, each under one test: what is nested would keep the steps apart."""
    frame, lowering, shape = stream.frame, stream.lowering, stream.shape
    place, inner = frame.place_of(e.output), frame.indices[1:]
    row = Name(stream.places[frame.indices[0]])
    between = [Name(stream.places[i]) for i in inner[:-1]]
    first, columns = Name(stream.firsts[inner[-1]]), Name(stream.firsts[inner[-1]]) + stream.column
    own = stream.lanes * shape.warps.columns - shape.first
    with lowering.block() as whole:
        if _whole(stream):
            at = dot((row, *between, first), place.strides)
            give(stream, c_type(place.type), _vector(stream, e.output), (place.array, at),
                 lambda c: stream.of_row(array, c))
    with lowering.block() as careful, stream.each_column():
        there = every(compare("<", p, n) for p, n in zip((*between, columns), frame.counts[1:], strict=True))
        at = dot((row, *between, columns), place.strides)
        mine = Call("within", (own if _whole(stream) else own + stream.column, Int(shape.outputs)))
        inside = there if _whole(stream) else Binary("||", INTERIOR, there)
        lowering.emit(When(every((mine, *tests, inside)), (
            Assign(Element(place.array, at), stream.of_row(array)),)))
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
