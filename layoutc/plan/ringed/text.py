"""The text of a walk with rows in rings: a block waits for a group of rows, sends for the next, and takes them in."""

from __future__ import annotations

from dataclasses import replace

from layoutc.index import Expr, Int, Name, compare, every, select
from layoutc.plan.head import plain
from layoutc.plan.kernel.boxes import fill_registers
from layoutc.plan.kernel.masks import masks_of
from layoutc.plan.kernel.shares import each_share
from layoutc.plan.machine import ACCESS_BYTES
from layoutc.plan.names import Names
from layoutc.plan.nodes import Pass, Storage
from layoutc.plan.passing.sums import declare_sums
from layoutc.plan.ringed.choose import least_tiles
from layoutc.plan.ringed.peeled import declare_groups, functions_of, turns_of, when_sure
from layoutc.plan.ringed.send import declare_rings, declare_there, first_slot, send_group
from layoutc.plan.ringed.shape import Ring, Shape
from layoutc.plan.ringed.state import Ringed
from layoutc.plan.steps import Barrier, Do, Let, Loop, Registers, Routine, Turns
from layoutc.plan.values import Function, register_type
from layoutc.plan.window.owner import storage_of
from layoutc.plan.window.shared_weights import share_weights
from layoutc.plan.window.state import when
from layoutc.plan.window.take import take_waiting
from layoutc.plan.window.values import finish_row, follow, make_lets, shift
from layoutc.plan.work import Made, Work


def write_ringed(work: Work, shape: Shape, names: Names, entry: str) -> Made:
    """The pass and its kernel."""
    walk = Ringed(work, shape, names, entry)
    frame = walk.frame
    resident = shape.resident(work.target.asked_bytes)
    with frame.lowering.block() as before:
        (frame.emit_thread if shape.knobs.rounds else frame.emit_thread_and_block)()
        share_weights(walk)
    with frame.lowering.block() as body:
        declare_rings(walk)
        fill_registers(frame, [s for s in shape.walk.weights if s.where == "registers"])
        if shape.knobs.rounds:
            with each_share(frame, shape.walked, walk.behind):
                _walk_down(walk)
                frame.lowering.emit(Barrier())      # all are through with these rows before the next walk sends
        else:
            n = frame.counts[frame.indices.index(shape.walked)]
            end = frame.origin(shape.walked) + shape.knobs.rows
            frame.lowering.emit(Let("Index", walk.behind, select(compare("<", end, n), end, n)))
            _walk_down(walk)
    brought = ", ".join(plain(r.band.tensor) for r in shape.rings)
    note = f"rows of {brought} come {shape.knobs.group} at a time"
    if shape.knobs.rounds:
        note += f"; a block makes tiles that follow each other along {plain(shape.walked)}"
    made = replace(_with_rings(frame.record(), work, shape), notes=(note,))
    if shape.knobs.rounds:
        made = replace(made, most_blocks=max(resident, 1) * work.target.multiprocessors,
                       most_rounds=shape.knobs.rounds, least_tiles=least_tiles(shape))
    if shape.knobs.peeled:
        return Made((made,), functions_of(walk, before, body, resident))
    return Made((made,), (frame.function([*before, *body], resident),))


def _walk_down(walk: Ringed) -> None:
    """From a block's first row to the one behind its last."""
    frame, shape, knobs = walk.frame, walk.ringed_shape, walk.ringed_shape.knobs
    j = frame.spelled[shape.lined]
    frame.lowering.emit(Let("Index", j, frame.origin(shape.lined) + walk.thread * knobs.columns))
    frame.at = {**{i: frame.origin(i) for i in frame.indices}, shape.lined: Name(j, 0)}
    declare_there(walk)
    for band in shape.walk.bands:
        walk.arrays[band.tensor] = walk.names.take(f"{frame.arrays[band.tensor]}_row")
        frame.lowering.emit(Registers(register_type(band.type), walk.arrays[band.tensor], band.held))
    declare_sums(walk)
    rows = Name(frame.lowering.let("Index", "rows", Name(walk.behind, 0) - frame.origin(shape.walked)), 1)
    groups = declare_groups(walk, rows)
    send, number = walk.names.take("send"), Name(walk.names.take("group"), 0)
    with frame.lowering.block() as sent:
        send_group(walk, number)
    ahead = knobs.stages - 1
    with frame.lowering.block() as turn:
        frame.lowering.emit(
            Do(Function(f"copy_async_wait<{ahead - 1}>", ())), Barrier(),
            *when(compare("<", number + ahead, groups), [Do(Function(send, (number + ahead,)))]),
            Do(Function("copy_async_commit", ())))
        with frame.lowering.block() as taken:
            _take_group(walk, number)
        there = compare("<", Name(j, 0), frame.counts[frame.indices.index(shape.lined)])
        frame.lowering.emit(*when_sure(walk, there, taken))
    frame.lowering.emit(
        Routine("int", send, number.id, tuple(sent)),
        Turns("1", "int", number.id, Int(0), Int(ahead), (
            *when(compare("<", number, groups), [Do(Function(send, (number,)))]),
            Do(Function("copy_async_commit", ())))),
        *(turns_of(walk, number, groups, turn) if knobs.peeled else
          [Turns("1", "int", number.id, Int(0), groups, tuple(turn))]))


def _take_group(walk: Ringed, number: Name) -> None:
    """The rows of a group that has come, and the outputs that each of them finishes."""
    frame, shape = walk.frame, walk.ringed_shape
    slots: dict[Ring, Name] = {}
    for ring in shape.rings:
        at = first_slot(walk, ring, number) + walk.thread * walk.columns
        slots[ring] = Name(frame.lowering.let("int", f"{frame.arrays[ring.band.tensor]}_at", at), 0)
    step: Expr = Name(walk.names.take("step"), 0, shape.knobs.group - 1) if shape.knobs.group > 1 else Int(0)
    with frame.lowering.block() as body:
        _take_row(walk, number * shape.knobs.group + step, step, slots)
    if isinstance(step, Name):
        frame.lowering.emit(
            Loop(True, "int", step.id, Int(0), Int(shape.knobs.group), tuple(body))
            if shape.knobs.written == shape.knobs.group else
            Turns(str(shape.knobs.written), "int", step.id, Int(0), Int(shape.knobs.group), tuple(body)))
        walk.names.release(step.id)
    else:
        frame.lowering.emit(*body)


def _take_row(walk: Ringed, turn: Expr, step: Expr, slots: dict[Ring, Name]) -> None:
    frame, shape = walk.frame, walk.ringed_shape
    i = frame.spelled[shape.walked]
    here = frame.origin(shape.walked) + turn - shape.walk.delay
    frame.lowering.emit(Let("Index", i, here))
    walk.finished, walk.turn = Name(i, 0 if shape.walk.delay == 0 else None), turn
    frame.lowering.local[i] = here
    frame.at[shape.walked] = walk.finished
    for ring in shape.rings:
        function = "load_line" if ring.band.vector * ring.band.type.bytes == ACCESS_BYTES else "load"
        at = slots[ring] + step * ring.pitch + (ring.band.axes[-1].low + ring.lead)
        take_waiting(walk, ring.band, walk.waiting[ring], at, function)
        frame.lowering.places[ring.band.tensor] = walk.place(ring.band)
    make_lets(walk)
    for led in shape.walk.led:
        follow(walk, led, shape.walked)
    with frame.lowering.block() as finish:
        finish_row(walk)
    last = compare("<", walk.finished, Name(walk.behind, 0))
    if shape.knobs.peeled:          # of a group that is written out the number is known
        begun = compare(">=", turn, Int(shape.walk.delay))
        frame.lowering.emit(*when(begun, when_sure(walk, last, finish)))
    else:
        frame.lowering.emit(*when(every((compare(">=", walk.finished, frame.origin(shape.walked)), last)), finish))
    shift(walk)


def _with_rings(made: Pass, work: Work, shape: Shape) -> Pass:
    """The pass with the rows that a block holds, and those of lets that threads do."""
    storage = (*made.storage, *(_storage(r, shape) for r in shape.rings),
               *(storage_of(b, shape.walk) for b in shape.walk.bands if b.is_let))
    masks = masks_of(work.kernel, work.equations, made.extents, made.tile, made.footprints, storage)
    return replace(made, storage=storage, masks=masks, shared_bytes=made.shared_bytes + shape.shared_bytes,
                   dynamic_bytes=shape.shared_bytes)


def _storage(ring: Ring, shape: Shape) -> Storage:
    band, knobs = ring.band, shape.knobs
    at_once = {band.walked: knobs.stages * knobs.group, len(band.axes) - 1: ring.pitch}
    passing = {band.walked: knobs.rows + shape.walk.delay, len(band.axes) - 1: (ring.main + ring.sides) * ring.vector}
    axes = list(band.axes)
    assert band.walked is not None
    axes[band.walked] = replace(axes[band.walked], low=band.taken_from)
    axes[-1] = replace(axes[-1], low=-ring.before * ring.vector, high=ring.behind * ring.vector)
    return Storage(band.tensor, "shared", band.type, tuple(at_once.get(n, 1) for n in range(len(axes))), tuple(axes),
                   passing=tuple(passing.get(n, 1) for n in range(len(axes))), vector=ring.vector)
