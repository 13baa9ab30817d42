"""Blocks along one index, the many alike counted as one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.int64]


def touching(blocks: int, step: int, low: int, high: int, n: int) -> tuple[Column, Column]:
    """Blocks b of 0..blocks-1 whose ``[step * b + low, step * b + high]`` meets 0..n-1, and how many each stands for.

    Those that lie inside are alike and have one of them in their place; the last block, which may be ragged, is
    always by itself. ``step`` may be negative.
    """
    if step < 0:
        step, low, high = -step, n - 1 - high, n - 1 - low      # the tensor seen from its other end
    meets = range(max(0, -(high // step)), min(blocks, (n - 1 - low) // step + 1))
    inside = range(max(meets.start, -(low // step)), min(blocks - 1, (n - 1 - high) // step + 1))
    if not inside:
        return np.array(meets, np.int64), np.ones(len(meets), np.int64)
    found = [*range(meets.start, inside.start + 1), *range(inside.stop, meets.stop)]
    weights = np.ones(len(found), np.int64)
    weights[inside.start - meets.start] = len(inside)
    return np.array(found, np.int64), weights


def clipped(blocks: int, step: int, first: int, extent: int, n: int) -> int:
    """Elements of the boxes ``[step * b + first, step * b + first + extent)`` of all blocks that lie in 0..n-1."""
    b, weight = touching(blocks, step, first, first + extent - 1, n)
    begin = step * b + first
    return int((np.maximum(np.minimum(begin + extent, n) - np.maximum(begin, 0), 0) * weight).sum())
