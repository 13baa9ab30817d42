"""The steps of moves that stay in a thread, and values chosen by the thread."""

from __future__ import annotations

from collections.abc import Sequence

from layoutc.index import Int
from layoutc.plan.emission.by_thread import test_of
from layoutc.plan.emission.frame import Frame, assigned
from layoutc.plan.moves.nodes import Keep, RenameRegisters
from layoutc.plan.steps import Steps
from layoutc.plan.values import Choice, Element, Text


def keep_steps(frame: Frame, move: Keep) -> Steps:
    """Every item to the item of its number."""
    values = tuple((item, Element(frame.before, Int(item)), frozenset({item})) for item in range(move.items))
    return assigned(frame, values)


def rename_steps(frame: Frame, move: RenameRegisters) -> Steps:
    """Every item from the register that its thread names."""
    return assigned(frame, tuple(
        (item, held(frame, registers), frozenset(registers)) for item, registers in enumerate(move.registers)))


def held(frame: Frame, registers: Sequence[int]) -> Text:
    """``before[registers[thread]]`` by selects: registers have no addresses."""
    return selected(frame, [Element(frame.before, Int(r)) for r in sorted(set(registers))],
                    [sorted(set(registers)).index(r) for r in registers])


def selected(frame: Frame, values: Sequence[Text], which: Sequence[int]) -> Text:
    """``values[which[thread]]``; the value that most threads take comes last, without a test."""
    order = sorted(set(which), key=lambda k: (which.count(k), k))
    chosen = values[order[-1]]
    for k in reversed(order[:-1]):
        chosen = Choice(test_of(frame, [w == k for w in which]), values[k], chosen)
    return chosen
