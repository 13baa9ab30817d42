"""How planes are walked: what a block stages of each, what a thread holds, and how many they make."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import prod

from layoutc.plan.machine import ACCESS_BYTES, BOX_AXES, BOX_SIDE, LINE_BYTES, WARP
from layoutc.plan.nodes import Storage
from layoutc.plan.passing.led import Led, led_reductions
from layoutc.plan.passing.weights import weights_of
from layoutc.plan.passing.widths import in_vectors, words_of
from layoutc.plan.planes.parts import Axes, Items, Part, extent_of, parts_of, union
from layoutc.plan.reads.footprints import Footprint
from layoutc.plan.reads.reach import grown
from layoutc.plan.work import Work
from layoutc.resolve.program import Const, Sides
from layoutc.resolve.types import Type

BARRIER_BYTES = 8
MOST_HELD = 132         # registers of 32 bits that outlive a plane


@dataclass(frozen=True, slots=True)
class Knobs:
    """What may be chosen freely."""

    columns: int        # outputs side by side that a thread makes
    lines: int          # such lines of a thread
    warps: int          # of a block, one under the other
    planes: int         # that a block makes
    ahead: int          # planes on their way
    resident: int       # blocks for whose registers a multiprocessor has room; 0: the compiler decides
    most_vector: int = 0    # elements that an access moves at most, where the schedule says so
    cached: bool = False    # threads read planes from memory through the first cache, not from shared memory
    around: int = 0         # then, planes of which what lies around is asked for before it is needed
    turns: int = 1          # that are written out, one after the other
    pace: int = 1           # planes for which a block waits at once, a divisor of those on their way
    lanes: int = WARP       # of a warp along the last index; the others one under the other
    boxes: bool = False     # the engine that copies boxes brings planes, at one thread's order
    prefetch: int = 0       # planes before it is read that a plane sets out for the second cache, where threads read it

    @property
    def down(self) -> int:
        """Threads of a block one under the other."""
        return self.warps * WARP // self.lanes


@dataclass(frozen=True, slots=True)
class Ring:
    """The planes of a tensor that pass, some in shared memory at once; offsets count from the finished plane."""

    tensor: str
    type: Type
    axes: Axes          # of all that outputs reach; the last begins and ends at whole pieces
    walked: int         # the axis along which planes follow each other
    vector: int         # elements that one copy moves
    planes: int         # at once; none where threads read from memory
    extents: tuple[int, ...]        # of a block's plane
    boxed: bool = False             # it comes as a box, which begins at a whole line of shared memory

    @property
    def low(self) -> int:
        """The oldest plane that anything needs."""
        return self.axes[self.walked].low

    @property
    def high(self) -> int:
        """The newest plane that is read."""
        return self.axes[self.walked].high

    @property
    def plane(self) -> int:
        """Elements from one plane to the next."""
        line = LINE_BYTES // self.type.bytes if self.boxed else 1
        return -(-prod(self.extents) // line) * line

    @property
    def bytes(self) -> int:
        """All planes."""
        return self.planes * self.plane * self.type.bytes


@dataclass(frozen=True, slots=True)
class Shape:
    """A walk through planes: everything that its text is made from."""

    indices: tuple[str, ...]
    knobs: Knobs
    items: Items
    parts: tuple[Part, ...]
    led: tuple[Led, ...]
    rings: tuple[Ring, ...]
    weights: tuple[Storage, ...]        # small tensors that no index moves
    found: Mapping[str, Footprint]      # of all that is read, per output

    @property
    def walked(self) -> str:
        """The index that counts planes."""
        return self.indices[-3]

    @property
    def tile(self) -> tuple[int, ...]:
        """Outputs of a block, per index."""
        knobs = self.knobs
        return (*(1 for _ in self.indices[:-3]), knobs.planes, knobs.down * knobs.lines, knobs.lanes * knobs.columns)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return WARP * self.knobs.warps

    @property
    def filled(self) -> bool:
        """Whether what is held from plane to plane is there before the first turn; sums have planes pass before."""
        return self.knobs.cached and not self.led

    @property
    def delay(self) -> int:
        """Turns before the first plane of outputs is finished."""
        knobs, reach = self.knobs, max(r.high - r.low for r in self.rings)
        if self.filled:
            return 0
        if not knobs.cached:
            return reach
        return reach + max(knobs.ahead, knobs.around)

    @property
    def first(self) -> int:
        """Planes that set out before the first turn: of boxes as many as there are places, which cost nobody time."""
        knobs = self.knobs
        return min(r.planes for r in self.rings) - knobs.pace if knobs.boxes else knobs.ahead

    @property
    def shared_bytes(self) -> int:
        """Of a block, all planes."""
        return sum(r.bytes for r in self.rings)

    @property
    def barriers(self) -> int:
        """Bytes of those at which planes arrive."""
        return sum(r.planes for r in self.rings if r.boxed) * BARRIER_BYTES

    @property
    def registers(self) -> int:
        """Of 32 bits, that outlive a plane."""
        words = sum(p.held * words_of(p.type) for p in self.parts if p.depth > 1)
        words += sum(one.rows * self.items.count * words_of(one.reduce.type) for one in self.led)
        return words + sum(prod(s.extents) * words_of(s.type) for s in self.weights if s.where == "registers")


def shape_of(work: Work, knobs: Knobs) -> Shape | str:
    """The walk, or why there is none."""
    kernel, indices = work.kernel, work.indices
    if len(indices) < 3:
        return "outputs have no planes"
    if kernel.stages:
        return "lets are held in rows, not in planes"
    walked, beside, lined = indices[-3:]
    items = Items(beside, lined, knobs.lines, knobs.columns)
    total = grown(kernel, work.equations, frozenset())
    types = {t.name: t.type for t in kernel.inputs if t.name in total and is_staged(total[t.name], indices)}
    if not any(_spreads(total[t], walked) and (_spreads(total[t], beside) or _spreads(total[t], lined)) for t in types):
        return "nothing is read in neighbouring planes and around the outputs in each"
    names = frozenset(types)
    led = tuple({one.reduce: one for e in work.equations
                 for one in led_reductions(kernel, e, frozenset(), names, walked)}.values())
    vectors = {t: _vector(work, t, min(items.columns, max(ACCESS_BYTES // types[t].bytes, 1)), knobs) for t in types}
    parts = parts_of(work, led, walked, items, types, vectors if knobs.cached else None)
    rings = tuple(_ring(work, t, total[t], [p for p in parts if p.tensor == t], knobs, vectors[t]) for t in types)
    if knobs.boxes and (why := _why_no_boxes(work, rings)):
        return why
    if knobs.cached:
        parts = tuple(p.sooner(knobs.ahead if p.depth > 1 else knobs.around) for p in parts)
    made = Shape(indices, knobs, items, parts, led, rings, weights_of(work, total, names), total)
    room = work.target.asked_bytes // max(made.shared_bytes + made.barriers, 1)
    made = replace(made, knobs=replace(knobs, resident=min(knobs.resident, room)))
    if made.registers > MOST_HELD:
        return f"a thread would hold {made.registers} registers from plane to plane, more than {MOST_HELD}"
    if made.shared_bytes + made.barriers > work.target.asked_bytes:
        return f"a block would hold {made.shared_bytes} bytes of planes, it can have {work.target.asked_bytes}"
    return made


def _why_no_boxes(work: Work, rings: tuple[Ring, ...]) -> str:
    """Why no engine brings planes; "" where one does."""
    if not work.target.has_boxes:
        return f"{work.target.arch} copies no boxes, which compute capability 9.0 does"
    if work.signature.wide:
        return "subscripts need 64 bits"
    boxes = work.signature.boxes
    for ring in rings:
        tensor = next(t for t in work.kernel.inputs if t.name == ring.tensor)
        if not boxes or not boxes[work.signature.of(work.kernel, ring.tensor)]:
            return f"`{ring.tensor}` is no array of 2 to {BOX_AXES} axes with lines of whole vectors, one after another"
        if not is_blank(tensor.edges):
            return f"`{ring.tensor}` has something else outside than 0"
        if max(ring.extents) > BOX_SIDE or (ring.extents[-1] | ring.axes[-1].low) * ring.type.bytes % ACCESS_BYTES:
            return f"a plane of `{ring.tensor}` is no box of up to {BOX_SIDE} elements a side, its lines whole vectors"
    return ""


def is_blank(edges: Iterable[Sides]) -> bool:
    """Whether nothing but zeros of the tensor's type lie outside."""
    values = (rule.value for pair in edges for rule in pair if rule is not None)
    return all(isinstance(value, Const) and str(value.value) in ("0", "0.0", "False") for value in values)


def is_staged(found: Footprint, indices: tuple[str, ...]) -> bool:
    """Whether planes of a tensor move with the planes of the outputs."""
    if found.axes is None:
        return False
    moving = [a for a in found.axes if a.index is not None]
    names = [a.index for a in moving]
    inner = indices[-3:]
    return (all(names.count(i) == 1 for i in inner) and found.axes[-1].index == inner[-1]
            and all(a.scale == 1 for a in moving)
            and all(a.low == a.high for a in found.axes if a.index not in inner))


def _spreads(found: Footprint, index: str) -> bool:
    return any(a.index == index and a.high > a.low for a in found.axes or ())


def _vector(work: Work, tensor: str, piece: int, knobs: Knobs) -> int:
    """Elements of a tensor that an access moves."""
    vector = min(piece, work.signature.vectors[work.signature.of(work.kernel, tensor)])
    vector = min(vector, knobs.most_vector or vector)
    return vector & -vector


def _ring(work: Work, tensor: str, found: Footprint, parts: list[Part], knobs: Knobs, vector: int) -> Ring:
    axes = found.axes or ()
    for part in parts:
        axes = union(axes, part.axes)
    if not knobs.cached:
        axes = (*axes[:-1], in_vectors(axes[-1], knobs.columns, parts[0].piece))
    walked, beside = parts[0].walked, parts[0].beside
    block = Items(parts[0].items.beside, parts[0].items.lined, knobs.lines * knobs.down, knobs.columns * knobs.lanes)
    extents = tuple(1 if n == walked else extent_of(a, block) for n, a in enumerate(axes))
    if knobs.cached:
        return Ring(tensor, parts[0].type, axes, walked, vector, 0, extents)
    oldest = min(p.newest for p in parts)
    assert extents[beside] >= block.lines
    planes = knobs.ahead + knobs.pace + axes[walked].high - oldest
    made = Ring(tensor, parts[0].type, axes, walked, vector, planes, extents, knobs.boxes)
    even = replace(made, planes=1 << (planes - 1).bit_length())     # whose remainders cost less
    return even if even.bytes * max(knobs.resident, 1) <= work.target.asked_bytes else made

