"""Small tensors that no index moves: each thread holds them, or the block shares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from layoutc.plan.machine import ACCESS_BYTES
from layoutc.plan.nodes import Storage
from layoutc.plan.passing.led import Led
from layoutc.plan.reads.footprints import Footprint
from layoutc.plan.work import Work
from layoutc.resolve.program import Index, Read, Value
from layoutc.resolve.trees import parts

MOST_WEIGHTS = 64           # elements of all small tensors that a thread holds
MOST_SHARED = 8192          # bytes of a small tensor that the block shares


def weights_of(work: Work, total: Mapping[str, Footprint], passing: frozenset[str]) -> tuple[Storage, ...]:
    """Small tensors that no index moves: in registers as far as there is room, else the block shares them."""
    out: list[Storage] = []
    room = MOST_WEIGHTS
    for t in work.kernel.inputs:
        found = total.get(t.name)
        if found is None or not found.axes or t.name in passing or moves(found) or not found.certain:
            continue
        extents = tuple(a.high - a.low + 1 for a in found.axes)
        where = "registers" if prod(extents) <= room else "shared"
        room -= prod(extents) if where == "registers" else 0
        if prod(extents) * t.type.bytes <= MOST_SHARED:
            out.append(Storage(t.name, where, t.type, extents, found.axes))
    return tuple(out)


def moves(found: Footprint) -> bool:
    """Whether what is read depends on the output's place."""
    return found.axes is None or any(a.index is not None for a in found.axes)


def in_lines(s: Storage, led: tuple[Led, ...]) -> Storage:
    """A small tensor that the block shares, its lines padded to whole accesses where sums read them whole."""
    if s.where != "shared" or not s.axes or not any(line_read(one, s.tensor) is not None for one in led):
        return s
    vector = ACCESS_BYTES // s.type.bytes
    *outer, last = s.axes
    wide = -(-s.extents[-1] // vector) * vector
    return replace(s, extents=(*s.extents[:-1], wide), axes=(*outer, replace(last, high=last.low + wide - 1)))


def line_read(led: Led, tensor: str) -> tuple[Value, ...] | None:
    """All subscripts but the last of the line that a sum's innermost loop reads of a tensor; None: not of one line."""
    binders = led.reduce.binders
    reads = [v for v in parts(led.reduce.body) if isinstance(v, Read) and v.tensor == tensor]
    if len(binders) < 2 or not reads or len({r.indices[:-1] for r in reads}) > 1:
        return None
    outer = reads[0].indices[:-1]
    within = [part for i in outer for part in parts(i)]
    moved = any(isinstance(v, Index) and v.name == binders[-1].name for v in within)
    return None if moved or any(isinstance(v, Read) for v in within) else outer
