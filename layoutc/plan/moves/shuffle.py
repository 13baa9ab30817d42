"""Move: values change lanes inside their warp, by as few shuffles as any schedule can have."""

from __future__ import annotations

from collections.abc import Iterator

from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.matchings import matched
from layoutc.plan.moves.nodes import Layer, Refusal, Shuffle
from layoutc.plan.moves.transposes import turned
from layoutc.plan.moves.words import Words, words_of


def try_plan(exchange: Exchange) -> Shuffle | Refusal:
    """The shuffles, or where a value would have to leave its warp: fewest rounds, then fewest selects."""
    leaves = exchange.leaves_warp()
    if leaves is not None:
        (thread, item), _ = leaves
        return Refusal("shuffle", f"item {item} of thread {thread} comes from another warp")
    return min(_schedules(exchange), key=lambda s: (len(s.rounds), s.selects + s.repacks, s.packed))


def _schedules(exchange: Exchange) -> Iterator[Shuffle]:
    """Schedules by structure and by matchings, for all words that do not take more rounds than others."""
    every: list[Words] = words_of(exchange)
    fewest = min(words.degree for words in every)
    for words in every:
        yield from turned(words, exchange.warp)
        if words.degree == fewest:
            yield from matched(words, exchange.warp)


def simulate(move: Shuffle, exchange: Exchange, held: list[list[object]]) -> list[list[object]]:
    """What every thread holds afterwards, by the plan alone."""
    threads = range(exchange.threads)
    words: list[list[object]] = [[tuple(held[t][item] for item in word) for word in move.words] for t in threads]
    words = _layered(words, move.before)
    received: list[list[object]] = [[words[t][row[t]] if row[t] >= 0 else None for row in move.own] for t in threads]
    for one in move.rounds:
        shown = [words[t][one.send[t]] for t in threads]
        for t in threads:
            if one.receive[t] >= 0:
                received[t][one.receive[t]] = shown[t - t % exchange.warp + one.lane[t]]
    received = _layered(received, move.after)
    return [[received[t][word][part] for word, part in move.parts] for t in threads]  # type: ignore[index]


def _layered(words: list[list[object]], layers: tuple[Layer, ...]) -> list[list[object]]:
    for layer in layers:
        words = [[row[register[t]] for register in layer] for t, row in enumerate(words)]
    return words
