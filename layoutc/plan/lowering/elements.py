"""Elements of a tensor where it waits in some memory nearer than global memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layoutc.index import TRUE, Call, Expr, Int, Name, compare, dot, every
from layoutc.plan.lowering.places import InBox, InParts, InStream, across, between
from layoutc.plan.reads.subscripts import Env
from layoutc.plan.values import Choice, Element, Function, Text, load, memory_type
from layoutc.plan.values import Variable as Held

if TYPE_CHECKING:
    from layoutc.plan.lowering.lower import Lowering


def in_parts(lowering: Lowering, place: InParts, subscripts: tuple[Expr, ...]) -> Text:
    """An element of the first box that is known to hold it."""
    for rows, extents in zip(place.parts, place.extents, strict=True):
        at = [s.over(lowering.local) - o.over(lowering.local) for s, o in zip(subscripts, rows.origin, strict=True)]
        if all(between(a, n) for a, n in zip(at, extents, strict=True)):
            return Element(rows.array, dot(at, map(Int, rows.strides)))
    raise AssertionError(f"no box of {place.parts[0].array} holds what is read")


def in_box(lowering: Lowering, place: InBox, subscripts: tuple[Expr, ...], env: Env) -> Text:
    """An element of a box around a tile or a thread's outputs; from memory where the box may not hold it."""
    at = tuple(s.over(lowering.local) - o for s, o in zip(subscripts, place.origin, strict=True))
    if place.of_thread:
        at = tuple((s.over(lowering.local).over(lowering.items) - o.over(lowering.items))
                   for s, o in zip(subscripts, place.origin, strict=True))
    if place.seams:
        return _at_seams(lowering, place, subscripts, at, env)
    element = load(Element(place.array, place.element(at)), place.type)
    if place.begun:
        number = place.element(at)
        return Choice(compare("<", number, Int(place.begun)), Element(place.beginning, number), element)
    if not place.partial or place.source is None:
        return element
    within = every(Call("within", (a, Int(n))) for a, n in zip(at, place.extents, strict=True)
                   if not between(a, n))
    return element if within == TRUE else Choice(within, element, lowering.in_global(place.source, subscripts, env))


def _at_seams(lowering: Lowering, place: InBox, subscripts: tuple[Expr, ...], at: tuple[Expr, ...], env: Env) -> Text:
    """An element of a box in which places beyond a side that wraps have neighbours of the other side's rule."""
    assert place.source is not None
    extents = place.source.extents
    moved = tuple(a + across(s, n, low, high)
                  for a, s, n, (low, high) in zip(at, subscripts, extents, place.seams, strict=True))
    out = load(Element(place.array, place.element(moved)), place.type)
    for test, value in reversed(lowering.edges(place.seams, subscripts, extents)[1]):
        out = Choice(test, out, lowering.value(value, env))
    return out


def in_stream(lowering: Lowering, place: InStream, subscripts: tuple[Expr, ...]) -> Text:
    """An element in the registers of this lane, or by a shuffle of another, which every lane must come to."""
    row, *sides, column = (s - a for s, a in zip(subscripts, place.at, strict=True))
    index = place.step * place.window + (row + place.low)
    for side, here, n in zip(sides, place.sides, place.extents, strict=True):
        index = index * n + (here + side)
    if column == Int(0):
        return load(Element(place.array, index * place.columns + place.column), place.type)
    key = (place.array, index, column)
    if (known := lowering.known(key)) is not None:
        return known
    farther = 32 * place.columns            # keeps quotients of negative numbers out of the text
    from_first = place.column + column + farther
    element = Element(place.array, index * place.columns + from_first % place.columns)
    farther_by = from_first // place.columns
    lane = Name(place.lane, 0, 31) + (farther_by - 32)
    other: Text = Function("shuffle", (Held("0xffffffffu"), element, lane, Int(32)))
    if not isinstance(farther_by, Int):     # the compiler sees which neighbours are the lane's own
        other = Choice(compare("==", farther_by, Int(32)), element, other)
    taken = lowering.let(memory_type(place.type), "beside", element if farther_by == Int(32) else other)
    return lowering.remember(key, load(Held(taken), place.type))
