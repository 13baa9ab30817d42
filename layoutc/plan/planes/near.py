"""What a thread needs of a plane, from memory through the first cache: its neighbours in the block find it there.

Warps whose lines and columns lie inside read without a test as long as the plane is there; others by the edge rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

from layoutc.index import TRUE, Expr, Int, Name, compare, dot, every
from layoutc.plan.kernel.loading import holds_something, is_certain
from layoutc.plan.lowering.places import InGlobal
from layoutc.plan.machine import WARP
from layoutc.plan.planes.march import March
from layoutc.plan.planes.parts import Part, covers
from layoutc.plan.planes.shape import Ring
from layoutc.plan.planes.stage import whole_there
from layoutc.plan.planes.take import Segment, copy_held, element_of, over_pieces, segments
from layoutc.plan.steps import Assign, Either, Let, Loop, Step
from layoutc.plan.values import Choice, Element, Function, Literal, Operation, Text, Variable, load, memory_type
from layoutc.resolve.types import BOOL, compute_type

Subscripts = tuple[Expr, ...]
Taken = Callable[[Subscripts, Expr, int], None]     # subscripts of an access, its place in the array, its elements


def declare_insides(march: March) -> None:
    """Of every tensor, whether all that a warp reads of planes lies inside, the walked axis aside."""
    frame, shape = march.frame, march.shape
    items = shape.items
    warp = {items.beside: (frame.at[items.beside], items.lines),
            items.lined: (frame.origin(items.lined), WARP * items.columns)}
    for ring in shape.rings:
        tests = []
        for number, (a, n) in enumerate(zip(ring.axes, frame.source_of(ring.tensor).extents, strict=True)):
            if number != ring.walked:
                first, count = warp.get(a.index or "", (frame.at[a.index] if a.index else Int(0), 1))
                tests += [compare(">=", first + a.low, Int(0)), compare("<=", first + (count + a.high), n)]
        inside = every(t for t in tests if t != TRUE)
        march.inside_of[ring] = frame.lowering.let("bool", f"{frame.arrays[ring.tensor]}_inside", inside)


def take_near(march: March, ring: Ring, parts: Sequence[Part]) -> None:
    """The newest plane of these parts of a tensor; those of one plane under one test."""
    frame, walked = march.frame, march.shape.walked
    for newest, same in groupby(parts, lambda part: part.newest):
        wanted = f"{frame.arrays[ring.tensor]}_{frame.spelled[walked]}"
        plane = frame.lowering.let("Index", wanted, frame.at[walked] + newest)
        frame.lowering.local[plane] = frame.at[walked] + newest
        _take_plane(march, ring, Name(plane), list(same))


def _take_plane(march: March, ring: Ring, plane: Expr, parts: list[Part]) -> None:
    frame = march.frame
    source = frame.source_of(ring.tensor)
    boxes = [(part, box) for part in parts for box in segments(part, covers(march.shape.parts, part))]
    packs: list[str] = []
    with frame.lowering.block() as straight:
        for part, (segment, held) in boxes:
            if held is None:
                _each(march, ring, part, segment, plane, partial(_put_there, march, part, source, packs))
    for pack in packs:
        march.names.release(pack)
    with frame.lowering.block() as ruled:
        for part, (segment, held) in boxes:
            if held is None:
                _each(march, ring, part, segment, plane, partial(_by_rule, march, part, source))
    there = compare("<", plane, source.extents[ring.walked])
    test: Text = Variable(march.inside_of[ring])
    for one in (compare(">=", plane, Int(0)), there):
        test = test if one == TRUE else Operation("&&", test, one)
    frame.lowering.emit(Either(test, tuple(straight), tuple(ruled)))
    for part, (segment, held) in boxes:
        if held is not None:
            copy_held(march, part, held, segment)


def _each(march: March, ring: Ring, part: Part, segment: Segment, plane: Expr, taken: Taken) -> None:
    """Every access of a segment: whole vectors, and what stands beyond them by elements."""
    lines, columns = segment
    for run, width in _runs(columns, min(part.piece, ring.vector)):
        with over_pieces(march, (lines, run), width) as (line, column):
            subscripts = []
            for number, a in enumerate(part.axes):
                at = march.frame.at[a.index] if a.index else Int(0)
                beyond = line if number == part.beside else column if number == len(part.axes) - 1 else Int(a.low)
                subscripts.append(plane if number == part.walked else at + beyond)
            taken(tuple(subscripts), element_of(part, part.newest, line, column), width)


def _runs(columns: range, vector: int) -> list[tuple[range, int]]:
    """Columns in runs, and how many of each an access moves; a thread's first column is at a whole vector."""
    first = min(-(-columns.start // vector) * vector, columns.stop)
    last = max(columns.stop // vector * vector, first)
    runs = ((range(columns.start, first), 1), (range(first, last), vector), (range(last, columns.stop), 1))
    return [(run, width) for run, width in runs if run]


def _put_there(
    march: March, part: Part, source: InGlobal, packs: list[str], subscripts: Subscripts, slot: Expr, width: int
) -> None:
    """An access of what is known to lie inside."""
    _put_whole(march, part, source, packs, dot(subscripts, source.strides), slot, width)


def _put_whole(
    march: March, part: Part, source: InGlobal, packs: list[str], at: Expr, slot: Expr, width: int
) -> None:
    """One access, its elements into their registers; ``packs``: names that the text around it keeps."""
    frame, names, array = march.frame, march.names, march.arrays[part]
    if width == 1:
        frame.lowering.emit(Assign(Element(array, slot), load(Element(source.array, at), part.type)))
        return
    pack, element = names.take("pack"), Name(names.take("element"), 0, width - 1)
    frame.lowering.emit(
        Let(f"Pack<{memory_type(part.type)}, {width}>", pack,
            Function(f"load<{width}>", (Operation("+", Variable(source.array), at),))),
        Loop(True, "int", element.id, Int(0), Int(width),
             (Assign(Element(array, slot + element), load(Element(pack, element), part.type)),)))
    names.release(element.id)
    packs.append(pack)


def _by_rule(march: March, part: Part, source: InGlobal, subscripts: Subscripts, slot: Expr, width: int) -> None:
    """A vector where it lies inside, else element by element."""
    frame = march.frame
    if width == 1:
        frame.lowering.emit(_one(march, part, source, subscripts, slot))
        return
    test, at = whole_there(frame, source, subscripts, width)
    packs: list[str] = []
    with frame.lowering.block() as whole:
        _put_whole(march, part, source, packs, at, slot, width)
    march.names.release(packs[0])
    element = Name(march.names.take("element"), 0, width - 1)
    single = _one(march, part, source, (*subscripts[:-1], subscripts[-1] + element), slot + element)
    each = Loop(True, "int", element.id, Int(0), Int(width), (single,))
    march.names.release(element.id)
    frame.lowering.emit(Either(test, tuple(whole), (each,)))


def _one(march: March, part: Part, source: InGlobal, subscripts: Subscripts, slot: Expr) -> Step:
    """What the rules say of an element; nothing where none answers, since no output needs it."""
    frame = march.frame
    value = frame.lowering.in_global(source, subscripts, frame.extents)
    tests = [] if is_certain(frame, part.tensor) else holds_something(frame, source.extents, source.edges)
    for i, n, (low, high) in zip(subscripts, source.extents, source.edges, strict=True):
        tests += [compare(">=", i, Int(0))] if low is None else []
        tests += [compare("<", i, n)] if high is None else []
    there = every(t for t in tests if t != TRUE)
    if there != TRUE:
        type = compute_type(part.type)
        value = Choice(there, value, Literal(False if type == BOOL else 0, type))
    return Assign(Element(march.arrays[part], slot), value)
