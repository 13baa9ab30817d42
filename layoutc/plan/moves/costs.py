"""What the parts of a move cost, by a table measured per architecture (costs.toml says how)."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files

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


@cache
def measured() -> dict[str, Costs]:
    """The tables by architecture, such as ``sm_90``."""
    found = tomllib.loads(files("layoutc.plan.moves").joinpath("costs.toml").read_text("utf-8"))
    return {arch: Costs(**{f.name: float(table[f.name]) for f in fields(Costs)}) for arch, table in found.items()}


def costs_of(arch: str) -> Costs:
    """The measured table of an architecture, or of the one nearest to it by number."""
    tables = measured()
    return tables[min(tables, key=lambda known: abs(_number(known) - _number(arch)))]


def _number(arch: str) -> int:
    digits = "".join(filter(str.isdigit, arch))
    return int(digits) if digits else 0


def cost(move: Move, exchange: Exchange, costs: Costs) -> float:
    """Picoseconds an item and conversion over the whole GPU."""
    return _of_thread(move, exchange, costs) / max(exchange.items_after, 1)


def _of_thread(move: Move, exchange: Exchange, costs: Costs) -> float:
    """Picoseconds of a thread for all its items; an item of 8 bytes is two words to shuffle and to select."""
    words = max(exchange.bytes // 4, 1)
    match move:
        case Keep():
            return 0.0
        case RenameRegisters():
            return move.selects * words * costs.select
        case Shuffle():
            return len(move.rounds) * words * costs.shuffle + (move.selects * words + move.repacks) * costs.select
        case ThroughShared():
            served = (move.buffer.write.wavefronts + move.buffer.read.wavefronts) * 32 / exchange.threads
            barrier = costs.block_barrier if move.barrier == "block" else costs.warp_barrier
            return served * costs.wavefront + 2 * barrier * move.slices
