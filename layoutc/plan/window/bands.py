"""What a thread holds while it walks: of each tensor the rows around the output row that is finished next."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from layoutc.plan.passing.led import Led, without
from layoutc.plan.reads.footprints import Axis, Footprint, footprints
from layoutc.plan.reads.reach import axes_through, union
from layoutc.resolve.program import (
    Equation,
    Kernel,
    Stage,
)
from layoutc.resolve.types import Type

MOST_HELD = 160             # elements of one band


@dataclass(frozen=True, slots=True)
class Band:
    """Rows of a tensor, or of a let, in the registers of each thread; offsets count from the finished output row.

    A row is all that stands at one place of the axis along which the thread walks, of a tensor without such an axis
    all that it reads.
    """

    tensor: str
    type: Type
    is_let: bool
    axes: tuple[Axis, ...]      # of the rows that are read; the last begins and ends at whole vectors
    walked: int | None          # the axis along which the rows follow each other
    taken_from: int             # the first row that anything needs: not above the walked axis' low
    lined: str | None           # the index along which a thread's outputs stand side by side
    columns: int                # outputs side by side
    vector: int                 # elements that one access moves
    ahead: int = 0              # rows that are taken before they are read
    ring: int = 0               # rows that are on their way in shared memory, in the interior
    turned: str | None = None   # the walked index, where all rows are taken at once: they lie along the last axis
    rows: int = 1               # then, of a thread

    @property
    def depth(self) -> int:
        """Rows that are held at once."""
        if self.walked is None:
            return 1
        axis = self.axes[self.walked]
        return axis.high - axis.low + 1 + self.ahead

    @property
    def high(self) -> int:
        """The newest row that is read."""
        return 0 if self.walked is None else self.axes[self.walked].high

    def extent(self, axis: int) -> int:
        """Elements of a row along an axis."""
        a = self.axes[axis]
        if axis == self.walked:
            return 1
        if a.index is not None and a.index == self.turned:
            return a.extent(self.rows)
        return a.extent(self.columns if a.index is not None and a.index == self.lined else 1)

    @property
    def row(self) -> int:
        """Elements of a row."""
        return prod(map(self.extent, range(len(self.axes))))

    @property
    def held(self) -> int:
        """Elements that a thread holds."""
        return self.depth * self.row

    @property
    def strides(self) -> tuple[int, ...]:
        """Of the array of rows, per axis."""
        out, step = [], 1
        for axis in reversed(range(len(self.axes))):
            out.append(self.row if axis == self.walked else step)
            step *= self.extent(axis)
        return tuple(reversed(out))

    @property
    def accesses(self) -> int:
        """Accesses that bring a row."""
        return self.row // self.vector


def is_band(found: Footprint, walked: str | None, lined: str | None) -> bool:
    """Whether what is read of a tensor moves with a thread's outputs along its last axis, or lies still under them."""
    if not found.axes:
        return False
    moving = [a.index for a in found.axes if a.index is not None]
    if walked not in moving and lined not in moving:
        return bool(moving)
    if found.axes[-1].index is None or found.axes[-1].index not in (walked, lined):
        return False
    once = (moving.count(lined) if lined is not None else 1) == 1
    return once and (walked is None or moving.count(walked) <= 1) and all(
        a.scale == 1 for a in found.axes if a.index is not None and a.index == walked)


def read_directly(
    kernel: Kernel, equations: tuple[Equation, ...], kept: tuple[Stage, ...], led: tuple[Led, ...], walked: str | None
) -> dict[str, Footprint]:
    """What outputs and kept lets read, each let at its newest row, but for the reductions that follow the rows."""
    names, outputs = frozenset(s.name for s in kept), [e.output for e in equations]
    rest = [replace(e, value=without(e.value, frozenset(one.reduce for one in led))) for e in equations]
    found = footprints(kernel, tuple(rest), names)
    for one in led:
        for tensor, row in one.reads.items():
            found[tensor] = row if tensor not in found else union(found[tensor], row)
    for stage in reversed(kept):
        if stage.name not in found or found[stage.name].axes is None:
            continue
        newest = found[stage.name]
        for tensor, inner in footprints(kernel, (stage,), names, outputs=outputs).items():
            here = _seen_from(newest, stage, inner, walked)
            found[tensor] = here if tensor not in found else union(found[tensor], here)
    return found


def _seen_from(newest: Footprint, stage: Stage, inner: Footprint, walked: str | None) -> Footprint:
    """What a let reads when its newest row is made."""
    if inner.axes is None:
        return inner
    row = tuple(replace(o, low=o.high) if o.index == walked else o for o in newest.axes or ())
    return replace(inner, axes=axes_through(stage, row, inner.axes))
