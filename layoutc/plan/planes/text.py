"""The text of a walk through planes: each turn sends a plane on its way, takes one that has come, and makes one."""

from __future__ import annotations

from itertools import groupby

from layoutc.index import TRUE, Call, Expr, Int, Name, compare, every
from layoutc.plan.kernel.boxes import declare_shared, fill_registers, fill_shared
from layoutc.plan.kernel.loading import emit_when
from layoutc.plan.lowering.loops import loops
from layoutc.plan.names import Names
from layoutc.plan.passing.led import Led
from layoutc.plan.passing.outputs import make_outputs
from layoutc.plan.passing.sums import declare_sums, moved_sums, take_newest
from layoutc.plan.planes.boxed import FIRST, ask_for_planes, declare_barriers, wait_for_planes
from layoutc.plan.planes.march import March, nested, with_rings
from layoutc.plan.planes.near import ask_early, declare_insides, fill_held, take_near
from layoutc.plan.planes.parts import Part, reads
from layoutc.plan.planes.put import put
from layoutc.plan.planes.shape import Ring, Shape
from layoutc.plan.planes.stage import declare_rings, declare_sources, send_planes
from layoutc.plan.planes.take import take_parts
from layoutc.plan.steps import Barrier, Do, Either, Let, Loop, Note, Registers, Steps, Turns, When
from layoutc.plan.values import Function, Literal, register_type
from layoutc.plan.work import Made, Work


def write_march(work: Work, shape: Shape, names: Names, entry: str) -> Made:
    """The pass and its kernel."""
    march = March(work, shape, names, entry)
    frame = march.frame
    with frame.lowering.block() as body:
        frame.emit_thread_and_block()
        fill_shared(frame, [s for s in shape.weights if s.where == "shared"], declare_shared(frame))
        if not shape.knobs.cached:
            declare_rings(march)
        fill_registers(frame, [s for s in shape.weights if s.where == "registers"])
        _declare_places(march)
        if shape.knobs.cached:
            declare_insides(march)
        elif shape.knobs.boxes:
            declare_barriers(march)
        else:
            declare_sources(march)
        _declare_arrays(march)
        _emit_turns(march)
    return Made((with_rings(frame.record(), work, shape),), (frame.function(body, shape.knobs.resident),))


def _declare_places(march: March) -> None:
    """Where a thread's outputs stand in a plane, and where their elements stand in planes in shared memory."""
    frame, shape = march.frame, march.shape
    thread = Name("thread", 0, shape.threads - 1)
    *batch, _, beside, lined = frame.indices
    knobs = shape.knobs
    line, column = thread // knobs.lanes * knobs.lines, thread % knobs.lanes * knobs.columns
    for index in batch:
        frame.at[index] = frame.origin(index)
    for index, first in ((beside, frame.origin(beside) + line), (lined, frame.origin(lined) + column)):
        frame.lowering.emit(Let("Index", frame.spelled[index], first))
        frame.at[index] = Name(frame.spelled[index], 0)
    for ring in (r for r in shape.rings if r.planes):
        name = march.own[ring] = march.names.take(f"own_{frame.arrays[ring.tensor]}")
        frame.lowering.emit(Let("int", name, line * ring.extents[-1] + column))


def _declare_arrays(march: March) -> None:
    """Registers for parts of planes and for partial results, which begin before the first output."""
    frame = march.frame
    for part in march.shape.parts:
        wanted = "held" if part.depth > 1 else "around"
        name = march.arrays[part] = march.names.take(f"{frame.arrays[part.tensor]}_{wanted}")
        frame.lowering.emit(Registers(register_type(part.type), name, part.held))
        if part.depth > 1 and not march.shape.filled:
            frame.lowering.emit(march.cleared(name, 0, part.held, Literal(0, part.type)))
    declare_sums(march)


def _emit_turns(march: March) -> None:
    frame, shape = march.frame, march.shape
    walked = shape.walked
    count = frame.counts[frame.indices.index(walked)] - frame.origin(walked)
    planes = Call("minimum", (count, Int(shape.knobs.planes)))
    turns = Name(frame.lowering.let("Index", "turns", planes + shape.delay), shape.delay)
    if not shape.knobs.cached:
        _send_first(march, turns)
    straight = _turns(march, turns)
    if march.whole_lines == TRUE:
        frame.lowering.emit(*straight)
        return
    march.ruled = True
    frame.lowering.emit(Either(march.whole_lines, straight, _turns(march, turns)))


def _turns(march: March, turns: Expr) -> Steps:
    frame, shape = march.frame, march.shape
    walked = shape.walked
    with frame.lowering.block() as fill:
        if shape.filled:
            fill_held(march)
    with frame.lowering.block() as body:
        finished = frame.origin(walked) + march.turn - shape.delay
        frame.lowering.emit(Let("Index", frame.spelled[walked], finished))
        frame.lowering.local[frame.spelled[walked]] = finished
        frame.at[walked] = Name(frame.spelled[walked])
        if not shape.knobs.cached:
            _meet(march, turns)
        _work(march)
    return (*fill, Turns(str(shape.knobs.turns), "int", march.turn.id, Int(0), turns, tuple(body)))


def _send_first(march: March, turns: Expr) -> None:
    """The planes that are on their way before the first turn."""
    frame, knobs, count = march.frame, march.shape.knobs, march.shape.first
    most: Expr = Call("minimum", (turns, Int(count))) if knobs.boxes and count > march.shape.delay + 1 else Int(count)
    start = Name(march.names.take("start"), 0, count - 1)
    with frame.lowering.block() as first:
        _send(march, start)
        if not knobs.boxes:
            last = TRUE if knobs.pace == 1 else compare("==", start % knobs.pace, Int(knobs.pace - 1))
            emit_when(frame, last, [Do(Function("copy_async_commit", ()))])
    all = Turns("1", "int", start.id, Int(0), most, tuple(first))
    frame.lowering.emit(When(FIRST, (all,)) if knobs.boxes else all)
    march.names.release(start.id)


def _send(march: March, number: Expr) -> None:
    (ask_for_planes if march.shape.knobs.boxes else send_planes)(march, number)


def _meet(march: March, turns: Expr) -> None:
    """Every so many turns the block meets, waits for as many planes, and sends for those whose places have become free.

    For boxes it waits in the turn itself.
    """
    frame, knobs = march.frame, march.shape.knobs
    with frame.lowering.block() as met:
        if not knobs.boxes:
            frame.lowering.emit(Do(Function(f"copy_async_wait<{knobs.ahead // knobs.pace - 1}>", ())))
        frame.lowering.emit(Barrier())
        step: Expr = Name(march.names.take("step"), 0, knobs.pace - 1) if knobs.pace > 1 else Int(0)
        with frame.lowering.block() as send:
            _send(march, march.turn + knobs.ahead + step)
        with frame.lowering.block() as sent:
            early = march.shape.first - knobs.ahead     # turns for which planes have been sent
            due = [compare(">=", march.turn + step, Int(early))] if early else []
            emit_when(frame, every((*due, compare("<", march.turn + step, turns - knobs.ahead))), send)
        sends = nested([(step, knobs.pace)], sent)
        if knobs.boxes:
            frame.lowering.emit(When(FIRST, tuple(sends)))
        else:
            frame.lowering.emit(*sends, Do(Function("copy_async_commit", ())))
        if isinstance(step, Name):
            march.names.release(step.id)
    meets = TRUE if knobs.pace == 1 else compare("==", march.turn % knobs.pace, Int(0))
    emit_when(frame, meets, met)
    if knobs.boxes:
        wait_for_planes(march)


def _work(march: March) -> None:
    """What is made of the planes that are there."""
    frame, shape = march.frame, march.shape
    last = [p for p in shape.parts if _is_taken_last(march, p)]
    for ring in shape.rings if shape.knobs.prefetch else ():
        ask_early(march, ring)
    _take_early(march, [p for p in shape.parts if p not in last])
    ready = compare(">=", march.turn, Int(shape.delay))
    before = {r.tensor: march.place(r) for r in shape.rings}
    frame.lowering.places |= before
    for led in shape.led:
        with frame.lowering.block() as follow:
            _follow(march, led)
        emit_when(frame, compare(">=", march.turn, Int(_first_turn(march, led))), follow)
    with frame.lowering.block() as finish:
        for ring in shape.rings:
            _take(march, ring, [p for p in last if p.tensor == ring.tensor])
        _finish_plane(march)
    emit_when(frame, ready, finish)
    _move_on(march)


def _take(march: March, ring: Ring, parts: list[Part]) -> None:
    """The newest plane of these parts, from memory or from where planes wait."""
    (take_near if march.shape.knobs.cached else take_parts)(march, ring, parts)


def _take_early(march: March, parts: list[Part]) -> None:
    """Parts that count before an output is finished, from the turn on in which their newest plane has come."""
    for ring in march.shape.rings:
        own = (p for p in parts if p.tensor == ring.tensor)
        for ago, together in groupby(own, march.ago):
            with march.frame.lowering.block() as taken:
                _take(march, ring, list(together))
            first = 0 if march.shape.filled else ago
            emit_when(march.frame, compare(">=", march.turn, Int(first)), taken)


def _is_taken_last(march: March, part: Part) -> bool:
    """Whether the finished outputs alone need a part: what planes are taken into as they come needs it before."""
    led = march.shape.led
    return part.depth == 1 and not (led and (march.ago(part) == 0 or any(reads(one, part) for one in led)))


def _first_turn(march: March, led: Led) -> int:
    """The turn in which its newest plane has come; the outputs that planes before it belong to are never stored."""
    return max((march.ago(p) for p in march.shape.parts if p.depth == 1 and reads(led, p)), default=0)


def _follow(march: March, led: Led) -> None:
    """The newest plane into the partial results of every plane of outputs that it belongs to."""
    frame, walked = march.frame, march.shape.walked
    first, *others = led.reduce.binders
    with loops(frame.lowering, others, {**frame.extents, **frame.at}) as env:
        u = Name(march.names.take(first.name), led.low, led.high - 1)
        newest = frame.at[walked] + (led.high - 1)
        with frame.lowering.block() as body:
            take_newest(march, led, u, {**env, walked: newest - u, first.name: u})
        frame.lowering.emit(Loop(True, "int", u.id, Int(led.low), Int(led.high), tuple(body)))
        march.names.release(u.id)


def _finish_plane(march: March) -> None:
    """The outputs of the finished plane, and their store."""
    made = make_outputs(march)
    for equation, array in made:
        put(march, equation, array)
    for _, array in made:
        march.names.release(array)


def _move_on(march: March) -> None:
    """Every plane becomes the one before it."""
    moves = [march.moved(march.arrays[p], p.held - p.plane, p.plane) for p in march.shape.parts if p.depth > 1]
    moves += moved_sums(march)
    if moves:
        march.frame.lowering.emit(Note("the planes move on"), *moves)
