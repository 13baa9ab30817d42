"""The steps of a move through shared memory: write, meet, read."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from layoutc.index import TRUE, Expr, Int, Name
from layoutc.layout.composed import AnyLayout
from layoutc.plan.emission.by_thread import test_of
from layoutc.plan.emission.frame import Frame, copied, loop, numbered, position_of
from layoutc.plan.emission.items import Items
from layoutc.plan.moves.exchange import image
from layoutc.plan.moves.nodes import ThroughShared
from layoutc.plan.moves.numbering import numbering
from layoutc.plan.moves.placement import Groups, Placement
from layoutc.plan.moves.writers import writers
from layoutc.plan.steps import Assign, Barrier, Do, Let, Loop, Registers, Shared, Step, Steps, WarpBarrier, When
from layoutc.plan.values import Aggregate, Element, Function, Literal, Operation, Text, Variable
from layoutc.resolve.types import U32


def slice_elements(move: ThroughShared) -> int:
    """Elements of the buffer: those of one slice, in whole blocks of what the placement turns about."""
    placement = move.buffer.placement
    unit = placement.vector * (placement.spread if move.slices > 1 else 1)
    share = -(-move.elements // move.slices)
    return -(-share // unit) * unit


def shared_steps(frame: Frame, move: ThroughShared, buffer: str) -> Steps:
    """The whole move. A barrier comes first, so that calls may follow one another."""
    room = slice_elements(move)
    meet = Barrier() if move.barrier == "block" else WarpBarrier(frame.lanes_mask())
    slices = -(-move.elements // room)
    if slices == 1:
        copy = _Copy(frame, move, buffer, frame.after)
        return (Shared(frame.type, buffer, (room,)), meet, *copy.writes(), meet, *copy.reads(), *copy.copies())
    number = Name("slice", 0, slices - 1)
    copy = _Copy(frame, move, buffer, frame.names.take("taken"), number * room, room)
    body = (meet, *copy.writes(), meet, *copy.reads())
    _, *back = copied(frame.type, frame.after, copy.target, frame.exchange.items_after)
    return (Shared(frame.type, buffer, (room,)), Registers(frame.type, copy.target, frame.exchange.items_after),
            Loop(False, "int", "slice", Int(0), Int(slices), body), *copy.copies(), *back)


class _Copy:
    """Both sides of a move: items into a window of the buffer's addresses, and out of it into ``target``.

    Where the window is a slice, what a thread takes waits in registers of its own, as ``before`` may be ``after``.
    """

    def __init__(
        self, frame: Frame, move: ThroughShared, buffer: str, target: str, start: Expr | None = None, room: int = 0,
    ) -> None:
        found = numbering(frame.exchange, move.buffer.placement.order)
        assert found is not None, "a placement's order has a numbering"
        self.frame, self.move, self.buffer, self.target = frame, move, buffer, target
        self.start, self.room, self.numbering = start, room, found

    def writes(self) -> Steps:
        """Every element once, by the thread that is to write it."""
        side = self.move.buffer.write
        by_test: dict[tuple[bool, ...], list[tuple[int, ...]]] = {}
        for group, row in zip(side.groups, writers(self.frame.exchange, self.move.buffer).writes, strict=True):
            if any(row):
                by_test.setdefault(row, []).append(group)
        out: list[Step] = []
        for row, groups in by_test.items():
            out += when(test_of(self.frame, row), self._write(Items(self.frame, tuple(groups))))
        return tuple(out)

    def _write(self, items: Items) -> Steps:
        address, inside = self._address(self.numbering.before, items)
        held = tuple(Element(self.frame.before, items.of(Int(k))) for k in range(items.vector))
        if items.vector == 1:
            step: Step = Assign(Element(self.buffer, address), held[0])
        else:
            pack = Aggregate(f"Pack<{self.frame.type}, {items.vector}>", held)
            step = Do(Function("store", (Operation("+", Variable(self.buffer), address), pack)))
        return loop("group", items.count, inside(step))

    def reads(self) -> Steps:
        """Every item that is no copy of another."""
        items = Items(self.frame, self.move.buffer.read.groups)
        address, inside = self._address(self.numbering.after, items)
        if items.vector == 1:
            steps: Steps = (Assign(Element(self.target, items.of(Int(0))), Element(self.buffer, address)),)
        else:
            element = numbered("element", items.vector)
            place = Operation("+", Variable(self.buffer), address)
            steps = (
                Let(f"Pack<{self.frame.type}, {items.vector}>", "pack", Function(f"load<{items.vector}>", (place,))),
                *loop("element", items.vector,
                      (Assign(Element(self.target, items.of(element)), Element("pack", element)),)),
            )
        return loop("group", items.count, inside(*steps))

    def copies(self) -> Steps:
        """Items that are copies of others in their thread."""
        copies = copies_of(image(self.numbering.after), self.move.buffer.read.groups)
        return tuple(Assign(Element(self.target, Int(k)), Element(self.target, Int(first))) for k, first in copies)

    def _address(self, layout: AnyLayout, items: Items) -> tuple[Expr, _Inside]:
        """Where a group begins, and what wraps the steps that use it."""
        number = position_of(layout, self.frame.thread, items.of(Int(0))) - self.numbering.least
        address = address_of(self.move.buffer.placement, number, items.vector)
        if self.start is None:
            return address, _Inside(None, 0)
        return Name("address", 0, self.room - 1), _Inside(address - self.start, self.room)


class _Inside:
    """Steps as they are, or only where an address lies in the window."""

    def __init__(self, address: Expr | None, room: int) -> None:
        self.address, self.room = address, room

    def __call__(self, *steps: Step) -> Steps:
        if self.address is None:
            return steps
        test = Operation("<", Function("unsigned", (Name("address"),)), Literal(self.room, U32))
        return (Let("int", "address", self.address), When(test, steps))


def address_of(placement: Placement, number: Expr, vector: int) -> Expr:
    """The address of the element of a number, the first of ``vector`` that lie side by side."""
    if placement.spread == 1:
        return number
    whole = placement.vector
    slot = number // whole
    slot = slot ^ slot // placement.row % placement.spread
    return slot * whole + (Int(0) if vector == whole else number % whole)


def copies_of(numbers: NDArray[np.int64], groups: Groups) -> list[tuple[int, int]]:
    """(item, the earlier item that it is a copy of in every thread) for the items in no group."""
    grouped = [item for group in groups for item in group]
    return [(item, next(k for k in grouped if (numbers[:, k] == numbers[:, item]).all()))
            for item in range(numbers.shape[1]) if item not in grouped]


def when(test: Text, body: Steps) -> Steps:
    """The body under a test; bare where that always holds."""
    return body if test == TRUE else (When(test, body),)
