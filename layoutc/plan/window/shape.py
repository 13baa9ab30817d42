"""How a pass is walked: which rows a thread holds, how many it makes, and which threads stand where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from layoutc.plan.machine import ACCESS_BYTES, WARP
from layoutc.plan.nodes import Storage
from layoutc.plan.passing.led import Led, led_reductions
from layoutc.plan.passing.weights import moves, weights_of
from layoutc.plan.passing.widths import in_vectors, words_of
from layoutc.plan.reads.footprints import Footprint, footprints
from layoutc.plan.reads.reach import grown
from layoutc.plan.window.bands import MOST_HELD, Band, is_band, read_directly
from layoutc.plan.work import Work
from layoutc.resolve.program import Stage

KEPT_FROM = 2               # evaluations an output from which a let's rows are held
MOST_REGISTERS = 200        # of 32 bits, a thread


@dataclass(frozen=True, slots=True)
class Knobs:
    """What may be chosen freely."""

    columns: int            # outputs side by side that a thread makes
    rows: int               # outputs one after the other
    across: int             # threads along the last index
    down: int = 1           # threads along the walked index
    beside: int = 1         # threads along the index before the last, where that is another
    ahead: int = 0          # rows taken before they are read
    ring: int = 0           # rows on their way in shared memory, in place of that
    turns: int = 0          # rows written out together; 0: all
    turned: bool = False    # whether rows that lie along a tensor's last axis are taken at once
    peeled: bool = False        # whether the first and last turns are written out, those between them in a loop
    prefetch: int = 0           # rows before it is read that a row is asked for from memory
    exchanged: bool = False     # whether threads read along the walked index and store along the last one
    lanes: int = WARP       # of a warp along the last index; the others along the walked one
    ring_of_any: bool = False   # whether rows may come through shared memory in accesses of fewer bytes
    most_vector: int = 0    # elements an access moves at most, where the schedule says so
    exact: bool = False     # whether rows that belong to no output of the thread are left out, by a test


@dataclass(frozen=True, slots=True)
class Shape:
    """A walk: everything that its text is made from."""

    indices: tuple[str, ...]
    walked: str | None
    knobs: Knobs
    bands: tuple[Band, ...]             # tensors, then lets in order
    kept: tuple[Stage, ...]
    led: tuple[Led, ...]
    weights: tuple[Storage, ...]        # small tensors that no index moves
    found: Mapping[str, Footprint]      # of all that is read, per output
    delay: int                          # rows taken before the first output is finished
    apart: bool                         # whether something else is read at the output's own place

    @property
    def steps(self) -> int:
        """Rows that a thread takes."""
        return self.knobs.rows + self.delay

    @property
    def lined(self) -> str | None:
        """The index along which outputs stand side by side: the last that is not walked."""
        return lined_of(self.indices, self.walked)

    @property
    def beside(self) -> str | None:
        """The index along which warps stand side by side."""
        return lined_of(tuple(i for i in self.indices if i != self.lined), self.walked)

    @property
    def lines(self) -> int:
        """Lanes of a warp along the walked index."""
        return WARP // self.knobs.lanes

    @property
    def widths(self) -> int:
        """Warps along the last index, where a warp has lanes along both."""
        return self.knobs.across // self.knobs.lanes if self.lines > 1 else 1

    @property
    def group(self) -> int:
        """Threads that stand side by side: they share a ring of rows."""
        return self.knobs.across * (self.knobs.beside if self.beside else 1)

    @property
    def tile(self) -> tuple[int, ...]:
        """Outputs of a block, per index."""
        knobs = self.knobs
        sizes = {self.walked: knobs.rows * knobs.down, self.lined: knobs.columns * knobs.across}
        return tuple(knobs.beside if i == self.beside else sizes.get(i, 1) for i in self.indices)

    @property
    def outputs(self) -> int:
        """Of a block, an equation."""
        return prod(self.tile)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.knobs.across * self.knobs.down * (self.knobs.beside if self.beside else 1)

    @property
    def shared_bytes(self) -> int:
        """Of a block: rings, and small tensors that it shares."""
        rings = sum(self.knobs.down * rows_of(b) * prod(lines_of(self, b)) * b.type.bytes for b in self.bands if b.ring)
        return rings + sum(s.bytes for s in self.weights if s.where == "shared")

    @property
    def registers(self) -> int:
        """Of 32 bits, that hold what outlives a statement."""
        words = sum(b.held * words_of(b.type) for b in self.bands)
        words += sum(r.rows * self.knobs.columns * words_of(r.reduce.type) for r in self.led)
        return words + sum(prod(s.extents) * words_of(s.type) for s in self.weights if s.where == "registers")


def lines_of(shape: Shape, band: Band) -> tuple[int, ...]:
    """Extents of a row of the ring: what all threads of a group read of one row, per axis."""
    out = []
    for number, a in enumerate(band.axes):
        threads = shape.knobs.beside if a.index is not None and a.index == shape.beside else 1
        if number == len(band.axes) - 1:
            out.append(band.extent(number) + (shape.knobs.across - 1) * band.columns * a.scale)
        else:
            out.append(band.extent(number) + (threads - 1) * a.scale)
    return tuple(out)


def rows_of(band: Band) -> int:
    """Rows of a ring, a power of two: those on their way, the one that is read, and one that slow lanes still read."""
    return 1 << (band.ring + 1).bit_length()


def lined_of(indices: tuple[str, ...], walked: str | None) -> str | None:
    """The last index that is not walked."""
    return next((i for i in reversed(indices) if i != walked), None)


def shape_of(work: Work, walked: str | None, knobs: Knobs) -> Shape | str:
    """The walk along an index, or why there is none."""
    kernel, equations = work.kernel, work.equations
    if not equations[0].indices:
        return "an output without indices has no rows"
    lined = lined_of(equations[0].indices, walked)
    kept = _kept_lets(work, walked, lined)
    names = frozenset(s.name for s in kept)
    total = grown(kernel, equations, names)
    rows = frozenset(t for t, f in total.items() if is_band(f, walked, lined) and (
        t in names or t not in {s.name for s in kernel.stages}))
    led = () if walked is None else tuple({
        one.reduce: one for e in equations for one in led_reductions(kernel, e, names, rows, walked)}.values())
    direct = read_directly(kernel, equations, kept, led, walked)
    bands = tuple(_band(work, t, direct[t], total[t], walked, knobs) for t in _in_order(work, rows))
    bands = tuple(b for b in bands if b.is_let or b.held <= MOST_HELD)
    if not any(not b.is_let for b in bands):
        if rows:
            return f"a thread would hold too much of `{min(rows)}`"
        return "nothing is read in rows of neighbours that move on by one with every output"
    lost = rows - {b.tensor for b in bands}
    if lost and (led or kept):
        return f"a thread would hold too much of `{min(lost)}`"
    weights = weights_of(work, total, rows)
    apart = any(t not in rows - lost and t not in {w.tensor for w in weights} and moves(f) for t, f in total.items())
    delay = max((b.high - b.taken_from for b in bands if b.walked is not None), default=0)
    ringed = any(_can_ring(b, knobs) for b in bands) and knobs.ring > 0
    ahead = knobs.ahead if walked is not None and not ringed else 0
    bands = tuple(replace(b, ring=knobs.ring) if ringed and _can_ring(b, knobs)
                  else b if b.is_let or b.walked is None else replace(b, ahead=ahead) for b in bands)
    delay += ahead + (knobs.ring if ringed else 0)
    made = Shape(equations[0].indices, walked, knobs, bands, kept, led, weights, total, delay, apart)
    if made.registers > MOST_REGISTERS:
        return f"a thread would hold {made.registers} registers, more than {MOST_REGISTERS}"
    return made


def _can_ring(band: Band, knobs: Knobs) -> bool:
    """Whether rows of a tensor can come by copies of whole accesses."""
    whole = band.vector * band.type.bytes == ACCESS_BYTES or knobs.ring_of_any
    return whole and not band.is_let and band.walked is not None and band.axes[-1].index == band.lined


def _in_order(work: Work, rows: frozenset[str]) -> list[str]:
    return [t for t in (*(t.name for t in work.kernel.inputs), *(s.name for s in work.kernel.stages)) if t in rows]


def _band(
    work: Work, tensor: str, direct: Footprint, total: Footprint, walked: str | None, knobs: Knobs
) -> Band:
    lets = {s.name: s for s in work.kernel.stages}
    number = next((n for n, a in enumerate(direct.axes or ()) if walked is not None and a.index == walked), None)
    types = {t.name: t.type for t in work.kernel.inputs} | {name: s.type for name, s in lets.items()}
    most = 1 if tensor in lets else work.signature.vectors[work.signature.of(work.kernel, tensor)]
    most = min(most, knobs.most_vector or most)
    vector = min(knobs.columns & -knobs.columns, most)
    *outer, last = direct.axes or ()
    lined = lined_of(work.equations[0].indices, walked)
    if knobs.turned and last.index == walked and tensor not in lets:
        vector = min(knobs.rows & -knobs.rows, most)
        axes = (*outer, in_vectors(last, knobs.rows, vector))
        return Band(tensor, types[tensor], False, axes, None, 0, lined, knobs.columns, vector,
                    turned=walked, rows=knobs.rows)
    vector = vector if last.index == lined else 1
    axes = (*outer, in_vectors(last, knobs.columns, vector) if last.index == lined else last)
    low = 0 if number is None else (total.axes or ())[number].low
    return Band(tensor, types[tensor], tensor in lets, axes, number, low, lined, knobs.columns, vector)


def _kept_lets(work: Work, walked: str | None, lined: str | None) -> tuple[Stage, ...]:
    """Lets whose rows are worth holding: read several times, and made from rows and small tensors alone."""
    chosen: list[Stage] = []
    if walked is None:
        return ()
    inputs = {t.name for t in work.kernel.inputs}
    for stage in work.kernel.stages:
        names = frozenset(s.name for s in (*chosen, stage))
        found = grown(work.kernel, work.equations, names).get(stage.name)
        inner = footprints(work.kernel, (stage,), names, outputs=[e.output for e in work.equations])
        if found is None or stage.edges or not is_band(found, walked, lined) or found.reads < KEPT_FROM:
            continue
        if any(a.scale != 1 for a in found.axes or () if a.index is not None):
            continue
        own = [next((i for i, a in zip(stage.indices, found.axes or (), strict=True) if a.index == index), None)
               for index in (walked, lined)]
        rows = all(t in inputs | names and f.axes is not None and (not moves(f) or is_band(f, own[0], own[1]))
                   for t, f in inner.items())
        if rows and any(f.reads >= KEPT_FROM for f in inner.values()):
            chosen.append(stage)
    return tuple(chosen)
