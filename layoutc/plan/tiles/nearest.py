"""The nearest tile that fits: what a schedule over its budget could say instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from math import prod

from layoutc.diagnostics import LayoutcError
from layoutc.plan.nodes import Pass
from layoutc.resolve.program import Schedule

MOST_TILES = 8192       # looked at
MOST_PLANS = 8          # made of those that should fit


def nearest_tile(schedule: Schedule, one: Pass, budget: int, plan: Callable[[Schedule], int]) -> str:
    """The tile clause nearest to a pass's own that needs no more than ``budget`` bytes, and how many it needs; else "".

    Nearest is what keeps the most outputs, then the longest chunks, then the most sizes as they are. ``plan`` gives
    the bytes of shared memory that a schedule needs, or raises LayoutcError.
    """
    sizes = one.sizes
    fitting = [t for t in _smaller(sizes) if _bytes(one, t) <= budget]
    outputs = [i for i in sizes if i not in one.chunked]
    if not fitting:
        return f"no tile fits: the smallest takes {_bytes(one, dict.fromkeys(sizes, 1))} bytes; stage less"

    def far(tile: Mapping[str, int]) -> tuple[int, ...]:
        changed = sum(tile[i] != sizes[i] for i in sizes)
        return (-prod(tile[i] for i in outputs), -prod(tile[i] for i in one.chunked), changed,
                *(-tile[i] for i in reversed(sizes)))

    for tile in sorted(fitting, key=far)[:MOST_PLANS]:
        try:
            needed = plan(replace(schedule, tile=tuple((schedule_tile(schedule) | tile).items())))
        except LayoutcError:
            continue
        if needed <= budget:
            said = ", ".join(f"{i}: {n}" for i, n in tile.items())
            return f"the nearest tile that fits is `tile ({said})`, with {needed} bytes"
    return ""


def schedule_tile(schedule: Schedule) -> dict[str, int]:
    """What a schedule says of the tile."""
    return dict(schedule.tile or ())


def _smaller(sizes: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Tiles none of whose sizes is larger: all small sizes, of large ones multiples of a power of two."""
    parts = 8
    while parts > 1 and prod(len(_up_to(n, parts)) for n in sizes.values()) > MOST_TILES:
        parts //= 2
    for tile in product(*(_up_to(n, parts) for n in sizes.values())):
        yield dict(zip(sizes, tile, strict=True))


def _up_to(size: int, parts: int) -> list[int]:
    """The size and what is smaller, in steps of a power of two that divide it into ``parts`` or more."""
    step = 1 << max((size // parts).bit_length() - 1, 0)
    return sorted({1, size, *range(step, size, step)})


def _bytes(one: Pass, tile: Mapping[str, int]) -> int:
    """Bytes of the shared boxes of a tile, as far as their shape tells."""
    total = 0
    for s in one.storage:
        if s.where == "shared":
            box = prod(a.extent(tile[a.index] if a.index is not None else 1) for a in s.axes or ())
            total += box * s.type.bytes * s.copies
    return total
