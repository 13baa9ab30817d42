"""How a sum of products is divided: outputs of a block and of a thread, lanes of a warp, steps of a chunk."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod

from layoutc.index import Expr
from layoutc.integers import next_power_of_two
from layoutc.plan.machine import ACCESS_BYTES, WARP
from layoutc.plan.products.shape import Factor, Product
from layoutc.plan.reads.chunks import Chunk
from layoutc.resolve.program import Binder, Const

SIDES = {0: 64, 1: 128, 2: 128}     # outputs of a block along a side at most, by how many factors lie along theirs
BLOCK_BYTES = 32768     # that the sums of a block take in registers at most: three blocks share a multiprocessor
ITEMS = {4: (8, 8), 8: (8, 4)}      # outputs of a thread along rows and columns, by the bytes of an element
ROW_LANES = 4           # lanes of a warp along the rows
LEAST_SIDE = 4          # outputs along a side below which a factor serves too few of them
STEPS = {0: 32, 1: 16, 2: 32}       # of a chunk, about
TURNS = {0: 1, 1: 4, 2: 4}          # of the loop over them that are written out: vectors along the sum take registers
LEAST_STEPS = 16        # of a chunk in which no range is whole but the innermost
MOST_STEPS = (32, 28, 22, 16, 12, 8, 4, 2, 1)   # the most for which both buffers find room
BUFFERS = 2             # of each factor: one arrives while the other is multiplied


@dataclass(frozen=True, slots=True)
class Side:
    """Outputs along one side of a block's tile, and who makes them."""

    outputs: int
    lanes: int          # of a warp, neighbours along it
    items: int          # of a thread
    vector: int         # elements of its factor that lie side by side in shared memory, along the side or the sum
    along: bool         # along the side; else along the sum
    pitch: int          # elements from one row in shared memory to the next

    @property
    def warps(self) -> int:
        """Of the block."""
        return self.outputs // (self.lanes * self.items)

    def first(self, warp: Expr, lane: Expr) -> Expr:
        """The place of a thread's first item, by the number of its warp and of its lane along the side."""
        return warp * (self.lanes * self.items) + lane * (self.vector if self.along else 1)

    def after(self, item: Expr) -> Expr:
        """How far an item lies from the first: vectors along the side, else one by one between those of other lanes."""
        if not self.along:
            return item * self.lanes
        return item // self.vector * (self.lanes * self.vector) + item % self.vector


@dataclass(frozen=True, slots=True)
class Steps:
    """A chunk of the sum: ``outer`` indices have one value in it, ``chunk`` some, ``inner`` all of theirs."""

    outer: tuple[Chunk, ...]
    chunk: Chunk
    inner: tuple[Binder, ...]

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """All indices that are walked."""
        return (*self.outer, self.chunk)

    @property
    def each(self) -> int:
        """Steps for one value of the chunked index."""
        return prod(b.count or 0 for b in self.inner)

    @property
    def count(self) -> int:
        """Steps of a whole chunk."""
        return self.chunk.size * self.each


@dataclass(frozen=True, slots=True)
class Division:
    """All that is decided of a product."""

    rows: Side
    columns: Side
    steps: Steps
    vector: int         # steps that are taken together

    @property
    def threads(self) -> int:
        """Of a block."""
        return self.rows.warps * self.columns.warps * WARP

    @property
    def items(self) -> int:
        """Outputs of a thread."""
        return self.rows.items * self.columns.items

    @property
    def run(self) -> int:
        """Outputs side by side that a thread makes."""
        return self.columns.vector if self.columns.along else 1

    @property
    def sides(self) -> tuple[Side, Side]:
        """Rows and columns."""
        return self.rows, self.columns

    def first(self, thread: Expr) -> tuple[Expr, Expr]:
        """Where a thread's outputs begin, along the rows and along the columns.

        Neighbouring lanes differ in their rows alone, and every second ones in their columns alone: of a load of 16
        bytes, halves of a warp are served at once where either pairs of neighbours or every second ones read the same.
        """
        warp, lane = thread // WARP, thread % WARP
        beside = min(self.rows.lanes, 2)
        row = lane % beside + lane // (beside * self.columns.lanes) * beside
        column = lane // beside % self.columns.lanes
        return (self.rows.first(warp // self.columns.warps, row),
                self.columns.first(warp % self.columns.warps, column))

    @property
    def turns(self) -> int:
        """Turns of the loop over the steps of a chunk that are written out."""
        return TURNS[self.rows.along + self.columns.along]

    def size(self, side: Side) -> int:
        """Elements of one buffer of a side's factor."""
        return side.pitch * (self.steps.count if side.along else side.outputs)


def divide(product: Product, rows: int, columns: int, room: int) -> Division | str:
    """The division for about so many rows and columns, in ``room`` bytes of shared memory; or why there is none."""
    for most in MOST_STEPS:
        found = _divided(product, rows, columns, most)
        if isinstance(found, str) or shared_bytes(product, found) <= room:
            return found
    return "one step of both factors does not fit twice in shared memory"


def shared_bytes(product: Product, division: Division) -> int:
    """Bytes of both buffers of both factors."""
    sizes = zip(product.factors, division.sides, strict=True)
    return sum(BUFFERS * division.size(side) * f.type.bytes for f, side in sizes)


def _divided(product: Product, rows: int, columns: int, most: int) -> Division | str:
    bytes = max(f.type.bytes for f in product.factors)
    along = sum(f.runs_along_side for f in product.factors)
    high, wide = _tile(next_power_of_two(rows), next_power_of_two(columns), bytes, SIDES[along])
    if high * wide < WARP or min(high, wide) < LEAST_SIDE:
        return "the outputs are too few for factors to serve many of them"
    row_lanes = min(max(ROW_LANES, WARP // wide), high)
    lanes = (row_lanes, WARP // row_lanes)
    steps = steps_of(product, most, STEPS[along])
    vector = gcd(ACCESS_BYTES // bytes, steps.count)
    sides = [_side(f, n, lane, min(most, n // lane), steps, vector)
             for f, n, lane, most in zip(product.factors, (high, wide), lanes, ITEMS[bytes], strict=True)]
    return Division(sides[0], sides[1], steps, vector)


def _tile(rows: int, columns: int, bytes: int, side: int) -> tuple[int, int]:
    """Powers of two, no larger than the outputs need: what one side lacks the other may have."""
    most = BLOCK_BYTES // bytes
    high, wide = min(rows, side), min(columns, side)
    while high * wide > most:
        high, wide = (high // 2, wide) if high > wide else (high, wide // 2)
    return high, wide


def _side(f: Factor, outputs: int, lanes: int, items: int, steps: Steps, vector: int) -> Side:
    if f.runs_along_side:
        return Side(outputs, lanes, items, gcd(ACCESS_BYTES // f.type.bytes, items), True, outputs)
    pitch = steps.count if steps.count // vector % 2 else steps.count + vector      # lanes apart are banks apart
    return Side(outputs, lanes, items, vector, False, pitch)


def steps_of(product: Product, most: int, wanted: int) -> Steps:
    """The longest run of the last indices that a chunk has whole, and some values of the one before them."""
    binders = product.reduce.binders
    each, number = 1, len(binders) - 1
    while number > 0 and (count := binders[number].count) is not None and 0 < each * count < min(LEAST_STEPS, most):
        each, number = each * count, number - 1
    outer = tuple(Chunk(b.name, 1, b.low, b.high) for b in binders[:number])
    b = binders[number]
    return Steps(outer, Chunk(b.name, _values(b, each, most, wanted), b.low, b.high), binders[number + 1:])


def _values(b: Binder, each: int, most: int, wanted: int) -> int:
    """Values of the chunked index: about enough for a chunk, steps in whole vectors, a divisor of all if there is."""
    if b.count is not None and 0 < b.count * each <= min(wanted, most):
        return b.count
    possible = range(1, max(most // each, 1) + 1)
    found = [n for n in possible if b.count is None or b.count == 0 or b.count % n == 0]
    if each * max(found) < wanted // 2:
        found = list(possible)
    return min(found, key=lambda n: (n * each < wanted // 2, -gcd(n * each, 4), abs(n * each - wanted)))


def begins_at_multiples_of(steps: Steps) -> int:
    """A number that divides the first value of the chunked index in every chunk."""
    low = steps.chunk.low
    return gcd(steps.chunk.size, int(low.value)) if isinstance(low, Const) else 1
