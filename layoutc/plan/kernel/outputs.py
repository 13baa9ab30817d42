"""What a thread makes at the places of its outputs, into memory or where it waits to be stored."""

from __future__ import annotations

from layoutc.index import Expr, Int, dot, every
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.items import valid
from layoutc.plan.kernel.loading import emit_when
from layoutc.plan.steps import Assign, Do, Either, Loop, Variable, When
from layoutc.plan.values import Element, Operation, Text, c_type, store
from layoutc.plan.values import Function as Called
from layoutc.plan.values import Variable as Held
from layoutc.resolve.program import Equation


def emit_values(frame: Frame, at: tuple[Expr, ...]) -> None:
    """Every equation at one output, into memory or where it waits to be stored."""
    for equation, value in _values(frame, at):
        frame.lowering.emit(Assign(_element(frame, equation, at), value))


def _values(frame: Frame, at: tuple[Expr, ...]) -> list[tuple[Equation, Text]]:
    env = {**frame.extents, **dict(zip(frame.indices, at, strict=True))}
    out = []
    for equation in frame.choice.equations:
        type = frame.output(equation).type
        out.append((equation, store(frame.lowering.value(equation.value, env), type)))
    return out


def _position(frame: Frame, equation: Equation, at: tuple[Expr, ...]) -> Expr:
    return dot(at, frame.place_of(equation.output).strides)


def _element(frame: Frame, equation: Equation, at: tuple[Expr, ...]) -> Element:
    waiting = frame.targets.get(equation.output)
    return waiting or Element(frame.place_of(equation.output).array, _position(frame, equation, at))


# ---- runs of neighbouring outputs, stored as vectors


def emit_run(frame: Frame, at: tuple[Expr, ...], tests: list[Expr], element: Expr, vector: int) -> None:
    """The values of a run into registers, then one store an output where the run is whole and aligned."""
    *outer, first = at
    each = (*outer, first + element)
    runs = {e.output: frame.names.take(f"{frame.arrays[e.output]}_run") for e in frame.choice.equations}
    for e in frame.choice.equations:
        pack = f"Pack<{c_type(frame.output(e).type)}, {vector}>"
        frame.lowering.emit(Variable(pack, runs[e.output], Called(pack, ())))
    with frame.lowering.block() as body:
        with frame.lowering.block() as made:
            for equation, value in _values(frame, each):
                frame.lowering.emit(Assign(Element(runs[equation.output], element), value))
        emit_when(frame, every((*tests, *valid(frame, each))), made)
    frame.lowering.emit(Loop(True, "int", str(element), Int(0), Int(vector), tuple(body)))
    whole = every((*tests, *valid(frame, (*outer, first + (vector - 1)))))
    for e in frame.choice.equations:
        _emit_store(frame, e, at, each, runs[e.output], whole, every((*tests, *valid(frame, each))), vector)


def _emit_store(
    frame: Frame, equation: Equation, at: tuple[Expr, ...], each: tuple[Expr, ...], run: str, whole: Expr,
    valid: Expr, vector: int,
) -> None:
    element = each[-1] - at[-1]
    single = Assign(_element(frame, equation, each), Element(run, element))
    singles = Loop(True, "int", str(element), Int(0), Int(vector), (When(valid, (single,)),))
    if frame.vector_of(equation.output) < vector:
        frame.lowering.emit(singles)
        return
    place = Operation("+", Held(frame.place_of(equation.output).array), _position(frame, equation, at))
    frame.lowering.emit(Either(whole, (Do(Called("store", (place, Held(run)))),), (singles,)))


def emit_runs(frame: Frame, at: tuple[Expr, ...], element: Expr, vector: int) -> None:
    """A run of outputs that all exist, whose first is at an aligned place, by one store an equation."""
    runs = {e.output: frame.names.take(f"{frame.arrays[e.output]}_run") for e in frame.choice.equations}
    with frame.lowering.block() as made:
        for equation, value in _values(frame, (*at[:-1], at[-1] + element)):
            frame.lowering.emit(Assign(Element(runs[equation.output], element), value))
    types = {e.output: f"Pack<{c_type(frame.output(e).type)}, {vector}>" for e in frame.choice.equations}
    frame.lowering.emit(*(Variable(types[name], run, Called(types[name], ())) for name, run in runs.items()),
                        Loop(True, "int", str(element), Int(0), Int(vector), tuple(made)))
    for e in frame.choice.equations:
        place = Operation("+", Held(frame.place_of(e.output).array), _position(frame, e, at))
        frame.lowering.emit(Do(Called("store", (place, Held(runs[e.output])))))
        frame.names.release(runs[e.output])
