"""What the parts of a move cost, measured per architecture by ``layoutc tune --costs``."""

from __future__ import annotations

from dataclasses import dataclass

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


BY_ARCH = {"sm_90": Costs(select=0.06, shuffle=0.12, wavefront=0.12, warp_barrier=0.01, block_barrier=0.04)}


def costs_of(arch: str) -> Costs:
    """The measured table of an architecture, or of the nearest that was measured."""
    return BY_ARCH.get(arch, BY_ARCH["sm_90"])


def cost(move: Move, exchange: Exchange, costs: Costs) -> float:
    """Picoseconds an item and conversion over the whole GPU."""
    items = max(exchange.items_after, 1)
    words = max(exchange.bytes // 4, 1)
    match move:
        case Keep():
            return 0.0
        case RenameRegisters():
            return move.selects * words * costs.select / items
        case Shuffle():
            shuffles = len(move.rounds) * words * costs.shuffle
            return (shuffles + (move.selects * words + move.repacks) * costs.select) / items
        case ThroughShared():
            moved = (move.buffer.write.wavefronts + move.buffer.read.wavefronts) * 32 / exchange.threads
            barrier = costs.block_barrier if move.barrier == "block" else costs.warp_barrier
            return (moved * costs.wavefront + 2 * barrier * move.slices) / items
