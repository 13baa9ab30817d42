"""What a shuffle carries: items one by one, or several narrow ones that always travel together in 32 bits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from layoutc.plan.moves.exchange import Exchange, Numbers, image

WORD = 4            # bytes that a shuffle carries


@dataclass(frozen=True, slots=True)
class Words:
    """An exchange of words: received word ``w`` of a thread is word ``word[thread, w]`` of ``thread[thread, w]``."""

    made_of: tuple[tuple[int, ...], ...]        # the source items of each word
    thread: Numbers
    word: Numbers
    parts: tuple[tuple[int, int], ...]          # of each destination item: received word, which part of it

    @property
    def foreign(self) -> NDArray[np.bool_]:
        """Received words that come from another thread, ``[thread, word]``."""
        away: NDArray[np.bool_] = self.thread != np.arange(len(self.thread))[:, None]
        return away

    @property
    def degree(self) -> int:
        """The fewest rounds: the most distinct words that any thread must take from others or show to others."""
        takers, received = np.nonzero(self.foreign)
        if not takers.size:
            return 0
        shown = np.unique(self.thread[takers, received] * len(self.made_of) + self.word[takers, received])
        return int(max(np.bincount(takers).max(), np.bincount(shown // len(self.made_of)).max()))

    def of_one_warp(self, warp: int) -> Words | None:
        """The exchange of the first warp, if all others do the same."""
        threads, count = self.word.shape
        if threads % warp or threads == warp:
            return None
        word = self.word.reshape(-1, warp, count)
        thread = (self.thread - np.arange(threads)[:, None] // warp * warp).reshape(-1, warp, count)
        alike = (word == word[0]).all() and (thread == thread[0]).all()
        return replace(self, thread=thread[0], word=word[0]) if alike else None


def words_of(exchange: Exchange) -> list[Words]:
    """The words that items can be put into, single items first; of an item's copies in its thread one is shown."""
    thread, item = exchange.origins
    _, copy_of = _distinct(image(exchange.source))
    item = np.array([copy_of.index(k) for k in copy_of])[item]
    columns, place = _distinct(thread * exchange.items_before + item)
    single = Words(
        tuple((k,) for k in range(exchange.items_before)), thread[:, columns], item[:, columns],
        tuple((w, 0) for w in place),
    )
    found = [single]
    for packed in (2, 4):
        if packed * exchange.bytes <= WORD and len(columns) % packed == 0:
            words = _packed(single, packed)
            if words is not None:
                found.append(words)
    return found


def _distinct(slots: Numbers) -> tuple[list[int], list[int]]:
    """Columns that are no copies of an earlier one, and for each column which of these it is."""
    seen: dict[bytes, int] = {}
    place = [seen.setdefault(column.tobytes(), len(seen)) for column in np.ascontiguousarray(slots.T)]
    return [place.index(k) for k in range(len(seen))], place


def _packed(single: Words, packed: int) -> Words | None:
    """Items in groups that come from one thread, and are the same group in every thread; None where they are not."""
    left = list(range(single.word.shape[1]))
    groups: list[list[int]] = []
    made: dict[int, tuple[int, ...]] = {}       # source item -> the items of its word
    while left:
        group = [left.pop(0)]
        for column in list(left):
            if len(group) < packed and _together(single, [*group, column], made):
                group.append(column)
                left.remove(column)
        if len(group) < packed:
            return None
        made |= {item: row for row in map(tuple, np.unique(single.word[:, group], axis=0).tolist()) for item in row}
        groups.append(group)
    words = sorted(set(made.values()))
    number = {items[0]: w for w, items in enumerate(words)}
    firsts = [group[0] for group in groups]
    place = {column: (w, part) for w, group in enumerate(groups) for part, column in enumerate(group)}
    return Words(
        tuple(words), single.thread[:, firsts],
        np.vectorize(number.__getitem__, otypes=[np.int64])(single.word[:, firsts]),
        tuple(place[column] for column, _ in single.parts),
    )


def _together(single: Words, group: list[int], made: dict[int, tuple[int, ...]]) -> bool:
    """Whether these received items always come from one thread, out of words that differ from no earlier word."""
    if (single.thread[:, group] != single.thread[:, group[:1]]).any():
        return False
    rows = np.unique(single.word[:, group], axis=0)
    if np.unique(rows).size != rows.size:
        return False
    return all(made[item][:len(row)] == tuple(row) if item in made else True for row in rows.tolist() for item in row)
