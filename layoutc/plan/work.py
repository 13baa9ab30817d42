"""What every strategy is asked, and what it answers where it has no plan."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from layoutc.plan.cost import nominal_along
from layoutc.plan.nodes import Pass, Signature, Target
from layoutc.plan.steps import DeviceFunction, Function, Inlined
from layoutc.resolve.program import Equation, Kernel, Program, Schedule

Functions = tuple[DeviceFunction | Inlined | Function, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """Equations that share their indices, to be made under a schedule (None: the compiler's own)."""

    program: Program
    kernel: Kernel
    equations: tuple[Equation, ...]
    schedule: Schedule | None
    signature: Signature
    target: Target

    @property
    def indices(self) -> tuple[str, ...]:
        """The spec's names of the outputs' indices."""
        return self.equations[0].indices

    def outputs_along(self, *indices: str) -> int:
        """How many outputs there are along some indices; a nominal number where the call decides."""
        return prod(nominal_along(self.kernel, self.equations[0], self.indices.index(i)) for i in indices)


@dataclass(frozen=True, slots=True)
class Made:
    """The passes of one strategy in the order of their launches, and their functions."""

    passes: tuple[Pass, ...]
    functions: Functions
