"""Ways to redistribute register-held values: one file a move, the cheapest by measured cost wins."""

from __future__ import annotations

from collections.abc import Callable

from layoutc.plan.moves import keep, rename_registers, shuffle, through_shared
from layoutc.plan.moves.costs import Costs, cost
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import Keep, Move, Refusal, RenameRegisters, Shuffle, ThroughShared
from layoutc.plan.moves.search import ORDERS

MOVES: tuple[tuple[str, Callable[[Exchange], Move | Refusal]], ...] = (
    ("none", keep.try_plan),
    ("registers", rename_registers.try_plan),
    ("shuffle", shuffle.try_plan),
    ("shared", through_shared.try_plan),
)


def choose(
    exchange: Exchange, costs: Costs, via: str | None = None, shared_bytes: int = through_shared.SHARED_BYTES,
    orders: tuple[str, ...] = ORDERS,
) -> tuple[Move | None, tuple[Refusal, ...]]:
    """The cheapest move (of the means insisted on) and why each other was not taken.

    ``shared_bytes`` is what a block may have of shared memory, ``orders`` what the architecture has accesses for.
    None where the means insisted on cannot be right; its refusal then says where.
    """
    possible: list[tuple[float, str, Move]] = []
    refused: list[Refusal] = []
    for name, try_plan in MOVES:
        if via is not None and name != via and not (name == "none" and via == "registers"):
            continue
        found = through_shared.try_plan(exchange, shared_bytes, orders) if name == "shared" else try_plan(exchange)
        if isinstance(found, Refusal):
            refused.append(found)
        else:
            possible.append((cost(found, exchange, costs), name, found))
    if not possible:
        return None, tuple(refused)
    best = min(possible, key=lambda p: p[0])
    dearer = [Refusal(name, "costs more", price) for price, name, _ in possible if name != best[1]]
    return best[2], (*refused, *dearer)


def simulate(move: Move, exchange: Exchange, held: list[list[object]]) -> list[list[object]]:
    """What every thread holds afterwards, by the plan alone; ``held[thread][item]`` before."""
    match move:
        case Keep():
            return keep.simulate(move, exchange, held)
        case RenameRegisters():
            return rename_registers.simulate(move, exchange, held)
        case Shuffle():
            return shuffle.simulate(move, exchange, held)
        case ThroughShared():
            return through_shared.simulate(move, exchange, held)
