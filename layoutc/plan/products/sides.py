"""Rows and columns: which indices of the outputs move one of two factors alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from layoutc.index import ceildiv, multiplied
from layoutc.plan.nodes import THROUGH, Pass


@dataclass(frozen=True, slots=True)
class Sides:
    """Indices in the outputs' order; those of the columns move the factor that the last index moves."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    batch: tuple[str, ...]      # that move both factors, or none
    left_is_rows: bool          # in the order in which factors are multiplied


def sides_of(indices: Sequence[str], left: Collection[str | None], right: Collection[str | None]) -> Sides | str:
    """The sides, of the indices that move either factor; or why there are none."""
    last = indices[-1]
    if (last in left) == (last in right):
        return f"`{last}` does not move one factor alone"
    first, second = (left, right) if last in right else (right, left)
    rows = tuple(i for i in indices if i in first and i not in second)
    columns = tuple(i for i in indices if i in second and i not in first)
    if not rows:
        return "one factor moves with every index of the other"
    return Sides(rows, columns, tuple(i for i in indices if i not in rows + columns), last in right)


def counted_through(one: Pass, sides: Sequence[tuple[str, ...]]) -> Pass:
    """The record with the indices of each side counted through as one; its tile and owner are told of their last."""
    of = {name: side for side in sides for name in side}
    groups = tuple(dict.fromkeys(of.get(i, (i,)) for i in one.indices))
    extents, tile = dict(zip(one.indices, one.extents, strict=True)), dict(zip(one.indices, one.tile, strict=True))
    owner = dict(zip(one.indices, one.owner, strict=True))
    totals = tuple(multiplied([extents[i] for i in g]) for g in groups)
    sizes = tuple(tile[g[-1]] for g in groups)
    return replace(
        one, indices=tuple(THROUGH.join(g) for g in groups), extents=totals, tile=sizes,
        blocks=tuple(ceildiv(n, size) for n, size in zip(totals, sizes, strict=True)),
        owner=tuple(owner[g[-1]] for g in groups))
