"""What the parts of a move cost, by a table measured per architecture.

``costs.toml`` beside this file is what layoutc comes with and says how it was measured; what ``layoutc tune --costs``
measured for the user goes before it.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import platformdirs

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import Keep, Move, RenameRegisters, Shuffle, ThroughShared


@dataclass(frozen=True, slots=True)
class Costs:
    """Picoseconds over the whole GPU, for one thread's instruction (a wavefront: for each of its 32 lanes)."""

    select: float
    shuffle: float              # of 32 bits
    wavefront: float
    warp_barrier: float
    block_barrier: float


def costs_of(arch: str) -> Costs:
    """The table of an architecture, or of the nearest by number; the user's own before the one that layoutc comes with.

    Raises LayoutcError where the user's file is damaged.
    """
    tables = {**_shipped(), **_measured(measured_path())}
    near = min(tables, key=lambda known: abs(capability_of(known) - capability_of(arch)))
    return tables[arch if arch in tables else near]


def store_costs(arch: str, costs: Costs) -> Path:
    """Keep a measured table for this user; where. A damaged file is written anew."""
    path = measured_path()
    try:
        tables = {**_measured(path), arch: costs}
    except LayoutcError:
        tables = {arch: costs}
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    beside.write_text(json.dumps({name: asdict(table) for name, table in sorted(tables.items())}, indent=2) + "\n")
    os.replace(beside, path)
    _read.cache_clear()
    return path


def measured_path() -> Path:
    """``costs.json`` in ``$LAYOUTC_DATA_DIR``, else in the user's data folder."""
    return Path(os.environ.get("LAYOUTC_DATA_DIR") or platformdirs.user_data_dir("layoutc")) / "costs.json"


@cache
def _shipped() -> Mapping[str, Costs]:
    return _tables(tomllib.loads(Path(__file__).with_name("costs.toml").read_text("utf-8")))


def _measured(path: Path) -> Mapping[str, Costs]:
    """The user's tables by architecture; none where there is no file."""
    try:
        return _read(path, path.stat().st_mtime_ns)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise LayoutcError([Diagnostic(
            "damaged-costs", f"the measured costs in `{path}` cannot be read: {type(error).__name__}: {error}",
            help="run `layoutc tune --costs` to measure them anew, or delete the file")]) from None


@lru_cache(8)
def _read(path: Path, written: int) -> Mapping[str, Costs]:
    return _tables(json.loads(path.read_text(encoding="utf-8")))


def _tables(found: Mapping[str, Any]) -> Mapping[str, Costs]:
    return {arch: Costs(*(_cost(table[field.name]) for field in fields(Costs))) for arch, table in found.items()}


def _cost(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e6:
        raise ValueError(f"{value!r} is no cost in picoseconds")
    return float(value)


def capability_of(arch: str) -> int:
    """The compute capability of ``sm_90``, ``sm_90a``, …: 90."""
    digits = "".join(filter(str.isdigit, arch))
    return int(digits) if digits else 0


def cost(move: Move, exchange: Exchange, costs: Costs) -> float:
    """Picoseconds an item and conversion over the whole GPU."""
    return _of_thread(move, exchange, costs) / max(exchange.items_after, 1)


def spare_lanes(threads: int) -> float:
    """The lanes of a block's warps for each of its threads: an instruction of a part of a warp costs a whole one's."""
    return -(-threads // 32) * 32 / threads


def _of_thread(move: Move, exchange: Exchange, costs: Costs) -> float:
    """Picoseconds of a thread for all its items; an item of 8 bytes is two words to shuffle and to select."""
    words = max(exchange.bytes // 4, 1) * spare_lanes(exchange.threads)
    match move:
        case Keep():
            return 0.0
        case RenameRegisters():
            return move.selects * words * costs.select
        case Shuffle():
            shuffling = len(move.rounds) * words * costs.shuffle
            repacks = move.repacks * spare_lanes(exchange.threads)
            return max(shuffling, (move.selects * words + repacks) * costs.select)      # by two units, side by side
        case ThroughShared():
            write, read = move.buffer.write, move.buffer.read
            served = (write.wavefronts + read.wavefronts) * costs.wavefront + read.shuffles * costs.shuffle
            barrier = costs.block_barrier if move.barrier == "block" else costs.warp_barrier
            return served * 32 / exchange.threads + 2 * barrier * move.slices
