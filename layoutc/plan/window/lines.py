"""Weights that a block shares are read a line at a time, by whole accesses that stay where they are written.

A loop whose body reads hundreds of weights would keep those of them in registers that fit, and leave too few registers
for warps that hide the rows' way. Lines begin at whole accesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from layoutc.index import Expr, Int, Name
from layoutc.plan.lowering.places import InBox, InRows, row_major
from layoutc.plan.machine import ACCESS_BYTES
from layoutc.plan.nodes import Storage
from layoutc.plan.passing.led import Led
from layoutc.plan.passing.weights import line_read
from layoutc.plan.reads.subscripts import as_index
from layoutc.plan.steps import Assign, Let, Loop, Registers, Step
from layoutc.plan.values import Element, Function, Operation, Variable, load, memory_type, register_type
from layoutc.plan.window.state import Walk


@contextmanager
def lines_taken(walk: Walk, led: Led, env: Mapping[str, Expr]) -> Iterator[None]:
    """What is emitted inside reads the lines that are emitted before it; all binders but the last stand in ``env``."""
    lowering, names = walk.frame.lowering, walk.frame.names
    before: dict[str, InBox] = {}
    taken: list[str] = []
    for s in walk.shape.weights:
        outer = line_read(led, s.tensor) if walk.takes_lines and s.where == "shared" else None
        if outer is None:
            continue
        box = lowering.places[s.tensor]
        assert isinstance(box, InBox)
        at = tuple(i for i in (as_index(v, env) for v in outer) if i is not None)
        line = names.take(f"{walk.frame.arrays[s.tensor]}_line")
        _take(walk, s, box, line, at)
        before[s.tensor] = box
        taken.append(line)
        lowering.places[s.tensor] = InRows(line, (*at, box.origin[-1]), (*(0 for _ in at), 1), box.source)
    yield
    lowering.places |= before
    for line in taken:
        names.release(line)


def _take(walk: Walk, s: Storage, box: InBox, line: str, at: tuple[Expr, ...]) -> None:
    """The line that begins at these subscripts."""
    names, lowering = walk.frame.names, walk.frame.lowering
    number = row_major(tuple(i - o for i, o in zip(at, box.origin[:-1], strict=True)), box.extents[:-1])
    wide, vector = box.extents[-1], ACCESS_BYTES // s.type.bytes
    lowering.emit(Registers(register_type(s.type), line, wide))
    pieces = wide // vector
    piece: Expr = Name(names.take("piece"), 0, pieces - 1) if pieces > 1 else Int(0)
    part, element = names.take("part"), Name(names.take("element"), 0, vector - 1)
    source = Operation("+", Variable(box.array), number * wide + piece * vector)
    body: tuple[Step, ...] = (
        Let(f"Pack<{memory_type(s.type)}, {vector}>", part, Function(f"load_line<{vector}>", (source,))),
        Loop(True, "int", str(element), Int(0), Int(vector), (
            Assign(Element(line, piece * vector + element), load(Element(part, element), s.type)),)))
    if pieces > 1:
        body = (Loop(True, "int", str(piece), Int(0), Int(pieces), body),)
        names.release(str(piece))
    names.release(part)
    names.release(str(element))
    lowering.emit(*body)
