"""The moves: what each thread does in a redistribution. Tuples over threads are indexed by the thread's number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from layoutc.plan.moves.placement import Buffer

Barrier = Literal["none", "warp", "block"]


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

    registers: tuple[tuple[int, ...], ...]

    @property
    def selects(self) -> int:
        """Selects of a thread: one fewer than the registers that an item may come from."""
        return sum(len(set(row)) - 1 for row in self.registers)


@dataclass(frozen=True, slots=True)
class Round:
    """One shuffle: every thread publishes a register and reads another's.

    ``send[thread]``: the source item published; ``lane[thread]``: the lane of its warp it reads;
    ``receive[thread]``: the destination item that takes what came, or -1.
    """

    send: tuple[int, ...]
    lane: tuple[int, ...]
    receive: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Shuffle:
    """No value leaves its warp. ``own[item][thread]``: the source item of the same thread, or -1 where a round brings it."""

    rounds: tuple[Round, ...]
    own: tuple[tuple[int, ...], ...]
    selects: int                # of a thread, over all rounds
    packed: int                 # items that one 32-bit shuffle carries; an 8-byte item takes two shuffles


@dataclass(frozen=True, slots=True)
class ThroughShared:
    """Every source item into a buffer, a barrier, every destination item out of it."""

    buffer: Buffer
    elements: int               # of the buffer
    barrier: Barrier            # warp where no value leaves its warp, else block
    slices: int = 1             # times that the buffer is filled anew


Move = Keep | RenameRegisters | Shuffle | ThroughShared


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a means cannot be taken, or what it would cost."""

    via: str                    # none, registers, shuffle, shared
    why: str
    cost: float | None = None   # picoseconds an item over the whole GPU, where it could be taken
