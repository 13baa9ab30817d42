"""Loading boxes: which element a thread takes, how it comes by its edge rules, and where it is put."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod

from layoutc.index import TRUE, Call, Expr, Int, Name, compare, dot, every
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.lowering.places import InBox
from layoutc.plan.lowering.reduce import zero
from layoutc.plan.nodes import Storage
from layoutc.plan.reads.footprints import Axis
from layoutc.plan.steps import Assign, Do, Either, Let, Loop, Step, When
from layoutc.plan.values import Choice, Element, Function, Operation, Text, Variable, store
from layoutc.resolve.program import Sides

FIRST = Int(0)          # of elements side by side


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a thread puts what it loads of a box: an element, or a vector of neighbours."""

    array: str              # as the text writes it: x_tile, or for a vector in registers x_next[round]
    first: Expr             # of the first element, in the array
    asynchronous: bool = False
    vector: str = ""        # of a vector in registers: the array of vectors
    at: Expr = FIRST        # and its place there

    def element(self, number: Expr) -> Element:
        """Of the elements side by side one."""
        return Element(self.array, self.first + number)

    def whole(self, source: Text, count: int, bytes: int) -> Step:
        """``count`` elements of ``bytes`` together, from a place in global memory."""
        target = Operation("+", Variable(self.array), self.first)
        if self.asynchronous:
            return Do(Function(f"copy_async{bytes}", (target, source)))
        value = Function(f"load<{count}>", (source,))
        return Assign(Element(self.vector, self.at), value) if self.vector else Do(Function("store", (target, value)))


def vector_into(frame: Frame, s: Storage) -> int:
    """Elements that one access moves into a tensor's box."""
    if s.tensor in frame.loads:
        return 1
    return fill_vector(s, frame.choice.origins, frame.vector_of(s.tensor))


def fill_vector(s: Storage, origins: Mapping[str, int], most: int) -> int:
    """Elements (``most`` or 1) that one access moves into a shared box: rows of the tensor must be rows of the box.

    ``origins``: a number an index that divides where its tiles begin.
    """
    if s.halo_global or not s.axes or s.axes[-1].index is None or s.axes[-1].scale != 1:
        return 1
    return most if origins[s.axes[-1].index] % most == 0 else 1


def in_whole_vectors(s: Storage, vector: int) -> tuple[tuple[Axis, ...], tuple[int, ...]]:
    """The axes and extents of a box whose rows are widened to begin and end at whole vectors."""
    if vector == 1 or not s.axes:
        return s.axes or (), s.extents
    *outer, last = s.axes
    low = last.low // vector * vector
    width = -(-(s.extents[-1] + last.low - low) // vector) * vector
    return (*outer, replace(last, low=low)), (*s.extents[:-1], width)


def walk(frame: Frame, s: Storage, box: InBox, vector: int = 1) -> tuple[str, tuple[Expr, ...], list[Step]]:
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


def loads_of(
    frame: Frame, s: Storage, box: InBox, destination: Callable[[Expr], Destination], *, everywhere: bool = False
) -> tuple[str, list[Step]]:
    """A variable that counts a box's vectors, and the steps that bring one of them to its destination."""
    vector = vector_into(frame, s)
    at, subscripts, body = walk(frame, s, box, vector)
    to = destination(Name(at))
    with frame.lowering.block() as steps:
        frame.lowering.emit(*body)
        if vector == 1:
            copy_one(frame, s, to, subscripts, everywhere=everywhere)
        else:
            _copy_vector(frame, s, to, subscripts, vector)
    return at, steps


def in_vectors(extents: tuple[int, ...], vector: int) -> tuple[int, ...]:
    """A box counted in vectors."""
    return (*extents[:-1], extents[-1] // vector) if extents else ()


def copy_one(
    frame: Frame, s: Storage, to: Destination, subscripts: tuple[Expr, ...], number: Expr = FIRST, *,
    everywhere: bool = False,
) -> None:
    """One element by its edge rules; outside, where none answers, no valid output needs it.

    There it stays as it is, or becomes 0 where outputs that are not valid are computed too: with ``everywhere``, and
    where chunks are walked.
    """
    place, lowering, target = frame.source_of(s.tensor), frame.lowering, to.element(number)
    tests = [] if is_certain(frame, s.tensor) else holds_something(frame, place.extents, place.edges)
    for i, n, axis, (low, high) in zip(subscripts, place.extents, s.axes or (), place.edges, strict=True):
        if low is None and axis.low < 0:
            tests.append(compare(">=", i, Int(0)))
        known = axis.index is None and isinstance(n, Int) and axis.high < n.value
        if high is None and not known:
            tests.append(compare("<", i, n))
    nothing = Assign(target, store(zero(s.type), s.type)) if everywhere or frame.choice.chunks else None
    with lowering.block() as copy:
        if to.asynchronous:
            _copy_in_background(frame, s, to, subscripts, every(tests), nothing)
            tests = []
        else:
            lowering.emit(Assign(target, store(lowering.in_global(place, subscripts, frame.extents), s.type)))
    _emit_either(frame, every(tests), copy, nothing)


def _copy_in_background(
    frame: Frame, s: Storage, to: Destination, subscripts: tuple[Expr, ...], inside: Expr, nothing: Step | None
) -> None:
    """One element by a copy that nobody waits for yet; what stands outside by a store."""
    place = frame.source_of(s.tensor)
    at, outside = frame.lowering.folded(place, subscripts)
    copy = to.whole(Operation("+", Variable(place.array), at), 1, s.type.bytes)
    with frame.lowering.block() as steps:
        if outside:
            value = frame.lowering.value(outside[-1][1], frame.extents)
            for test, nearer in reversed(outside[:-1]):
                value = Choice(test, value, frame.lowering.value(nearer, frame.extents))
            other = Assign(to.element(FIRST), store(value, s.type))
            frame.lowering.emit(Either(every(t for t, _ in outside), (copy,), (other,)))
        else:
            frame.lowering.emit(copy)
    _emit_either(frame, inside, steps, nothing)


def _emit_either(frame: Frame, test: Expr, body: list[Step], nothing: Step | None) -> None:
    """The body under a test, and what is done where that fails."""
    if test == TRUE or nothing is None:
        emit_when(frame, test, body)
        return
    match body, nothing:
        case [Assign(target, value)], Assign(_, none):
            frame.lowering.emit(Assign(target, Choice(test, value, none)))
        case _:
            frame.lowering.emit(Either(test, tuple(body), (nothing,)))


def is_certain(frame: Frame, tensor: str) -> bool:
    """Whether every output reads some of a tensor, so that the call was refused where there is nothing to fold into."""
    return all(f.certain for f in frame.choice.footprints if f.tensor == tensor)


def holds_something(frame: Frame, extents: Iterable[Expr], edges: Iterable[Sides]) -> list[Expr]:
    """Tests that no fold is into an extent of 0; where there are outputs, their own extents are none."""
    return [compare(">", n, Int(0)) for n, sides in zip(extents, edges, strict=True)
            if n not in frame.counts and any(rule is not None and rule.name != "constant" for rule in sides)]


def _copy_vector(frame: Frame, s: Storage, to: Destination, subscripts: tuple[Expr, ...], vector: int) -> None:
    """A whole vector where it lies inside the tensor, else element by element."""
    place = frame.source_of(s.tensor)
    *outer, last = subscripts
    inside = every((
        *(Call("within", (i, n)) for i, n in zip(outer, place.extents[:-1], strict=True)),
        compare(">=", last, Int(0)), compare("<=", last + vector, place.extents[-1])))
    source = Operation("+", Variable(place.array), dot(subscripts, place.strides))
    whole = to.whole(source, vector, vector * s.type.bytes)
    element = Name(frame.names.take("element"), 0, vector - 1)
    with frame.lowering.block() as each:
        copy_one(frame, s, replace(to, asynchronous=False), (*outer, last + element), element)
    frame.lowering.emit(Either(inside, (whole,), (
        Loop(True, "int", str(element), Int(0), Int(vector), tuple(each)),)))
    frame.names.release(str(element))


def emit_when(frame: Frame, test: Expr, body: list[Step]) -> None:
    """The body under a test, or plainly where the test always holds."""
    frame.lowering.emit(*([When(test, tuple(body))] if test != TRUE else body))


def _unravel(position: Expr, extents: tuple[int, ...]) -> tuple[Expr, ...]:
    return tuple(position // prod(extents[k + 1:]) % extents[k] for k in range(len(extents)))
