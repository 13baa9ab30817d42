"""A walk of one tile with rows in rings: the interior is a text of its own, without tests, its ends written out.

Groups of rows at a tile's ends make part of a window's sums alone: written out, the compiler leaves the others out.
"""

from __future__ import annotations

from layoutc.index import TRUE, Expr, Int, Name, ceildiv, compare, every
from layoutc.plan.ringed.send import place_there
from layoutc.plan.ringed.state import Ringed
from layoutc.plan.steps import Do, Either, Function, Inlined, Let, Loop, Routine, Step, Turns, When
from layoutc.plan.values import Choice, Text, Variable
from layoutc.plan.values import Function as Called
from layoutc.plan.window.start import called, farthest, inlined
from layoutc.plan.window.state import INTERIOR


def turns_of(walk: Ringed, number: Name, groups: Expr, body: list[Step]) -> list[Step]:
    """All groups of a tile: in the interior those at its ends are written out."""
    shape = walk.ringed_shape
    turn = walk.names.take("turn")
    take = (Do(Called(turn, (number,))),)
    count = groups_of_tile(walk)
    ends = max(shape.walk.delay // shape.knobs.group, 1)
    return [
        Routine("int", turn, number.id, tuple(body)),
        Either(INTERIOR, (
            Loop(True, "int", number.id, Int(0), Int(ends), take),
            Turns("1", "int", number.id, Int(ends), Int(count - ends), take),
            Loop(True, "int", number.id, Int(count - ends), Int(count), take),
        ), (Turns("1", "int", number.id, Int(0), groups, take),))]


def groups_of_tile(walk: Ringed) -> int:
    """Groups of rows that a tile's outputs need."""
    shape = walk.ringed_shape
    return (shape.knobs.rows + shape.walk.delay) // shape.knobs.group


def functions_of(walk: Ringed, before: list[Step], body: list[Step], resident: int) -> tuple[Inlined, Function]:
    """What a thread does, and the kernel that says where and whether its block is in the interior."""
    frame = walk.frame
    origins = [frame.origin(i) for i in frame.indices]
    places = ", ".join(("int thread", *(f"Index {o}" for o in origins)))
    note = "What a thread does; interior: all that its block reads and writes is there."
    function = inlined(walk, note, body, places)
    given: list[Text] = [Variable(n) for n in (*frame.parameter_names, *walk.shared, "thread")]
    return function, frame.function([*before, *called(walk, _interior(walk), [*given, *origins])], resident)


def _interior(walk: Ringed) -> Expr:
    """Whether all that a block reads and writes is there."""
    frame, shape, knobs = walk.frame, walk.ringed_shape, walk.ringed_shape.knobs
    first, begin = frame.origin(shape.walked), frame.origin(shape.lined)
    tests = [compare("<=", frame.origin(i) + size, n)
             for i, size, n in zip(frame.indices, shape.walk.tile, frame.counts, strict=True)
             if i in (shape.walked, shape.lined)]
    places: list[Expr] = []
    for ring in shape.rings:
        places += place_there(walk, ring)
        extents, walked = frame.source_of(ring.band.tensor).extents, ring.band.walked
        assert walked is not None
        low = first + (ring.band.high - shape.walk.delay)
        tests += [compare(">=", low, Int(0)),
                  compare("<=", low + groups_of_tile(walk) * knobs.group, extents[walked]),
                  compare(">=", begin - ring.before * ring.vector, Int(0)),
                  compare("<=", begin + (ring.main + ring.behind) * ring.vector, extents[-1])]
    return every([*farthest(t for t in tests if t != TRUE), *places])


def declare_groups(walk: Ringed, rows: Expr) -> Expr:
    """Groups of the walk: of a whole tile in the interior."""
    shape = walk.ringed_shape
    count: Text = ceildiv(rows + shape.walk.delay, shape.knobs.group)
    if shape.knobs.peeled:
        count = Choice(INTERIOR, Int(groups_of_tile(walk)), count)
    name = walk.names.take("groups")
    walk.frame.lowering.emit(Let("Index", name, count))
    return Name(name, 1)


def when_sure(walk: Ringed, test: Expr, body: list[Step]) -> list[Step]:
    """The body where a test holds, which is not made in the interior; bare where it always holds."""
    return list(body) if test == TRUE else [When(walk.sure(test), tuple(body))]
