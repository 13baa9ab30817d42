"""What a walk asks of memory, in the units of ``layoutc.plan.cost``."""

from __future__ import annotations

from itertools import product
from math import prod

from layoutc.index import Expr, Int, Name, terms
from layoutc.plan.cost import busy, nominal_outputs
from layoutc.plan.machine import REGISTERS, WARP, WORD
from layoutc.plan.passing.length import UNKNOWN_RANGE
from layoutc.plan.reads.accesses import Accesses
from layoutc.plan.window.bands import Band
from layoutc.plan.window.shape import Shape, lines_of
from layoutc.plan.work import Work

MOST_ROWS = 8           # of a thread, that are looked at
OVERHEAD = 16           # registers of a thread that hold places and counters
HIDING = 24             # warps of a multiprocessor that hide the way of rows that come one after the other
ONE_BY_ONE = 1.6        # as long as rows that are on their way together such rows take at least, if in one long loop
TAKEN = 1.3             # of a byte's price, what a thread takes out of shared memory behind a barrier for some rows
TAKEN_BY_ROW = 1.5      # behind one for each
AT_ONCE = 16            # and of rows that are all on their way together
MADE_AT_ONCE = 24       # of which rows of lets are made, of narrow types: that arithmetic waits for itself


def _touched(work: Work, shape: Shape, tensor: str) -> float:
    """Elements an output that a thread reads; what it reads for several of its outputs counts once."""
    taps: set[tuple[int, ...]] = set()
    axes: dict[str, int] = {}
    accesses = Accesses(work.kernel, outputs=[e.output for e in work.equations])
    for equation in work.equations:
        for access, _ in accesses.of(equation):
            if access.tensor == tensor:
                places = [_offsets(s, work.indices, axes, n) for n, s in enumerate(access.indices) if s is not None]
                names = sorted({name for _, binders in places for name in binders})
                ranges = {name: binders[name] for _, binders in places for name in binders}
                for point in product(*(ranges[name] for name in names)):
                    env = dict(zip(names, point, strict=True))
                    taps.add(tuple(c + sum(k * env[name] for name, k in terms_.items()) for (c, terms_), _ in places))
    rows, columns = min(shape.knobs.rows, MOST_ROWS), shape.knobs.columns
    moved = set()
    for r, c in product(range(rows), range(columns)):
        shift = {axes.get(shape.walked or ""): r, axes.get(shape.lined or ""): c}
        moved |= {tuple(o + shift.get(n, 0) for n, o in enumerate(tap)) for tap in taps}
    return len(moved) / (rows * columns)


Place = tuple[tuple[int, dict[str, int]], dict[str, range]]


def _offsets(subscript: Expr, indices: tuple[str, ...], axes: dict[str, int], axis: int) -> Place:
    """A subscript's constant, what it takes of each reduction index, and their ranges."""
    constant, taken, ranges = 0, {}, {}
    for factor, coefficient in terms(subscript):
        if factor == Int(1):
            constant += coefficient
        elif isinstance(factor, Name) and factor.id in indices:
            axes[factor.id] = axis
        elif isinstance(factor, Name) and factor.low is not None and factor.high is not None:
            taken[factor.id] = coefficient
            ranges[factor.id] = range(factor.low, factor.high + 1)
    return (constant, taken), ranges


def cost_of_walk(work: Work, shape: Shape) -> float:
    """Bytes of every row, those at the ends of a walk taken twice, and of what is read apart from them."""
    knobs = shape.knobs
    types = {t.name: t.type for t in work.kernel.inputs}
    bytes = 0.0
    for band in (b for b in shape.bands if not b.is_let):
        rows = knobs.rows + band.high - band.taken_from if band.walked is not None else 1
        row = prod(lines_of(shape, band)) / shape.group if band.ring else band.row
        row = read_of_row(shape, band) if shape.kept and not band.ring else row
        elements = rows / knobs.rows * row / knobs.columns
        if not band.ring and not shape.kept:
            elements = min(elements, _touched(work, shape, band.tensor))
        elements += TAKEN_BY_ROW * rows / knobs.rows * read_of_row(shape, band) / knobs.columns if band.ring else 0
        bytes += elements * band.type.bytes
    held = {b.tensor for b in shape.bands} | {w.tensor for w in shape.weights}
    for tensor, found in shape.found.items():
        if tensor not in held and tensor in types:
            bytes += (found.reads or UNKNOWN_RANGE) * types[tensor].bytes
    outputs = max(nominal_outputs(work.kernel, e) for e in work.equations)
    return outputs * bytes * _waiting(shape) / busy(outputs)      # a thread's rows are on their way together


def _waiting(shape: Shape) -> float:
    """How much longer a walk takes where registers leave room for few warps."""
    at_once, ringed = shape.knobs.turns == 0, any(b.ring for b in shape.bands)
    made = shape.kept and all(b.type.bytes < WORD for b in shape.bands if not b.is_let)
    warps = (MADE_AT_ONCE if made else AT_ONCE) if at_once else HIDING
    least = 1.0 if at_once or ringed or shape.knobs.peeled else ONE_BY_ONE
    return max(least, warps * WARP * (shape.registers + OVERHEAD) / REGISTERS)


def read_of_row(shape: Shape, band: Band) -> int:
    """Elements of a band's row that a thread's outputs read; the accesses that bring them move more."""
    axes = shape.found[band.tensor].axes or ()
    extents = [band.extent(n) for n in range(len(band.axes))]
    extents[-1] = axes[-1].extent(band.columns if axes[-1].index == band.lined else 1)
    return prod(extents)


def cost_of_staged(work: Work, shape: Shape) -> float:
    """Bytes of the rows that a block brings, those that blocks have in common taken twice."""
    source, _ = shape.bands
    made = shape.knobs.rows * shape.knobs.down
    rows = made + source.high - source.taken_from
    bytes = rows / made * prod(lines_of(shape, source)) / (WARP * shape.knobs.columns) * source.type.bytes
    outputs = max(nominal_outputs(work.kernel, e) for e in work.equations)
    return outputs * bytes / busy(outputs)
