"""What an explanation of one pass holds; None is what needs an extent that is not known, or cannot be counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TypeVar

from layoutc.explain.redistribution import moved
from layoutc.plan.nodes import Mask, Refusal
from layoutc.plan.redistributions.redistribution import RedistributionPlan

V = TypeVar("V")
Halo = dict[str, tuple[int, int]]           # per index: -(least offset), greatest offset
Box = tuple[int, ...]                       # per axis, elements


@dataclass(frozen=True, slots=True)
class Threads:
    """Threads of a block."""

    count: int
    layout: str | None      # (thread, item) -> place in the tile
    over: str | None = None # in place of a layout: one thread for each element of this tensor's box


@dataclass(frozen=True, slots=True)
class Launch:
    """Blocks and threads of one launch."""

    grid: tuple[int, ...] | None        # blocks per index
    block: tuple[int, ...]              # threads
    blocks: int | None = None
    threads: int | None = None
    idle_threads: int | None = None     # without a valid output
    active_in_last_block: int | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """Something that a tile keeps."""

    name: str
    where: str              # shared, registers, constant
    bytes: int              # of one copy
    copies: int = 1


@dataclass(frozen=True, slots=True)
class Stored:
    """All that a tile keeps."""

    items: tuple[Item, ...]

    def bytes(self, where: str | None = None) -> int:
        """All copies of the items there."""
        return sum(i.bytes * i.copies for i in self.items if where in (None, i.where))


@dataclass(frozen=True, slots=True)
class Traffic:
    """What one launch moves of one tensor."""

    unique_bytes: int | None
    loaded_bytes: int | None
    reads_untiled: int | None           # elements
    transactions_per_warp: int | None
    transaction_bytes: int
    utilization: float | None           # bytes used over bytes moved

    def and_also(self, other: Traffic) -> Traffic:
        """Of two launches; the warp is the first one's."""
        return replace(
            self, unique_bytes=_with(max, self.unique_bytes, other.unique_bytes),
            loaded_bytes=_with(int.__add__, self.loaded_bytes, other.loaded_bytes),
            reads_untiled=_with(int.__add__, self.reads_untiled, other.reads_untiled))


@dataclass(frozen=True, slots=True)
class Intensity:
    """Arithmetic of a full tile over the bytes that it loads."""

    ops: int | None = None
    bytes: int | None = None
    ops_per_byte: float | None = None
    upper_bound: float | None = None    # of an infinite tile


@dataclass(frozen=True, slots=True)
class Fuse:
    """Several steps a launch: what a tile computes more than once, so that its neighbours need not be waited for."""

    steps: int
    halo: Halo                          # of one step
    evaluations: int                    # places that a tile computes in all steps
    outputs: int                        # of a tile, times the steps
    redundant: float                    # evaluations over outputs, less 1


@dataclass(frozen=True, slots=True)
class Strategy:
    """How the pass is made; costs are bytes by the model of ``layoutc.plan.cost``, to compare and no more."""

    name: str
    cost: float
    rejected: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explained:
    """One pass."""

    outputs: tuple[str, ...]
    strategy: Strategy
    tile: dict[str, int]
    threads: Threads
    halo: dict[str, Halo | None]
    footprint: dict[str, Box | None]
    launch: Launch
    masks: tuple[Mask, ...]
    storage: Stored
    traffic: dict[str, Traffic]
    intensity: Intensity
    redistributions: tuple[RedistributionPlan, ...] = ()
    fuse: Fuse | None = None

    def as_json(self) -> dict[str, object]:
        """Plain values by the names of ``explain --json``."""
        threads = {k: v for k, v in asdict(self.threads).items() if k != "over" or v is not None}
        fuse = {} if self.fuse is None else {
            "fuse": {**asdict(self.fuse), "halo": {i: list(ends) for i, ends in self.fuse.halo.items()}}}
        return {
            "tile": self.tile,
            "threads": threads,
            "halo": {t: None if h is None else {i: list(ends) for i, ends in h.items()} for t, h in self.halo.items()},
            "footprint": {t: None if b is None else list(b) for t, b in self.footprint.items()},
            "launch": {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self.launch).items()},
            "masks": [{"tensor": m.tensor, "axis": m.axis, "side": m.side, "kind": m.kind, "test": str(m.test)}
                      for m in self.masks],
            "storage": {
                "shared_bytes": self.storage.bytes("shared"), "register_bytes": self.storage.bytes("registers"),
                "items": [asdict(i) for i in self.storage.items], "total_bytes": self.storage.bytes()},
            "traffic": {t: asdict(f) for t, f in self.traffic.items()},
            "intensity": asdict(self.intensity),
            "redistribute": [moved(plan) for plan in self.redistributions],
            "strategy": asdict(self.strategy) | {"rejected": [asdict(r) for r in self.strategy.rejected],
                                                 "notes": list(self.strategy.notes)},
            **fuse,
        }


def merged(passes: tuple[Explained, ...]) -> Explained:
    """Several passes as one.

    Threads, launch, intensity and strategy are the first pass's; of each tensor the greatest halo and footprint; all
    masks, items and redistributions; traffic summed over the launches, ``unique_bytes`` the greatest.
    """
    first, *rest = passes
    for other in rest:
        first = replace(
            first, outputs=tuple(dict.fromkeys(first.outputs + other.outputs)), tile=other.tile | first.tile,
            halo=_each(_wider, first.halo, other.halo), footprint=_each(_larger, first.footprint, other.footprint),
            masks=tuple(dict.fromkeys(first.masks + other.masks)),
            storage=Stored(first.storage.items + other.storage.items),
            traffic=_each(Traffic.and_also, first.traffic, other.traffic),
            redistributions=first.redistributions + other.redistributions)
    return first


def _each(join: Callable[[V, V], V], one: Mapping[str, V], other: Mapping[str, V]) -> dict[str, V]:
    """Both, joined where a name is in both."""
    return {**one, **{name: join(one[name], v) if name in one else v for name, v in other.items()}}


def _with(join: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else join(a, b)


def _wider(a: Halo | None, b: Halo | None) -> Halo | None:
    if a is None or b is None:
        return None
    return _each(lambda x, y: (max(x[0], y[0]), max(x[1], y[1])), a, b)


def _larger(a: Box | None, b: Box | None) -> Box | None:
    return None if a is None or b is None else tuple(map(max, a, b))
