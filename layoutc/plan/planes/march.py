"""A walk through planes in the making: its names, its arrays, and what every part of its text needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import prod

from layoutc.index import TRUE, Expr, Int, Name, compare, every
from layoutc.layout import Layout
from layoutc.plan.frame import Choice, Frame
from layoutc.plan.masks import masks_of
from layoutc.plan.names import Names
from layoutc.plan.nodes import Pass, Storage
from layoutc.plan.ownership import by_layout
from layoutc.plan.places import InParts, InRows
from layoutc.plan.planes.parts import Part
from layoutc.plan.planes.shape import WARP, Ring, Shape
from layoutc.plan.reduce import Accumulator
from layoutc.plan.steps import Assign, Loop, Step
from layoutc.plan.strategies.nodes import Work
from layoutc.plan.values import Element, Text
from layoutc.plan.window.owner import binders_of, mode_of
from layoutc.resolve.program import Reduce

MOST_VECTOR = 16            # elements an access, of the smallest type


class March:
    """A walk in the making."""

    def __init__(self, work: Work, shape: Shape, names: Names, entry: str) -> None:
        self.work, self.shape, self.names = work, shape, names
        self.frame = Frame(work.kernel, choice_of(work, shape), work.signature, names, entry)
        self.arrays: dict[Part, str] = {}           # of registers
        self.rings: dict[Ring, str] = {}            # of shared memory
        self.own: dict[Ring, str] = {}              # where a thread's first output stands in a plane
        self.sources: dict[Ring, str] = {}          # array of where a thread's part of a plane lies
        self.there: dict[Ring, str] = {}            # array of whether it is there, where else there are zeros
        self.inside: dict[Ring, str] = {}           # whether a block copies without a look at the rules
        self.sums: dict[Reduce, Accumulator] = {}
        self.turn = Name(names.take("turn"), 0)

    # ---- places

    @property
    def at(self) -> dict[str, Expr]:
        """Where a thread's outputs begin."""
        return self.frame.at

    def place(self, ring: Ring) -> InParts:
        """Where what is held of a tensor lies, as seen from the finished plane."""
        source = self.frame.source_of(ring.tensor)
        parts = [p for p in self.shape.parts if p.tensor == ring.tensor]
        rows = []
        for part in parts:
            origin = tuple((self.at[a.index] if a.index else Int(0)) + a.low for a in part.axes)
            rows.append(InRows(self.arrays[part], origin, part.strides, source))
        extents = tuple(tuple(p.depth if n == p.walked else p.extent(n) for n in range(len(p.axes))) for p in parts)
        return InParts(tuple(rows), extents, source)

    @contextmanager
    def over_items(self) -> Iterator[tuple[Expr, dict[str, Expr]]]:
        """Loops over a thread's outputs of a plane: the number of each, and its place."""
        items = self.shape.items
        line: Expr = Name(self.names.take("line"), 0, items.lines - 1) if items.lines > 1 else Int(0)
        item: Expr = Name("item", 0, items.columns - 1) if items.columns > 1 else Int(0)
        at = {**self.at, items.beside: self.at[items.beside] + line, items.lined: self.at[items.lined] + item}
        with self.frame.lowering.block() as body:
            yield line * items.columns + item, at
        self.frame.lowering.emit(*nested([(line, items.lines), (item, items.columns)], body))
        if items.lines > 1:
            self.names.release(str(line))

    def valid(self, at: Mapping[str, Expr]) -> Expr:
        """Whether there is an output at a place of a plane that is finished."""
        tests = [compare("<", at[i], n) for i, n in zip(self.frame.indices, self.frame.counts, strict=True)
                 if i in self.frame.indices[-2:]]
        return every(t for t in tests if t != TRUE)

    def each(self, count: int, target: str, value: Text) -> Loop:
        """A loop that gives elements of registers one value."""
        name = self.names.take("k")
        made = Loop(True, "int", name, Int(0), Int(count), (Assign(Element(target, Name(name)), value),))
        self.names.release(name)
        return made

    def moved(self, array: str, count: int, by: int) -> Loop:
        """The elements that stay, to their new places."""
        name = self.names.take("k")
        step = Assign(Element(array, Name(name)), Element(array, Name(name) + by))
        self.names.release(name)
        return Loop(True, "int", name, Int(0), Int(count), (step,))


def nested(counters: list[tuple[Expr, int]], body: list[Step]) -> list[Step]:
    """The body under loops over counters that have more than one value."""
    steps = body
    for counter, count in reversed(counters):
        if count > 1:
            steps = [Loop(True, "int", str(counter), Int(0), Int(count), tuple(steps))]
    return steps


def choice_of(work: Work, shape: Shape) -> Choice:
    """Everything that is decided before the text is made."""
    tile, indices, knobs = shape.tile, shape.indices, shape.knobs
    step = {i: prod(tile[n + 1:]) for n, i in enumerate(indices)}
    walked, beside, lined = (step[i] for i in indices[-3:])
    threads = [(WARP, knobs.columns * lined), (knobs.warps, knobs.lines * beside)]
    items = [(knobs.columns, lined), (knobs.lines, beside), (knobs.planes, walked)]
    layout = Layout((mode_of(threads, 0), mode_of(items, 0)), (mode_of(threads, 1), mode_of(items, 1)))
    owner = replace(by_layout(tile, layout), vector=knobs.columns)
    vector = knobs.most_vector or MOST_VECTOR
    return Choice(work.equations, tile, owner, shape.weights, tuple(shape.found.values()), vector,
                  frozenset(binders_of(work.kernel)))


def with_rings(made: Pass, work: Work, shape: Shape) -> Pass:
    """The pass with the planes that a block holds."""
    storage = (*made.storage, *(_storage(r, shape) for r in shape.rings))
    masks = masks_of(work.kernel, work.equations, made.extents, made.tile, made.footprints, storage)
    return replace(made, storage=storage, masks=masks, shared_bytes=made.shared_bytes + shape.shared_bytes,
                   dynamic_bytes=shape.shared_bytes)


def _storage(ring: Ring, shape: Shape) -> Storage:
    extents = tuple(ring.planes if n == ring.walked else e for n, e in enumerate(ring.extents))
    passing = tuple(shape.knobs.planes + ring.high - ring.low if n == ring.walked else e
                    for n, e in enumerate(ring.extents))
    return Storage(ring.tensor, "shared", ring.type, extents, ring.axes, passing=passing, vector=ring.vector)
