"""What walks have in common: rows or planes pass a thread, which holds some of them and finishes outputs with each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import ClassVar

from layoutc.index import TRUE, Expr, Int, Name, compare, every
from layoutc.plan.kernel.frame import Choice, Frame
from layoutc.plan.lowering.reduce import Accumulator
from layoutc.plan.names import Names
from layoutc.plan.passing.led import Led
from layoutc.plan.steps import Assign, Loop, Step
from layoutc.plan.steps import Variable as Declared
from layoutc.plan.values import Element, Function, Text
from layoutc.plan.work import Work
from layoutc.resolve.program import Reduce


class Passing(ABC):
    """A walk in the making: its names, its arrays, its partial results."""

    made: ClassVar[str]         # what the outputs of a turn are called in the text
    pack: ClassVar[str]         # what a vector of them is called

    def __init__(self, work: Work, choice: Choice, names: Names, entry: str) -> None:
        self.work, self.names = work, names
        self.frame = Frame(work.kernel, choice, work.signature, names, entry)
        self.sums: dict[Reduce, Accumulator] = {}
        self.turn: Expr = Int(0)

    @property
    @abstractmethod
    def led(self) -> tuple[Led, ...]:
        """The reductions that what passes is taken into."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Outputs that a thread finishes in a turn."""

    @abstractmethod
    def over_items(self, at: Mapping[str, Expr]) -> AbstractContextManager[tuple[Expr, dict[str, Expr]]]:
        """Loops over a turn's outputs, the first of which is at a place: the number of each, and its place."""

    @abstractmethod
    def where_valid(self, at: Mapping[str, Expr], body: list[Step]) -> None:
        """Emit what makes an output, under a test that there is one where it would else read what is not there."""

    # ---- registers

    def each(self, count: int, one: Callable[[Expr], Assign]) -> Loop:
        """A loop over elements of registers."""
        name = self.names.take("k")
        made = Loop(True, "int", name, Int(0), Int(count), (one(Name(name, 0, count - 1)),))
        self.names.release(name)
        return made

    def cleared(self, array: str, first: int, count: int, value: Text) -> Loop:
        """Elements that begin anew."""
        return self.each(count, lambda k: Assign(Element(array, k + first), value))

    def moved(self, array: str, count: int, by: int) -> Loop:
        """The elements that stay, to their new places."""
        return self.each(count, lambda k: Assign(Element(array, k), Element(array, k + by)))

    @contextmanager
    def packed(self, type: str, made: str, first: Expr, count: int, scoped: bool = True) -> Iterator[str]:
        """Elements of registers as one vector of a C type; ``scoped``: its name is free for what follows."""
        name = self.names.take(self.pack)
        pack = f"Pack<{type}, {count}>"
        self.frame.lowering.emit(
            Declared(pack, name, Function(pack, ())),
            self.each(count, lambda k: Assign(Element(name, k), Element(made, first + k))))
        yield name
        if scoped:
            self.names.release(name)

    # ---- places

    def inside(self, at: Mapping[str, Expr], indices: tuple[str, ...]) -> Expr:
        """Whether a place is one of the outputs' along some of the indices."""
        tests = [compare("<", at[i], n) for i, n in zip(self.frame.indices, self.frame.counts, strict=True)
                 if i in indices]
        return every(t for t in tests if t != TRUE)
