"""Move: values change registers inside their thread: a renaming, or selects where threads differ."""

from __future__ import annotations

from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import Refusal, RenameRegisters


def try_plan(exchange: Exchange) -> RenameRegisters | Refusal:
    """The registers, or the first value that comes from another thread."""
    leaves = exchange.leaves_thread()
    if leaves is not None:
        (thread, item), (other, _) = leaves
        return Refusal("registers", f"item {item} of thread {thread} comes from thread {other}")
    return RenameRegisters(tuple(
        tuple(row[item][1] for row in exchange.came_from) for item in range(exchange.items_after)))


def simulate(move: RenameRegisters, exchange: Exchange, held: list[list[object]]) -> list[list[object]]:
    """What every thread holds afterwards, by the plan alone."""
    return [[held[t][registers[t]] for registers in move.registers] for t in range(exchange.threads)]
