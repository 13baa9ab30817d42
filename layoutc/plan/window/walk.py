"""The text of a walk: each thread takes row after row of its columns, and finishes an output row with each."""

from __future__ import annotations

from layoutc.index import TRUE, Expr, Int, Name, compare, every
from layoutc.plan.kernel.boxes import fill_registers
from layoutc.plan.names import Names
from layoutc.plan.passing.sums import declare_sums
from layoutc.plan.steps import Do, Either, Inlined, Let, Loop, Registers, Routine, Step, Turns
from layoutc.plan.values import Function, Literal, memory_type, register_type
from layoutc.plan.window.exchange import declare_exchange
from layoutc.plan.window.owner import with_bands
from layoutc.plan.window.ring import declare_rings, send_rows
from layoutc.plan.window.shape import Shape
from layoutc.plan.window.shared_weights import share_weights
from layoutc.plan.window.start import inlined, kernel_of
from layoutc.plan.window.state import INTERIOR, Walk, when
from layoutc.plan.window.take import take_row
from layoutc.plan.window.values import finish_row, follow, make_lets, shift
from layoutc.plan.work import Made, Work


def write_walk(work: Work, shape: Shape, names: Names, entry: str) -> Made:
    """The pass, what a thread does, and the kernel that says where."""
    walk = Walk(work, shape, names, entry)
    before = _prologue(walk)
    function = _function(walk)
    made = with_bands(walk.frame.record(), work.kernel, work.equations, shape)
    return Made((made,), (function, kernel_of(walk, before)))


def _prologue(walk: Walk) -> list[Step]:
    """The thread, its block, and small tensors that the block shares."""
    with walk.frame.lowering.block() as steps:
        walk.frame.emit_thread_and_block()
        share_weights(walk)
    with walk.frame.lowering.block() as rings:
        declare_rings(walk)
        if walk.shape.knobs.exchanged:
            declare_exchange(walk)
    for index in (walk.shape.lined, walk.shape.beside) if walk.ringed else ():
        if index is not None:
            walk.begins[index] = walk.frame.origin(index)
    return [*steps, *rings]


def _function(walk: Walk) -> Inlined:
    """What a thread does."""
    frame, shape = walk.frame, walk.shape
    with frame.lowering.block() as body:
        fill_registers(frame, [s for s in shape.weights if s.where == "registers"])
        _declare(walk)
        if shape.walked is not None:
            frame.at[shape.walked] = Name(walk.first, 0)
        for band in (b for b in walk.tensors if b.walked is None):
            place = walk.place(band)
            take_row(walk, band, place)
            frame.lowering.places[band.tensor] = place
        if shape.walked is None:
            finish_row(walk)
        else:
            _turns(walk, shape.walked)
    where = [i for i in frame.indices if i != shape.walked]
    starts = [*([walk.first] if shape.walked else []), *(frame.spelled[i] for i in where)]
    what = f"{shape.steps} rows" if shape.walked else "its rows"
    note = f"A thread takes {what} of {walk.columns} columns; interior: all that it reads and writes is there."
    more = [f"Shared<{memory_type(b.type)}> {walk.rings[b.tensor]}" for b in walk.ringed]
    lane = (f"int {walk.lane}", *(f"Index {e}" for e in walk.begins.values())) if walk.ringed else ()
    more += [f"const {type} (&{name})[{count}]" for name, (type, count) in walk.begun.items()]
    return inlined(walk, note, body, *more, ", ".join((*lane, *(f"Index {n}" for n in starts))))


def _declare(walk: Walk) -> None:
    """Arrays of rows and of partial results."""
    frame = walk.frame
    for band in walk.shape.bands:
        name = frame.names.take(f"{frame.arrays[band.tensor]}_row{'s' if band.depth > 1 else ''}")
        walk.arrays[band.tensor] = name
        frame.lowering.emit(Registers(register_type(band.type), name, band.held))
        if band.depth > 1:      # turns before the first output work on what is not there yet
            frame.lowering.emit(walk.cleared(name, 0, band.held, Literal(0, band.type)))
    declare_sums(walk)


def _turns(walk: Walk, walked: str) -> None:
    frame, shape, knobs = walk.frame, walk.shape, walk.shape.knobs
    row = Name(frame.names.take("row"), 0, shape.steps - 1)
    i = frame.spelled[walked]
    with frame.lowering.block() as body:
        here = Name(walk.first, 0) + row - shape.delay
        walk.finished, walk.turn = here, row
        if not knobs.exchanged:                 # else no place in memory is needed
            frame.lowering.emit(Let("Index", i, here))
            frame.lowering.local[i] = here
            walk.finished = Name(i, 0 if shape.delay == 0 else None)
        frame.at[walked] = walk.finished
        if walk.ringed:
            send_rows(walk)
        with frame.lowering.block() as come:
            _take(walk, row)
            make_lets(walk)
            for led in shape.led:
                follow(walk, led, walked)
            with frame.lowering.block() as finish:
                finish_row(walk)
            frame.lowering.emit(*when(compare(">=", row, Int(shape.delay)), finish))
            shift(walk)
        waiting = max((b.ring for b in walk.ringed), default=0)
        frame.lowering.emit(*when(compare(">=", row, Int(waiting)), come))
    if knobs.peeled:
        _peeled(walk, row, body)
        return
    turns = knobs.turns or shape.steps
    turned = any(b.turned for b in shape.bands)         # which turn it is must be known to find what is held
    times = f"interior ? {turns} : 1" if turns > 1 and not turned else str(turns)
    frame.lowering.emit(Turns(times, "int", str(row), Int(0), Int(shape.steps), tuple(body)))


def _peeled(walk: Walk, row: Name, body: list[Step]) -> None:
    """In the interior the turns that make part of the window's sums alone are written out, those between a loop."""
    frame, shape = walk.frame, walk.shape
    turn = frame.names.take("turn")
    take = (Do(Function(turn, (row,))),)
    name, steps, last = str(row), shape.steps, shape.steps - shape.delay
    frame.lowering.emit(
        Routine("int", turn, name, tuple(body)),
        Either(INTERIOR, (
            Loop(True, "int", name, Int(0), Int(shape.delay), take),
            Turns(str(shape.knobs.turns or 1), "int", name, Int(shape.delay), Int(last), take),
            Loop(True, "int", name, Int(last), Int(steps), take),
        ), (Turns("1", "int", name, Int(0), Int(steps), take),)))


def _take(walk: Walk, row: Expr) -> None:
    """The next row of every tensor that has one, from the turn on in which it is needed."""
    frame, shape = walk.frame, walk.shape
    for band in (b for b in walk.tensors if b.walked is not None):
        begin = shape.delay - (band.high + band.ahead - band.taken_from)
        begin = 0 if begin <= max((b.ring for b in walk.ringed), default=0) else begin
        with frame.lowering.block() as steps:
            take_row(walk, band, walk.place(band))
        tests = [compare(">=", row, Int(begin)), compare("<", row, Int(shape.steps - band.ahead))]
        frame.lowering.emit(*when(every(t for t in tests if t != TRUE), steps))
    for band in (b for b in walk.tensors if b.walked is not None):
        frame.lowering.places[band.tensor] = walk.place(band)
