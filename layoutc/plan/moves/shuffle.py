"""Move: values change lanes inside their warp, by as few shuffles as any schedule can have."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

from layoutc.plan.moves.colouring import colour
from layoutc.plan.moves.exchange import Exchange, Slot
from layoutc.plan.moves.nodes import Refusal, Round, Shuffle

RESTARTS = 24       # orders tried for the fewest selects
Edge = tuple[Slot, Slot]        # source slot, destination slot


def try_plan(exchange: Exchange) -> Shuffle | Refusal:
    """The shuffles, or where a value would have to leave its warp."""
    leaves = exchange.leaves_warp()
    if leaves is not None:
        (thread, item), _ = leaves
        return Refusal("shuffle", f"item {item} of thread {thread} comes from another warp")
    best: Shuffle | None = None
    for attempt in range(RESTARTS):
        found = _schedule(exchange, random.Random(attempt) if attempt else None)
        if best is None or (len(found.rounds), found.selects) < (len(best.rounds), best.selects):
            best = found
    assert best is not None
    return best


def _schedule(exchange: Exchange, order: random.Random | None) -> Shuffle:
    """One schedule; the warps are coloured apart and share their rounds."""
    threads = exchange.threads
    by_round: list[list[Edge]] = []
    for first in range(0, threads, exchange.warp):
        for number, edges in enumerate(_warp_rounds(exchange, first, order)):
            if number == len(by_round):
                by_round.append([])
            by_round[number] += edges
    rounds = tuple(_round(exchange, edges) for edges in by_round)
    own = tuple(
        tuple(row[item][1] if row[item][0] == thread else -1 for thread, row in enumerate(exchange.came_from))
        for item in range(exchange.items_after)
    )
    return Shuffle(rounds, own, _selects(rounds, own), 1)


def _warp_rounds(exchange: Exchange, first: int, order: random.Random | None) -> list[list[Edge]]:
    """The foreign edges of a warp in rounds: a lane publishes one register and takes one value in each."""
    last = min(first + exchange.warp, exchange.threads)
    edges = [(exchange.came_from[thread][item], (thread, item))
             for thread in range(first, last) for item in range(exchange.items_after)
             if exchange.came_from[thread][item][0] != thread]
    if order is not None:
        order.shuffle(edges)
    if len({source for source, _ in edges}) == len(edges):
        colours = colour([(s[0] - first, d[0] - first) for s, d in edges], last - first, last - first)
        rounds: list[list[Edge]] = [[] for _ in range(max(colours, default=-1) + 1)]
        for edge, number in zip(edges, colours, strict=True):
            rounds[number].append(edge)
        return rounds
    return _multicast_rounds(edges)


def _multicast_rounds(edges: list[Edge]) -> list[list[Edge]]:
    """First fit, the most wanted values first: a published register serves every lane that is free to take it."""
    wanted: dict[Slot, list[Slot]] = defaultdict(list)
    for source, destination in edges:
        wanted[source].append(destination)
    rounds: list[list[Edge]] = []
    published: list[dict[int, int]] = []
    taking: list[set[int]] = []
    for source in sorted(wanted, key=lambda s: -len(wanted[s])):
        waiting = wanted[source]
        number = 0
        while waiting:
            if number == len(rounds):
                rounds.append([])
                published.append({})
                taking.append(set())
            if published[number].get(source[0], source[1]) == source[1]:
                served: list[Slot] = []
                for destination in waiting:
                    if destination[0] not in taking[number]:
                        taking[number].add(destination[0])
                        served.append(destination)
                if served:
                    published[number][source[0]] = source[1]
                    rounds[number] += [(source, d) for d in served]
                    waiting = [d for d in waiting if d not in served]
            number += 1
    return rounds


def _round(exchange: Exchange, edges: list[Edge]) -> Round:
    """What each thread publishes, reads and stores; idle threads publish and read what costs no select."""
    threads = exchange.threads
    send = {source[0]: source[1] for source, _ in edges}
    lane = {destination[0]: source[0] % exchange.warp for source, destination in edges}
    receive = {destination[0]: destination[1] for _, destination in edges}
    usual = Counter(send.values()).most_common(1)[0][0] if send else 0
    return Round(
        tuple(send.get(t, usual) for t in range(threads)),
        tuple(lane.get(t, t % exchange.warp) for t in range(threads)),
        tuple(receive.get(t, -1) for t in range(threads)),
    )


def _selects(rounds: tuple[Round, ...], own: tuple[tuple[int, ...], ...]) -> int:
    """Selects of a thread: registers to choose from when publishing, sources to choose from for each result."""
    sending = sum(len(set(r.send)) - 1 for r in rounds)
    sources: dict[int, set[tuple[str, int]]] = defaultdict(set)
    for number, r in enumerate(rounds):
        for item in set(r.receive) - {-1}:
            sources[item].add(("round", number))
    for item, row in enumerate(own):
        sources[item] |= {("own", register) for register in set(row) - {-1}}
    return sending + sum(len(found) - 1 for found in sources.values())


def simulate(move: Shuffle, exchange: Exchange, held: list[list[object]]) -> list[list[object]]:
    """What every thread holds afterwards, by the plan alone."""
    after: list[list[object]] = [
        [held[t][row[t]] if row[t] >= 0 else None for row in move.own] for t in range(exchange.threads)
    ]
    for r in move.rounds:
        shown = [held[t][r.send[t]] for t in range(exchange.threads)]
        for t in range(exchange.threads):
            if r.receive[t] >= 0:
                after[t][r.receive[t]] = shown[t - t % exchange.warp + r.lane[t]]
    return after
