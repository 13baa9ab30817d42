"""Rows on their way in shared memory: copied in the background while rows before them are worked on.

The threads that stand side by side share a ring of rows; it needs no registers, and neighbours read each other's
columns from it instead of from the caches. Only in the interior: there is no rule to apply.
"""

from __future__ import annotations

from math import prod

from layoutc.index import TRUE, Expr, Int, Name, compare, dot
from layoutc.plan.lowering.places import InGlobal
from layoutc.plan.machine import ASYNCHRONOUS, WARP
from layoutc.plan.steps import Assign, Barrier, Do, Let, Loop, Shared, Step, WarpBarrier, When
from layoutc.plan.values import Element, Function, Operation, Variable, memory_type
from layoutc.plan.window.bands import Band
from layoutc.plan.window.shape import lines_of, rows_of
from layoutc.plan.window.state import INTERIOR, Walk, when


def declare_rings(walk: Walk) -> None:
    """The shared arrays, one part for each group of threads."""
    for band in walk.ringed:
        name = walk.names.take(f"{walk.frame.arrays[band.tensor]}_ring")
        extents = (walk.shape.knobs.down, rows_of(band), prod(lines_of(walk.shape, band)))
        walk.rings[band.tensor] = name
        walk.frame.by_way_of_shared(band.tensor, prod(extents) * band.type.bytes)
        walk.frame.lowering.emit(Shared(memory_type(band.type), name, tuple(n for n in extents if n > 1)))


def part_of_ring(walk: Walk, band: Band, group: Expr) -> Operation | Variable:
    """Where a group's part begins."""
    name = Variable(walk.rings[band.tensor])
    size = rows_of(band) * prod(lines_of(walk.shape, band))
    return Operation("+", name, group * size) if group != Int(0) else name


def send_rows(walk: Walk) -> None:
    """Copies of rows that are read some turns later set out; those that are read in this turn have come."""
    with walk.frame.lowering.block() as steps:
        for band in walk.ringed:
            _send(walk, band)
        walk.frame.lowering.emit(
            Do(Function("copy_async_commit", ())),
            Do(Function(f"copy_async_wait<{walk.ringed[0].ring}>", ())),
            WarpBarrier("") if walk.shape.group == WARP else Barrier())
    walk.frame.lowering.emit(When(INTERIOR, tuple(steps)))


def _send(walk: Walk, band: Band) -> None:
    frame, shape = walk.frame, walk.shape
    assert walk.finished is not None
    assert band.walked is not None
    source, extents = frame.source_of(band.tensor), lines_of(walk.shape, band)
    name = frame.names.take(f"{frame.arrays[band.tensor]}_next")
    vectors = (*extents[:-1], extents[-1] // band.vector)
    rounds = -(-prod(vectors) // shape.group)
    turn: Expr = Name(frame.names.take("part"), 0, rounds - 1) if rounds > 1 else Int(0)
    at = Name(frame.names.take("at"), 0, rounds * shape.group - 1)
    copy = _copy(walk, band, source, Name(name), at, vectors)
    inside = compare("<", at, Int(prod(vectors)))
    lane = Name(walk.lane, 0, shape.group - 1)
    body: tuple[Step, ...] = (Let("int", at.id, lane + turn * shape.group), *when(inside, list(copy)))
    if rounds > 1:
        body = (Loop(True, "int", str(turn), Int(0), Int(rounds), body),)
        frame.names.release(str(turn))
    frame.names.release(at.id)
    frame.names.release(name)
    row = Let("Index", name, walk.finished + (band.high + band.ring))
    begin = shape.delay - (band.high + band.ring - band.taken_from)
    tests = [compare(">=", walk.turn, Int(begin)), compare("<", walk.turn, Int(shape.steps - band.ring))]
    test = [t for t in tests if t != TRUE]
    steps: tuple[Step, ...] = (row, *body)
    for one in reversed(test):
        steps = (When(one, steps),)
    frame.lowering.emit(*steps)


def _copy(walk: Walk, band: Band, source: InGlobal, row: Expr, at: Expr, vectors: tuple[int, ...]) -> tuple[Step, ...]:
    """One access of a row; its place is counted row-major over the axes."""
    subscripts: list[Expr] = []
    for number, a in enumerate(band.axes):
        if number == band.walked:
            subscripts.append(row)
            continue
        place = at // prod(vectors[number + 1:])
        if prod(vectors[:number]) > 1:
            place = place % vectors[number]
        step = band.vector if number == len(band.axes) - 1 else 1
        begin = walk.begins.get(a.index, walk.frame.at[a.index]) if a.index else Int(0)    # others: one for the block
        subscripts.append(begin * a.scale + a.low + place * step)
    bytes = band.vector * band.type.bytes
    slot = walk.turn % rows_of(band) * (prod(vectors) * band.vector)
    target, place = slot + at * band.vector, dot(subscripts, source.strides)
    if bytes not in ASYNCHRONOUS:
        return tuple(Assign(Element(walk.rings[band.tensor], target + k), Element(source.array, place + k))
                     for k in range(band.vector))
    return (Do(Function(f"copy_async{bytes}", (
        Operation("+", Variable(walk.rings[band.tensor]), target), Operation("+", Variable(source.array), place)))),)


def place_in_ring(walk: Walk, band: Band, counters: tuple[Expr, ...], along: Expr) -> Expr:
    """Where a thread's element of the row of this turn stands, ``counters`` from its first on each axis."""
    extents = lines_of(walk.shape, band)
    out: Expr = (walk.turn + (rows_of(band) - band.ring)) % rows_of(band) * prod(extents)
    for number, a in enumerate(band.axes):
        if number == band.walked:
            continue
        own = (walk.frame.at[a.index] - walk.begins[a.index]) * a.scale if a.index in walk.begins else Int(0)
        here = along if number == len(band.axes) - 1 else counters[number]
        out = out + (own + here) * prod(extents[number + 1:])
    return out
