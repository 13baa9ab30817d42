"""Columns of a lane to memory and back, by vectors where it allows them."""

from __future__ import annotations

from collections.abc import Callable

from layoutc.index import Expr, Int, Name
from layoutc.plan.machine import ACCESS_BYTES
from layoutc.plan.steps import Assign, Do, Let, Loop, Step, Variable
from layoutc.plan.stream.state import Stream
from layoutc.plan.values import Element, Function, Operation
from layoutc.plan.values import Variable as Held

Column = Callable[[Expr], Element]      # where a column of the lane lies



def take(
    stream: Stream, type: str, vector: int, source: tuple[str, Expr], into: Column, how: str = "load"
) -> None:
    """The lane's columns, which lie side by side in an array from a place on."""
    array, at = source
    if vector == 1 and how == "load":
        column, count = stream.column, stream.shape.warps.columns
        stream.lowering.emit(*_over(column, count, (Assign(into(column), Element(array, at + column)),)))
        return
    part, piece, element = _names(stream, vector)
    pack = Function(f"{how}<{vector}>", (Operation("+", Held(array), at + piece * vector),))
    moves = (Assign(into(piece * vector + element), Element(part, element)),)
    steps = (Let(f"Pack<{type}, {vector}>", part, pack), *_over(element, vector, moves))
    stream.lowering.emit(*_over(piece, stream.shape.warps.columns // vector, steps))


def give(stream: Stream, type: str, vector: int, target: tuple[str, Expr], source: Column) -> None:
    """The lane's columns side by side into an array from a place on."""
    array, at = target
    if vector == 1:
        column, count = stream.column, stream.shape.warps.columns
        stream.lowering.emit(*_over(column, count, (Assign(Element(array, at + column), source(column)),)))
        return
    part, piece, element = _names(stream, vector)
    pack = f"Pack<{type}, {vector}>"
    moves = (Assign(Element(part, element), source(piece * vector + element)),)
    steps = (Variable(pack, part, Function(pack, ())), *_over(element, vector, moves),
             Do(Function("store", (Operation("+", Held(array), at + piece * vector), Held(part)))))
    stream.lowering.emit(*_over(piece, stream.shape.warps.columns // vector, steps))


def widest(columns: int, bytes: int) -> int:
    """Elements of the widest access that a lane's columns are a whole number of."""
    return next(n for n in (16, 8, 4, 2, 1) if columns % n == 0 and n * bytes <= max(ACCESS_BYTES, bytes))


def _names(stream: Stream, vector: int) -> tuple[str, Expr, Expr]:
    """A vector, its number and its element; the names of what lives in a loop are free again."""
    names, pieces = stream.frame.names, stream.shape.warps.columns // vector
    part, number, element = (names.take(n) for n in ("part", "piece", "element"))
    for name in (number, element, *([part] if pieces > 1 else [])):
        names.release(name)
    piece: Expr = Name(number, 0, pieces - 1) if pieces > 1 else Int(0)
    return part, piece, Name(element, 0, vector - 1) if vector > 1 else Int(0)


def _over(counter: Expr, count: int, body: tuple[Step, ...]) -> tuple[Step, ...]:
    """The body for each; bare for one."""
    return (Loop(True, "int", counter.id, Int(0), Int(count), body),) if isinstance(counter, Name) else body
