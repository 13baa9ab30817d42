"""A walk through planes in the making: its names, its arrays, and what every part of its text needs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from math import prod

from layoutc.index import TRUE, Expr, Int, Name
from layoutc.plan.kernel.frame import Choice
from layoutc.plan.kernel.loading import emit_when
from layoutc.plan.kernel.masks import masks_of
from layoutc.plan.lowering.places import InParts, InRows
from layoutc.plan.names import Names
from layoutc.plan.nodes import Pass, Storage, TensorMap
from layoutc.plan.passing.led import Led
from layoutc.plan.passing.owner import choice_of as owned
from layoutc.plan.passing.state import Passing
from layoutc.plan.passing.weights import moves
from layoutc.plan.planes.parts import Part, extent_of
from layoutc.plan.planes.shape import Ring, Shape
from layoutc.plan.steps import Loop, Step
from layoutc.plan.values import Literal, Text
from layoutc.plan.work import Work


class March(Passing):
    """A walk through planes."""

    made = "made"
    pack = "pack"

    def __init__(self, work: Work, shape: Shape, names: Names, entry: str) -> None:
        super().__init__(work, choice_of(work, shape), names, entry)
        self.shape = shape
        self.arrays: dict[Part, str] = {}           # of registers
        self.rings: dict[Ring, str] = {}            # of shared memory
        self.own: dict[Ring, str] = {}              # where a thread's first output stands in a plane
        self.sources: dict[Ring, str] = {}          # array of where a thread's part of a plane lies
        self.there: dict[Ring, str] = {}            # array of whether it is there, where else there are zeros
        self.full: dict[Ring, str] = {}             # barriers at which its planes arrive as boxes
        self.inside_of: dict[Ring, str] = {}        # whether planes are read without a look at the rules
        self.blanks: dict[Ring, Literal] = {}       # what stands outside on all sides, where each access has a test
        self.whole_lines: Text = TRUE               # whether lines of those end with whole vectors
        self.ruled = False                          # a walk for blocks whose lines do not
        self.turn: Name = Name(names.take("turn"), 0)

    @property
    def led(self) -> tuple[Led, ...]:
        """The reductions that planes are taken into."""
        return self.shape.led

    @property
    def count(self) -> int:
        """Outputs that a thread finishes in a turn."""
        return self.shape.items.count

    def ago(self, part: Part) -> int:
        """Turns since the newest plane of a part came; before as many turns there is none."""
        return next(r.high for r in self.shape.rings if r.tensor == part.tensor) - part.newest

    # ---- places

    def place(self, ring: Ring) -> InParts:
        """Where what is held of a tensor lies, as seen from the finished plane."""
        source = self.frame.source_of(ring.tensor)
        parts = [p for p in self.shape.parts if p.tensor == ring.tensor]
        rows = []
        for part in parts:
            origin = tuple((self.frame.at[a.index] if a.index else Int(0)) + a.low for a in part.axes)
            rows.append(InRows(self.arrays[part], origin, part.strides, source))
        extents = tuple(tuple(p.depth if n == p.walked else p.extent(n) for n in range(len(p.axes))) for p in parts)
        return InParts(tuple(rows), extents, source)

    @contextmanager
    def over_items(self, at: Mapping[str, Expr]) -> Iterator[tuple[Expr, dict[str, Expr]]]:
        """Loops over the lines and the outputs of each."""
        items = self.shape.items
        line: Expr = Name(self.names.take("line"), 0, items.lines - 1) if items.lines > 1 else Int(0)
        item: Expr = Name("item", 0, items.columns - 1) if items.columns > 1 else Int(0)
        here = {**at, items.beside: at[items.beside] + line, items.lined: at[items.lined] + item}
        with self.frame.lowering.block() as body:
            yield line * items.columns + item, here
        self.frame.lowering.emit(*nested([(line, items.lines), (item, items.columns)], body))
        if items.lines > 1:
            self.names.release(str(line))

    def where_valid(self, at: Mapping[str, Expr], body: list[Step]) -> None:
        """A test only where something is read from memory at the output's own place."""
        emit_when(self.frame, self.inside(at, self.frame.indices[-2:]) if self._reads_elsewhere() else TRUE, body)

    def _reads_elsewhere(self) -> bool:
        held = {r.tensor for r in self.shape.rings} | {w.tensor for w in self.shape.weights}
        return any(t not in held and moves(f) for t, f in self.shape.found.items())


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
    threads = [(knobs.lanes, knobs.columns * lined), (knobs.down, knobs.lines * beside)]
    items = [(knobs.columns, lined), (knobs.lines, beside), (knobs.planes, walked)]
    made = owned(work, tile, threads, items, shape.weights, shape.found, knobs.most_vector)
    return replace(made, maps={r.tensor: TensorMap(r.extents) for r in shape.rings if r.boxed})


def with_rings(made: Pass, work: Work, shape: Shape) -> Pass:
    """The pass with the planes that a block holds."""
    storage = (*made.storage, *(_storage(r, shape) for r in shape.rings))
    masks = masks_of(work.kernel, work.equations, made.extents, made.tile, made.footprints, storage)
    bytes = made.shared_bytes + shape.shared_bytes + shape.barriers
    return replace(made, storage=storage, masks=masks, shared_bytes=bytes, dynamic_bytes=shape.shared_bytes)


def _storage(ring: Ring, shape: Shape) -> Storage:
    if not ring.planes:
        return _held(ring, shape)
    extents = tuple(ring.planes if n == ring.walked else e for n, e in enumerate(ring.extents))
    passing = tuple(shape.knobs.planes + ring.high - ring.low if n == ring.walked else e
                    for n, e in enumerate(ring.extents))
    return Storage(ring.tensor, "shared", ring.type, extents, ring.axes, passing=passing, vector=ring.vector)


def _held(ring: Ring, shape: Shape) -> Storage:
    """What each thread holds, where planes come through the cache."""
    of_thread = [extent_of(a, shape.items) for a in ring.axes]
    depth = max(p.depth for p in shape.parts if p.tensor == ring.tensor)
    extents = tuple(depth if n == ring.walked else e for n, e in enumerate(of_thread))
    planes = shape.knobs.planes + ring.high - ring.low
    passing = tuple(planes if n == ring.walked else e for n, e in enumerate(of_thread))
    return Storage(ring.tensor, "registers", ring.type, extents, ring.axes, passing=passing, vector=ring.vector)
