"""A walk as the rest of the compiler sees it: who makes which output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from layoutc.layout import Layout
from layoutc.plan.kernel.frame import Choice, told_to
from layoutc.plan.nodes import Storage
from layoutc.plan.ownership import by_layout
from layoutc.plan.reads.footprints import Footprint
from layoutc.plan.work import Work
from layoutc.resolve.program import Kernel, Reduce
from layoutc.resolve.trees import parts

MOST_VECTOR = 16            # elements an access, of the smallest type
Leaf = tuple[int, int]      # extent and stride


def choice_of(
    work: Work, tile: tuple[int, ...], threads: list[Leaf], items: list[Leaf], weights: tuple[Storage, ...],
    found: Mapping[str, Footprint], most_vector: int,
) -> Choice:
    """Everything that is decided before the text is made; the first of the items stand side by side."""
    layout = Layout((_mode(threads, 0), _mode(items, 0)), (_mode(threads, 1), _mode(items, 1)))
    owner = replace(by_layout(tile, layout), vector=items[0][0])
    return Choice(work.equations, tile, owner, weights, tuple(found.values()), most_vector or MOST_VECTOR,
                  dict.fromkeys(_binders(work.kernel), True) | told_to(work.schedule))


def _mode(leaves: list[Leaf], part: int) -> int | tuple[int, ...]:
    """The shapes (0) or strides (1) of a mode without its leaves of extent 1."""
    kept = [leaf[part] for leaf in leaves if leaf[0] > 1]
    return tuple(kept) if len(kept) > 1 else kept[0] if kept else 1 - part


def _binders(kernel: Kernel) -> set[str]:
    """Every reduction index: what is held in registers is read at places known when the text is compiled."""
    values = (*(e.value for e in kernel.equations), *(s.value for s in kernel.stages))
    return {b.name for value in values for part in parts(value) if isinstance(part, Reduce) for b in part.binders}
