"""What the strategies that walk have in common: a shape, or why there is none, its cost, and what writes its text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from layoutc.plan.names import Names
from layoutc.plan.nodes import Refusal
from layoutc.plan.work import Made, Work

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Walked(ABC, Generic[S]):
    """A strategy whose one decision is a shape."""

    work: Work
    shape: S
    cost: float

    @classmethod
    def try_plan(cls, work: Work) -> Self | Refusal:
        """The walk, or why there is none.

        Raises LayoutcError where a march cannot be honoured.
        """
        shape = cls.shaped(work)
        if isinstance(shape, str):
            return Refusal(cls.__name__.lower(), shape)
        return cls(work, shape, cls.priced(work, shape))

    def plan(self, names: Names, entry: str) -> Made:
        """The pass under its name in the text."""
        return self.written(self.work, self.shape, names.copy(), entry)

    @staticmethod
    @abstractmethod
    def shaped(work: Work) -> S | str:
        """The shape, or why there is none."""

    @staticmethod
    @abstractmethod
    def priced(work: Work, shape: S) -> float:
        """By the target's model."""

    @staticmethod
    @abstractmethod
    def written(work: Work, shape: S, names: Names, entry: str) -> Made:
        """The pass and its functions."""
