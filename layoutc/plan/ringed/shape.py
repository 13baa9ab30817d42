"""How rows pass through shared memory: how many at once, how much of a row a block brings, who makes what of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from layoutc.plan.machine import ACCESS_BYTES, LINE_BYTES, REGISTERS, WARP, WORD
from layoutc.plan.passing.weights import in_lines
from layoutc.plan.passing.widths import words_of
from layoutc.plan.reads.reach import grown
from layoutc.plan.window.bands import Band
from layoutc.plan.window.cost import read_of_row
from layoutc.plan.window.registers import RESIDENT_THREADS, STEP
from layoutc.plan.window.shape import Knobs as WalkKnobs
from layoutc.plan.window.shape import Shape as WalkShape
from layoutc.plan.window.shape import shape_of as walk_of
from layoutc.plan.work import Work

PLACES = 24                 # registers of a thread for places, counters and what is on its way
FEW_PLACES = 12             # of narrow types, which are on their way in fewer
PIECES = 8                  # more where a row comes in several vectors
COMMON = 63                 # registers that the threads of a warp have in common, of 32 bits
MOST_BLOCKS = 16            # of a multiprocessor: all that there are from compute capability 7.5 on
OF_A_BLOCK = 1024           # bytes of shared memory that the machine takes for each block


@dataclass(frozen=True, slots=True)
class Knobs:
    """What may be chosen freely."""

    columns: int            # outputs side by side that a thread makes
    threads: int            # of a block, side by side
    rows: int               # of a tile
    group: int              # rows that come together
    written: int            # of them, that are written out
    stages: int             # groups of rows in shared memory: one is worked on, the others are on their way
    rounds: int = 1         # of the blocks that the machine holds, at most; 0: every block has one tile
    most_vector: int = 0    # elements that an access moves at most, where the schedule says so
    peeled: bool = False    # whether a tile's interior is a text of its own, its first and last groups written out


@dataclass(frozen=True, slots=True)
class Ring:
    """A tensor's rows in shared memory: a block's columns at whole lines of it, and vectors beside them.

    What lies behind the columns stands before the next row's.
    """

    band: Band
    vector: int             # elements that a copy moves
    before: int             # vectors of a row that lie before the block's columns
    main: int               # as many as the columns are
    behind: int             # and behind them

    @property
    def pitch(self) -> int:
        """Elements from one row to the next."""
        return self.lead + in_whole_lines(self.main) * self.vector

    @property
    def sides(self) -> int:
        """Vectors of a row that are not the columns' own."""
        return self.before + self.behind

    @property
    def lead(self) -> int:
        """Elements of a row before the block's columns."""
        return in_whole_lines(self.before + self.behind) * self.vector


@dataclass(frozen=True, slots=True)
class Shape:
    """A walk with rows in rings: everything that its text is made from."""

    knobs: Knobs
    walk: WalkShape             # of a tile, as if each thread read for itself
    rings: tuple[Ring, ...]

    @property
    def walked(self) -> str:
        """The index along which rows follow each other."""
        assert self.walk.walked is not None
        return self.walk.walked

    @property
    def lined(self) -> str:
        """The index along which a row's elements follow each other."""
        assert self.walk.lined is not None
        return self.walk.lined

    @property
    def shared_bytes(self) -> int:
        """Of a block: all rings."""
        return sum(bytes_of(self, r) for r in self.rings)

    @property
    def is_narrow(self) -> bool:
        """Whether what waits in shared memory takes less room than in registers."""
        return all(r.band.type.bytes < WORD for r in self.rings)

    @property
    def registers(self) -> int:
        """Of 32 bits a thread, about as many as the compiler takes."""
        walk = self.walk
        words = FEW_PLACES if self.is_narrow else PLACES
        words += sum(b.depth * read_of_row(walk, b) * words_of(b.type) for b in walk.bands)
        words += sum(one.rows * self.knobs.columns * words_of(one.reduce.type) for one in walk.led)
        held = sum(prod(s.extents) * words_of(s.type) for s in walk.weights if s.where == "registers")
        lines = (s.extents[-1] * words_of(s.type) for s in walk.weights if s.where == "shared")
        words += max(held - COMMON, 0) + max(lines, default=0)
        words += PIECES if any(self.knobs.columns > r.vector for r in self.rings) else 0
        return -(-words // STEP) * STEP

    def resident(self, room: int) -> int:
        """Blocks of a multiprocessor with so much shared memory."""
        by_registers = min(REGISTERS // self.registers, RESIDENT_THREADS) // self.knobs.threads
        return min(by_registers, room // (self.shared_bytes + OF_A_BLOCK), MOST_BLOCKS)


def in_whole_lines(vectors: int) -> int:
    """So many, or some more that fill whole lines of shared memory: copies to parts of two take twice as long."""
    whole = LINE_BYTES // ACCESS_BYTES
    return -(-vectors // whole) * whole


def elements_of(shape: Shape, ring: Ring) -> int:
    """Of one ring: its rows, and what lies behind the last one's columns."""
    after = in_whole_lines(ring.behind) * ring.vector
    return shape.knobs.stages * shape.knobs.group * ring.pitch + after


def bytes_of(shape: Shape, ring: Ring) -> int:
    """Of one ring."""
    return elements_of(shape, ring) * ring.band.type.bytes


def shape_of(work: Work, walked: str, knobs: Knobs) -> Shape | str:
    """The walk, or why there is none."""
    walk = walk_of(work, walked, WalkKnobs(knobs.columns, knobs.rows, knobs.threads, most_vector=knobs.most_vector))
    if isinstance(walk, str):
        return walk
    if knobs.peeled and (knobs.rows + walk.delay) % knobs.group:
        return "a tile's rows are no whole groups"
    if not walk.led:
        return "no sums follow the rows"
    walk = _without_still(replace(walk, weights=tuple(in_lines(s, walk.led) for s in walk.weights)))
    found = grown(work.kernel, work.equations, frozenset(s.name for s in walk.kept))
    rings: list[Ring] = []
    for band in walk.bands:
        if band.depth > 1:
            return f"a thread would hold rows of `{band.tensor}` beside their sums"
        if band.is_let:
            continue
        if found[band.tensor].axes is None or not _in_lines(band, walk):
            return f"`{band.tensor}` is not read in lines that move on with the rows"
        made = _ring(work, band, knobs)
        if isinstance(made, str):
            return made
        rings.append(made)
    return Shape(knobs, walk, tuple(rings))


def _without_still(walk: WalkShape) -> WalkShape:
    """The walk without tensors that no row moves and no sum reads: they are read where they lie, once an output."""
    still = {b.tensor for b in walk.bands if b.walked is None and not any(b.tensor in led.reads for led in walk.led)}
    return replace(walk, bands=tuple(b for b in walk.bands if b.tensor not in still), apart=walk.apart or bool(still))


def _in_lines(band: Band, walk: WalkShape) -> bool:
    """Whether a row is one line, and the next output's begins with the next element."""
    last = band.axes[-1]
    return (band.walked is not None and last.index == walk.lined and last.scale == 1
            and band.axes[band.walked].scale == 1 and band.row == band.extent(len(band.axes) - 1))


def _ring(work: Work, band: Band, knobs: Knobs) -> Ring | str:
    """The ring of a tensor, or why it has none."""
    vector = ACCESS_BYTES // band.type.bytes
    can = work.signature.vectors[work.signature.of(work.kernel, band.tensor)]
    if min(can, knobs.most_vector or can) < vector or knobs.threads * knobs.columns % vector:
        return f"copies of `{band.tensor}` are not of {ACCESS_BYTES} bytes each"
    last = band.axes[-1]
    before, behind = (-(-max(reach, 0) // vector) for reach in (-last.low, last.high))
    main = knobs.threads * knobs.columns // vector
    if knobs.threads % WARP or (main % knobs.threads and knobs.threads % main):
        return "threads are no whole warps that share a row evenly"
    if (before + behind) * knobs.group > knobs.threads:
        return f"rows of `{band.tensor}` reach too far to either side"
    return Ring(band, vector, before, main, behind)
