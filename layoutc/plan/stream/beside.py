"""Rows of the warps beside: a warp puts its outer rows into shared memory, and takes its neighbours' a turn later."""

from __future__ import annotations

from layoutc.index import Expr, Int, Name, Select, compare
from layoutc.plan.machine import WARP
from layoutc.plan.steps import Assign, Barrier, Let, Loop, Rounds, Shared, Step
from layoutc.plan.stream.packs import give, take, widest
from layoutc.plan.stream.shape import shared_elements
from layoutc.plan.stream.state import Stream
from layoutc.plan.values import Element, memory_type, nothing
from layoutc.plan.values import Variable as Held


def declare_beside(stream: Stream) -> None:
    """The block's arrays; before the first row there is nothing in them."""
    frame, at = stream.frame, stream.frame.names.take("at")
    count = shared_elements(stream.shape, stream.steps)
    for u, array in stream.shared.items():
        type = stream.tensors[u].type
        frame.by_way_of_shared(u, count * type.bytes)
        frame.lowering.emit(Shared(memory_type(type), array, (count,)), Rounds(
            at, Name("thread"), Held(str(count)), stream.shape.threads,
            (Assign(Element(array, Name(at)), nothing(memory_type(type))),)))
    if stream.shared:
        frame.lowering.emit(Barrier())
    frame.names.release(at)


def name_neighbours(stream: Stream) -> None:
    """The warps whose rows a warp takes; at the outer edges of a block its own, which stand for none."""
    shape = stream.shape
    if not shape.exchanges:
        return
    warp, across, (low, high) = _numbered(stream, stream.warp), shape.warps.across, shape.beside
    last = across * (shape.warps.stacked - 1)
    if low:
        before = Select(compare(">=", warp, Int(across)), warp - across, warp)
        stream.lowering.emit(Let("int", stream.before, before))
    if high:
        after = Select(compare("<", warp, Int(last)), warp + across, warp)
        stream.lowering.emit(Let("int", stream.after, after))


def take_beside(stream: Stream, left: Expr) -> None:
    """The rows around a warp's own, of those with so many steps left."""
    low, high = stream.shape.beside
    _rows(stream, left, low, (0, high), stream.before, taken=True)
    _rows(stream, left, high, (low + stream.shape.warps.rows, 0), stream.after, taken=True)


def give_beside(stream: Stream, left: Expr) -> None:
    """The outer rows of a warp where its neighbours take them in the next turn."""
    low, high = stream.shape.beside
    _rows(stream, left, high, (low, 0), stream.warp, taken=False)
    _rows(stream, left, low, (stream.shape.warps.rows, high), stream.warp, taken=False)


def _numbered(stream: Stream, warp: str) -> Name:
    return Name(warp, 0, stream.shape.threads // WARP - 1)


def _rows(stream: Stream, left: Expr, count: int, where: tuple[int, int], of: str, *, taken: bool) -> None:
    """Rows of a warp's registers, from the first on, from or to the places of a warp in shared memory."""
    if not stream.shared or count == 0:
        return
    shape, columns = stream.shape, stream.shape.warps.columns
    (first, slot), warp = where, _numbered(stream, of)
    number: Expr = Name(stream.frame.names.take("outer"), 0, count - 1) if count > 1 else Int(0)
    now = Name(stream.now, 0, 1)
    line = (((left - 1) * 2 + (1 - now if taken else now)) * (shape.threads // WARP) + warp) * sum(shape.beside)
    at = (line + (number + slot)) * (WARP * columns) + stream.lanes * columns
    with stream.lowering.block() as body:
        for u, array in stream.shared.items():
            type = stream.tensors[u].type

            def column(c: Expr, u: str = u) -> Element:
                return stream.element(u, left, shape.ready, number + first, c)

            move = take if taken else give
            move(stream, memory_type(type), widest(columns, type.bytes), (array, at), column)
    steps: tuple[Step, ...] = tuple(body)
    if isinstance(number, Name):
        steps = (Loop(True, "int", number.id, Int(0), Int(count), steps),)
        stream.frame.names.release(number.id)
    stream.lowering.emit(*steps)


def declare_turn(stream: Stream, turn: Expr) -> None:
    """Which half of the shared rows this turn fills; the other holds those of the turn before."""
    if stream.shape.exchanges:
        stream.lowering.emit(Let("int", stream.now, turn % 2))


def finish_turn(stream: Stream) -> None:
    """All rows of the turn are there."""
    if stream.shape.exchanges:
        stream.lowering.emit(Barrier())
