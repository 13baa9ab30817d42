"""The text of a walk through planes: each turn sends a plane on its way, takes one that has come, and makes one."""

from __future__ import annotations

from collections.abc import Mapping

from layoutc.index import TRUE, Call, Expr, Int, Name, compare
from layoutc.plan.boxes import declare_shared, fill_registers, fill_shared
from layoutc.plan.halo import parts
from layoutc.plan.loading import emit_when
from layoutc.plan.loops import loop
from layoutc.plan.names import Names
from layoutc.plan.planes.march import March, with_rings
from layoutc.plan.planes.put import put
from layoutc.plan.planes.shape import WARP, Shape
from layoutc.plan.planes.stage import declare_rings, declare_sources, send_planes
from layoutc.plan.planes.take import take_parts
from layoutc.plan.reduce import Accumulator, accumulator
from layoutc.plan.steps import Assign, Barrier, Do, Let, Loop, Note, Registers, Turns, Variable, When
from layoutc.plan.strategies.nodes import Made, Work
from layoutc.plan.values import Element, Function, Literal, c_type, register_type, store
from layoutc.plan.values import Variable as Held
from layoutc.plan.window.led import Led
from layoutc.resolve.program import Binary, Binder
from layoutc.resolve.types import I32


def write_march(work: Work, shape: Shape, names: Names, entry: str) -> Made:
    """The pass and its kernel."""
    march = March(work, shape, names, entry)
    frame = march.frame
    with frame.lowering.block() as body:
        frame.emit_thread_and_block()
        fill_shared(frame, [s for s in shape.weights if s.where == "shared"], declare_shared(frame))
        declare_rings(march)
        fill_registers(frame, [s for s in shape.weights if s.where == "registers"])
        _declare_places(march)
        declare_sources(march)
        _declare_arrays(march)
        _emit_turns(march)
    return Made((with_rings(frame.record(), work, shape),), (frame.function(body, shape.knobs.resident),))


def _declare_places(march: March) -> None:
    """Where a thread's outputs stand in a plane, and where their elements stand in planes in shared memory."""
    frame, shape = march.frame, march.shape
    thread = Name("thread", 0, shape.threads - 1)
    *batch, _, beside, lined = frame.indices
    line, column = thread // WARP * shape.knobs.lines, thread % WARP * shape.knobs.columns
    for index in batch:
        frame.at[index] = frame.origin(index)
    for index, first in ((beside, frame.origin(beside) + line), (lined, frame.origin(lined) + column)):
        frame.lowering.emit(Let("Index", frame.spelled[index], first))
        frame.at[index] = Name(frame.spelled[index], 0)
    for ring in shape.rings:
        name = march.own[ring] = march.names.take(f"own_{frame.arrays[ring.tensor]}")
        frame.lowering.emit(Let("int", name, line * ring.extents[-1] + column))


def _declare_arrays(march: March) -> None:
    """Registers for parts of planes and for partial results, which begin before the first output."""
    frame = march.frame
    for part in march.shape.parts:
        wanted = "held" if part.depth > 1 else "around"
        name = march.arrays[part] = march.names.take(f"{frame.arrays[part.tensor]}_{wanted}")
        frame.lowering.emit(Registers(register_type(part.type), name, part.held))
        if part.depth > 1:
            frame.lowering.emit(march.each(part.held, name, Literal(0, I32)))
    for led in march.shape.led:
        plain = accumulator(led.reduce, march.names)
        march.names.release(plain.name)
        equation = next(e for e in march.work.equations if led.reduce in parts(e.value))
        name = march.names.take(f"{frame.arrays[equation.output]}_{plain.name}")
        start, = plain.start
        assert isinstance(start, Variable)
        count = led.rows * march.shape.items.count
        frame.lowering.emit(Registers(start.type, name, count), march.each(count, name, start.value))
        into = Accumulator(plain.op, plain.type, name, (Assign(Held(name), start.value),), Held(name), plain.fused)
        march.sums[led.reduce] = into


def _emit_turns(march: March) -> None:
    frame, shape = march.frame, march.shape
    walked, ahead = shape.walked, shape.knobs.ahead
    count = frame.counts[frame.indices.index(walked)] - frame.origin(walked)
    planes = Call("minimum", (count, Int(shape.knobs.planes)))
    turns = Name(frame.lowering.let("Index", "turns", planes + shape.delay), shape.delay)
    start = Name(march.names.take("start"), 0, ahead - 1)
    with frame.lowering.block() as first:
        send_planes(march, start)
        frame.lowering.emit(Do(Function("copy_async_commit", ())))
    frame.lowering.emit(Turns("1", start.id, Int(0), Int(ahead), tuple(first)))
    march.names.release(start.id)
    with frame.lowering.block() as body:
        finished = frame.origin(walked) + march.turn - shape.delay
        frame.lowering.emit(Let("Index", frame.spelled[walked], finished))
        frame.lowering.local[frame.spelled[walked]] = finished
        frame.at[walked] = Name(frame.spelled[walked])
        frame.lowering.emit(Do(Function(f"copy_async_wait<{ahead - 1}>", ())), Barrier())
        with frame.lowering.block() as send:
            send_planes(march, march.turn + ahead)
        frame.lowering.emit(When(compare("<", march.turn, turns - ahead), tuple(send)),
                            Do(Function("copy_async_commit", ())))
        _work(march)
    frame.lowering.emit(Turns("1", march.turn.id, Int(0), turns, tuple(body)))


def _work(march: March) -> None:
    """What is made of the planes that are there."""
    frame, shape = march.frame, march.shape
    for ring in shape.rings:
        take_parts(march, ring, [p for p in shape.parts if p.tensor == ring.tensor and (p.depth > 1 or _leads(march))])
    ready = compare(">=", march.turn, Int(shape.delay))
    before = {r.tensor: march.place(r) for r in shape.rings}
    frame.lowering.places |= before
    for led in shape.led:
        _follow(march, led)
    with frame.lowering.block() as finish:
        if not _leads(march):
            for ring in shape.rings:
                take_parts(march, ring, [p for p in shape.parts if p.tensor == ring.tensor and p.depth == 1])
        _make_outputs(march)
    emit_when(frame, ready, finish)
    _move_on(march)


def _leads(march: March) -> bool:
    """Whether planes are taken into results as they come: then all of them count."""
    return bool(march.shape.led)


def _follow(march: March, led: Led) -> None:
    """The newest plane into the partial results of every plane of outputs that it belongs to."""
    frame = march.frame
    _nest(march, led, led.reduce.binders[1:], {**frame.extents, **frame.at})


def _nest(march: March, led: Led, others: tuple[Binder, ...], env: Mapping[str, Expr]) -> None:
    """Loops over the other indices, then over the planes of outputs, whose sums do not wait for each other."""
    frame = march.frame
    if others:
        with loop(frame.lowering, others[0], dict(env), True) as inner:
            _nest(march, led, others[1:], inner)
        return
    into, walked = march.sums[led.reduce], march.shape.walked
    u = Name(march.names.take(led.binder.name), led.low, led.high - 1)
    newest = march.at[walked] + (led.high - 1)
    with frame.lowering.block() as body, march.over_items() as (item, at):
        here = {**env, **at, walked: newest - u, led.binder.name: u}
        total = Element(into.name, (Int(led.high - 1) - u) * march.shape.items.count + item)
        taken = Accumulator(into.op, into.type, str(total), (), total, into.fused)
        value = led.reduce.body
        if into.fused and isinstance(value, Binary) and value.op == "*":
            frame.lowering.emit(*taken.take_product(
                frame.lowering.value(value.left, here), frame.lowering.value(value.right, here)))
        else:
            frame.lowering.emit(*taken.take(frame.lowering.value(value, here), None))
    frame.lowering.emit(Loop(True, "int", u.id, Int(led.low), Int(led.high), tuple(body)))
    march.names.release(u.id)


def _make_outputs(march: March) -> None:
    """The outputs of the finished plane, and their store."""
    frame, items = march.frame, march.shape.items
    rows = {e.output: march.names.take(f"{frame.arrays[e.output]}_made") for e in march.work.equations}
    for e in march.work.equations:
        frame.lowering.emit(Registers(c_type(frame.output(e).type), rows[e.output], items.count))
    with march.over_items() as (item, at):
        for led in march.shape.led:
            frame.lowering.made[led.reduce] = Element(march.sums[led.reduce].name, item)
        with frame.lowering.block() as made:
            for e in march.work.equations:
                value = store(frame.lowering.value(e.value, {**frame.extents, **at}), frame.output(e).type)
                frame.lowering.emit(Assign(Element(rows[e.output], item), value))
        emit_when(frame, march.valid(at) if _reads_elsewhere(march) else TRUE, made)
        frame.lowering.made.clear()
    for e in march.work.equations:
        put(march, e, rows[e.output])
    for name in rows.values():
        march.names.release(name)


def _reads_elsewhere(march: March) -> bool:
    """Whether something is read from memory at the output's own place."""
    held = {r.tensor for r in march.shape.rings} | {w.tensor for w in march.shape.weights}
    return any(t not in held and (f.axes is None or any(a.index is not None for a in f.axes))
               for t, f in march.shape.found.items())


def _move_on(march: March) -> None:
    """Every plane becomes the one before it."""
    frame = march.frame
    moves = [march.moved(march.arrays[p], p.held - p.plane, p.plane) for p in march.shape.parts if p.depth > 1]
    for led in march.shape.led:
        into, start = march.sums[led.reduce], march.sums[led.reduce].start[0]
        assert isinstance(start, Assign)
        count = march.shape.items.count
        kept = (led.rows - 1) * count
        name = march.names.take("k")
        moves += [march.moved(into.name, kept, count),
                  Loop(True, "int", name, Int(0), Int(count),
                       (Assign(Element(into.name, Name(name) + kept), start.value),))]
        march.names.release(name)
    if moves:
        frame.lowering.emit(Note("the planes move on"), *moves)

