"""A plane straight from memory through the first cache: its neighbours in the block find it there.

Where one value stands outside on all sides, every access has a test of its own and all warps do the same; blocks whose
lines do not end with whole vectors have a walk of their own. Where a rule folds, warps whose vectors lie inside read
them without a test; what stands alone beside a thread's vectors follows the rule of its own axis everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import groupby

from layoutc.index import TRUE, Call, Expr, Int, Name, compare, dot, every
from layoutc.plan.kernel.loading import holds_something, is_certain
from layoutc.plan.lowering.places import InGlobal
from layoutc.plan.passing.copies import whole_there
from layoutc.plan.planes.march import March, nested
from layoutc.plan.planes.parts import Part, covers
from layoutc.plan.planes.put import vector_of
from layoutc.plan.planes.shape import Ring
from layoutc.plan.planes.take import Segment, copy_held, element_of, over_pieces, segments
from layoutc.plan.steps import Assign, Do, Either, Let, Loop, Step, When
from layoutc.plan.values import (
    Choice,
    Element,
    Function,
    Literal,
    Operation,
    Text,
    Variable,
    load,
    memory_type,
    register_type,
)
from layoutc.resolve.program import Const
from layoutc.resolve.types import BOOL, compute_type

Subscripts = tuple[Expr, ...]
Box = tuple[Segment, Part | None]                   # lines and columns of a part, and who holds them
Taken = Callable[[Subscripts, Expr, int], None]     # subscripts of an access, its place in the array, its elements


def declare_insides(march: March) -> None:
    """Of every tensor, what stands outside on all sides, or whether what a warp reads of planes lies inside."""
    frame, lines = march.frame, []
    for ring in march.shape.rings:
        blank = _blank(march, ring)
        if blank is None:
            inside = frame.lowering.let("bool", f"{frame.arrays[ring.tensor]}_inside", _warp_inside(march, ring))
            march.inside_of[ring] = inside
        else:
            march.blanks[ring] = blank
            lines += [(frame.source_of(ring.tensor).extents[-1], ring.vector)]
    if lines:
        lines += [(frame.counts[-1], vector_of(march, e)) for e in march.work.equations]
    march.whole_lines = _whole_lines(march, lines)


def _blank(march: March, ring: Ring) -> Literal | None:
    """What stands outside on all sides alike, if accesses move more than one element; where nothing does, a zero."""
    type = compute_type(ring.type)
    values = {rule.value for pair in march.frame.source_of(ring.tensor).edges for rule in pair if rule is not None}
    if ring.vector == 1 or len(values) > 1:
        return None
    value, = values or {Const(False if type == BOOL else 0, ring.type)}
    return Literal(value.value, type) if isinstance(value, Const) else None


def _whole_lines(march: March, lines: list[tuple[Expr, int]]) -> Text:
    """Whether vectors of a block that begin in a line end there; ``lines``: their extents, and elements a vector."""
    end = march.frame.origin(march.shape.items.lined) + march.shape.tile[-1]
    tests = []
    for n, vector in dict.fromkeys(lines):
        rest = n % vector
        if rest != Int(0):
            tests.append(Operation("||", compare("==", rest, Int(0)), compare("<=", end, n)))
    return reduce(partial(Operation, "&&"), tests) if tests else TRUE


def _warp_inside(march: March, ring: Ring) -> Text:
    """Whether all vectors that a warp reads of planes lie inside, the walked axis aside."""
    frame, items, v = march.frame, march.shape.items, ring.vector
    warp = {items.beside: (frame.at[items.beside], items.lines),
            items.lined: (frame.origin(items.lined), march.shape.tile[-1])}
    tests = []
    for number, (a, n) in enumerate(zip(ring.axes, frame.source_of(ring.tensor).extents, strict=True)):
        low, high = (-(-a.low // v) * v, a.high // v * v) if number == len(ring.axes) - 1 else (a.low, a.high)
        if number != ring.walked:
            first, count = warp.get(a.index or "", (frame.at[a.index] if a.index else Int(0), 1))
            tests += [compare(">=", first + low, Int(0)), compare("<=", first + (count + high), n)]
    return every(t for t in tests if t != TRUE)


def take_near(march: March, ring: Ring, parts: Sequence[Part]) -> None:
    """The newest plane of these parts of a tensor; those of one plane under one test."""
    frame, walked = march.frame, march.shape.walked
    for newest, same in groupby(parts, lambda part: part.newest):
        wanted = f"{frame.arrays[ring.tensor]}_{frame.spelled[walked]}"
        plane = frame.lowering.let("Index", wanted, frame.at[walked] + newest)
        frame.lowering.local[plane] = frame.at[walked] + newest
        together = list(same)
        boxes = [(part, box) for part in together for box in segments(part, covers(march.shape.parts, part))]
        _take_plane(march, ring, Name(plane), Int(newest), boxes)
        for part, (segment, held) in boxes:
            if held is not None:
                copy_held(march, part, held, segment)


def ask_early(march: March, ring: Ring) -> None:
    """A thread's own part of a plane that is read some turns later sets out for the second cache."""
    frame, items = march.frame, march.shape.items
    source = frame.source_of(ring.tensor)
    line: Expr = Name(march.names.take("line"), 0, items.lines - 1) if items.lines > 1 else Int(0)
    later = {ring.walked: Int(ring.high + march.shape.knobs.prefetch), len(ring.axes) - 1: Int(0)}
    subscripts = []
    for number, a in enumerate(ring.axes):
        own = later.get(number, line if a.index == items.beside else Int(a.low))
        subscripts.append((frame.at[a.index] if a.index else Int(0)) + own)
    there = _all_within(subscripts, source)
    ask = Do(Function("prefetch", (Operation("+", Variable(source.array), dot(subscripts, source.strides)),)))
    frame.lowering.emit(*nested([(line, items.lines)], [When(there, (ask,))]))
    if isinstance(line, Name):
        march.names.release(line.id)


def fill_held(march: March) -> None:
    """All but the newest plane of what is held, before the first turn."""
    frame, walked = march.frame, march.shape.walked
    for ring in march.shape.rings:
        for part in (p for p in march.shape.parts if p.tensor == ring.tensor and p.depth > 1):
            low = part.axes[part.walked].low
            start = Name(march.names.take("start"), 0, part.depth - 2) if part.depth > 2 else Int(0)
            with frame.lowering.block() as steps:
                wanted = f"{frame.arrays[ring.tensor]}_{frame.spelled[walked]}"
                at = frame.origin(walked) + (start + low)
                plane = frame.lowering.let("Index", wanted, at)
                frame.lowering.local[plane] = at
                _take_plane(march, ring, Name(plane), start + low, [(part, ((part.lines, part.columns), None))])
            frame.lowering.emit(*nested([(start, part.depth - 1)], steps))
            if isinstance(start, Name):
                march.names.release(start.id)


def _take_plane(march: March, ring: Ring, plane: Expr, beyond: Expr, boxes: list[tuple[Part, Box]]) -> None:
    """What of boxes nobody holds, of a plane that stands so far beyond the finished one."""
    frame = march.frame

    def taken(way: Callable[[March, Ring, Part, list[str], Subscripts, Expr, int], None]) -> tuple[Step, ...]:
        packs: list[str] = []
        with frame.lowering.block() as steps:
            for part, (segment, held) in boxes:
                if held is None:
                    _each(march, ring, part, segment, (plane, beyond), partial(way, march, ring, part, packs))
        for pack in packs if ring not in march.blanks else ():      # which stand in the turn's own block
            march.names.release(pack)
        return tuple(steps)

    if ring in march.blanks:
        frame.lowering.emit(*taken(_by_rule if march.ruled else _or_blank))
    else:
        test: Text = Variable(march.inside_of[ring])
        n = frame.source_of(ring.tensor).extents[ring.walked]
        for one in (compare(">=", plane, Int(0)), compare("<", plane, n)):
            test = test if one == TRUE else Operation("&&", test, one)
        frame.lowering.emit(Either(test, taken(_inside), taken(_by_rule)))


def _each(march: March, ring: Ring, part: Part, segment: Segment, at: tuple[Expr, Expr], taken: Taken) -> None:
    """Every access of a segment: whole vectors, and what stands beyond them by elements."""
    lines, columns = segment
    plane, beyond = at
    for run, width in _runs(columns, min(part.piece, ring.vector)):
        with over_pieces(march, (lines, run), width) as (line, column):
            subscripts = []
            for number, a in enumerate(part.axes):
                place = line if number == part.beside else column if number == len(part.axes) - 1 else Int(a.low)
                first = Int(0) if a.index is None or number == part.walked else march.frame.at[a.index]
                subscripts.append(plane if number == part.walked else first + place)
            taken(tuple(subscripts), element_of(part, beyond, line, column), width)


def _runs(columns: range, vector: int) -> list[tuple[range, int]]:
    """Columns in runs, and how many of each an access moves; a thread's first column is at a whole vector."""
    first = min(-(-columns.start // vector) * vector, columns.stop)
    last = max(columns.stop // vector * vector, first)
    runs = ((range(columns.start, first), 1), (range(first, last), vector), (range(last, columns.stop), 1))
    return [(run, width) for run, width in runs if run]


def _inside(
    march: March, ring: Ring, part: Part, packs: list[str], subscripts: Subscripts, slot: Expr, width: int
) -> None:
    """An access of what is known to lie inside; what stands beside vectors follows the rule of its axis."""
    source = march.frame.source_of(ring.tensor)
    if width < ring.vector:
        along = replace(source, edges=(*((None, None) for _ in source.edges[:-1]), source.edges[-1]))
        march.frame.lowering.emit(_one(march, part, along, subscripts, slot, len(subscripts) - 1))
    else:
        _put_whole(march, part, source, packs, dot(subscripts, source.strides), slot, width)


def _or_blank(
    march: March, ring: Ring, part: Part, packs: list[str], subscripts: Subscripts, slot: Expr, width: int
) -> None:
    """What is there, else what stands outside."""
    frame, source, blank = march.frame, march.frame.source_of(ring.tensor), march.blanks[ring]
    if width == 1:
        frame.lowering.emit(_one(march, part, source, subscripts, slot))
        return
    there, at = _all_within(subscripts, source), dot(subscripts, source.strides)
    if memory_type(part.type) != register_type(part.type) and not blank.value:
        _put_whole(march, part, source, packs, at, slot, width, there)
        return
    own: list[str] = []
    with frame.lowering.block() as whole:
        _put_whole(march, part, source, own, at, slot, width)
    march.names.release(own[0])
    element = Name(march.names.take("element"), 0, width - 1)
    none = Assign(Element(march.arrays[part], slot + element), blank)
    fill = Loop(True, "int", element.id, Int(0), Int(width), (none,))
    march.names.release(element.id)
    frame.lowering.emit(Either(there, tuple(whole), (fill,)))


def _all_within(subscripts: Sequence[Expr], source: InGlobal) -> Expr:
    """Whether an element is there."""
    tests = [compare("<", i, n) if compare(">=", i, Int(0)) == TRUE else Call("within", (i, n))
             for i, n in zip(subscripts, source.extents, strict=True)]
    return every(t for t in tests if t != TRUE)


def _put_whole(
    march: March, part: Part, source: InGlobal, packs: list[str], at: Expr, slot: Expr, width: int,
    there: Expr | None = None,
) -> None:
    """One access, its elements into their registers; ``packs``: names that the text around it keeps.

    ``there``: the test without which they are zeros, in fewer registers than hold the elements once they are widened.
    """
    frame, names, array = march.frame, march.names, march.arrays[part]
    if width == 1:
        frame.lowering.emit(Assign(Element(array, slot), load(Element(source.array, at), part.type)))
        return
    pack, element = names.take("pack"), Name(names.take("element"), 0, width - 1)
    place = Operation("+", Variable(source.array), at)
    read = Function(f"load<{width}>", (place,)) if there is None else Function(f"load_or_zero<{width}>", (there, place))
    frame.lowering.emit(
        Let(f"Pack<{memory_type(part.type)}, {width}>", pack, read),
        Loop(True, "int", element.id, Int(0), Int(width),
             (Assign(Element(array, slot + element), load(Element(pack, element), part.type)),)))
    names.release(element.id)
    packs.append(pack)


def _by_rule(
    march: March, ring: Ring, part: Part, packs: list[str], subscripts: Subscripts, slot: Expr, width: int
) -> None:
    """A vector where it lies inside and a rule folds, else element by element."""
    frame, source = march.frame, march.frame.source_of(ring.tensor)
    if width == 1:
        frame.lowering.emit(_one(march, part, source, subscripts, slot))
        return
    element = Name(march.names.take("element"), 0, width - 1)
    single = _one(march, part, source, (*subscripts[:-1], subscripts[-1] + element), slot + element)
    each = Loop(True, "int", element.id, Int(0), Int(width), (single,))
    march.names.release(element.id)
    if ring in march.blanks:
        frame.lowering.emit(each)
        return
    test, at = whole_there(frame, source, subscripts, width)
    own: list[str] = []
    with frame.lowering.block() as whole:
        _put_whole(march, part, source, own, at, slot, width)
    march.names.release(own[0])
    frame.lowering.emit(Either(test, tuple(whole), (each,)))


def _one(march: March, part: Part, source: InGlobal, subscripts: Subscripts, slot: Expr, first: int = 0) -> Step:
    """What the rules say of an element; nothing where none answers, since no output needs it.

    ``first``: the axis before which all lies inside.
    """
    frame = march.frame
    value = frame.lowering.in_global(source, subscripts, frame.extents)
    tests = [] if is_certain(frame, part.tensor) else holds_something(frame, source.extents, source.edges)
    for i, n, (low, high) in list(zip(subscripts, source.extents, source.edges, strict=True))[first:]:
        tests += [compare(">=", i, Int(0))] if low is None else []
        tests += [compare("<", i, n)] if high is None else []
    there = every(t for t in tests if t != TRUE)
    if there != TRUE:
        type = compute_type(part.type)
        value = Choice(there, value, Literal(False if type == BOOL else 0, type))
    return Assign(Element(march.arrays[part], slot), value)
