"""Move: nothing. Every destination slot holds its value already."""

from __future__ import annotations

from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import Keep, Refusal


def try_plan(exchange: Exchange) -> Keep | Refusal:
    """Keep, or the first slot whose value is elsewhere."""
    for thread, row in enumerate(exchange.came_from):
        for item, slot in enumerate(row):
            if slot != (thread, item):
                return Refusal("none", f"item {item} of thread {thread} comes from item {slot[1]} of thread {slot[0]}")
    return Keep(exchange.items_after)


def simulate(move: Keep, exchange: Exchange, held: list[list[object]]) -> list[list[object]]:
    """What every thread holds afterwards, by the plan alone."""
    return [row[:move.items] for row in held]
