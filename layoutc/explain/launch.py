"""The launch: blocks, threads, and how many of them make an output."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from layoutc.explain.case import Case, places
from layoutc.explain.records import Launch


def launch(case: Case) -> Launch:
    """The launch of one pass; idle threads are those of the whole launch that make no valid output."""
    one = case.one
    if case.extents is None:
        return Launch(None, (one.threads,))
    counts, blocks = case.counts(case.extents), case.blocks(case.extents)
    sharing = case.sharing(case.extents)
    grid = blocks if sharing == 1 else (*blocks, sharing)
    if one.launched(prod(grid)) < prod(grid):
        grid = (one.launched(prod(grid)),)      # each takes its share of the tiles
    launched = prod(grid) * one.threads
    active, in_last = _active(case, counts, blocks) if launched else (0, 0)
    return Launch(grid, (one.threads,), prod(grid), launched, max(launched - active * sharing, 0), in_last)


def _active(case: Case, counts: tuple[int, ...], blocks: tuple[int, ...]) -> tuple[int, int]:
    """Threads with a valid output: of the whole launch, and of the block of highest index on every axis.

    Along an index all blocks but the last are alike, so there are two kinds of block an index.
    """
    where = places(case.one)
    inside = np.ones((case.one.threads, case.one.items), bool)
    kinds = []
    for at, size, n, b in zip(where, case.one.tile, counts, blocks, strict=True):
        inside &= (at >= 0) & (at < size)
        last = n - (b - 1) * size
        kinds.append([(b - 1, size), (1, last)])
    total = in_last = 0
    for kind in product(*kinds):        # the last kind is the last block
        valid = inside.copy()
        for at, (_, size) in zip(where, kind, strict=True):
            valid &= at < size
        in_last = int(valid.any(axis=1).sum())
        total += prod(number for number, _ in kind) * in_last
    return total, in_last
