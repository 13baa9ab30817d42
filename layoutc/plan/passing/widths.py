"""How wide things are: outputs side by side, whole accesses, registers."""

from __future__ import annotations

from dataclasses import replace

from layoutc.plan.machine import ACCESS_BYTES
from layoutc.plan.reads.footprints import Axis
from layoutc.plan.work import Work
from layoutc.resolve.types import Type, compute_type

MOST_COLUMNS = 8            # outputs side by side, of narrow types


def columns_of(work: Work) -> int:
    """Outputs side by side that fill an access of the widest output."""
    outputs = {e.output for e in work.equations}
    widest = max(t.type.bytes for t in work.kernel.outputs if t.name in outputs)
    return max(1, min(ACCESS_BYTES // widest, MOST_COLUMNS))


def in_vectors(axis: Axis, columns: int, vector: int) -> Axis:
    """The axis widened so that a row begins and ends at whole vectors."""
    low = axis.low // vector * vector
    width = -(-(axis.extent(columns) + axis.low - low) // vector) * vector
    return replace(axis, low=low, high=low + width - 1 - axis.scale * (columns - 1))


def words_of(type: Type) -> int:
    """Registers of 32 bits that hold an element."""
    return max(compute_type(type).bytes // 4, 1)
