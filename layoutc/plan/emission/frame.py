"""What the steps of one function share: its names, its type, its tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from layoutc.index import Expr, Int, Name
from layoutc.layout import Layout
from layoutc.layout.composed import AnyLayout, inner_of, outer_of
from layoutc.layout.layout import merged
from layoutc.layout.swizzles import Swizzle
from layoutc.plan.machine import WARP
from layoutc.plan.names import Names
from layoutc.plan.steps import Assign, Let, Loop, Step, Steps, Table
from layoutc.plan.values import Element, Text

if TYPE_CHECKING:       # needs NumPy, which kernels alone do without
    from layoutc.plan.moves.exchange import Exchange



@dataclass(slots=True)
class Frame:
    """A function under construction: it takes items from ``before`` and leaves them in ``after``.

    Both arrays may be one, so nothing is read from ``before`` once ``after`` is written to.
    """

    exchange: Exchange
    type: str                       # of an item, in C
    names: Names
    name: str                       # of the function
    before: str = "before"
    after: str = "after"
    rank: str = "rank"
    tiles: bool = False             # the block may be of several tiles, of as many as the caller says
    head: list[Step] = field(default_factory=list)

    @property
    def thread(self) -> Expr:
        """The number of the thread in its block."""
        return numbered("thread", self.exchange.threads)

    @property
    def tile(self) -> Expr:
        """The number of the thread's tile in its block."""
        return Name("tile", 0, None) if self.tiles else Int(0)

    @property
    def lane(self) -> Expr:
        """The number of the thread in its warp."""
        return self.thread if self.exchange.threads <= WARP else numbered("lane", WARP)

    def table(self, wanted: str, values: tuple[int, ...], type: str) -> str:
        """A table of constants, declared at the head of the function."""
        for step in self.head:
            if isinstance(step, Table) and (step.type, step.values) == (type, values):
                return step.name
        name = self.names.take(wanted)
        self.head.append(Table(type, name, values, len(values)))
        return name

    def lanes_mask(self) -> str:
        """The lanes of this thread's warp that exist, as a mask; "" where they are all 32."""
        whole, rest = divmod(self.exchange.threads, WARP)
        if not rest:
            return ""
        last = f"{(1 << rest) - 1:#x}u"
        return last if not whole else f"thread < {whole * WARP} ? 0xffffffffu : {last}"


def numbered(name: str, count: int) -> Expr:
    """A variable from 0 to ``count - 1``; where it can only be 0, that."""
    return Name(name, 0, count - 1) if count > 1 else Int(0)


def index_of(layout: Layout, coordinate: Expr) -> Expr:
    """The value of a layout of which the coordinate is an integer, counted colexicographically."""
    out: Expr = Int(0)
    block = 1
    for extent, stride in merged(layout.leaves):
        out = out + coordinate // block % extent * stride
        block *= extent
    return out


def position_of(layout: AnyLayout, thread: Expr, item: Expr) -> Expr:
    """The value of a thread/value layout, through a swizzle too."""
    inner = inner_of(layout)
    number = index_of(inner[0], thread) + index_of(inner[1], item)
    for outer in reversed(outer_of(layout)):
        number = index_of(outer, number) if isinstance(outer, Layout) else swizzled(outer, number)
    return number


def swizzled(swizzle: Swizzle, number: Expr) -> Expr:
    """A number, not negative, with bits exclusive-ored into others."""
    for bits, kept, shift in reversed(swizzle.factors):
        taken = number // (1 << kept + max(shift, 0)) % (1 << bits)
        number = number ^ taken * (1 << kept - min(shift, 0))
    return number


def loop(name: str, count: int, body: Steps) -> Steps:
    """An unrolled loop; the body alone where it has one round (its counter is then ``Int(0)``)."""
    return body if count == 1 else (Loop(True, "int", name, Int(0), Int(count), body),)


def assigned(frame: Frame, values: tuple[tuple[int, Text, frozenset[int]], ...]) -> Steps:
    """``after[item] = value`` for each (item, value, items of ``before`` that it reads); both may be one array."""
    written: set[int] = set()
    unsafe = False
    for item, _, reads in values:
        unsafe = unsafe or bool(written & reads)
        written.add(item)
    if not unsafe:
        return tuple(Assign(Element(frame.after, Int(item)), value) for item, value, _ in values)
    results = [frame.names.take(f"result_{item}") for item, _, _ in values]
    return (*(Let(frame.type, result, value) for result, (_, value, _) in zip(results, values, strict=True)),
            *(Assign(Element(frame.after, Int(item)), Name(result))
              for result, (item, _, _) in zip(results, values, strict=True)))
