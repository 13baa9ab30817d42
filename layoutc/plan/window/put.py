"""Where a finished row of outputs goes: into memory, or to the thread that stores it."""

from __future__ import annotations

from layoutc.index import TRUE, Expr, Int, Name, dot
from layoutc.plan.steps import Assign, Do, Either, Loop, Step, When
from layoutc.plan.values import Element, Operation, Text, c_type
from layoutc.plan.values import Function as Called
from layoutc.plan.values import Variable as Held
from layoutc.plan.window.state import Walk
from layoutc.resolve.program import Equation


def put(walk: Walk, equation: Equation, row: str) -> None:
    """The row into memory, or into the slot from which another thread takes it."""
    if equation.output not in walk.exchanged:
        store_row(walk, equation, row)
        return
    frame = walk.frame
    slot = Operation("+", Held(walk.exchanged[equation.output]), walk.turn * (walk.shape.knobs.across * walk.columns))
    with walk.packed(c_type(frame.output(equation).type), row, Int(0), walk.columns, scoped=False) as part:
        frame.lowering.emit(Do(Called("store", (slot, Held(part)))))


def store_row(walk: Walk, equation: Equation, row: str, packed: bool = False) -> None:
    """The row into memory: whole vectors where they lie inside, else one by one; ``packed``: it is one vector."""
    frame = walk.frame
    lies = walk.shape.lined == frame.indices[-1]        # columns are neighbours in memory
    vector = min(walk.columns & -walk.columns, frame.vector_of(equation.output)) if lies else 1
    place = frame.place_of(equation.output)
    with frame.lowering.block() as singles, walk.over_items(frame.at) as (item, at):
        target = Element(place.array, dot((at[i] for i in frame.indices), place.strides))
        inside = walk.valid(at)
        single: tuple[Step, ...] = (Assign(target, Element(row, item)),)
        test: Text = inside if vector > 1 else walk.sure(inside)
        frame.lowering.emit(*(single if inside == TRUE else (When(test, single),)))
    if vector == 1:
        frame.lowering.emit(*singles)
        return
    with frame.lowering.block() as whole:
        _store_vectors(walk, equation, row, vector, packed and vector == walk.columns)
    end = walk.moved_by(Int(walk.columns - 1), frame.at)
    inside = walk.valid(end)
    if inside == TRUE:
        frame.lowering.emit(*whole)
    else:
        frame.lowering.emit(Either(walk.sure(inside), tuple(whole), tuple(singles)))


def _store_vectors(walk: Walk, equation: Equation, row: str, vector: int, packed: bool) -> None:
    frame = walk.frame
    place = frame.place_of(equation.output)
    pieces = walk.columns // vector
    piece: Expr = Name(frame.names.take("piece"), 0, pieces - 1) if pieces > 1 else Int(0)
    at = walk.moved_by(piece * vector, frame.at)
    target = Operation("+", Held(place.array), dot((at[i] for i in frame.indices), place.strides))
    if packed:
        frame.lowering.emit(Do(Called("store", (target, Held(row)))))
        return
    type = c_type(frame.output(equation).type)
    with frame.lowering.block() as body, walk.packed(type, row, piece * vector, vector) as part:
        frame.lowering.emit(Do(Called("store", (target, Held(part)))))
    steps: tuple[Step, ...] = tuple(body)
    if pieces > 1:
        steps = (Loop(True, "int", str(piece), Int(0), Int(pieces), steps),)
        frame.names.release(str(piece))
    frame.lowering.emit(*steps)
