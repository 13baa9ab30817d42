"""What the strategies by which threads reduce together have in common: the order of a team, and its passes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self

from layoutc.plan.names import Names
from layoutc.plan.nodes import Refusal
from layoutc.plan.reductions.fit import together
from layoutc.plan.reductions.found import Found
from layoutc.plan.reductions.passes import plan_passes
from layoutc.plan.reductions.team_pass import Order
from layoutc.plan.work import Made, Work


@dataclass(frozen=True, slots=True)
class Teamed(ABC):
    """Threads that make outputs together."""

    order: Order
    cost: float

    @classmethod
    def try_plan(cls, work: Work) -> Self | Refusal:
        """The team of each output, or why there is none."""
        found = together(work)
        made = found if isinstance(found, str) else cls.ordered(work, found)
        return Refusal(cls.__name__.lower(), made) if isinstance(made, str) else cls(*made)

    def plan(self, names: Names, entry: str) -> Made:
        """The passes under their names in the text."""
        return plan_passes(self.order, names, entry)

    @staticmethod
    @abstractmethod
    def ordered(work: Work, found: tuple[Found, ...]) -> tuple[Order, float] | str:
        """The order for these reductions and its cost by the target's model, or why there is none."""
