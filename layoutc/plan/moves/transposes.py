"""Shuffle schedules by structure: the round of a word is its register turned by an amount of its lane.

Every lane then shows (or takes) its registers in an order that is turned by a few bits of the lane's number, which
takes a few layers of selects and leaves the other side uniform. Sources: rotations, B. Catanzaro, A. Keller and
M. Garland, "A Decomposition for In-place Matrix Transposition" (PPoPP 2014); exclusive or, the bit swaps of Triton's
linear layouts (arXiv 2505.23819).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from layoutc.plan.moves.exchange import Numbers
from layoutc.plan.moves.networks import rearranged, rows_of
from layoutc.plan.moves.nodes import Round, Shuffle
from layoutc.plan.moves.words import Words

MOST = 3            # schedules built of all whose rounds are right, of each side


def turned(words: Words, warp: int) -> Iterator[Shuffle]:
    """Schedules of as few rounds as the degree, where this structure has them and no value is copied."""
    count = words.word.shape[1]
    slots = words.thread * count + words.word
    if len(words.made_of) != count or np.unique(slots).size != slots.size:
        return
    for of_sender in (True, False):
        for colour in islice(_colours(words, warp, of_sender), MOST):
            yield _built(words, warp, colour)
            if words.degree < count:
                yield _shipped(words, warp, colour)


def _colours(words: Words, warp: int, of_sender: bool) -> Iterator[Numbers]:
    """``colour[thread, received word]``, different for all words of one sender and for all of one receiver.

    A word's colour is its register there (here, where not ``of_sender``) turned by an amount of that side's lane.
    """
    threads, count = words.word.shape
    here, received = (np.broadcast_to(x, (threads, count)) for x in (np.arange(threads)[:, None], np.arange(count)))
    register, lane, other = (
        (words.word, words.thread, here) if of_sender else (received, here, words.thread))
    seen: set[bytes] = set()
    for amounts in _amounts(words, warp, of_sender):
        amount = amounts[lane % warp]
        for colour in ((register + amount) % count, *([] if count & (count - 1) else [register ^ amount])):
            if np.bincount((other * count + colour).ravel()).max() > 1:
                continue
            if np.unique(colour[words.foreign]).size == words.degree and colour.tobytes() not in seen:
                seen.add(colour.tobytes())
                yield colour


def _amounts(words: Words, warp: int, of_sender: bool) -> Iterator[Numbers]:
    """Amounts that each lane's registers may be turned by, the simplest first."""
    count = words.word.shape[1]
    lanes = np.arange(warp)
    yield np.zeros(warp, np.int64)
    linear = _linear(words, warp, of_sender)
    if linear is not None:
        yield linear
    for extent in (d for d in range(2, count + 1) if count % d == 0):
        for block in range(1, warp // 2 + 1):
            turn = lanes // block % extent
            for step in sorted({1, count // extent}):
                yield turn * step
                yield -turn * step % count


def _linear(words: Words, warp: int, of_sender: bool) -> Numbers | None:
    """For bits that change places: lane bits that name registers on the other side, onto the register bits that do not.

    Found from what each bit of the other side's register number changes; right only where all is linear over bits,
    which the caller finds out.
    """
    threads, count = words.word.shape
    if count & (count - 1) or threads < warp:
        return None
    lane, register = (words.thread, words.word) if of_sender else _inverse(words)
    lane_bits = [int(lane[0, 1 << k] ^ lane[0, 0]) for k in range(count.bit_length() - 1)]
    kept = {int(register[0, 1 << k] ^ register[0, 0]) for k in range(count.bit_length() - 1)} - {0}
    moved = [bit for bit in lane_bits if bit]
    free = [1 << k for k in range(count.bit_length() - 1) if 1 << k not in kept]
    if len(moved) > len(free):
        return None
    lanes = np.arange(warp)
    amounts = np.zeros(warp, np.int64)
    for bit, target in zip(sorted(moved), free, strict=False):
        amounts ^= np.where(lanes & bit == bit, target, 0)
    return amounts


def _inverse(words: Words) -> tuple[Numbers, Numbers]:
    """Thread and received word that every sender's words go to."""
    threads, count = words.word.shape
    place = np.empty(threads * count, np.int64)
    place[(words.thread * count + words.word).ravel()] = np.arange(threads * count)
    return np.divmod(place.reshape(threads, count), count)


def _built(words: Words, warp: int, colour: Numbers) -> Shuffle:
    """The schedule of a colouring: the words of colour c are all shown in round c, and arrive in register c."""
    threads, count = words.word.shape
    here = np.arange(threads)[:, None]
    shown, taken, lane = (np.empty((count, threads), np.int64) for _ in range(3))
    shown[colour, words.thread] = words.word
    taken[np.arange(count)[None, :], here] = colour
    lane[colour, here] = words.thread % warp
    before, sent = rearranged(shown)
    after, place = rearranged(taken)
    if len(before) == 1 and sent == tuple(range(count)):        # straight from the table, as each is shown
        before, table = (), rows_of(shown)
    else:
        table = tuple((word,) * threads for word in sent)
    moving = np.unique(colour[words.foreign]).tolist()
    rounds = tuple(Round(table[c], tuple(lane[c].tolist()), (c,) * threads) for c in moving)
    own = tuple((-1,) * threads if c in moving else table[c] for c in range(count))
    plan = Shuffle(words.made_of, before, rounds, own, after, words.parts)
    return replace(plan, parts=tuple((place[word], part) for word, part in words.parts))


def _shipped(words: Words, warp: int, colour: Numbers) -> Shuffle:
    """The same rounds, of which words that stay in their thread are no part: fewer selects where half of them do."""
    threads, count = words.word.shape
    here = np.arange(threads)[:, None]
    shown, lane, taken = (np.empty((count, threads), np.int64) for _ in range(3))
    shown[colour, words.thread] = words.word
    lane[colour, here] = words.thread % warp
    taken[colour, here] = np.where(words.foreign, np.arange(count), -1)
    moving = np.unique(colour[words.foreign]).tolist()
    tables = zip(rows_of(shown[moving]), rows_of(lane[moving]), rows_of(taken[moving]), strict=True)
    own = rows_of(np.where(words.foreign, -1, words.word).T)
    return Shuffle(words.made_of, (), tuple(Round(*rows) for rows in tables), own, (), words.parts)
