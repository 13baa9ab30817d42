"""Small tensors that no index moves: each thread holds them, or the block shares them."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from layoutc.plan.nodes import Storage
from layoutc.plan.reads.footprints import Footprint
from layoutc.plan.work import Work

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
