"""Matrices of 8 x 8 elements of 16 bits that a warp moves by columns, as ``ldmatrix.trans`` and ``stmatrix.trans`` do.

Of an access of ``N`` items a lane, item ``k`` of lane ``l`` is the element of column ``l // 4`` in the row that lane
``k // 2 * 8 + l % 4 * 2 + k % 2`` names: 16 aligned bytes. Of items half as large two lie in an element: lanes ``l``
and ``l ^ 1`` name the same rows, and each takes its half.
Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix" and "stmatrix".
"""

from __future__ import annotations

import numpy as np

from layoutc.plan.moves.exchange import Numbers
from layoutc.plan.moves.numbering import UNIT, WARP
from layoutc.plan.moves.placement import Groups

ROWS = 8            # of a matrix, each of eight columns
LOADS_SINCE, STORES_SINCE = 75, 90      # compute capability, by columns


def groups_by_columns(items: int) -> Groups:
    """An even number of items by 8, 4 or 2 an access: 4, 2 or 1 matrices."""
    each = next(n for n in (8, 4, 2) if items % n == 0)
    return tuple(tuple(range(first, first + each)) for first in range(0, items, each))


def naming(lane: int, each: int, bytes: int) -> tuple[int, int]:
    """The first lane of those that have the row which a lane names, and their item of the access."""
    pair = UNIT // bytes
    matrix, row = lane // ROWS % (each // 2), lane % ROWS
    return row // 2 // pair * pair, matrix * 2 + row % 2


def rows_of(numbers: Numbers, groups: Groups, bytes: int) -> Numbers:
    """``[warp, access, lane]``: the number of the first element of the row that each lane names."""
    each = len(groups[0])
    named = [naming(lane, each, bytes) for lane in range(each // 2 * ROWS)]
    lanes, items = np.array(named).T
    by_warp = numbers.reshape(-1, WARP, numbers.shape[1])
    rows: Numbers = by_warp[:, lanes[None, :], np.array([group[0] for group in groups])[:, None] + items[None, :]]
    return rows


def taken_of(rows: Numbers, bytes: int) -> Numbers:
    """``[warp, access, lane, item of the access]``: the element that each lane has, by the rows that lanes name."""
    lane = np.arange(WARP)[:, None]
    item = np.arange(rows.shape[2] // 4)[None, :]
    pair = UNIT // bytes
    taken: Numbers = rows[:, :, item // 2 * ROWS + lane % 4 * 2 + item % 2] + lane // 4 * pair + lane % pair
    return taken
