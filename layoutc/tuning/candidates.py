"""Schedules near a schedule: what a search by one clause at a time looks at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from layoutc.plan.reads.footprints import footprints
from layoutc.resolve.program import Kernel

THREADS = (64, 128, 256, 512)
LAST = (32, 64, 128, 256, 512, 1024)        # of a tile, along the last index
OTHER = (1, 2, 4, 8, 16, 32, 64)            # along the index before it
OUTER = (1, 2, 4)                           # along any other
MOST_OUTPUTS = 1 << 14                      # of a tile
VECTORS = (1, 2, 4, 8)
STAGED = ("", "shared", "registers")


@dataclass(frozen=True, slots=True)
class Candidate:
    """Some of a schedule's clauses; what is left out the planner chooses."""

    tile: tuple[tuple[str, int], ...] = ()      # index, outputs a block makes along it
    threads: int = 0
    vector: int = 0
    stages: tuple[tuple[str, str], ...] = ()    # tensor or let, where it waits
    mma: bool = False                           # by tensor cores

    @property
    def clauses(self) -> str:
        """As the language writes them, in braces."""
        said = [f"tile ({', '.join([f'{i}: {n}' for i, n in self.tile])})"] if self.tile else []
        said += [f"threads {self.threads}"] if self.threads else []
        said += [f"stage {name} in {where}" for name, where in self.stages if where]
        said += [f"vector {self.vector}"] if self.vector > 1 else []
        said += ["mma"] if self.mma else []
        return "{ " + "  ".join(said) + " }"


def neighbours(kernel: Kernel, here: Candidate) -> Iterator[tuple[str, Candidate]]:
    """Candidates that differ from one in one clause, each with that clause's word; not all can be honoured."""
    indices = kernel.equations[0].indices
    yield from (("tile", replace(here, tile=tile)) for tile in _tiles(indices))
    yield from (("threads", replace(here, threads=n)) for n in (0, *THREADS))
    yield "mma", Candidate(here.tile, here.threads, mma=not here.mma)
    yield from (("vector", replace(here, vector=n)) for n in VECTORS)
    told: Mapping[str, str] = dict(here.stages)
    for name, places in _stageable(kernel).items():
        for where in places:
            yield "stage", replace(here, stages=tuple({**told, name: where}.items()))


def _tiles(indices: tuple[str, ...]) -> Iterator[tuple[tuple[str, int], ...]]:
    if not indices:
        return
    yield ()
    sizes: list[tuple[int, ...]] = [()]
    for place in range(len(indices)):
        some = {0: LAST, 1: OTHER}.get(len(indices) - 1 - place, OUTER)
        sizes = [(*before, n) for before in sizes for n in some]
    for tile in sizes:
        count = 1
        for n in tile:
            count *= n
        if THREADS[0] <= count <= MOST_OUTPUTS:
            yield tuple(zip(indices, tile, strict=True))


def _stageable(kernel: Kernel) -> dict[str, tuple[str, ...]]:
    """Lets, and inputs of which a tile reads a box."""
    found = footprints(kernel, kernel.equations)
    boxed = {t.name: STAGED for t in kernel.inputs if t.name in found and found[t.name].axes}
    return {**boxed, **{s.name: ("", "shared") for s in kernel.stages}}
