"""Outputs that change hands before they are stored: threads read along one axis and store along another.

A block's outputs wait in shared memory, so that whole rows are read and whole rows are stored. A row of the tile is
one vector a thread; vectors stand at their thread's number xor their row's, so that neither side meets a bank twice.
"""

from __future__ import annotations

from layoutc.index import Expr, Int, Name
from layoutc.plan.steps import Barrier, Let, Loop, Shared
from layoutc.plan.values import Function, Operation, Variable, c_type
from layoutc.plan.window.put import store_row
from layoutc.plan.window.shape import Shape
from layoutc.plan.window.state import Walk
from layoutc.resolve.program import Equation


def declare_exchange(walk: Walk) -> None:
    """The shared array of each output."""
    frame, shape = walk.frame, walk.shape
    for e in walk.work.equations:
        tensor = frame.output(e)
        name = walk.names.take(f"{frame.arrays[e.output]}_tile")
        walk.exchanged[e.output] = name
        walk.shared[name] = c_type(tensor.type)
        frame.by_way_of_shared(e.output, shape.outputs * tensor.type.bytes)
        frame.lowering.emit(Shared(c_type(tensor.type), name, shape.tile))


def readers(shape: Shape, thread: Expr) -> tuple[Expr, Expr]:
    """Which of the threads along the walked index and along the last one a thread is while it reads."""
    return thread % shape.knobs.down, thread // shape.knobs.down


def first_slot(walk: Walk, array: str, thread: Expr) -> Operation:
    """Where the first of the vectors that a thread makes stands; each of its next rows is a row of the tile on."""
    knobs = walk.shape.knobs
    line, place = readers(walk.shape, thread)
    return Operation("+", Variable(array), _slot(walk, line * knobs.rows, line, place))


def _slot(walk: Walk, row: Expr, line: Expr, place: Expr) -> Expr:
    return (row * walk.shape.knobs.across + (place ^ line)) * walk.columns


def store_exchanged(walk: Walk, thread: Expr) -> None:
    """After a barrier each thread stores rows that others made."""
    frame, shape, knobs = walk.frame, walk.shape, walk.shape.knobs
    assert shape.walked is not None
    assert shape.lined is not None
    frame.lowering.emit(Barrier())
    line, place = thread // knobs.across, thread % knobs.across
    row: Expr = Name(frame.names.take("row"), 0, knobs.rows - 1)
    names = {i: frame.names.take(f"{frame.spelled[i]}_stored") for i in (shape.walked, shape.lined)}
    with frame.lowering.block() as body:
        for i, at in ((shape.walked, line * knobs.rows + row), (shape.lined, place * knobs.columns)):
            frame.lowering.emit(Let("Index", names[i], frame.origin(i) + at))
            frame.at[i] = Name(names[i], 0)
        for e in walk.work.equations:
            _take_back(walk, e, _slot(walk, line * knobs.rows + row, line, place))
    frame.lowering.emit(Loop(True, "int", str(row), Int(0), Int(knobs.rows), tuple(body)))


def _take_back(walk: Walk, equation: Equation, slot: Expr) -> None:
    frame, columns = walk.frame, walk.columns
    held = frame.names.take(f"{frame.arrays[equation.output]}_row")
    waiting = Operation("+", Variable(walk.exchanged[equation.output]), slot)
    pack = f"Pack<{c_type(frame.output(equation).type)}, {columns}>"
    frame.lowering.emit(Let(pack, held, Function(f"load<{columns}>", (waiting,))))
    store_row(walk, equation, held, packed=True)
