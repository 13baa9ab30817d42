"""A filter sees few shapes: axes without a window are merged with their neighbours, or dropped if they hold one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from layoutc.ndimage.checks import Window


@dataclass(frozen=True, slots=True)
class Shape:
    """Extents of the array as the kernel sees it, and the windows by its axes."""

    extents: tuple[int, ...]
    windows: tuple[Window, ...]     # in the order in which they were given

    @property
    def rank(self) -> int:
        """Axes."""
        return len(self.extents)


def merged(shape: Sequence[int], windows: Sequence[Window]) -> Shape:
    """The same filter with as few axes as it can have."""
    extents: list[int] = []
    axes: dict[int, int] = {}       # of the windows: before -> after
    batch = 1
    for axis, extent in enumerate(shape):
        if not any(w.axis == axis for w in windows):
            batch *= extent
            continue
        extents += [batch] * (batch != 1)
        batch = 1
        axes[axis] = len(extents)
        extents.append(extent)
    if batch != 1 or not extents:
        extents.append(batch)
    return Shape(tuple(extents), tuple(replace(w, axis=axes[w.axis]) for w in windows))
