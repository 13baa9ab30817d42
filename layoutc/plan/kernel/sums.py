"""Reductions that a block makes chunk by chunk: each has accumulators that live from chunk to chunk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from layoutc.index import Expr, Int, Name, names_in
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.lowering.reduce import Accumulator, accumulator
from layoutc.plan.reads.chunks import CannotChunkError, binds
from layoutc.plan.reads.subscripts import Env
from layoutc.plan.steps import Assign, Loop, Registers, Step, Steps, Variable
from layoutc.plan.values import Element, Text
from layoutc.plan.values import Variable as Held
from layoutc.resolve.program import Index, Reduce, Value
from layoutc.resolve.trees import children


@dataclass(frozen=True, slots=True)
class Sum:
    """One reduction at one place around each output."""

    reduce: Reduce
    env: Env                    # what its indices and extents stand for, in terms of the output's indices
    into: Accumulator           # of the only item, or under the names of the arrays

    def of_item(self, several: bool) -> Accumulator:
        """The accumulator of the item in hand."""
        if not several:
            return self.into
        first, best, lost = (f"{n}[item]" if n else "" for n in (self.into.first, self.into.best, self.into.lost))
        return replace(self.into, name=f"{self.into.name}[item]", first=first, best=best, lost=lost)


class Sums:
    """The reductions of a pass, found by a rehearsal of its equations, and where their results wait.

    The equations ask for the results in the order of the rehearsal, over and over.
    """

    def __init__(self, frame: Frame) -> None:
        self.found: list[Sum] = []
        self.item: Expr = Int(0)            # the number of the output in its thread for which results are asked
        self._frame = frame
        self._visits: list[int] = []        # the numbers of the sums in the order in which they are asked for
        self._next: int | None = None       # None: the rehearsal

    @property
    def items(self) -> int:
        """Outputs of a thread."""
        return self._frame.choice.owner.items

    def rehearse(self, at: tuple[Expr, ...]) -> None:
        """Find the reductions of the output at these coordinates.

        Raises CannotChunkError where one is needed at a place that its output's coordinates do not tell.
        """
        frame, lowering = self._frame, self._frame.lowering
        env = {**frame.extents, **dict(zip(frame.indices, at, strict=True))}
        lowering.sums = self
        with lowering.rehearsal():
            for equation in frame.choice.equations:
                lowering.value(equation.value, env)
        self._next = 0

    def value(self, r: Reduce, env: Env) -> Text | None:
        """The result of a reduction; None where it is made at once, where it is needed."""
        if not binds(r, self._frame.choice.chunks):
            return None
        if self._next is None:
            self._visits.append(self._number_of(r, env))
            return self.found[self._visits[-1]].into.result
        name = self.found[self._visits[self._next]].into.name
        self._next = (self._next + 1) % len(self._visits)
        return Held(name) if self.items == 1 else Element(name, self.item)

    def _number_of(self, r: Reduce, env: Env) -> int:
        bound = {b.name for b in r.binders}
        stands = {name: env[name] for name in _indices(r) if name in env and name not in bound}
        known = {str(e) for e in self._frame.extents.values()} | set(self._frame.spelled.values())
        for name, place in stands.items():
            if not known.issuperset(names_in(place)):
                raise CannotChunkError(f"`{r.op}` is needed where data decide the index `{name}`",
                                       "leave the index of the reduction out of the tile")
        made = Sum(r, {**self._frame.extents, **stands}, accumulator(r, self._frame.names))
        for number, other in enumerate(self.found):
            if (other.reduce, other.env) == (made.reduce, made.env):
                for name in (made.into.name, made.into.best, made.into.first, made.into.here, made.into.lost):
                    self._frame.names.release(name)
                return number
        self.found.append(made)
        return len(self.found) - 1

    def declarations(self) -> Steps:
        """The accumulators, as they begin."""
        starts = [step for s in self.found for step in s.into.start]
        if self.items == 1:
            return tuple(starts)
        item = Name("item", 0, self.items - 1)
        arrays: list[Step] = []
        first: list[Step] = []
        for step in starts:
            assert isinstance(step, Variable)
            arrays.append(Registers(step.type, step.name, self.items))
            first.append(Assign(Element(step.name, item), step.value))
        return (*arrays, Loop(True, "int", "item", Int(0), Int(self.items), tuple(first)))


def _indices(value: Value) -> Iterator[str]:
    """The indices that a value mentions."""
    if isinstance(value, Index):
        yield value.name
    for child in children(value):
        yield from _indices(child)
