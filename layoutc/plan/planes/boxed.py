"""A plane sets out for shared memory as a box: one thread asks the engine that copies boxes, which fills zeros outside.

A barrier of each place in the ring says when its plane is there.
"""

from __future__ import annotations

from math import prod

from layoutc.index import Expr, Int, Name, compare
from layoutc.plan.planes.march import March
from layoutc.plan.planes.shape import Ring
from layoutc.plan.planes.stage import firsts
from layoutc.plan.steps import Barrier, Barriers, Do, Let, Loop, When
from layoutc.plan.values import Function, Operation, Text, Variable

FIRST = compare("==", Name("thread", 0), Int(0))


def declare_barriers(march: March) -> None:
    """One of every place in a ring, at which one thread and the bytes of a plane arrive."""
    emit, names = march.frame.lowering.emit, march.names
    begins = []
    for ring in march.shape.rings:
        name = march.full[ring] = names.take(f"{march.frame.arrays[ring.tensor]}_there")
        emit(Barriers(name, ring.planes))
        place = Name(names.take("place"), 0, ring.planes - 1)
        begin = Do(Function("barrier_begin", (_barrier(march, ring, place), Int(1))))
        begins.append(Loop(False, "int", place.id, Int(0), Int(ring.planes), (begin,)))
        names.release(place.id)
    emit(When(FIRST, tuple(begins)), Barrier())


def ask_for_planes(march: March, number: Expr) -> None:
    """Every tensor's plane of a number, by the thread that asks."""
    frame, walked = march.frame, march.shape.walked
    taken: list[str] = []
    for ring in march.shape.rings:
        array = frame.arrays[ring.tensor]
        at = frame.origin(walked) + number + (ring.high - march.shape.delay)
        plane = frame.lowering.let("Index", f"{array}_{frame.spelled[walked]}", at)
        place = Name(march.names.take("place"), 0, ring.planes - 1)
        full = _barrier(march, ring, place)
        subscripts = (Name(plane) if n == ring.walked else first for n, first in enumerate(firsts(march, ring)))
        to = Operation("+", Variable(march.rings[ring]), place * ring.plane)
        frame.lowering.emit(
            Let("int", place.id, number % ring.planes),
            Do(Function("barrier_expect", (full, Int(prod(ring.extents) * ring.type.bytes)))),
            Do(Function("copy_box", (to, Variable(array), full, *subscripts))))
        taken += [plane, place.id]
    for name in taken:
        march.names.release(name)


def wait_for_planes(march: March) -> None:
    """Until the turn's planes are there."""
    for ring in march.shape.rings:
        place, round = march.turn % ring.planes, march.turn // ring.planes
        march.frame.lowering.emit(Do(Function("barrier_wait", (_barrier(march, ring, place), round % 2))))


def _barrier(march: March, ring: Ring, place: Expr) -> Text:
    return Operation("+", Variable(march.full[ring]), place)
