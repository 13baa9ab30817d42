"""Rows set out for shared memory, a group of them at a time: whole vectors where they are there, else by edge rules.

Each thread brings the same columns of every row, so that only those at an edge look at the rules. What lies beside a
block's columns some threads bring in vectors where it is there, else all threads bring it in elements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from layoutc.index import TRUE, Expr, Int, Name, Select, compare, dot, every
from layoutc.plan.kernel.loading import Destination, copy_one, emit_when
from layoutc.plan.machine import ASYNCHRONOUS
from layoutc.plan.nodes import Storage
from layoutc.plan.passing.copies import copy_by_rule, copy_vector
from layoutc.plan.ringed.shape import Ring, bytes_of, elements_of
from layoutc.plan.ringed.state import Ringed
from layoutc.plan.steps import Either, Let, Loop, Note, SharedAt, Step, Strided, Turns, When
from layoutc.plan.values import Operation, Variable, memory_type

Subscripts = tuple[Expr, ...]


def declare_rings(walk: Ringed) -> None:
    """The arrays, one behind the other, and what a thread brings of what lies beside the block's columns."""
    frame, shape, offset = walk.frame, walk.ringed_shape, 0
    for ring in shape.rings:
        array = frame.arrays[ring.band.tensor]
        name = walk.waiting[ring] = walk.names.take(f"{array}_rows")
        frame.lowering.emit(SharedAt(memory_type(ring.band.type), name, offset, (elements_of(shape, ring),)))
        offset += bytes_of(shape, ring)
        if ring.sides:
            side = walk.thread % ring.sides * ring.vector
            frame.lowering.emit(Note(f"what this thread brings of {array} beside the block's columns"))
            walk.beside[ring] = (frame.lowering.let("int", f"{array}_beside_row", walk.thread // ring.sides),
                                 frame.lowering.let("int", f"{array}_beside", _past_columns(ring, side)))


def _past_columns(ring: Ring, side: Expr) -> Expr:
    """Where an element of those beside a block's columns stands in its row, which holds the columns too."""
    width, before = ring.main * ring.vector, ring.before * ring.vector
    first = side + (ring.lead - before)
    if not ring.behind:
        return first
    return first + (Select(compare("<", side, Int(before)), Int(0), Int(width)) if ring.before else Int(width))


def declare_there(walk: Ringed) -> None:
    """Of each tensor, whether the columns that a thread brings are there, and whether what lies beside them all is."""
    frame = walk.frame
    first = frame.origin(walk.ringed_shape.lined)
    for ring in walk.ringed_shape.rings:
        array, n = frame.arrays[ring.band.tensor], frame.source_of(ring.band.tensor).extents[-1]
        past = first + _column(walk, ring, Int(_pieces(walk, ring) - 1)) + ring.vector
        walk.columns_there[ring] = _let_sure(walk, f"{array}_columns_there", compare("<=", past, n))
        if ring.sides:
            tests = (compare(">=", first - ring.before * ring.vector, Int(0)),
                     compare("<=", first + (ring.main + ring.behind) * ring.vector, n))
            beside = every(t for t in tests if t != TRUE)
            walk.beside_there[ring] = _let_sure(walk, f"{array}_beside_there", beside)


def _let_sure(walk: Ringed, wanted: str, test: Expr) -> str:
    """Whether a test holds, which it does in the interior."""
    name = walk.names.take(wanted)
    walk.frame.lowering.emit(Let("bool", name, walk.sure(test) if test != TRUE else test))
    return name


def send_group(walk: Ringed, number: Name) -> None:
    """The copies of a group of rows, the first of which the block's first output needs."""
    frame, shape = walk.frame, walk.ringed_shape
    for ring in shape.rings:
        band, array = ring.band, frame.arrays[ring.band.tensor]
        assert band.walked is not None
        at = frame.origin(shape.walked) + number * shape.knobs.group + (band.high - shape.walk.delay)
        name = frame.lowering.let("Index", f"{array}_{frame.spelled[shape.walked]}", at)
        slot = Name(frame.lowering.let("int", f"{array}_slot", first_slot(walk, ring, number)), 0)
        row = Name(name, 0 if band.high >= shape.walk.delay else None)
        frame.lowering.local[name] = at
        n = frame.source_of(band.tensor).extents[band.walked]
        tests = (compare(">=", row, Int(0)), compare("<=", row + shape.knobs.group, n), *place_there(walk, ring))
        there = _let_sure(walk, f"{array}_there", every(t for t in tests if t != TRUE))
        _send_columns(walk, ring, row, slot, there)
        if ring in walk.beside:
            _send_beside(walk, ring, row, slot, there)
        for taken in (name, slot.id, there):
            walk.names.release(taken)


def place_there(walk: Ringed, ring: Ring) -> list[Expr]:
    """Tests that a tensor has the one place of all other axes where rules say what lies outside."""
    source, tests = walk.frame.source_of(ring.band.tensor), list[Expr]()
    where = zip(_subscripts(walk, ring, Int(0), Int(0)), source.extents, source.edges, strict=True)
    for number, (at, n, rules) in enumerate(where):
        if number not in (ring.band.walked, len(source.extents) - 1) and rules != (None, None):
            tests += [compare(">=", at, Int(0)), compare("<", at, n)]
    return [t for t in tests if t != TRUE]


def first_slot(walk: Ringed, ring: Ring, number: Expr) -> Expr:
    """Where a group begins in shared memory."""
    knobs = walk.ringed_shape.knobs
    return number % knobs.stages * (knobs.group * ring.pitch)


def _pieces(walk: Ringed, ring: Ring) -> int:
    """Vectors of a row that a thread brings."""
    return max(ring.main // walk.ringed_shape.knobs.threads, 1)


def _column(walk: Ringed, ring: Ring, piece: Expr) -> Expr:
    """Where one of them begins, counted from the block's first column."""
    return (walk.thread % ring.main + piece * walk.ringed_shape.knobs.threads) * ring.vector


def _send_columns(walk: Ringed, ring: Ring, first: Name, slot: Name, there: str) -> None:
    """The block's own columns of every row."""
    frame = walk.frame
    outputs = frame.counts[frame.indices.index(walk.ringed_shape.lined)]

    def straight(row: Expr, place: Expr) -> None:
        frame.lowering.emit(_copy(walk, ring, first, row, place, slot))

    def by_rule(row: Expr, place: Expr) -> None:
        subscripts = _named(walk, ring, _subscripts(walk, ring, first + row, place), 0)
        with frame.lowering.block() as body:
            copy_by_rule(frame, _box(walk, ring), walk.waiting[ring], slot + row * ring.pitch + place, subscripts,
                         ring.vector)
        more = max(walk.columns - ring.vector, 0) + ring.behind * ring.vector       # no output's thread reads farther
        needed = compare("<", subscripts[-1], outputs + more)
        emit_when(frame, needed, body)
        _release(walk, subscripts)

    test = Operation("&&", Variable(there), Variable(walk.columns_there[ring]))
    frame.lowering.emit(Either(test, _of_all_rows(walk, ring, straight, unrolled=True),
                               _of_all_rows(walk, ring, by_rule, unrolled=False)))


def _of_all_rows(
    walk: Ringed, ring: Ring, one: Callable[[Expr, Expr], None], *, unrolled: bool
) -> tuple[Step, ...]:
    """A thread's vectors of a group; ``one`` is told the row and the place in it. What is seldom done stays a loop."""
    frame, knobs, names = walk.frame, walk.ringed_shape.knobs, walk.names
    at_once, pieces = max(knobs.threads // ring.main, 1), _pieces(walk, ring)
    rounds = -(-knobs.group // at_once)
    part: Expr = Name(names.take("part"), 0, rounds - 1) if rounds > 1 else Int(0)
    piece: Expr = Name(names.take("piece"), 0, pieces - 1) if pieces > 1 else Int(0)
    row = part * at_once + (walk.thread // ring.main if at_once > 1 else 0)
    with frame.lowering.block() as body:
        one(row, _column(walk, ring, piece) + ring.lead)
    steps: tuple[Step, ...] = tuple(body)
    if knobs.group % at_once:
        steps = (When(compare("<", row, Int(knobs.group)), steps),)
    for counter, count in ((piece, pieces), (part, rounds)):
        if isinstance(counter, Name):
            steps = (Loop(True, "int", counter.id, Int(0), Int(count), steps) if unrolled else
                     Turns("1", "int", counter.id, Int(0), Int(count), steps),)
            names.release(counter.id)
    return steps


def _send_beside(walk: Ringed, ring: Ring, first: Name, slot: Name, there: str) -> None:
    """What lies before and behind them."""
    frame, knobs = walk.frame, walk.ringed_shape.knobs
    row, place = (Name(name, 0) for name in walk.beside[ring])
    with frame.lowering.block() as straight:
        emit_when(frame, compare("<", walk.thread, Int(knobs.group * ring.sides)),
                  [_copy(walk, ring, first, row, place, slot)])
    test = Operation("&&", Variable(there), Variable(walk.beside_there[ring]))
    frame.lowering.emit(Either(test, tuple(straight), (_beside_by_rule(walk, ring, first, slot),)))


def _beside_by_rule(walk: Ringed, ring: Ring, first: Name, slot: Name) -> Step:
    """The same in elements, each of another thread."""
    frame, knobs = walk.frame, walk.ringed_shape.knobs
    elements = ring.sides * ring.vector
    count, once = knobs.group * elements, knobs.group * elements <= knobs.threads
    at = walk.thread if once else Name(walk.names.take("at"), 0, count - 1)
    with frame.lowering.block() as body:
        row = at // elements
        place = Name(frame.lowering.let("int", "place", _past_columns(ring, at % elements)), 0)
        subscripts = _named(walk, ring, _subscripts(walk, ring, first + row, place), None if ring.lead else 0)
        to = Destination(walk.waiting[ring], slot + row * ring.pitch + place, ring.band.type.bytes in ASYNCHRONOUS)
        copy_one(frame, _box(walk, ring), to, subscripts, everywhere=True)
        _release(walk, (*subscripts, place))
    if once:
        return When(compare("<", at, Int(count)), tuple(body))
    walk.names.release(at.id)
    return Strided(1, "int", at.id, walk.thread, Int(count), Int(knobs.threads), tuple(body))


def _copy(walk: Ringed, ring: Ring, first: Expr, row: Expr, place: Expr, slot: Expr) -> Step:
    """A vector of a row of the group, so many elements from where the row begins in shared memory."""
    source = walk.frame.source_of(ring.band.tensor)
    at = dot(_subscripts(walk, ring, first + row, place), source.strides)
    return copy_vector(walk.waiting[ring], slot + row * ring.pitch + place,
                       Operation("+", Variable(source.array), at), ring.vector, ring.band.type)


def _box(walk: Ringed, ring: Ring) -> Storage:
    """What waits, for the edge rules: the first groups may lie before all that an output needs."""
    band, axes = ring.band, list(ring.band.axes)
    assert band.walked is not None
    before = band.high - walk.ringed_shape.walk.delay
    axes[band.walked] = replace(axes[band.walked], low=min(axes[band.walked].low, before))
    axes[-1] = replace(axes[-1], low=-ring.lead)
    return Storage(band.tensor, "shared", band.type, (ring.pitch,), tuple(axes))


def _subscripts(walk: Ringed, ring: Ring, row: Expr, place: Expr) -> Subscripts:
    """Of an element, along all axes; ``place`` counts from where the row begins in shared memory."""
    frame, band, out = walk.frame, ring.band, list[Expr]()
    for number, a in enumerate(band.axes):
        if number == band.walked:
            out.append(row)
        elif number == len(band.axes) - 1:
            out.append(frame.origin(a.index) + place - ring.lead)
        else:
            out.append((frame.origin(a.index) * a.scale if a.index else Int(0)) + a.low)
    return tuple(out)


def _named(walk: Ringed, ring: Ring, subscripts: Subscripts, least: int | None) -> Subscripts:
    """The same, the row and the column under names; ``least``: of columns."""
    frame, band, out = walk.frame, ring.band, list[Expr]()
    for number, value in enumerate(subscripts):
        index = band.axes[number].index
        if number in (band.walked, len(band.axes) - 1) and index is not None:
            name = walk.names.take(f"{frame.arrays[band.tensor]}_{frame.spelled[index]}")
            frame.lowering.emit(Let("Index", name, value))
            frame.lowering.local[name] = value
            out.append(Name(name, None if number == band.walked else least))
        else:
            out.append(value)
    return tuple(out)


def _release(walk: Ringed, named: Subscripts) -> None:
    for value in named:
        if isinstance(value, Name):
            walk.names.release(value.id)
