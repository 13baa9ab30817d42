"""Which tiles a product by warpgroups has: the fastest for very many outputs, and others for the call's extents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from itertools import product as every_pair

from layoutc.index import Call, Expr, Int, Name, ceildiv, compare, every, multiplied, select
from layoutc.plan.machine import LINE_BYTES
from layoutc.plan.matrix.tiling import Tiling

MANY = 3 << 14              # outputs along a side that the call decides: whole tiles of every size
FEWER = tuple(1 << n for n in range(9, 15))     # and so many, for which tiles are chosen beside
MOST_BESIDE = 2
WORTH = 0.98                # of all clocks that are left over if one tile more makes the text longer
# One H200 by its data sheet and by measured products of many extents
MULTIPROCESSORS = 132
MULTIPLIED = 4096           # bytes of a chunk's line times outputs, a multiprocessor and clock
BESIDE = 64                 # clocks of a chunk in which nothing is multiplied
HELD_UP = 1 / 160           # clocks of a multiprocessor's tensor cores for a byte that threads copy themselves
BROUGHT = 55                # bytes from the second cache, a multiprocessor and clock
WAITED = 600                # clocks of a chunk of blocks that are alone on their multiprocessor, and …
WAITED_A_BYTE = 1 / 128     # for each byte of it


@dataclass(frozen=True, slots=True)
class Outputs:
    """How many there are, over the spec's extent names."""

    rows: Expr
    columns: Expr
    batch: Expr

    @property
    def known(self) -> bool:
        """Now, and not at the call alone."""
        return all(isinstance(n, Int) for n in (self.rows, self.columns, self.batch))

    def many(self) -> dict[str, int]:
        """The counts, very many where the call decides; one batch, which then changes nothing."""
        return {"rows": _or(self.rows, MANY), "columns": _or(self.columns, MANY), "batch": _or(self.batch, 1)}

    def fewer(self) -> list[dict[str, int]]:
        """Counts of every size where the call decides."""
        sides = [[n.value] if isinstance(n, Int) else list(FEWER) for n in (self.rows, self.columns)]
        return [self.many() | {"rows": rows, "columns": columns} for rows, columns in every_pair(*sides)]


def _or(n: Expr, unknown: int) -> int:
    return max(n.value, 1) if isinstance(n, Int) else unknown


def clocks(tiling: Tiling, resident: int, *, boxes: bool) -> Expr:
    """Of a chunk on the multiprocessor that has most blocks, over ``rows``, ``columns`` and ``batch``.

    ``resident``: blocks that share a multiprocessor; ``boxes``: no thread is held up by copies of its own.
    """
    bytes = (tiling.rows + tiling.columns) * LINE_BYTES
    one = max(tiling.rows * tiling.columns * LINE_BYTES / MULTIPLIED + BESIDE, bytes / BROUGHT)
    own = round(one + (0 if boxes else bytes * HELD_UP))
    waited = round(WAITED + bytes * WAITED_A_BYTE)
    down, across = ceildiv(Name("rows", 1), tiling.rows), ceildiv(Name("columns", 1), tiling.columns)
    blocks = ceildiv(multiplied((down, across, Name("batch", 1))), MULTIPROCESSORS)
    rest = blocks % resident
    alone = Call("maximum", (rest * own, Call("minimum", (rest, Int(1))) * waited)) if resident > 1 else Int(0)
    return blocks // resident * max(resident * own, waited) + alone


def chosen(clocks: Sequence[Expr], outputs: Outputs) -> tuple[int, ...]:
    """The numbers of the tiles that are made: the fastest, and where the call decides what others are fast for."""
    best = min(range(len(clocks)), key=lambda n: clocks[n].at(outputs.many()))
    if outputs.known:
        return (best,)
    times = [[one.at(counts) for counts in outputs.fewer()] for one in clocks]
    least = [min(each) for each in zip(*times, strict=True)]

    def lost(numbers: Sequence[int]) -> float:
        """How much longer than by the best of all tiles, over all sizes."""
        taken = (min(times[n][k] for n in numbers) for k in range(len(least)))
        return float(sum(time / shortest for time, shortest in zip(taken, least, strict=True)))

    found: tuple[int, ...] = (best,)
    others = [n for n in range(len(clocks)) if n != best]
    for count in range(1, min(MOST_BESIDE, len(others)) + 1):
        more = min(((best, *beside) for beside in combinations(others, count)), key=lost)
        if lost(more) <= WORTH * lost(found):
            found = more
    return found


def taken(clocks: Sequence[Expr], outputs: Outputs) -> list[Expr]:
    """For each tile 1 where it is the fastest, else 0, over the spec's extent names: one of them is 1."""
    counts = {"rows": outputs.rows, "columns": outputs.columns, "batch": outputs.batch}
    times = [one.over(counts) for one in clocks]
    if len(times) == 1:
        return [Int(1)]
    return [select(every([compare("<" if m < n else "<=", times[n], times[m]) for m in range(len(times)) if m != n]),
                   Int(1), Int(0)) for n in range(len(times))]
