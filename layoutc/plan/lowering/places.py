"""Where a tensor's elements are found, and how an edge rule looks as an expression."""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.edges import EDGES, Constant, Folding
from layoutc.index import TRUE, Binary, Call, Expr, Int, Name, Select, compare
from layoutc.plan.reads.footprints import Axis
from layoutc.resolve import program as p
from layoutc.resolve.types import Type


@dataclass(frozen=True, slots=True)
class InGlobal:
    """Elements in global memory, at any distance by the edge rules."""

    array: str
    type: Type
    strides: tuple[Expr, ...]       # elements
    extents: tuple[Expr, ...]
    edges: tuple[p.Sides, ...]


@dataclass(frozen=True, slots=True)
class InConstant:
    """A small array that came with the launch, row-major."""

    array: str
    type: Type
    extents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class InBox:
    """A box of elements that the block or the thread holds, row-major, already extended by the edge rules."""

    array: str
    type: Type
    axes: tuple[Axis, ...]
    extents: tuple[int, ...]        # of the box
    origin: tuple[Expr, ...]        # the tensor's subscript of the box's first element
    source: InGlobal | None = None  # where the elements come from; None: a let
    of_thread: bool = False         # in the registers of each thread
    partial: bool = False           # reads outside the box go to the source (halo global)
    buffer: Expr | None = None      # which of two boxes, one behind the other, is read
    beginning: str = ""             # where each thread holds its first elements too, in registers
    begun: int = 0                  # how many
    seams: tuple[p.Sides, ...] = ()     # edge rules that the box does not hold where one side alone wraps

    def element(self, at: tuple[Expr, ...]) -> Expr:
        """The position in the array of a coordinate in the box."""
        if self.buffer is None:
            return row_major(at, self.extents)
        return row_major((self.buffer, *at), (2, *self.extents))


@dataclass(frozen=True, slots=True)
class InRows:
    """Rows that a thread holds, in the register's type, already extended by the edge rules."""

    array: str
    origin: tuple[Expr, ...]        # the subscript of the first element
    strides: tuple[int, ...]        # of the array, per axis of the tensor
    source: InGlobal | None = None  # where the elements come from; None: a let


@dataclass(frozen=True, slots=True)
class InParts:
    """Boxes around a thread's outputs; whatever is read lies in one of them."""

    parts: tuple[InRows, ...]
    extents: tuple[tuple[int, ...], ...]    # of each, per axis of the tensor
    source: InGlobal | None = None


@dataclass(frozen=True, slots=True)
class InStream:
    """Rows of one step in registers, some columns a lane, already extended by the edge rules."""

    array: str
    type: Type
    at: tuple[Expr, ...]            # the place that is computed, around which all is read
    step: Expr                      # whose rows are read
    low: int                        # rows held before that place
    window: int                     # rows held
    sides: tuple[Expr, ...]         # per index between: the place among the rows side by side
    extents: tuple[int, ...]        # how many those are
    column: Expr                    # of the lane
    columns: int                    # that a lane has
    lane: str


Place = InGlobal | InConstant | InBox | InRows | InParts | InStream


def fold(i: Expr, n: Expr, low: p.EdgeRule | None, high: p.EdgeRule | None) -> Expr:
    """The subscript folded by the rules of both sides; a constant side leaves it to the test."""
    rules = [EDGES[r.name] for r in (low, high) if r is not None]
    folding: list[Folding] = [r for r in rules if not isinstance(r, Constant)]
    if not folding:
        return i
    if len(folding) == 1 or folding[0] == folding[1]:
        return folding[0].fold(i, n)
    return Select(compare("<", i, Int(0)), folding[0].fold(i, n), folding[1].fold(i, n))


def constants(
    i: Expr, n: Expr, low: p.EdgeRule | None, high: p.EdgeRule | None
) -> list[tuple[Expr, p.Value]]:
    """(test that the subscript is inside on a side, the value that stands there), for constant sides."""
    below = low.value if low is not None else None
    above = high.value if high is not None else None
    if below is not None and below == above:
        return [(Call("within", (i, n)), below)]
    out = []
    if below is not None:
        out.append((compare(">=", i, Int(0)), below))
    if above is not None:
        out.append((compare("<", i, n), above))
    return [(t, v) for t, v in out if t != TRUE]


def across(i: Expr, n: Expr, low: p.EdgeRule | None, high: p.EdgeRule | None) -> Expr:
    """How far a rule moves a subscript inside a box that goes on where a side wraps: beyond that side nothing."""
    wraps = [rule is not None and rule.name == "wrap" for rule in (low, high)]
    if all(wraps):
        return Int(0)
    moved = fold(i, n, None if wraps[0] else low, None if wraps[1] else high) - i
    if moved == Int(0) or not any(wraps):
        return moved
    beyond = compare("<", i, Int(0)) if wraps[0] else compare(">=", i, n)
    return Select(beyond, Int(0), moved)


def row_major(at: tuple[Expr, ...], extents: tuple[int, ...]) -> Expr:
    """The position of a coordinate in a row-major box, each axis kept apart for the reader."""
    out: Expr = Int(0)
    for index, extent in zip(at, extents, strict=True):
        row = out * extent if extent == 1 or isinstance(out, Int | Name) else Binary("*", out, Int(extent))
        out = index if row == Int(0) else row if index == Int(0) else Binary("+", row, index)
    return out


def between(at: Expr, extent: int) -> bool:
    """Whether a coordinate is known to lie in 0..extent-1."""
    low, high = at.interval
    return low is not None and high is not None and low >= 0 and high < extent
