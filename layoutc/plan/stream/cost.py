"""What steps that share a launch cost: clocks of a lane, as if the whole machine had one kernel to run."""

from __future__ import annotations

from layoutc.plan.cost import OPERATION
from layoutc.plan.passing.length import operations
from layoutc.plan.work import Work
from layoutc.resolve.types import compute_type


def clocks(work: Work, beside: float) -> float:
    """Of a place that a step computes, with so many operations beside its own; twice for numbers of 64 bits."""
    outputs = [t for t in work.kernel.outputs if t.name in {e.output for e in work.equations}]
    words = max(compute_type(t.type).bytes for t in outputs) / 4
    return OPERATION * (operations(work, frozenset()) * max(words, 1.0) + beside)
