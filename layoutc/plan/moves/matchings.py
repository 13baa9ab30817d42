"""Shuffle schedules of any exchange, by matchings: a lane shows one word and takes one in each round."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator

from layoutc.plan.moves.colouring import colour
from layoutc.plan.moves.exchange import Slot
from layoutc.plan.moves.nodes import Round, Shuffle
from layoutc.plan.moves.words import Words

EDGES = 3000        # of all attempts of a warp together: bounds the search for few selects
MOST = 16           # attempts
Edge = tuple[Slot, Slot]        # sender and word, taker and received word; threads count from the warp's first


def matched(words: Words, warp: int) -> Iterator[Shuffle]:
    """Schedules in several orders of the edges; warps that do the same are matched once and share their rounds."""
    kinds = _kinds(words, warp)
    own = tuple(
        tuple(w if not away else -1 for w, away in zip(*column, strict=True))
        for column in zip(words.word.T.tolist(), words.foreign.T.tolist(), strict=True)
    )
    edges = max((len(e) for e in kinds), default=0)
    for attempt in range(min(MOST, max(2, EDGES // max(edges, 1)))):
        by_round: list[list[Edge]] = []
        for kind, firsts in kinds.items():
            for number, found in enumerate(_warp_rounds(list(kind), attempt)):
                if number == len(by_round):
                    by_round.append([])
                by_round[number] += [((s + f, w), (d + f, r)) for (s, w), (d, r) in found for f in firsts]
        rounds = tuple(_round(len(words.word), warp, found) for found in by_round)
        yield Shuffle(words.made_of, (), rounds, own, (), words.parts)


def _kinds(words: Words, warp: int) -> dict[tuple[Edge, ...], list[int]]:
    """The edges between lanes that occur, and the first threads of the warps that have them."""
    found: dict[tuple[Edge, ...], list[int]] = {}
    for first in range(0, len(words.word), warp):
        here = slice(first, first + warp)
        takers, received = words.foreign[here].nonzero()
        senders = words.thread[here][takers, received] - first
        shown = words.word[here][takers, received]
        lists = (x.tolist() for x in (senders, shown, takers, received))
        edges = tuple(((s, w), (d, r)) for s, w, d, r in zip(*lists, strict=True))
        found.setdefault(edges, []).append(first)
    return found


def _warp_rounds(edges: list[Edge], attempt: int) -> list[list[Edge]]:
    """The edges of a warp in rounds; by senders' words, by takers', or in random order."""
    orders = (lambda e: (e[0][1], e[0][0]), lambda e: (e[1][1], e[1][0]))
    if attempt < len(orders):
        edges.sort(key=orders[attempt])
    else:
        random.Random(attempt).shuffle(edges)
    lanes = max((max(s, d) + 1 for (s, _), (d, _) in edges), default=0)
    colours = colour([(s, d) for (s, _), (d, _) in edges], lanes, lanes)
    rounds: list[list[Edge]] = [[] for _ in range(max(colours, default=-1) + 1)]
    for edge, number in zip(edges, colours, strict=True):
        rounds[number].append(edge)
    if len({source for source, _ in edges}) < len(edges):
        rounds = min(rounds, _multicast_rounds(edges), key=len)
    return rounds


def _multicast_rounds(edges: list[Edge]) -> list[list[Edge]]:
    """First fit, the most wanted words first: a word that is shown serves every lane that is free to take it."""
    wanted: dict[Slot, list[Slot]] = defaultdict(list)
    for source, destination in edges:
        wanted[source].append(destination)
    rounds: list[list[Edge]] = []
    shown: list[dict[int, int]] = []
    taking: list[set[int]] = []
    for source in sorted(wanted, key=lambda s: -len(wanted[s])):
        waiting = wanted[source]
        number = 0
        while waiting:
            if number == len(rounds):
                rounds.append([])
                shown.append({})
                taking.append(set())
            if shown[number].get(source[0], source[1]) == source[1]:
                served: list[Slot] = []
                for destination in waiting:
                    if destination[0] not in taking[number]:
                        taking[number].add(destination[0])
                        served.append(destination)
                if served:
                    shown[number][source[0]] = source[1]
                    rounds[number] += [(source, d) for d in served]
                    waiting = [d for d in waiting if d not in served]
            number += 1
    return rounds


def _round(threads: int, warp: int, edges: list[Edge]) -> Round:
    """What each thread shows, reads and stores; idle threads show what most do, and read themselves."""
    send = {source[0]: source[1] for source, _ in edges}
    lane = {destination[0]: source[0] % warp for source, destination in edges}
    receive = {destination[0]: destination[1] for _, destination in edges}
    usual = Counter(send.values()).most_common(1)[0][0] if send else 0
    return Round(
        tuple(send.get(t, usual) for t in range(threads)),
        tuple(lane.get(t, t % warp) for t in range(threads)),
        tuple(receive.get(t, -1) for t in range(threads)),
    )
