"""Matrices of 8 x 8 elements of 16 bits that a warp moves by columns, as ``ldmatrix.trans`` and ``stmatrix.trans`` do.

Lane ``l`` names row ``l % 8`` of matrix ``l // 8``, 16 aligned bytes, and has of each matrix column ``l // 4`` of the
rows ``l % 4 * 2`` and the next: two items in a word. Of items of 8 bits an element has two, those of lanes ``2 * k``
and ``2 * k + 1``, side by side. Where a lane has eight of them or more, the even lanes name the rows of one half and
the odd lanes those of the other, and they exchange what is not theirs by shuffles; else both name the same rows.
Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix" and "stmatrix".
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from layoutc.index import Expr
from layoutc.plan.machine import WARP
from layoutc.plan.moves.exchange import Numbers
from layoutc.plan.moves.numbering import UNIT
from layoutc.plan.moves.placement import Groups

ROWS = 8            # of a matrix, each of eight columns
LOADS_SINCE, STORES_SINCE = 75, 90      # compute capability, by columns
Number = TypeVar("Number", int, Expr, Numbers)


def groups_by_columns(items: int, bytes: int) -> Groups:
    """An even number of items by as many an access as there can be: of 4, 2 or 1 matrices."""
    each = next(n for n in ((8, 4, 2) if bytes == UNIT else (16, 8, 4, 2)) if items % n == 0)
    return tuple(tuple(range(first, first + each)) for first in range(0, items, each))


def exchanged(each: int, bytes: int) -> bool:
    """Whether the lanes of a pair exchange halves, where a lane has so many items an access."""
    return bytes < UNIT and each % 8 == 0


def matrices(each: int, bytes: int) -> int:
    """Of an access of so many items a lane."""
    return each // 4 if exchanged(each, bytes) else each // 2


def shuffles(each: int, bytes: int) -> int:
    """Of an access of so many items a lane: four items a word."""
    return each // 8 if exchanged(each, bytes) else 0


def naming(lane: Number, each: int, bytes: int) -> tuple[Number, Number]:
    """The first lane of those that have the row which a lane names, and their item of the access."""
    matrix, quad = lane // ROWS % matrices(each, bytes), lane % ROWS // 2
    if exchanged(each, bytes):
        return quad // 2 * 2, matrix * 4 + quad % 2 * 2 + lane % 2
    return quad // (UNIT // bytes) * (UNIT // bytes), matrix * 2 + lane % 2


def rows_of(numbers: Numbers, groups: Groups, bytes: int) -> Numbers:
    """``[warp, access, lane]``: the number of the first element of the row that each lane names."""
    each = len(groups[0])
    lanes, items = naming(np.arange(matrices(each, bytes) * ROWS), each, bytes)
    by_warp = numbers.reshape(-1, WARP, numbers.shape[1])
    rows: Numbers = by_warp[:, lanes[None, :], np.array([group[0] for group in groups])[:, None] + items[None, :]]
    return rows


def taken_of(rows: Numbers, each: int, bytes: int) -> Numbers:
    """``[warp, access, lane, item of the access]``: the element that each lane has, by the rows that lanes name."""
    lane, item = np.arange(WARP)[:, None], np.arange(each)[None, :]
    pair = UNIT // bytes
    if exchanged(each, bytes):
        namer = item // 4 * ROWS + (lane % 4 // 2 * 2 + item // 2 % 2) * 2 + item % 2
    else:
        namer = item // 2 * ROWS + lane % 4 * 2 + item % 2
    taken: Numbers = rows[:, :, namer] + lane // 4 * pair + lane % pair
    return taken
