"""Move: values change lanes inside their warp, by as few shuffles as any schedule can have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.matchings import matched
from layoutc.plan.moves.nodes import Layer, Refusal, Round, Shuffle
from layoutc.plan.moves.transposes import turned
from layoutc.plan.moves.words import Words, words_of

MANY = 64           # words that travel in a warp: beyond, matchings are tried only where no structure is found


def try_plan(exchange: Exchange) -> Shuffle | Refusal:
    """The shuffles, or where a value would have to leave its warp: fewest rounds, then fewest selects."""
    leaves = exchange.leaves_warp()
    if leaves is not None:
        (thread, item), _ = leaves
        return Refusal("shuffle", f"item {item} of thread {thread} comes from another warp")
    whole = words_of(exchange)
    single = [words.of_one_warp(exchange.warp) for words in whole]
    planned = [words for words in single if words is not None] or whole
    best = min(_schedules(planned, exchange.warp), key=lambda s: (len(s.rounds), s.selects + s.repacks, s.packed))
    return best if planned is whole else _repeated(best, exchange.threads // exchange.warp)


def _schedules(every: list[Words], warp: int) -> Iterator[Shuffle]:
    """Schedules by structure and by matchings, of the words that take the fewest rounds."""
    fewest = min(words.degree for words in every)
    for words in every:
        if words.degree == fewest:
            found = list(turned(words, warp))
            yield from found
            if not found or words.foreign[:warp].sum() <= MANY:
                yield from matched(words, warp)


def _repeated(plan: Shuffle, times: int) -> Shuffle:
    """The plan of one warp for several."""
    def layers(found: tuple[Layer, ...]) -> tuple[Layer, ...]:
        return tuple(tuple(row * times for row in layer) for layer in found)

    rounds = tuple(Round(r.send * times, r.lane * times, r.receive * times) for r in plan.rounds)
    own, = layers((plan.own,))
    return Shuffle(plan.words, layers(plan.before), rounds, own, layers(plan.after), plan.parts)


Word: TypeAlias = "tuple[object, ...]"      # the items that travel together


def simulate(move: Shuffle, exchange: Exchange, held: list[list[object]]) -> list[list[object]]:
    """What every thread holds afterwards, by the plan alone."""
    threads = range(exchange.threads)
    words: list[list[Word]] = [[tuple(held[t][item] for item in word) for word in move.words] for t in threads]
    words = _layered(words, move.before)
    received: list[list[Word]] = [[words[t][row[t]] if row[t] >= 0 else () for row in move.own] for t in threads]
    for one in move.rounds:
        shown = [words[t][one.send[t]] for t in threads]
        for t in threads:
            if one.receive[t] >= 0:
                received[t][one.receive[t]] = shown[t - t % exchange.warp + one.lane[t]]
    received = _layered(received, move.after)
    return [[received[t][word][part] for word, part in move.parts] for t in threads]


def _layered(words: list[list[Word]], layers: tuple[Layer, ...]) -> list[list[Word]]:
    for layer in layers:
        words = [[row[register[t]] for register in layer] for t, row in enumerate(words)]
    return words
