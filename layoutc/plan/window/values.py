"""What a turn makes of the rows that are there: rows of lets, partial results, outputs."""

from __future__ import annotations

from layoutc.index import Int, Name, dot
from layoutc.plan.lowering.loops import loops
from layoutc.plan.lowering.places import InRows
from layoutc.plan.passing.led import Led
from layoutc.plan.passing.outputs import make_outputs
from layoutc.plan.passing.sums import moved_sums, take_newest
from layoutc.plan.steps import Assign, Loop, Note, Step, When
from layoutc.plan.values import Element, Function
from layoutc.plan.window.bands import Band
from layoutc.plan.window.lines import lines_taken
from layoutc.plan.window.put import put
from layoutc.plan.window.state import Walk
from layoutc.resolve.program import Stage


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
    frame = walk.frame
    assert walk.finished is not None
    first, *others = led.reduce.binders
    u = Name(frame.names.take(first.name), led.low, led.high - 1)
    newest = walk.finished + (led.high - 1)
    env = {**frame.extents, **frame.at, walked: newest - u, first.name: u}
    with (frame.lowering.block() as body, loops(frame.lowering, others[:-1], env) as outer,
          lines_taken(walk, led, outer), loops(frame.lowering, others[-1:], outer) as inner):
        take_newest(walk, led, u, inner)
    if walk.shape.knobs.exact:
        ahead = walk.turn + (led.high - 1 - walk.shape.delay) - u
        body = [When(Function("within", (ahead, Int(walk.shape.knobs.rows))), tuple(body))]
    frame.lowering.emit(Loop(True, "int", str(u), Int(led.low), Int(led.high), tuple(body)))
    frame.names.release(str(u))


def finish_row(walk: Walk) -> None:
    """The outputs of the finished row, and their store."""
    for equation, made in make_outputs(walk):
        put(walk, equation, made)


def shift(walk: Walk) -> None:
    """Every row becomes the one before it."""
    moves = [walk.moved(walk.arrays[b.tensor], b.held - b.row, b.row) for b in walk.shape.bands if b.depth > 1]
    moves += moved_sums(walk)
    if moves:
        walk.frame.lowering.emit(Note("the rows move on"), *moves)
