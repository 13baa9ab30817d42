"""Random schedules of a kernel, as texts; the planner says which of them can be honoured."""

from __future__ import annotations

from math import prod
from random import Random

from layoutc.plan.halo import children
from layoutc.resolve.program import Kernel, Reduce, Value

TILE_SIZES = (1, 2, 3, 4, 5, 8, 16)
LARGEST_TILE = 256          # outputs: the extents of a test are small
THREAD_COUNTS = (1, 2, 5, 8, 31, 32, 33, 64)
VECTORS = (1, 2, 4, 8)
ACCESSES = 0.2              # of the loads and stores have layouts of their own


def random_clauses(kernel: Kernel, random: Random) -> str:
    """The clauses of a schedule in braces; not all that come are possible."""
    indices = list(dict.fromkeys(i for e in kernel.equations for i in e.indices))
    tile = _tile(indices, random)
    clauses = [f"tile ({', '.join(f'{i}: {n}' for i, n in tile.items())})"] if tile else []
    reduced = reduction_indices(kernel)
    threads, count = _threads(kernel, tile, random)
    clauses += threads
    clauses += _stages(kernel, random)
    clauses += _accesses(kernel, tile, count, random)
    if random.random() < 0.3:
        clauses.append(f"vector {random.choice(VECTORS)}")
    if random.random() < 0.3 and (reduced or indices):
        clauses.append(f"unroll {random.choice(reduced or indices)}")
    return "{ " + "  ".join(clauses) + " }"


def _tile(indices: list[str], random: Random) -> dict[str, int]:
    tile = {i: random.choice(TILE_SIZES) for i in indices if random.random() < 0.9}
    while prod(tile.values()) > LARGEST_TILE:
        widest = max(tile, key=tile.__getitem__)
        tile[widest] //= 2
    return tile


def _threads(kernel: Kernel, tile: dict[str, int], random: Random) -> tuple[list[str], int]:
    """A clause or none, and how many threads layouts of loads and stores should be for."""
    outputs = prod(tile.get(i, 1) for i in kernel.equations[0].indices)
    names = staged_names(kernel)
    match random.choice(("none", "count", "layout", "over")):
        case "count":
            count = random.choice(THREAD_COUNTS)
            return [f"threads {count}"], count
        case "layout" if kernel.equations[0].indices:
            count = random.choice([n for n in range(1, outputs + 1) if outputs % n == 0])
            return [f"threads {_bijection(count, outputs // count, random)}"], count
        case "over" if names:
            return [f"threads over {random.choice(names)}"], outputs
    return [], random.choice(THREAD_COUNTS)


def _accesses(kernel: Kernel, tile: dict[str, int], threads: int, random: Random) -> list[str]:
    """Some loads and stores by layouts of their own: for boxes of up to three times the tile, and the tile itself."""
    outputs = prod(tile.get(i, 1) for i in kernel.equations[0].indices)
    loads = [t.name for t in kernel.inputs if random.random() < ACCESSES]
    stores = [e.output for e in kernel.equations if e.indices and random.random() < ACCESSES]
    most = [(f"load {name}", random.randint(1, 3)) for name in loads] + [(f"store {name}", 1) for name in stores]
    return [f"{what} as {_bijection(threads, -(-outputs * times // threads) + random.randint(0, 1), random)}"
            for what, times in most]


def _bijection(threads: int, items: int, random: Random) -> str:
    """Blocked, striped, or striped over groups of neighbouring threads."""
    group = random.choice([n for n in range(1, threads + 1) if threads % n == 0])
    return random.choice((
        f"({threads}, {items}):({items}, 1)",
        f"({threads}, {items}):(1, {threads})",
        f"(({group}, {threads // group}), {items}):((1, {group * items}), {group})",
    ))


def _stages(kernel: Kernel, random: Random) -> list[str]:
    out = []
    for name in staged_names(kernel):
        where = random.choice(("", "shared", "shared", "shared halo global", "registers", "constant", "global"))
        if where:
            out.append(f"stage {name} in {where}")
    return out


def staged_names(kernel: Kernel) -> list[str]:
    """What a schedule can stage: inputs and lets."""
    return [*(t.name for t in kernel.inputs), *(s.name for s in kernel.stages)]


def reduction_indices(kernel: Kernel) -> list[str]:
    """The indices of all reductions, each once."""
    values = [*(s.value for s in kernel.stages), *(e.value for e in kernel.equations)]
    return list(dict.fromkeys(name for value in values for name in _bound(value)))


def _bound(value: Value) -> list[str]:
    own = [b.name for b in value.binders] if isinstance(value, Reduce) else []
    return [*own, *(name for child in children(value) for name in _bound(child))]


def without_one_clause(clauses: str) -> list[str]:
    """The same schedule with one clause less, for every clause."""
    parts = split_clauses(clauses)
    return ["{ " + "  ".join((*parts[:k], *parts[k + 1:])) + " }" for k in range(len(parts))]


def split_clauses(clauses: str) -> list[str]:
    """The clauses that ``random_clauses`` joined."""
    return [part for part in clauses.strip("{} ").split("  ") if part]
