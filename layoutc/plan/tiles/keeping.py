"""Whether a let waits in shared memory, where the schedule says nothing: the fewer operations an output win.

Inlined, a let is computed wherever it is read; kept, once for each element of its box, stored, met at a barrier and
read. Operations are counted as a processor issues them: arithmetic 1, memory 2, what takes a routine more.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from layoutc.plan.lowering.medians import SORTED_UP_TO
from layoutc.plan.lowering.network import median_network
from layoutc.resolve.program import Binary, Call, Cast, Const, Extent, Index, Read, Reduce, Stage, Value
from layoutc.resolve.trees import children

MEMORY = 2
BARRIER = 8             # as many operations an output
ROUTINE = 16            # of a function that is no instruction, and of a division
CHEAP = (
    "min", "max", "fmin", "fmax", "abs", "sign", "floor", "ceil", "round", "trunc", "clamp", "fma", "isnan", "isinf")
MANY = 256              # of a range that is known at the call only


def is_worth_keeping(
    stage: Stage, stages: Mapping[str, Stage], kept: frozenset[str], reads: int, box: int, outputs: int
) -> bool:
    """Whether a let read ``reads`` times an output, through a box of so many elements a tile, is better kept."""
    once = Work(stages, kept).of(stage.value)
    return box / outputs * (once + MEMORY) + reads * MEMORY + BARRIER < reads * once


class Work:
    """Operations of one evaluation; lets that are not kept are computed where they are read."""

    def __init__(self, stages: Mapping[str, Stage], kept: frozenset[str]) -> None:
        self._stages, self._kept = stages, kept
        self._of_lets: dict[str, float] = {}

    def of(self, value: Value) -> float:
        """Of a value and all below it; subscripts are free."""
        match value:
            case Const() | Index() | Extent():
                return 0
            case Read(tensor):
                return MEMORY if tensor not in self._stages or tensor in self._kept else self._of_let(tensor)
            case Reduce(op, binders, body):
                count = prod(MANY if b.count is None else b.count for b in binders)
                return count * self.of(body) + (_of_median(count) if op == "median" else count)
        return _own(value) + sum(self.of(child) for child in children(value))

    def _of_let(self, name: str) -> float:
        if name not in self._of_lets:
            self._of_lets[name] = self.of(self._stages[name].value)
        return self._of_lets[name]


def _own(value: Value) -> int:
    match value:
        case Binary("/" | "//" | "%" | "**"):
            return ROUTINE
        case Call(function) if function not in CHEAP:
            return ROUTINE
        case Cast(operand, type) if 64 in (operand.type.bits, type.bits):
            return 2
    return 1


def _of_median(count: int) -> int:
    return 2 * len(median_network(count)) if count <= SORTED_UP_TO else 64 * count
