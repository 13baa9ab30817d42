"""Strategy: reductions over two tensors where each serves many outputs, whatever is made of their elements.

A block makes a tile of outputs with two sides, each moved by one factor alone, walks the sum in chunks that wait in two
buffers, and a thread makes a few outputs along either side, so that every element that it takes from shared memory
serves several products. The tile is one that a schedule could have named: the rest is the tile strategy's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Self

from layoutc.diagnostics import LayoutcError
from layoutc.index import Int
from layoutc.integers import next_power_of_two
from layoutc.layout import Layout
from layoutc.plan.cost import cost_of, nominal_extents
from layoutc.plan.machine import ACCESS_BYTES, WARP
from layoutc.plan.names import Names
from layoutc.plan.nodes import Refusal
from layoutc.plan.products.sides import sides_of
from layoutc.plan.reads.chunks import TREES, Chunk, number_of_chunks, reductions_of
from layoutc.plan.reads.footprints import Footprint, footprints
from layoutc.plan.strategies.tile import Tile
from layoutc.plan.work import Made, Work
from layoutc.resolve.program import Const, Reduce, Schedule, StageChoice, Threads

COLUMNS, COLUMN_ITEMS = 128, 4      # outputs of a block and of a thread along the last index, which moves one factor
ROWS, ROW_ITEMS = 64, 8             # along the last of the indices that move the other
SHORT_COLUMNS, SHORT_ROWS = 32, 16  # along the last index of a side where a second one, the band, has some too
SHORT_ITEMS = 2                     # of these rows that a thread makes
BAND = 4                            # along the band, all in one thread
LEAST_SIDE = 4                      # outputs on a side below which a factor serves too few of them
CHUNKS = (16, 8, 4, 2, 1)
ODD_CHUNKS = (17, 9, 5, 3, 1)       # where lanes lie a chunk apart in shared memory: no two on one bank
SHARED_BYTES = 36 * 1024            # of both buffers
SHARED_SPEED = 8                    # bytes that come from shared memory while memory gives one


@dataclass(frozen=True, slots=True)
class Shape:
    """A reduction over two tensors: which indices move which."""

    before: tuple[Chunk, ...]   # indices of the sum that come first, of which a chunk has one value
    chunk: Chunk                # the first that moves both factors
    factors: tuple[Footprint, Footprint]
    rows: tuple[str, ...]       # one or two indices of the outputs that move the first factor alone, the last last
    columns: tuple[str, ...]    # the same of the second factor; the outputs' last index among them

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """All that are walked."""
        return (*self.before, self.chunk)

    @property
    def apart(self) -> bool:
        """Whether neighbouring columns lie a chunk apart: the chunked index is inside of theirs."""
        order = [a.index for a in self.factors[1].axes or ()]
        return order.index(self.chunk.index) > order.index(self.columns[-1])


@dataclass(frozen=True, slots=True)
class Sides:
    """Outputs of a block and of a thread along the indices that matter."""

    tile: dict[str, int]
    items: dict[str, int]

    def made(self, side: tuple[str, ...]) -> int:
        """Outputs of a thread along one side."""
        return prod(self.items[i] for i in side)


@dataclass(frozen=True, slots=True)
class Contraction:
    """A tile in chunks."""

    tile: Tile
    cost: float

    @classmethod
    def try_plan(cls, work: Work) -> Self | Refusal:
        """The tile, if factors serve enough outputs and the schedule leaves it open."""
        told = work.schedule or Schedule(None)
        if told.tile or told.threads or told.stages or told.vector or told.loads or told.stores:
            return Refusal("contraction", "the schedule says how outputs are divided or where tensors wait")
        shape = _shape_of(work)
        if isinstance(shape, str):
            return Refusal("contraction", shape)
        sides = _sides_of(work, shape)
        if min(prod(sides.tile[i] for i in side) for side in (shape.rows, shape.columns)) < LEAST_SIDE:
            return Refusal("contraction", "the outputs are too few for factors to serve many of them")
        for size in ODD_CHUNKS if shape.apart else CHUNKS:
            schedule = _schedule(work, told, shape, sides, size)
            try:
                tile = Tile.try_plan(replace(work, schedule=schedule))
            except LayoutcError as error:
                return Refusal("contraction", error.diagnostics[0].message)
            held = sum(s.bytes * s.copies for s in tile.choice.storage if s.where == "shared")
            if held <= min(SHARED_BYTES, tile.chooser.staging.budget):
                return cls(tile, _cost(work, shape, sides, tile))
        return Refusal("contraction", "one step of both factors does not fit twice in shared memory")

    def plan(self, names: Names, entry: str) -> Made:
        """The pass under its name in the text."""
        return self.tile.plan(names, entry)


def _shape_of(work: Work) -> Shape | str:
    """The sum of products that the equations are, or why they are none."""
    reductions = reductions_of(work.kernel, work.equations)
    if not reductions or not work.indices:
        return "nothing is reduced to outputs with indices"
    if len({tuple(b.name for b in r.binders) for r in reductions}) > 1:
        return "the reductions run over different indices"
    ordered = any(map(_keeps_order, reductions))
    chunks: tuple[Chunk, ...] = ()
    for b in reductions[0].binders:
        chunks = (*(chunks if ordered else ()), Chunk(b.name, 1, b.low, b.high))
        found = footprints(work.kernel, work.equations, chunked=tuple(c.index for c in chunks))
        factors = [f for f in found.values() if b.name in _moving(f)]
        if len(factors) == 2:
            return _sides_by(work, chunks, factors)
    return "no index of the reduction moves two factors"


def _keeps_order(r: Reduce) -> bool:
    """Whether the language fixes the order of its elements."""
    if r.op in TREES or (r.op in ("sum", "prod") and not r.type.is_float):
        return False
    return r.op not in ("sum", "prod") or all(isinstance(end, Const) for b in r.binders for end in (b.low, b.high))


def _sides_by(work: Work, chunks: tuple[Chunk, ...], factors: list[Footprint]) -> Shape | str:
    """The sides of the tile that two factors give."""
    left, right = factors
    sides = sides_of(work.indices, _moving(left), _moving(right))
    if isinstance(sides, str):
        return sides
    first, second = (left, right) if sides.left_is_rows else (right, left)
    return Shape(chunks[:-1], chunks[-1], (first, second), sides.rows[-2:], sides.columns[-2:])


def _moving(f: Footprint) -> set[str | None]:
    return {a.index for a in f.axes or ()}


def _sides_of(work: Work, shape: Shape) -> Sides:
    """Powers of two, no larger than the outputs need."""
    tile, items = dict.fromkeys(work.indices, 1), {}
    narrow = {len(shape.columns): (COLUMNS, COLUMN_ITEMS), 2: (SHORT_COLUMNS, 1)}[len(shape.columns)]
    rows = {len(shape.rows): (ROWS if len(shape.columns) == 1 else ROWS // 2, ROW_ITEMS),
            2: (SHORT_ROWS, SHORT_ITEMS)}[len(shape.rows)]
    for side, (most, made) in ((shape.columns, narrow), (shape.rows, rows)):
        for index, (outputs, own) in zip(side, ((BAND, BAND), (most, made))[-len(side):], strict=True):
            tile[index] = min(outputs, next_power_of_two(work.outputs_along(index)))
            items[index] = min(own, tile[index])
    last = shape.columns[-1]
    items[last] = min(items[last], max(tile[last] // WARP, 1))
    return Sides(tile, items)


def _schedule(work: Work, told: Schedule, shape: Shape, sides: Sides, size: int) -> Schedule:
    """What a person would write: the tile with its chunks, who makes what, both factors in two buffers."""
    types = {t.name: t.type for t in work.kernel.inputs}
    widest = max(types[f.tensor].bytes for f in shape.factors if f.tensor in types)
    stages = tuple(StageChoice(f.tensor, "shared", double=True, span=told.span) for f in shape.factors)
    chunks = (*((c.index, 1) for c in shape.before), (shape.chunk.index, size))
    tile = (*((i, n) for i, n in sides.tile.items() if n > 1), *chunks)
    return replace(told, tile=tile, threads=Threads(layout=_owner(work, shape, sides)), stages=stages,
                   vector=ACCESS_BYTES // widest)


def _owner(work: Work, found: Shape, sides: Sides) -> Layout:
    """Neighbouring threads at neighbouring columns, a thread's own a round apart; its other items side by side."""
    after = {i: prod(sides.tile[j] for j in work.indices[n + 1:]) for n, i in enumerate(work.indices)}
    threads: list[tuple[int, int]] = []
    items: list[tuple[int, int]] = []
    for index in (*reversed(found.columns), *reversed(found.rows)):
        made = sides.items[index]
        rounds = sides.tile[index] // made
        apart = index == found.columns[-1]
        threads.append((rounds, after[index] * (1 if apart else made)))
        items.append((made, after[index] * (rounds if apart else 1)))
    modes = [[m for m in side if m[0] > 1] or [(1, 0)] for side in (threads, items)]
    shape, stride = (tuple(tuple(mode[part] for mode in side) for side in modes) for part in (0, 1))
    return Layout(shape, stride)


def _cost(work: Work, shape: Shape, sides: Sides, tile: Tile) -> float:
    """Every chunk's boxes from memory, and what a thread takes from them for all of its outputs."""
    outputs = prod(sides.tile.values())
    first, second = (f.tensor for f in shape.factors)
    served = {first: sides.made(shape.columns), second: sides.made(shape.rows)}
    nominal = nominal_extents(work.kernel)
    chunks = number_of_chunks(tile.choice.chunks, nominal)
    found = footprints(work.kernel, work.equations, extents=nominal, chunked=tile.choice.chunked)
    shared = {}
    for s in tile.choice.storage:
        if s.tensor in served and isinstance(chunks, Int):
            loaded = s.bytes * chunks.value / (outputs * max(found[s.tensor].reads, 1))
            shared[s.tensor] = loaded + s.type.bytes / served[s.tensor] / SHARED_SPEED
    made = work.outputs_along(*work.indices)
    launched = prod(-(-work.outputs_along(i) // n) * n for i, n in sides.tile.items())
    threads = launched // outputs * tile.choice.owner.threads
    return cost_of(work.kernel, work.equations, shape.columns[-1], threads, shared) * launched / max(made, 1)
