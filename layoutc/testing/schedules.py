"""Random schedules of a kernel, as texts; the planner says which of them can be honoured."""

from __future__ import annotations

from math import prod
from random import Random

from layoutc.plan.reads.footprints import footprints
from layoutc.resolve.program import Const, Kernel, Reduce, Value
from layoutc.resolve.trees import children

TILE_SIZES = (1, 2, 3, 4, 5, 8, 16)
LARGEST_TILE = 256          # outputs: the extents of a test are small
CHUNK_SIZES = (1, 2, 3, 4)
THREAD_COUNTS = (1, 2, 5, 8, 31, 32, 33, 64)
VECTORS = (1, 2, 4, 8)
FUSED = (2, 2, 3, 4)        # steps a launch
INTENTS = ("plain", "layout", "over", "vectors", "accesses")
"""What a schedule is about: threads by count, by layout, one for each input; wide accesses; accesses by layouts."""


def random_clauses(kernel: Kernel, intent: str, random: Random) -> str:
    """The clauses of a schedule in braces, about one of INTENTS; not all that come are possible."""
    indices = list(dict.fromkeys(i for e in kernel.equations for i in e.indices))
    chunks = _chunks(kernel, indices, random)
    boxed, moving = _boxes(kernel, tuple(chunks))
    stages = _stages(kernel, boxed, random, double=bool(chunks))
    tile = _tile(indices, random)
    if intent == "over":
        tile = {i: min(n, 5) for i, n in tile.items()}
    if intent in ("over", "vectors") and boxed:
        stages[random.choice(moving or boxed)] = "shared"
    outputs = prod(tile.get(i, 1) for i in kernel.equations[0].indices)
    shared = [name for name, where in stages.items() if where == "shared" and name in moving]
    clauses: list[str] = []
    match intent:
        case "layout" if kernel.equations[0].indices:
            count = random.choice(_divisors(outputs))
            clauses = [f"threads {_bijection(count, outputs // count, random)}"]
        case "over" if shared:
            clauses = [f"threads over {random.choice(shared)}"]
        case "vectors" if indices:
            vector, last = random.choice(VECTORS), kernel.equations[0].indices[-1:]
            tile |= {i: vector * random.choice((1, 2, 3)) for i in last}
            runs = prod(tile.get(i, 1) for i in kernel.equations[0].indices) // vector
            clauses = [f"vector {vector}", f"threads {random.choice(_divisors(max(runs, 1)))}"]
        case "accesses":
            clauses = _accesses(kernel, boxed, outputs, random)
        case _ if random.random() < 0.6:
            clauses = [f"threads {random.choice(THREAD_COUNTS)}"]
    reduced = reduction_indices(kernel)
    if random.random() < 0.3 and (reduced or indices):
        clauses.append(f"unroll {random.choice(reduced or indices)}")
    tile |= chunks
    if kernel.steps and intent != "over" and random.random() < 0.6:
        clauses.append(f"fuse {random.choice(FUSED)}")
        stages = _with_fuse(kernel, stages)
    said = [f"tile ({', '.join(f'{i}: {n}' for i, n in tile.items())})"] if tile else []
    said += [f"stage {name} in {where}" for name, where in stages.items()]
    return "{ " + "  ".join(said + clauses) + " }"


def _with_fuse(kernel: Kernel, stages: dict[str, str]) -> dict[str, str]:
    """Where tensors may wait while a launch makes several steps."""
    stepped, lets = {u for u, _ in kernel.steps}, {s.name for s in kernel.stages}
    return {name: where for name, where in stages.items()
            if name not in lets and where != "registers" and (name not in stepped or where == "shared")}


def _divisors(number: int) -> list[int]:
    return [n for n in range(1, number + 1) if number % n == 0]


def _tile(indices: list[str], random: Random) -> dict[str, int]:
    tile = {i: random.choice(TILE_SIZES) for i in indices if random.random() < 0.9}
    while prod(tile.values()) > LARGEST_TILE:
        widest = max(tile, key=tile.__getitem__)
        tile[widest] //= 2
    return tile


def _bijection(threads: int, items: int, random: Random) -> str:
    """Blocked, striped, or striped over groups of neighbouring threads."""
    group = random.choice(_divisors(threads))
    return random.choice((
        f"({threads}, {items}):({items}, 1)",
        f"({threads}, {items}):(1, {threads})",
        f"(({group}, {threads // group}), {items}):((1, {group * items}), {group})",
    ))


def _accesses(kernel: Kernel, boxed: list[str], outputs: int, random: Random) -> list[str]:
    """Loads and stores by layouts of their own: for boxes of up to three times the tile, and for the tile itself."""
    threads = random.choice(THREAD_COUNTS)
    told = [*((f"load {name}", random.randint(1, 3)) for name in boxed),
            *((f"store {e.output}", 1) for e in kernel.equations if e.indices)]
    some = random.sample(told, random.randint(1, len(told))) if told else []
    count = [f"threads {threads}"] if random.random() < 0.5 else []
    return count + [
        f"{what} as {_bijection(threads, -(-outputs * times // threads) + random.randint(0, 1), random)}"
        for what, times in some]


def _chunks(kernel: Kernel, indices: list[str], random: Random) -> dict[str, int]:
    """Reduction indices to walk in chunks: often one, seldom several, or none."""
    reduced = [name for name in reduction_indices(kernel) if name not in indices]
    number = random.choice((0, 0, 1, 1, 1, 2))
    some = random.sample(reduced, min(number, len(reduced)))
    return {name: random.choice(CHUNK_SIZES) for name in reduced if name in some}


def _boxes(kernel: Kernel, chunked: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Tensors of which a tile (a chunk of it) reads a box, and those of them that move with every index."""
    found = footprints(kernel, kernel.equations, chunked=chunked)
    boxed = [t.name for t in kernel.inputs if t.name in found and found[t.name].axes is not None]
    moving = [n for n in boxed if tuple(a.index for a in found[n].axes or ()) == kernel.equations[0].indices]
    return boxed, moving


def _stages(kernel: Kernel, boxed: list[str], random: Random, *, double: bool) -> dict[str, str]:
    """Where tensors and lets wait; ``double``: perhaps in two buffers."""
    out = {}
    for tensor in kernel.inputs:
        small = all(isinstance(e, Const) for e in tensor.extents) and not any(map(any, tensor.edges))
        places = ["", "global", *(["constant"] * 3 if small else [])]
        if tensor.name in boxed:
            places += ["shared"] * 4 + ["shared halo global"] * 2 + ["registers"] * 2
            places += [*["shared double"] * 4, "shared halo global double"] if double else []
        out[tensor.name] = random.choice(places)
    out |= {s.name: random.choice(("", "shared")) for s in kernel.stages}
    return {name: where for name, where in out.items() if where}


def reduction_indices(kernel: Kernel) -> list[str]:
    """The indices of all reductions, each once."""
    values = [*(s.value for s in kernel.stages), *(e.value for e in kernel.equations)]
    return list(dict.fromkeys(name for value in values for name in _bound(value)))


def _bound(value: Value) -> list[str]:
    own = [b.name for b in value.binders] if isinstance(value, Reduce) else []
    return [*own, *(name for child in children(value) for name in _bound(child))]
