"""A row of a tensor into registers: vectors where nothing lies outside, elsewhere by the edge rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutc.index import TRUE, Expr, Int, Name, compare, dot, every
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.loading import holds_something
from layoutc.plan.lowering.places import InGlobal, InRows, fold
from layoutc.plan.machine import ACCESS_BYTES
from layoutc.plan.steps import Assign, Do, Either, Let, Loop, Step, When
from layoutc.plan.values import (
    Choice,
    Element,
    Function,
    Literal,
    Operation,
    Text,
    Variable,
    load,
    memory_type,
    register_type,
)
from layoutc.plan.window.bands import Band
from layoutc.plan.window.ring import place_in_ring
from layoutc.plan.window.state import INTERIOR, Walk
from layoutc.resolve.types import BOOL, compute_type


@dataclass(frozen=True, slots=True)
class Row:
    """Where the elements of one row stand."""

    subscripts: tuple[Expr, ...]        # of the first; the last of the piece
    folded: tuple[Expr, ...]            # of all axes but the last, by the folding rules
    slot: Expr                          # of the first element in the array


def take_row(walk: Walk, band: Band, place: InRows) -> None:
    """Emit what brings the newest row of a band."""
    frame = walk.frame
    source = frame.source_of(band.tensor)
    outer, counters = _outer(frame, band, walk.finished)
    row = band.row if band.walked is not None else 0
    first = dot((c for c, _ in counters), (Int(s) for s, (c, _) in zip(band.strides[:-1], counters, strict=True)))
    piece: Expr = Name(frame.names.take("piece"), 0, band.extent(len(band.axes) - 1) // band.vector - 1)
    pieces = band.extent(len(band.axes) - 1) // band.vector
    if pieces == 1:
        piece = Int(0)
    slot = first + (band.depth - 1) * row + piece * band.vector
    with frame.lowering.block() as inside:
        along = piece * band.vector
        if band.ring:
            at = place_in_ring(walk, band, tuple(c for c, _ in counters), along)
            _vector(frame, band, place, walk.rings[band.tensor], at, slot)
        else:
            at = dot((*outer, _last(frame, band) + along), source.strides)
            _vector(frame, band, place, source.array, at, slot, _load_of(walk, band))
    if walk.shape.knobs.prefetch and band.walked is not None and not band.ring:
        _prefetch(walk, band, source, outer, counters)
    with frame.lowering.block() as edges:
        folded = _fold_outer(frame, band, source, outer)
        index = band.axes[-1].index
        suffix = frame.spelled[index] if index is not None else str(len(band.axes) - 1)
        loop = frame.names.take(f"{frame.arrays[band.tensor]}_{suffix}")
        with frame.lowering.block() as each:
            begin = _last(frame, band) + piece * band.vector
            frame.lowering.emit(Let("Index", loop, begin))
            _by_rule(walk, band, place, source, Row((*outer, Name(loop, begin.interval[0])), folded, slot))
        frame.names.release(loop)
        frame.lowering.emit(*_nest(counters, piece, pieces, each))
    frame.lowering.emit(Either(INTERIOR, tuple(_nest(counters, piece, pieces, inside)), tuple(edges)))
    for name in (str(c) for c, n in counters if n > 1):
        frame.names.release(name)
    if pieces > 1:
        frame.names.release(str(piece))


def vector_of_row(walk: Walk, band: Band, array: str, at: Expr) -> None:
    """A row of a band from shared memory, where it stands in one line, its first element ``at`` in the array."""
    frame = walk.frame
    vector, type = walk.columns, register_type(band.type)
    pieces = band.row // vector
    piece: Expr = Name(frame.names.take("piece"), 0, pieces - 1) if pieces > 1 else Int(0)
    part = frame.names.take("part")
    source = Operation("+", Variable(array), at + piece * vector)
    body: tuple[Step, ...] = (
        Let(f"Pack<{type}, {vector}>", part, Function(f"load<{vector}>", (source,))),
        walk.each(vector, lambda k: Assign(Element(walk.arrays[band.tensor], piece * vector + k), Element(part, k))))
    frame.names.release(part)
    if pieces > 1:
        body = (Loop(True, "int", str(piece), Int(0), Int(pieces), body),)
        frame.names.release(str(piece))
    frame.lowering.emit(*body)


def take_waiting(walk: Walk, band: Band, array: str, at: Expr, function: str) -> None:
    """A row of a tensor that waits in shared memory in one line, its first element ``at`` in the array."""
    names, pieces = walk.frame.names, band.row // band.vector
    piece: Expr = Name(names.take("piece"), 0, pieces - 1) if pieces > 1 else Int(0)
    with walk.frame.lowering.block() as body:
        along = piece * band.vector
        _vector(walk.frame, band, walk.place(band), array, at + along, along, function)
    walk.frame.lowering.emit(*_nest((), piece, pieces, body))
    if isinstance(piece, Name):
        names.release(piece.id)


def take_by_rule(walk: Walk, band: Band, array: str, subscripts: tuple[Expr, ...], slot: Expr) -> None:
    """One element of a tensor into an array, as its edge rules say."""
    frame = walk.frame
    source = frame.source_of(band.tensor)
    place = InRows(array, tuple(subscripts), band.strides, source)
    folded = _fold_outer(frame, band, source, subscripts[:-1])
    _one(frame, band, place, source, Row(subscripts, folded, slot), Int(0))


def _prefetch(
    walk: Walk, band: Band, source: InGlobal, outer: tuple[Expr, ...], counters: Sequence[tuple[Expr, int]]
) -> None:
    """In the interior every line of the row that is read some turns later sets out for the second cache."""
    frame, shape, rows = walk.frame, walk.shape, walk.shape.knobs.prefetch
    later = tuple(s + rows if n == band.walked else s for n, s in enumerate(outer))
    at = dot((*later, _last(frame, band) - band.axes[-1].low), source.strides)
    comes = compare("<", walk.turn, Int(shape.steps - band.ahead - rows))
    ask = Do(Function("prefetch", (Operation("+", Variable(source.array), at),)))
    frame.lowering.emit(When(Operation("&&", INTERIOR, comes), tuple(_nest(counters, Int(0), 1, [ask]))))


def _nest(counters: Sequence[tuple[Expr, int]], piece: Expr, pieces: int, body: Sequence[Step]) -> list[Step]:
    """The body for every piece of every line of a row."""
    steps = tuple(body)
    for counter, count in reversed([*counters, (piece, pieces)]):
        if count > 1:
            steps = (Loop(True, "int", str(counter), Int(0), Int(count), steps),)
    return list(steps)


def _outer(frame: Frame, band: Band, finished: Expr | None) -> tuple[tuple[Expr, ...], list[tuple[Expr, int]]]:
    """Subscripts along all axes but the last, and the counters in them."""
    subscripts: list[Expr] = []
    counters: list[tuple[Expr, int]] = []
    for number, a in enumerate(band.axes[:-1]):
        if number == band.walked:
            assert finished is not None
            name = frame.names.take(f"{frame.arrays[band.tensor]}_{frame.spelled[a.index or '']}")
            frame.lowering.emit(Let("Index", name, finished + (band.high + band.ahead)))
            subscripts.append(Name(name, 0 if band.taken_from >= 0 else None))
            counters.append((Int(0), 1))
            continue
        count = band.extent(number)
        counter: Expr = Int(0)
        if count > 1:
            suffix = frame.spelled[a.index] if a.index else str(number)
            counter = Name(frame.names.take(f"{frame.arrays[band.tensor]}_at_{suffix}"), 0, count - 1)
        base = frame.at[a.index] * a.scale if a.index else Int(0)
        subscripts.append(base + (counter + a.low))
        counters.append((counter, count))
    return tuple(subscripts), counters


def _last(frame: Frame, band: Band) -> Expr:
    """The subscript of a row's first element along the last axis."""
    a = band.axes[-1]
    ahead = band.high + band.ahead if band.walked == len(band.axes) - 1 else a.low
    return (frame.at[a.index] * a.scale if a.index else Int(0)) + ahead


def _vector(
    frame: Frame, band: Band, place: InRows, array: str, at: Expr, slot: Expr, function: str = "load"
) -> None:
    """One access, its elements into their registers."""
    if band.vector == 1:
        frame.lowering.emit(Assign(Element(place.array, slot), load(Element(array, at), band.type)))
        return
    part = frame.names.take("part")
    element = Name(frame.names.take("element"), 0, band.vector - 1)
    value = load(Element(part, element), band.type)
    frame.lowering.emit(
        Let(f"Pack<{memory_type(band.type)}, {band.vector}>", part,
            Function(f"{function}<{band.vector}>", (Operation("+", Variable(array), at),))),
        Loop(True, "int", str(element), Int(0), Int(band.vector),
             (Assign(Element(place.array, slot + element), value),)))
    frame.names.release(part)
    frame.names.release(str(element))


def _fold_outer(frame: Frame, band: Band, source: InGlobal, outer: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Subscripts of all axes but the last where the edge rules put them."""
    out = []
    for number, (i, n, (low, high)) in enumerate(zip(outer, source.extents, source.edges, strict=False)):
        at = fold(i, n, low, high)
        if number == band.walked and at != i:
            name = frame.names.take(f"{i}_read")
            frame.lowering.emit(Let("Index", name, at))
            at = Name(name, 0)
        out.append(at)
    return tuple(out)


def _load_of(walk: Walk, band: Band) -> str:
    """In a loop that is not written out a load stays where it is."""
    looped = walk.shape.knobs.turns == 1 and band.vector * band.type.bytes == ACCESS_BYTES
    return "load_whole" if looped else "load"


def _by_rule(walk: Walk, band: Band, place: InRows, source: InGlobal, row: Row) -> None:
    """A vector where it lies inside, else element by element."""
    frame = walk.frame
    with frame.lowering.block() as whole:
        at = dot((*row.folded, row.subscripts[-1]), source.strides)
        _vector(frame, band, place, source.array, at, row.slot, _load_of(walk, band))
    last, n = row.subscripts[-1], source.extents[-1]
    inside = [*_readable(frame, band, source, row.subscripts[:-1]), compare(">=", last, Int(0)),
              compare("<=", last + band.vector, n)]
    if band.vector == 1:
        _one(frame, band, place, source, row, Int(0))
        return
    element = Name(frame.names.take("element"), 0, band.vector - 1)
    with frame.lowering.block() as each:
        _one(frame, band, place, source, row, element)
    if every(inside) == TRUE:
        frame.lowering.emit(*whole)
        return
    frame.lowering.emit(Either(every(inside), tuple(whole), (
        Loop(True, "int", str(element), Int(0), Int(band.vector), tuple(each)),)))
    frame.names.release(str(element))


def _readable(frame: Frame, band: Band, source: InGlobal, outer: tuple[Expr, ...]) -> list[Expr]:
    """Tests that a line of the tensor is there, whatever stands in it."""
    tests = [] if _certain(frame, band) else holds_something(frame, source.extents, source.edges)
    for i, n, (low, high) in zip(outer, source.extents, source.edges, strict=False):
        if low is None or low.value is not None:
            tests.append(compare(">=", i, Int(0)))
        if high is None or high.value is not None:
            tests.append(compare("<", i, n))
    return [t for t in tests if t != TRUE]


def _certain(frame: Frame, band: Band) -> bool:
    return all(f.certain for f in frame.choice.footprints if f.tensor == band.tensor)


def _one(frame: Frame, band: Band, place: InRows, source: InGlobal, row: Row, element: Expr) -> None:
    """One element: what its rules say; nothing where no rule answers, since no output needs it."""
    subscripts = (*row.subscripts[:-1], row.subscripts[-1] + element)
    _, outside = frame.lowering.edges(source.edges, subscripts, source.extents)
    low, high = source.edges[-1]
    at = (*row.folded, fold(subscripts[-1], source.extents[-1], low, high))
    value: Text = load(Element(source.array, dot(at, source.strides)), source.type)
    for test, constant in reversed(outside):
        value = Choice(test, value, frame.lowering.value(constant, frame.extents))
    tests = [] if _certain(frame, band) else holds_something(frame, source.extents, source.edges)
    for i, n, (low, high) in zip(subscripts, source.extents, source.edges, strict=True):
        tests += [compare(">=", i, Int(0))] if low is None else []
        tests += [compare("<", i, n)] if high is None else []
    there = every(t for t in tests if t != TRUE)
    if there != TRUE:
        type = compute_type(source.type)
        value = Choice(there, value, Literal(False if type == BOOL else 0, type))
    frame.lowering.emit(Assign(Element(place.array, row.slot + element), value))
