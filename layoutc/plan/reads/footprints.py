"""What a tile reads: the boxes that hold every access around its outputs, through lets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from layoutc.index import Expr, Name, terms
from layoutc.plan.reads.accesses import Access, Accesses
from layoutc.resolve.program import (
    Equation,
    Kernel,
    Stage,
)


@dataclass(frozen=True, slots=True)
class Axis:
    """How a box lies along one axis of its tensor: from ``scale * index + low`` to ``scale * index + high``."""

    index: str | None       # the tile's index that moves it, or one of a reduction in chunks; None: it stays
    scale: int
    low: int                # least offset, in elements
    high: int               # greatest offset, inclusive

    def extent(self, tile: int) -> int:
        """Elements that a tile of ``tile`` outputs reads along the axis."""
        return self.scale * (tile - 1) + 1 + self.high - self.low


@dataclass(frozen=True, slots=True)
class Footprint:
    """All that a tile reads of one tensor as a box; ``axes`` is None where it is none, and ``why`` says so."""

    tensor: str
    axes: tuple[Axis, ...] | None
    reads: int              # accesses an output makes, each point of each reduction counted; 0: unknown
    why: str = ""
    certain: bool = True    # whether every output reads some of it, so that a call that reads nothing has no block


def footprints(
    kernel: Kernel,
    readers: tuple[Equation | Stage, ...],
    kept: frozenset[str] = frozenset(),
    extents: Mapping[str, Expr] | None = None,
    outputs: Iterable[str] = (),
    chunked: tuple[str, ...] = (),
    near: bool = False,
) -> dict[str, Footprint]:
    """The box of every tensor (and kept let) that the readers access, per output of theirs; extents as far as known.

    ``outputs``, and those of the readers, have elements: where they have none, there is nothing to run.
    ``chunked`` reduction indices move the boxes as the outputs' own do. ``near``: boxes hold what edges of lets fold
    to, where that stays near.
    """
    own = (reader.output for reader in readers if isinstance(reader, Equation))
    accesses = Accesses(kernel, kept, extents, (*outputs, *own), chunked, near)
    return boxes_around(kernel, ((access, reader.indices, times) for reader in readers
                                 for access, times in accesses.of(reader)), chunked)


def boxes_around(
    kernel: Kernel, accesses: Iterable[tuple[Access, tuple[str, ...], int]], chunked: tuple[str, ...] = ()
) -> dict[str, Footprint]:
    """The box of every tensor that is accessed; with each access the indices of the tile, and how often it is made."""
    found: dict[str, list[tuple[Access, tuple[str, ...], int]]] = {}
    for access, indices, times in accesses:
        found.setdefault(access.tensor, []).append((access, indices, times))
    bare = {s.name for s in kernel.stages if not s.edges}
    return {tensor: _footprint(tensor, list_, tensor in bare, chunked) for tensor, list_ in found.items()}


def _footprint(
    tensor: str, found: list[tuple[Access, tuple[str, ...], int]], is_bare_let: bool, chunked: tuple[str, ...]
) -> Footprint:
    reads = 0 if any(times == 0 for *_, times in found) else sum(times for *_, times in found)
    if is_bare_let and not all(access.certain for access, *_ in found):
        return Footprint(tensor, None, reads, f"`{tensor}` is not defined wherever the tile would need it")
    axes: list[Axis] | None = None
    for access, indices, _ in found:
        here: list[Axis] = []
        for number, subscript in enumerate(access.indices):
            axis = _axis(subscript, indices, chunked)
            if isinstance(axis, str):
                return Footprint(tensor, None, reads, f"axis {number} of `{tensor}` {axis}")
            here.append(axis)
        if axes is None:
            axes = here
            continue
        for number, (a, b) in enumerate(zip(axes, here, strict=True)):
            if (a.index, a.scale) != (b.index, b.scale):
                return Footprint(tensor, None, reads, f"axis {number} of `{tensor}` is read along different indices")
            axes[number] = Axis(a.index, a.scale, min(a.low, b.low), max(a.high, b.high))
    return Footprint(tensor, tuple(axes or ()), reads, certain=any(access.certain for access, *_ in found))


def _axis(subscript: Expr | None, indices: tuple[str, ...], chunked: tuple[str, ...]) -> Axis | str:
    """Along one axis a box moves with an output's index, or else with one that is walked in chunks."""
    if subscript is None:
        return "is read at places that are no integer expression of the indices, or are folded by an edge"
    index, scale, rest = None, 1, []
    factors = terms(subscript)
    if not any(isinstance(factor, Name) and factor.id in indices for factor, _ in factors):
        indices = tuple(f.id for f, c in factors if isinstance(f, Name) and f.id in chunked and c > 0)[:1]
    for factor, coefficient in factors:
        if isinstance(factor, Name) and factor.id in indices:
            if index is not None or coefficient < 1:
                return "is read at a sum of indices or against an index's direction"
            index, scale = factor.id, coefficient
        else:
            rest.append((factor, coefficient))
    low = high = 0
    for factor, coefficient in rest:
        ends = factor.interval
        if ends[0] is None or ends[1] is None:
            return "is read over a range that is not constant"
        low += min(ends[0] * coefficient, ends[1] * coefficient)
        high += max(ends[0] * coefficient, ends[1] * coefficient)
    return Axis(index, scale, low, high)
