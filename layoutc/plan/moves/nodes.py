"""The moves: what each thread does in a redistribution. Tuples over threads are indexed by the thread's number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from layoutc.plan.moves.placement import Buffer

Barrier = Literal["none", "warp", "block"]
Layer = tuple[tuple[int, ...], ...]     # [register][thread]: the register whose value it takes, all at once


@dataclass(frozen=True, slots=True)
class Keep:
    """Every slot keeps its value; items past the destination's count are dropped."""

    items: int


@dataclass(frozen=True, slots=True)
class RenameRegisters:
    """No value leaves its thread.

    ``registers[item][thread]`` is the source item whose value a thread's item takes; where all threads agree it is a
    renaming and costs nothing, else selects.
    """

    registers: Layer

    @property
    def selects(self) -> int:
        """Selects of a thread: one fewer than the registers that an item may come from."""
        return selects_of(self.registers)


@dataclass(frozen=True, slots=True)
class Round:
    """One shuffle of words: every thread publishes a word and reads another's.

    ``send[thread]``: the word published; ``lane[thread]``: the lane of its warp it reads, often its own;
    ``receive[thread]``: the word that takes what came, or -1.
    """

    send: tuple[int, ...]
    lane: tuple[int, ...]
    receive: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Shuffle:
    """No value leaves its warp.

    First the source's items are put into words, then ``before`` rearranges the words inside each thread, layer by
    layer. Rounds and ``own`` (``own[word][thread]``: the word of the same thread, or -1 where a round brings it) make
    the received words; ``after`` rearranges these, and every destination item is a part of one of them.
    """

    words: tuple[tuple[int, ...], ...]      # the source items of each word, the first in the low bits
    before: tuple[Layer, ...]
    rounds: tuple[Round, ...]
    own: tuple[tuple[int, ...], ...]
    after: tuple[Layer, ...]
    parts: tuple[tuple[int, int], ...]      # of each destination item: received word, which part of it

    @property
    def packed(self) -> int:
        """Items that one 32-bit shuffle carries; an item of 8 bytes takes two shuffles."""
        return len(self.words[0])

    @property
    def selects(self) -> int:
        """Selects of a thread, of words: one fewer than the registers that one may take its value from."""
        sending = sum(len(set(one.send)) - 1 for one in self.rounds)
        sources: dict[int, set[tuple[str, int]]] = {word: set() for word in range(len(self.own))}
        for number, one in enumerate(self.rounds):
            for word in set(one.receive) - {-1}:
                sources[word].add(("round", number))
        for word, row in enumerate(self.own):
            sources[word] |= {("own", taken) for taken in set(row) - {-1}}
        receiving = sum(max(len(found) - 1, 0) for found in sources.values())
        return sending + receiving + sum(map(selects_of, (*self.before, *self.after)))

    @property
    def repacks(self) -> int:
        """Instructions of a thread that put items into words and take them out again; none for whole words."""
        return (self.packed - 1) * (len(self.words) + len(self.own))


def selects_of(layer: Layer) -> int:
    """Selects of a thread: for every register one fewer than those that it may take its value from."""
    return sum(len(set(row)) - 1 for row in layer)


@dataclass(frozen=True, slots=True)
class ThroughShared:
    """Every source item into a buffer, a barrier, every destination item out of it."""

    buffer: Buffer
    elements: int               # of the buffer
    barrier: Barrier            # warp where each element's writer and readers are one warp's, else block
    slices: int = 1             # times that the buffer is filled anew


Move = Keep | RenameRegisters | Shuffle | ThroughShared


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a means cannot be taken, or what it would cost."""

    via: str                    # none, registers, shuffle, shared
    why: str
    cost: float | None = None   # picoseconds an item over the whole GPU, where it could be taken
