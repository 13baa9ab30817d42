"""A plane sets out for shared memory: whole vectors in the background, what lies outside by its edge rules.

Where nothing but zeros lie outside, copies make them too: every block does the same. Else the blocks in which all of a
plane's neighbours are inside copy without a test.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod

from layoutc.index import TRUE, Call, Expr, Int, Name, compare, dot, every
from layoutc.plan.kernel.loading import emit_when
from layoutc.plan.machine import ASYNCHRONOUS
from layoutc.plan.nodes import Storage
from layoutc.plan.passing.copies import copy_by_rule, copy_vector
from layoutc.plan.planes.march import March
from layoutc.plan.planes.shape import Ring, is_blank
from layoutc.plan.steps import Assign, Do, Either, Let, Loop, Note, Registers, SharedAt, Turns
from layoutc.plan.values import Choice, Element, Function, Operation, Text, Variable, memory_type

Subscripts = tuple[Expr, ...]


def declare_rings(march: March) -> None:
    """The regions of shared memory, one behind the other."""
    frame, offset = march.frame, 0
    for ring in march.shape.rings:
        name = march.rings[ring] = march.names.take(f"{frame.arrays[ring.tensor]}_planes")
        frame.lowering.emit(SharedAt(memory_type(ring.type), name, offset, (ring.planes, ring.plane)))
        offset += -(-ring.bytes // 16) * 16


def declare_sources(march: March) -> None:
    """What of every plane a thread copies, and whether the block's part of planes lies inside, or zeros around it."""
    frame = march.frame
    for ring in march.shape.rings:
        array, rounds = frame.arrays[ring.tensor], _rounds_of(march, ring)
        march.sources[ring] = march.names.take(f"{array}_from")
        frame.lowering.emit(Note(f"what this thread copies of every plane of {array}"),
                            Registers("Index", march.sources[ring], rounds))
        if holds_zeros(march, ring):
            march.there[ring] = march.names.take(f"{array}_there")
            frame.lowering.emit(Registers("bool", march.there[ring], rounds))
        _rounds(march, ring, Int(0), partial(_source, march, ring), asked=True)
        march.inside_of[ring] = frame.lowering.let("bool", f"{array}_inside", _inside(march, ring))


def _inside(march: March, ring: Ring) -> Text:
    """Whether the block's planes are inside, the walked axis aside; of zeros, whether rows end with whole vectors."""
    source, tests = march.frame.source_of(ring.tensor), []
    for number, (first, size, n) in enumerate(zip(firsts(march, ring), ring.extents, source.extents, strict=True)):
        if number != ring.walked:
            tests.append((compare(">=", first, Int(0)), compare("<=", first + size, n)))
    if ring not in march.there:
        return every(t for pair in tests for t in pair if t != TRUE)
    even = compare("==", source.extents[-1] % ring.vector, Int(0))
    return even if even == TRUE else Operation("||", even, tests[-1][1])


def _source(march: March, ring: Ring, subscripts: Subscripts, _: Expr, part: Expr) -> None:
    """Where a vector of every plane lies, and whether it is there."""
    frame, source = march.frame, march.frame.source_of(ring.tensor)
    position: Text = dot(subscripts, (*(Int(0) if n == ring.walked else s for n, s in enumerate(source.strides)),))
    if ring in march.there:
        tests = [Call("within", (i, n)) for number, (i, n) in enumerate(zip(subscripts, source.extents, strict=True))
                 if number != ring.walked]
        there = Element(march.there[ring], part)
        frame.lowering.emit(Assign(there, every(tests)))
        position = Choice(there, position, Int(0))
    frame.lowering.emit(Assign(Element(march.sources[ring], part), position))


def send_planes(march: March, number: Expr) -> None:
    """The copies of every tensor's plane of a number; the first is the oldest that the block needs."""
    for ring in march.shape.rings:
        _send(march, ring, number)


def _send(march: March, ring: Ring, number: Expr) -> None:
    frame, array, walked = march.frame, march.frame.arrays[ring.tensor], march.shape.walked
    at = frame.origin(walked) + number + (ring.high - march.shape.delay)
    name = frame.lowering.let("Index", f"{array}_{frame.spelled[walked]}", at)
    frame.lowering.local[name] = at
    plane = Name(name, None if ring.high < march.shape.delay else 0)
    source, slot = frame.source_of(ring.tensor), number % ring.planes * ring.plane
    stride, n = source.strides[ring.walked], source.extents[ring.walked]
    there = Call("within", (plane, n))
    target = Variable(march.rings[ring])

    def fewer(_: Subscripts, at: Expr, part: Expr) -> None:
        begin = Operation("+", Choice(there, plane * stride, Int(0)), Element(march.sources[ring], part))
        frame.lowering.emit(Do(Function(f"copy_async{ring.vector * ring.type.bytes}_if", (
            Operation("&&", there, Element(march.there[ring], part)), Operation("+", target, slot + at * ring.vector),
            Operation("+", Variable(source.array), begin)))))

    def whole(_: Subscripts, at: Expr, part: Expr) -> None:
        position = Operation("+", plane * stride, Element(march.sources[ring], part))
        place = Operation("+", Variable(source.array), position)
        frame.lowering.emit(copy_vector(march.rings[ring], slot + at * ring.vector, place, ring.vector, ring.type))

    def by_rule(subscripts: Subscripts, at: Expr, _: Expr) -> None:
        here = tuple(plane if n == ring.walked else s for n, s in enumerate(subscripts))
        s = Storage(ring.tensor, "shared", ring.type, ring.extents, ring.axes)
        copy_by_rule(frame, s, march.rings[ring], slot + at * ring.vector, here, ring.vector)

    with frame.lowering.block() as straight:
        _rounds(march, ring, plane, fewer if ring in march.there else whole, asked=False)
    with frame.lowering.block() as folded:
        _rounds(march, ring, plane, by_rule, asked=True, unrolled=False)
    test: Text = Variable(march.inside_of[ring])
    test = test if ring in march.there else Operation("&&", test, there)
    frame.lowering.emit(Either(test, tuple(straight), tuple(folded)))
    march.names.release(name)


def _rounds_of(march: March, ring: Ring) -> int:
    return -(-ring.plane // ring.vector // march.shape.threads)


def _rounds(
    march: March, ring: Ring, plane: Expr, one: Callable[[Subscripts, Expr, Expr], None], *, asked: bool,
    unrolled: bool = True,
) -> None:
    """The vectors of a plane, dealt out to the threads of the block; ``one`` is told subscripts, place and round.

    ``asked``: whether it asks for the subscripts. What is seldom done is not written out: it would take registers.
    """
    frame, threads, rounds = march.frame, march.shape.threads, _rounds_of(march, ring)
    vectors = (*ring.extents[:-1], ring.extents[-1] // ring.vector)
    part: Expr = Name(march.names.take("part"), 0, rounds - 1) if rounds > 1 else Int(0)
    at = Name(march.names.take("at"), 0, rounds * threads - 1)
    used = []
    with frame.lowering.block() as body:
        subscripts: list[Expr] = []
        for axis, first in enumerate(firsts(march, ring)):
            a = ring.axes[axis]
            place = at // prod(vectors[axis + 1:])
            if prod(vectors[:axis]) > 1:
                place = place % vectors[axis]
            value = first + place * (ring.vector if axis == len(vectors) - 1 else 1)
            if axis == ring.walked:
                subscripts.append(plane)
            elif a.index is None or vectors[axis] == 1:
                subscripts.append(value)
            else:
                name = march.names.take(f"{frame.arrays[ring.tensor]}_{frame.spelled[a.index]}")
                used.append(Let("Index", name, value))
                frame.lowering.local[name] = value
                subscripts.append(Name(name, None if a.low < 0 else 0))
        one(tuple(subscripts), at, part)
    for let in used:
        march.names.release(let.name)
    declared = used if asked else []
    with frame.lowering.block() as steps:
        frame.lowering.emit(Let("int", at.id, Name("thread", 0, threads - 1) + part * threads))
        emit_when(frame, compare("<", at, Int(prod(vectors))), [*declared, *body])
    if isinstance(part, Name):
        each = tuple(steps)
        frame.lowering.emit(Loop(True, "int", part.id, Int(0), Int(rounds), each) if unrolled
                            else Turns("1", "int", part.id, Int(0), Int(rounds), each))
        march.names.release(part.id)
    else:
        frame.lowering.emit(*steps)
    march.names.release(at.id)


def firsts(march: March, ring: Ring) -> list[Expr]:
    """Where a block's planes begin, per axis; along the walked one the block's first plane."""
    return [(march.frame.origin(a.index) if a.index else Int(0)) + a.low for a in ring.axes]


def holds_zeros(march: March, ring: Ring) -> bool:
    """Whether nothing but zeros of the tensor's type lie outside, and copies can make them."""
    return is_blank(march.frame.source_of(ring.tensor).edges) and ring.vector * ring.type.bytes in ASYNCHRONOUS
