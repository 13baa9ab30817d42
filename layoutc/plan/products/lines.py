"""The names of a product's text: places along the sides of a block's tile, and the steps of a chunk."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import prod

from layoutc.index import Binary, Expr, Int, Name
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.names import Names
from layoutc.plan.products.division import Steps
from layoutc.plan.reads.chunks import Chunk
from layoutc.plan.steps import Let, Step
from layoutc.resolve.program import Binder, Const


@dataclass(frozen=True, slots=True)
class Words:
    """The names of variables that only count."""

    slot: str           # of a thread's copies along the side
    turn: str           # and along the steps of a chunk
    step: str           # of a chunk
    part: str           # of what a thread takes at once
    element: str        # of a vector
    row_item: str
    column_item: str

    @classmethod
    def of(cls, names: Names) -> Words:
        """Free ones."""
        return cls(*(names.take(f.name) for f in fields(cls)))


@dataclass(frozen=True, slots=True)
class Line:
    """Outputs along one side, counted through its indices, the last fastest."""

    indices: tuple[str, ...]
    spelled: tuple[str, ...]        # their names in the text
    counts: tuple[Expr, ...]        # outputs an index
    number: str                     # the name of a place's number
    origin: Expr                    # the number of the tile's first
    total: Expr

    def at(self, place: Expr) -> tuple[list[Step], Expr, dict[str, Expr]]:
        """Declarations of the number and of the indices of a place in the tile; the number; the indices."""
        last = self.total.value - 1 if isinstance(self.total, Int) else None
        whole: Expr = Name(self.number, 0)
        steps: list[Step] = [Let("Index", self.number, self.origin + place)]
        if len(self.indices) == 1:
            return steps, whole, {self.indices[0]: Name(self.number, 0, last)}
        found: dict[str, Expr] = {}
        rest = whole
        for index, name, n in reversed(list(zip(self.indices, self.spelled, self.counts, strict=True))):
            here = rest if index == self.indices[0] else Binary("%", rest, n)       # none is negative
            rest = Binary("/", rest, n)
            steps.append(Let("Index", name, here))
            found[index] = Name(name, 0)
        return [steps[0], *reversed(steps[1:])], whole, found


def first_of(b: Binder) -> int:
    """The first value of an index with a constant range."""
    assert isinstance(b.low, Const)
    return int(b.low.value)


@dataclass(frozen=True, slots=True)
class Walk:
    """The chunks of the sum."""

    frame: Frame
    steps: Steps
    binders: tuple[Binder, ...]
    spelled: dict[str, str]         # an index of the sum -> its name in the text

    def ends(self, b: Binder) -> tuple[Expr, Expr]:
        """The first value of an index, and the end of its range."""
        whole = Chunk(b.name, 1, b.low, b.high)
        return whole.first(self.frame.extents), whole.last(self.frame.extents)

    def at(self, step: Expr) -> tuple[list[Step], dict[str, Expr]]:
        """Declarations of the sum's indices at a step of the chunk in hand, and the indices."""
        frame, out, found = self.frame, list[Step](), dict[str, Expr]()
        each = self.steps.each
        for c in self.steps.outer:
            found[c.index] = frame.origin(c.index)
            frame.lowering.limits[str(frame.origin(c.index))] = c.last(frame.extents)
        chunk = self.steps.chunk
        name = self.spelled[chunk.index]
        low = chunk.first(frame.extents).interval[0]
        out.append(Let("Index", name, frame.origin(chunk.index) + step // each))
        found[chunk.index] = Name(name, low)
        frame.lowering.limits[name] = chunk.last(frame.extents)
        for number, b in enumerate(self.steps.inner):
            after = prod(other.count or 0 for other in self.steps.inner[number + 1:])
            assert b.count is not None
            first = first_of(b)
            name = self.spelled[b.name]
            out.append(Let("Index", name, step // after % b.count + first))
            found[b.name] = Name(name, first, first + b.count - 1)
        return out, found
