"""Strategy: sums of products where each factor serves many outputs (matrix products, convolution layers).

A block makes a square-ish tile, walks the first index of the sum in chunks that wait in two buffers, and a thread
makes a few outputs along either side, so that every element that it takes from shared memory serves several products.
The tile is one that a schedule could have named: the rest is the tile strategy's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Self

from layoutc.diagnostics import LayoutcError
from layoutc.index import Int
from layoutc.layout import Layout
from layoutc.plan.chunks import Chunk, reductions_of
from layoutc.plan.cost import cost_of, nominal_along, nominal_extents
from layoutc.plan.halo import Footprint, footprints
from layoutc.plan.names import Names
from layoutc.plan.nodes import Refusal
from layoutc.plan.strategies.nodes import Made, Work
from layoutc.plan.strategies.tile import Tile
from layoutc.resolve.program import Schedule, StageChoice, Threads

ROWS, ROW_ITEMS = 64, 8             # outputs of a block on the side of one factor, and of a thread
COLUMNS, COLUMN_ITEMS = 128, 4      # on the side of the other, where it is one index
BANDS, BAND_ITEMS = 4, 4            # along a second index of that side, beside 32 of the last: a thread has them all
BAND_COLUMNS, BAND_ROWS = 32, 32
LEAST_SIDE = 4                      # outputs on a side below which a factor serves too few of them
CHUNKS = (16, 8, 4, 2, 1)
SHARED_BYTES = 24 * 1024            # of both buffers, so that two blocks fit beside each other
SHARED_SPEED = 8                    # bytes that come from shared memory while memory gives one
WARP = 32               # lanes, at neighbouring columns: they read neighbours of one factor, one element of the other
ACCESS_BYTES = 16


@dataclass(frozen=True, slots=True)
class Shape:
    """A sum of products: which indices move which factor."""

    chunk: Chunk
    factors: tuple[Footprint, Footprint]
    rows: str               # the index of the outputs that moves the first factor alone
    columns: str            # the last index, which moves the second factor alone
    band: str | None        # another one that moves the second alone, before the last


@dataclass(frozen=True, slots=True)
class Sides:
    """Outputs of a block and of a thread along the indices that matter."""

    tile: dict[str, int]
    items: dict[str, int]


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
        if min(sides.tile[shape.rows], sides.tile[shape.columns]) < LEAST_SIDE:
            return Refusal("contraction", "the outputs are too few for factors to serve many of them")
        for size in CHUNKS:
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
    binder = reductions[0].binders[0]
    if not all(r.binders[0].name == binder.name for r in reductions):
        return "the reductions do not begin with one index"
    found = footprints(work.kernel, work.equations, chunked=(binder.name,))
    factors = [f for f in found.values() if f.axes is not None and any(a.index == binder.name for a in f.axes)]
    if len(factors) != 2:
        return f"{len(factors)} tensors move with `{binder.name}`, where two factors would"
    last = work.indices[-1]
    factors.sort(key=lambda f: last in _moving(f))
    rows, columns = map(_moving, factors)
    if last in rows or last not in columns:
        return f"`{last}` does not move one factor alone"
    alone = [i for i in work.indices if i in rows - columns]
    if not alone:
        return "one factor moves with every index of the other"
    beside = [i for i in work.indices[:-1] if i in columns - rows]
    first, second = factors
    return Shape(Chunk(binder.name, 1, binder.low, binder.high), (first, second), alone[-1], last,
                 beside[-1] if beside else None)


def _moving(f: Footprint) -> set[str | None]:
    return {a.index for a in f.axes or ()}


def _sides_of(work: Work, shape: Shape) -> Sides:
    """Powers of two, no larger than the outputs need."""
    tile = dict.fromkeys(work.indices, 1)
    if shape.band is None:
        wanted = {shape.rows: (ROWS, ROW_ITEMS), shape.columns: (COLUMNS, COLUMN_ITEMS)}
    else:
        wanted = {shape.rows: (BAND_ROWS, ROW_ITEMS), shape.band: (BANDS, BAND_ITEMS),
                  shape.columns: (BAND_COLUMNS, 1)}
    items = {}
    for index, (side, most) in wanted.items():
        tile[index] = min(side, _power_of_two(_outputs(work, index)))
        items[index] = min(most, tile[index])
    items[shape.columns] = min(items[shape.columns], max(tile[shape.columns] // WARP, 1))
    return Sides(tile, items)


def _outputs(work: Work, index: str) -> int:
    """How many outputs there are along an index; a nominal number where the call decides."""
    return nominal_along(work.kernel, work.equations[0], work.indices.index(index))


def _power_of_two(n: int) -> int:
    """The least that is no smaller."""
    return 1 << max(n - 1, 0).bit_length()


def _schedule(work: Work, told: Schedule, shape: Shape, sides: Sides, size: int) -> Schedule:
    """What a person would write: the tile with a chunk, who makes what, both factors in two buffers."""
    types = {t.name: t.type for t in work.kernel.inputs}
    widest = max(types[f.tensor].bytes for f in shape.factors)
    stages = tuple(StageChoice(f.tensor, "shared", double=True, span=told.span) for f in shape.factors)
    tile = (*((i, n) for i, n in sides.tile.items() if n > 1), (shape.chunk.index, size))
    return replace(told, tile=tile, threads=Threads(layout=_owner(work, shape, sides)), stages=stages,
                   vector=ACCESS_BYTES // widest)


def _owner(work: Work, found: Shape, sides: Sides) -> Layout:
    """Neighbouring threads at neighbouring columns, a thread's own a round apart; its other items side by side."""
    after = {i: prod(sides.tile[j] for j in work.indices[n + 1:]) for n, i in enumerate(work.indices)}
    threads: list[tuple[int, int]] = []
    items: list[tuple[int, int]] = []
    for index in (found.columns, found.band, found.rows):
        if index is None:
            continue
        made = sides.items[index]
        rounds = sides.tile[index] // made
        apart = index == found.columns
        threads.append((rounds, after[index] * (1 if apart else made)))
        items.append((made, after[index] * (rounds if apart else 1)))
    modes = [[m for m in side if m[0] > 1] or [(1, 0)] for side in (threads, items)]
    shape, stride = (tuple(tuple(mode[part] for mode in side) for side in modes) for part in (0, 1))
    return Layout(shape, stride)


def _cost(work: Work, shape: Shape, sides: Sides, tile: Tile) -> float:
    """Every chunk's boxes from memory, and what a thread takes from them for all of its outputs."""
    outputs = prod(sides.tile.values())
    first, second = (f.tensor for f in shape.factors)
    served = {first: prod(n for i, n in sides.items.items() if i != shape.rows), second: sides.items[shape.rows]}
    nominal = nominal_extents(work.kernel)
    steps = shape.chunk.last(nominal) - shape.chunk.first(nominal)
    found = footprints(work.kernel, work.equations, extents=nominal, chunked=(shape.chunk.index,))
    shared = {}
    for s in tile.choice.storage:
        if s.tensor in served and isinstance(steps, Int):
            taps = max(found[s.tensor].reads / max(steps.value, 1), 1)      # of an output, a step of the chunk
            loaded = s.bytes / (outputs * tile.choice.chunks[0].size * taps)
            shared[s.tensor] = loaded + s.type.bytes / served[s.tensor] / SHARED_SPEED
    made = prod(_outputs(work, i) for i in work.indices)
    launched = prod(-(-_outputs(work, i) // n) * n for i, n in sides.tile.items())
    threads = launched // outputs * tile.choice.owner.threads
    return cost_of(work.kernel, work.equations, shape.columns, threads, shared) * launched / made
