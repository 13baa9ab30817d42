"""A plane that has come: what a thread needs of it, from shared memory or from what it holds already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from layoutc.index import Expr, Int, Name, dot
from layoutc.plan.planes.march import March, nested
from layoutc.plan.planes.parts import Part, covers, shared
from layoutc.plan.planes.shape import Ring
from layoutc.plan.steps import Assign, Let, Loop, Step
from layoutc.plan.values import Element, Function, Operation, Variable, load, memory_type

Segment = tuple[range, range]       # lines and columns of a part, counted from the thread's first output


def take_parts(march: March, ring: Ring, parts: list[Part]) -> None:
    """The newest plane of these parts of a tensor."""
    slots: dict[int, str] = {}
    packs: list[str] = []
    for part in parts:
        if part.newest not in slots:
            ago = ring.high - part.newest       # turns since that plane was the newest
            slot = (march.turn + (ring.planes - ago)) % ring.planes if ago else march.turn % ring.planes
            begin = slot * ring.plane + Name(march.own[ring])
            slots[part.newest] = march.names.take(f"{march.frame.arrays[ring.tensor]}_at")
            march.frame.lowering.emit(Let("int", slots[part.newest], begin))
        for box in segments(part, covers(march.shape.parts, part)):
            pack = march.names.take("pack")
            _take(march, ring, part, box, slots[part.newest], pack)
            packs.append(pack)
    for name in (*slots.values(), *packs):
        march.names.release(name)


def segments(part: Part, held: Part | None) -> list[tuple[Segment, Part | None]]:
    """The part in boxes that are wholly held elsewhere, or not at all."""
    if held is None:
        return [((part.lines, part.columns), None)]
    lines, columns = shared(part.lines, held.lines), shared(part.columns, held.columns)
    above, below = range(part.lines.start, lines.start), range(lines.stop, part.lines.stop)
    left, right = range(part.columns.start, columns.start), range(columns.stop, part.columns.stop)
    boxes = [((above, part.columns), None), ((lines, left), None), ((lines, columns), held), ((lines, right), None),
             ((below, part.columns), None)]
    if not lines or not columns:
        return [((part.lines, part.columns), None)]
    return [(segment, source) for segment, source in boxes if segment[0] and segment[1]]


def _take(march: March, ring: Ring, part: Part, box: tuple[Segment, Part | None], begin: str, pack: str) -> None:
    """One box of a part; its loops count from the box's first line and piece."""
    segment, held = box
    if held is not None:
        copy_held(march, part, held, segment)
        return
    with over_pieces(march, segment, part.piece) as (line, column):
        row = ring.extents[-1]
        at = Name(begin) + (line - ring.axes[part.beside].low) * row + (column - ring.axes[-1].low)
        _loaded(march, ring, part, element_of(part, part.newest, line, column), at, pack)


@contextmanager
def over_pieces(march: March, segment: Segment, width: int) -> Iterator[tuple[Expr, Expr]]:
    """Loops over lines and the accesses of each: where one begins, counted from the thread's first output."""
    lines, columns = segment
    pieces = len(columns) // width
    frame, names = march.frame, march.names
    line: Expr = Name(names.take("line"), 0, len(lines) - 1) if len(lines) > 1 else Int(0)
    piece: Expr = Name(names.take("piece"), 0, pieces - 1) if pieces > 1 else Int(0)
    with frame.lowering.block() as body:
        yield lines.start + line, columns.start + piece * width
    frame.lowering.emit(*nested([(line, len(lines)), (piece, pieces)], body))
    for counter in (line, piece):
        if isinstance(counter, Name):
            names.release(counter.id)


def element_of(part: Part, plane: Expr | int, line: Expr, column: Expr) -> Expr:
    """Where an element stands in the part's array, by its offsets from the thread's first output."""
    strides = part.strides
    lows = {part.walked: Int(plane) if isinstance(plane, int) else plane, part.beside: line, len(part.axes) - 1: column}
    terms = [(lows[n] - (part.axes[n].low), Int(strides[n])) for n in lows]
    return dot((t for t, _ in terms), (s for _, s in terms))


def copy_held(march: March, part: Part, held: Part, segment: Segment) -> None:
    """What another part holds already."""
    _, columns = segment
    width = part.piece if columns.start % part.piece == 0 and len(columns) % part.piece == 0 else 1
    with over_pieces(march, segment, width) as place:
        slot, source = element_of(part, part.newest, *place), element_of(held, part.newest, *place)
        element = Name(march.names.take("element"), 0, width - 1)
        one: Step = Assign(Element(march.arrays[part], slot + element), Element(march.arrays[held], source + element))
        march.frame.lowering.emit(Loop(True, "int", element.id, Int(0), Int(width), (one,)))
        march.names.release(element.id)


def _loaded(march: March, ring: Ring, part: Part, slot: Expr, at: Expr, pack: str) -> None:
    frame, names, array = march.frame, march.names, march.arrays[part]
    if part.piece == 1:
        frame.lowering.emit(Assign(Element(array, slot), load(Element(march.rings[ring], at), part.type)))
        return
    element = Name(names.take("element"), 0, part.piece - 1)
    value = load(Element(pack, element), part.type)
    frame.lowering.emit(
        Let(f"Pack<{memory_type(part.type)}, {part.piece}>", pack,
            Function(f"load<{part.piece}>", (Operation("+", Variable(march.rings[ring]), at),))),
        Loop(True, "int", element.id, Int(0), Int(part.piece), (Assign(Element(array, slot + element), value),)))
    names.release(element.id)
