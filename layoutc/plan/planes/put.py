"""The outputs of a plane into memory: whole vectors where they lie inside, else one by one."""

from __future__ import annotations

from layoutc.index import TRUE, Expr, Int, Name, compare, dot
from layoutc.plan.kernel.loading import emit_when
from layoutc.plan.planes.march import March, nested
from layoutc.plan.steps import Assign, Do, Either, Loop, Step
from layoutc.plan.values import Element, Function, Operation, c_type
from layoutc.plan.values import Variable as Held
from layoutc.resolve.program import Equation


def put(march: March, equation: Equation, made: str) -> None:
    """Line after line."""
    frame, items = march.frame, march.shape.items
    line: Expr = Name(march.names.take("line"), 0, items.lines - 1) if items.lines > 1 else Int(0)
    at = {**march.frame.at, items.beside: march.frame.at[items.beside] + line}
    with frame.lowering.block() as body:
        _put_line(march, equation, made, line * items.columns, at)
    n = frame.counts[frame.indices.index(items.beside)]
    with frame.lowering.block() as steps:
        emit_when(frame, compare("<", at[items.beside], n), body)
    frame.lowering.emit(*nested([(line, items.lines)], steps))
    if items.lines > 1:
        march.names.release(str(line))


def vector_of(march: March, equation: Equation) -> int:
    """Elements of an output that an access moves."""
    return min(march.shape.items.columns, march.frame.vector_of(equation.output))


def _put_line(march: March, equation: Equation, made: str, first: Expr, at: dict[str, Expr]) -> None:
    frame, items = march.frame, march.shape.items
    place, lined = frame.place_of(equation.output), items.lined
    n = frame.counts[-1]
    vector = vector_of(march, equation)
    piece: Expr = Name(march.names.take("piece"), 0, items.columns // vector - 1) if items.columns > vector else Int(0)
    begin = at[lined] + piece * vector
    element = Name(march.names.take("element"), 0, vector - 1) if vector > 1 else Int(0)
    position = dot((begin + element if i == lined else at[i] for i in frame.indices), place.strides)
    single = Assign(Element(place.array, position), Element(made, first + piece * vector + element))
    with frame.lowering.block() as singles:
        emit_when(frame, compare("<", begin + element, n), [single])
    if isinstance(element, Name):
        march.names.release(element.id)
    steps: list[Step] = singles
    if isinstance(element, Name):
        whole = _whole(march, equation, made, first + piece * vector, {**at, lined: begin}, vector)
        one_by_one = Loop(True, "int", element.id, Int(0), Int(vector), tuple(singles))
        inside = compare("<=", begin + vector, n)
        if march.blanks and not march.ruled:
            with frame.lowering.block() as steps:       # lines end with whole vectors
                emit_when(frame, compare("<", begin, n), whole)
        else:
            steps = whole if inside == TRUE else [Either(inside, tuple(whole), (one_by_one,))]
    frame.lowering.emit(*nested([(piece, items.columns // vector)], steps))
    if isinstance(piece, Name):
        march.names.release(piece.id)


def _whole(
    march: March, equation: Equation, made: str, first: Expr, at: dict[str, Expr], vector: int
) -> list[Step]:
    frame = march.frame
    place = frame.place_of(equation.output)
    target = Operation("+", Held(place.array), dot((at[i] for i in frame.indices), place.strides))
    type = c_type(frame.output(equation).type)
    with frame.lowering.block() as steps, march.packed(type, made, first, vector) as pack:
        frame.lowering.emit(Do(Function("store", (target, Held(pack)))))
    return steps
