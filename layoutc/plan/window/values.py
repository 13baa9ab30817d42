"""What a turn makes of the rows that are there: rows of lets, partial results, outputs."""

from __future__ import annotations

from layoutc.index import TRUE, Expr, Int, Name, dot
from layoutc.plan.loops import loop
from layoutc.plan.places import InRows
from layoutc.plan.reduce import Accumulator
from layoutc.plan.steps import Assign, Loop, Note, Registers, Step, When
from layoutc.plan.values import Element, Operation, c_type, store
from layoutc.plan.values import Function as Called
from layoutc.plan.window.bands import Band
from layoutc.plan.window.led import Led
from layoutc.plan.window.put import put
from layoutc.plan.window.state import INTERIOR, Walk
from layoutc.resolve.program import Binary, Binder, Stage


def make_lets(walk: Walk) -> None:
    """The newest row of every let that is held."""
    frame = walk.frame
    stages = {s.name: s for s in walk.shape.kept}
    for band in (b for b in walk.shape.bands if b.is_let):
        stage, place = stages[band.tensor], walk.place(band)
        _let(walk, stage, band, place)
        frame.lowering.places[band.tensor] = place


def _let(walk: Walk, stage: Stage, band: Band, place: InRows) -> None:
    """A loop over every axis of the row along which there is more than one element."""
    frame = walk.frame
    counters: dict[int, Name] = {}
    for n in range(len(band.axes)):
        if band.extent(n) > 1:
            counters[n] = Name(frame.names.take(f"at_{n}"), 0, band.extent(n) - 1)
    at = [origin + (a.high - a.low if n == band.walked else counters.get(n, Int(0)))
          for n, (a, origin) in enumerate(zip(band.axes, place.origin, strict=True))]
    with frame.lowering.block() as steps:
        value = frame.lowering.formula(stage, tuple(at), frame.extents)
        slot = dot((s - o for s, o in zip(at, place.origin, strict=True)), map(Int, place.strides))
        frame.lowering.emit(Assign(Element(place.array, slot), value))
    body: tuple[Step, ...] = tuple(steps)
    for n, counter in reversed(counters.items()):
        body = (Loop(True, "int", counter.id, Int(0), Int(band.extent(n)), body),)
        frame.names.release(counter.id)
    frame.lowering.emit(*body)


def follow(walk: Walk, led: Led, walked: str) -> None:
    """The newest row into the partial results of every output row that it belongs to."""
    frame, into = walk.frame, walk.sums[led.reduce]
    assert walk.finished is not None
    first, *others = led.reduce.binders
    u = Name(frame.names.take(first.name), led.low, led.high - 1)
    newest = walk.finished + (led.high - 1)
    env = {**frame.extents, **frame.at, walked: newest - u, first.name: u}
    with frame.lowering.block() as body:
        _follow_columns(walk, led, tuple(others), env, into, u)
    if walk.shape.knobs.exact:
        ahead = walk.turn + (led.high - 1 - walk.shape.delay) - u
        body = [When(Called("within", (ahead, Int(walk.shape.knobs.rows))), tuple(body))]
    frame.lowering.emit(Loop(True, "int", str(u), Int(led.low), Int(led.high), tuple(body)))
    frame.names.release(str(u))


def _follow_columns(
    walk: Walk, led: Led, others: tuple[Binder, ...], env: dict[str, Expr], into: Accumulator, u: Expr
) -> None:
    """Loops over the other indices, innermost one over the columns, whose sums do not wait for each other."""
    frame = walk.frame
    if others:
        with loop(frame.lowering, others[0], env, True) as inner:
            _follow_columns(walk, led, others[1:], inner, into, u)
        return
    with walk.over_columns() as item:
        here = walk.moved_by(item, env)
        total = Element(into.name, (Int(led.high - 1) - u) * walk.columns + item)
        taken = Accumulator(into.op, into.type, str(total), (), total, into.fused)
        body = led.reduce.body
        if into.fused and isinstance(body, Binary) and body.op == "*":
            left, right = frame.lowering.value(body.left, here), frame.lowering.value(body.right, here)
            steps = taken.take_product(left, right)
        else:
            steps = taken.take(frame.lowering.value(body, here), None)
        frame.lowering.emit(*steps)


def make_outputs(walk: Walk) -> None:
    """The outputs of the finished row, and their store."""
    frame = walk.frame
    rows = {e.output: frame.names.take(f"{frame.arrays[e.output]}_row") for e in walk.work.equations}
    for e in walk.work.equations:
        frame.lowering.emit(Registers(c_type(frame.output(e).type), rows[e.output], walk.columns))
    with walk.over_columns() as item:
        at = walk.moved_by(item, frame.at)
        for led in walk.shape.led:
            frame.lowering.made[led.reduce] = Element(walk.sums[led.reduce].name, item)
        with frame.lowering.block() as made:
            for e in walk.work.equations:
                value = store(frame.lowering.value(e.value, {**frame.extents, **at}), frame.output(e).type)
                frame.lowering.emit(Assign(Element(rows[e.output], item), value))
        valid = walk.valid(at) if walk.shape.apart else TRUE
        if valid == TRUE:
            frame.lowering.emit(*made)
        else:
            frame.lowering.emit(When(Operation("||", INTERIOR, valid), tuple(made)))
        frame.lowering.made.clear()
    for e in walk.work.equations:
        put(walk, e, rows[e.output])


def shift(walk: Walk) -> None:
    """Every row becomes the one before it."""
    frame = walk.frame
    moves: list[Step] = []
    for band in walk.shape.bands:
        if band.depth > 1:
            moves.append(walk.moved(walk.arrays[band.tensor], band.held - band.row, band.row))
    for led in walk.shape.led:
        into, start = walk.sums[led.reduce], walk.sums[led.reduce].start[0]
        assert isinstance(start, Assign)
        kept = (led.rows - 1) * walk.columns
        moves.append(walk.moved(into.name, kept, walk.columns))
        moves.append(walk.cleared(into.name, kept, walk.columns, start.value))
    if moves:
        frame.lowering.emit(Note("the rows move on"), *moves)
