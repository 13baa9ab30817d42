"""The kernel of a walk: where each thread begins, and whether its warp is in the interior."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from layoutc.index import TRUE, Binary, Expr, Int, Name, compare, every, terms
from layoutc.plan.machine import WARP
from layoutc.plan.steps import Do, Either, Function, Inlined, Let, Step
from layoutc.plan.values import Function as Called
from layoutc.plan.values import Text, Variable
from layoutc.plan.window.exchange import first_slot, readers, store_exchanged
from layoutc.plan.window.registers import resident
from layoutc.plan.window.ring import part_of_ring
from layoutc.plan.window.shape import Shape
from layoutc.plan.window.state import INTERIOR, Walk


def kernel_of(walk: Walk, before: list[Step]) -> Function:
    """Where each thread's columns begin, and whether its warp is in the interior."""
    frame, shape, knobs = walk.frame, walk.shape, walk.shape.knobs
    thread = thread_of(shape)
    with frame.lowering.block() as body:
        frame.lowering.emit(*before)
        starts: dict[str, Expr] = {}
        for i in frame.indices:
            starts[i] = frame.origin(i)
        lanes = knobs.across // shape.widths
        line = thread // lanes
        under, line = line % shape.lines, line // shape.lines
        wide, line = line % shape.widths, line // shape.widths
        if shape.beside is not None:
            starts[shape.beside] = frame.origin(shape.beside) + line % knobs.beside
            line = line // knobs.beside
        if shape.walked is not None:
            starts[shape.walked] = frame.origin(shape.walked) + (line * shape.lines + under) * knobs.rows
        warp: Expr = Int(0)
        width = 1
        if shape.lined is not None:
            place = thread % lanes + wide * lanes
            starts[shape.lined] = frame.origin(shape.lined) + place * knobs.columns
            if knobs.exchanged and shape.walked is not None:
                down, across = readers(shape, thread)
                starts[shape.walked] = frame.origin(shape.walked) + down * knobs.rows
                starts[shape.lined] = frame.origin(shape.lined) + across * knobs.columns
            warp, width = frame.origin(shape.lined), knobs.across * knobs.columns
            if knobs.across % WARP == 0 and shape.lines == 1:
                warp = warp + thread % knobs.across // WARP * (WARP * knobs.columns)
                width = WARP * knobs.columns
        _begin(walk, starts, warp, width)
        if knobs.exchanged:
            store_exchanged(walk, thread)
    return frame.function(list(body), resident(walk))


def inlined(walk: Walk, note: str, body: list[Step], *more: str) -> Inlined:
    """What a thread does, for the interior and for the rest; ``more``: parameters after the kernel's own."""
    lines = (line.replace("CONSTANT_PARAM Constant", "const Constant") for line in walk.frame.parameter_lines())
    shared = (f"Shared<{type}> {name}" for name, type in walk.shared.items())
    return Inlined((note,), "bool interior", walk.name, (*lines, *shared, *more), tuple(body))


def called(walk: Walk, test: Text, given: Sequence[Text]) -> tuple[Step, ...]:
    """The call of it: the interior's where a test holds."""
    calls = [(Do(Called(f"{walk.name}<{flag}>", tuple(given))),) for flag in ("true", "false")]
    return calls[0] if test == TRUE else (Either(test, *calls),)


def thread_of(shape: Shape) -> Expr:
    """The thread's number; a block of one has none in the text."""
    return Name("thread", 0, shape.threads - 1) if shape.threads > 1 else Int(0)


def _begin(walk: Walk, starts: dict[str, Expr], warp: Expr, width: int) -> None:
    frame, shape, knobs = walk.frame, walk.shape, walk.shape.knobs
    at: dict[str, Expr] = {}
    thread = thread_of(shape)
    args: list[Text] = [Variable(n) for n in frame.parameter_names]
    args += [first_slot(walk, n, thread) if n in walk.exchanged.values() else Variable(n) for n in walk.shared]
    args += [part_of_ring(walk, b, thread // shape.group) for b in walk.ringed]
    args += [Variable(n) for n in walk.begun]
    if walk.ringed:
        args += [thread % shape.group, *walk.begins.values()]
    order = [*([shape.walked] if shape.walked else []), *(i for i in frame.indices if i != shape.walked)]
    for i in order:
        name = walk.first if i == shape.walked else frame.spelled[i]
        frame.lowering.emit(Let("Index", name, starts[i]))
        at[i] = Name(name, 0)
        args.append(Variable(name))
    if shape.lined is not None and isinstance(warp, Name):
        at[shape.lined] = warp
    elif shape.lined is not None and warp != starts[shape.lined]:
        at[shape.lined] = Name(frame.lowering.let("Index", f"warp_{frame.spelled[shape.lined]}", warp), 0)
    if walk.ringed and shape.group != WARP:         # all threads of the block go the same way
        at |= walk.begins
        width = knobs.across * knobs.columns
    if knobs.exchanged:                             # and so that all may store whole vectors
        at |= {i: frame.origin(i) for i in (shape.walked, shape.lined) if i is not None}
    test: Text = every(interior_tests(walk, at, _spans(shape, width)))
    if knobs.exchanged:
        frame.lowering.emit(Let("bool", str(INTERIOR), test))
        test = INTERIOR
    frame.lowering.emit(*called(walk, test, args))


def interior_tests(walk: Walk, at: Mapping[str, Expr], spans: Mapping[str, int]) -> list[Expr]:
    """Tests that all that outputs from ``at`` on read and write lies inside; ``spans``: how many they are, an index."""
    frame, shape = walk.frame, walk.shape
    tests = [compare("<=", at[i] + spans[i], n) for i, n in zip(frame.indices, frame.counts, strict=True)
             if i in (shape.walked, shape.lined) or (i == shape.beside and shape.knobs.beside > 1)]
    for band in walk.tensors:
        place = frame.source_of(band.tensor)
        for number, (a, n) in enumerate(zip(band.axes, place.extents, strict=True)):
            low = band.taken_from if number == band.walked else a.low
            start = at[a.index] * a.scale if a.index else Int(0)
            past = start + ((spans[a.index] - 1) * a.scale if a.index else 0) + (a.high + 1)
            tests += [compare(">=", start + low, Int(0)), compare("<=", past, n)]
    return farthest(t for t in tests if t != TRUE)


def _spans(shape: Shape, width: int) -> dict[str, int]:
    """Outputs that go the same way, an index."""
    knobs = shape.knobs
    if knobs.exchanged:
        return dict(zip(shape.indices, shape.tile, strict=True))
    beside = knobs.beside if any(b.ring for b in shape.bands) and shape.group != WARP else 1
    spans = {i: width if i == shape.lined else beside if i == shape.beside else 1 for i in shape.indices}
    return spans if shape.walked is None else {**spans, shape.walked: knobs.rows}


def farthest(tests: Iterable[Expr]) -> list[Expr]:
    """The tests without those that others imply: of ``a + 1 <= n`` and ``a + 3 <= n`` the second."""
    found: dict[tuple[str, Expr, Expr], tuple[int, Expr]] = {}
    for test in tests:
        assert isinstance(test, Binary)
        constant = sum(c for f, c in terms(test.a) if f == Int(1))
        key = (test.op, test.a - constant, test.b)
        beyond = constant if test.op == "<=" else -constant
        if key not in found or found[key][0] < beyond:
            found[key] = (beyond, test)
    return [test for _, test in found.values()]
