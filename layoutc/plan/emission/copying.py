"""Items into a buffer and out of it, all at once or slice by slice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutc.index import TRUE, Expr, Int, Name
from layoutc.layout.composed import AnyLayout
from layoutc.plan.emission.by_thread import test_of
from layoutc.plan.emission.frame import Frame, loop, numbered, position_of
from layoutc.plan.emission.items import Items
from layoutc.plan.emission.packing import WORD, in_words, neighbours
from layoutc.plan.machine import WARP
from layoutc.plan.moves.columns import naming
from layoutc.plan.moves.exchange import image
from layoutc.plan.moves.numbering import numbering
from layoutc.plan.moves.placement import Buffer, Groups, Placement, Side
from layoutc.plan.moves.writers import writers
from layoutc.plan.steps import Assign, Do, Let, Loop, Registers, Shared, Step, Steps, When
from layoutc.plan.steps import Variable as Changing
from layoutc.plan.values import Aggregate, Element, Function, Literal, Operation, Text, Variable
from layoutc.resolve.types import U32


def slice_elements(placement: Placement, elements: int, slices: int) -> int:
    """Elements of the buffer: those of one slice, in whole blocks of what the placement turns about."""
    unit = placement.vector * (placement.spread if slices > 1 else 1)
    share = -(-elements // slices)
    return -(-share // unit) * unit


def declared(
    frame: Frame, array: str, elements: int, name: str, turn: Expr | None = None
) -> tuple[Steps, str]:
    """The buffer, and what a place in it is counted from: ``name`` where it begins at the tile, or at the turn."""
    halves = () if turn is None else (2,)
    extents = ("tiles",) * frame.tiles + (*halves, elements)
    start = frame.tile * (2 if halves else 1) + (0 if turn is None else turn)
    if not frame.tiles and turn is None:
        return (Shared(frame.type, array, extents),), array
    place = Operation("+", Variable(array), start * elements)
    return (Shared(frame.type, array, extents), Changing(f"Shared<{frame.type}>", name, place)), name


def filled(
    frame: Frame, buffer: Buffer, array: str, elements: int, slices: int, body: Callable[[Copy], Steps],
    last: Callable[[Copy], Steps], first: Text | None = None,
) -> Steps:
    """The declaration of the buffer, what is done with it for each slice that is not empty, and ``last`` after all.

    With several slices, what a thread takes waits in registers of its own, as ``before`` may be ``after``; these hold
    ``first`` at first.
    """
    room = slice_elements(buffer.placement, elements, slices)
    rounds = -(-elements // room)
    shared, array = declared(frame, array, room, frame.names.take("present"))
    if rounds == 1:
        copy = Copy(frame, buffer, array, frame.after, Window(None, room))
        return (*shared, *body(copy), *last(copy))
    start = Name("slice", 0, rounds - 1) * room
    copy = Copy(frame, buffer, array, frame.names.take("taken"), Window(start, room))
    items = frame.exchange.items_after
    item = numbered("item", items)
    back = loop("item", items, (Assign(Element(frame.after, item), Element(copy.target, item)),))
    clear = () if first is None else loop("item", items, (Assign(Element(copy.target, item), first),))
    return (*shared, Registers(frame.type, copy.target, items), *clear,
            Loop(False, "int", "slice", Int(0), Int(rounds), body(copy)), *last(copy), *back)


@dataclass(frozen=True, slots=True)
class Window:
    """The addresses that the buffer holds at present: all of them, or ``room`` from ``start`` on."""

    start: Expr | None
    room: int

    def at(self, address: Expr, steps: Callable[[Expr], Steps]) -> Steps:
        """The steps with the place of an address in the buffer; left out where it is not there."""
        if self.start is None:
            return steps(address)
        test = Operation("<", Function("unsigned", (Name("address"),)), Literal(self.room, U32))
        return (Let("int", "address", address - self.start), When(test, steps(Name("address", 0, self.room - 1))))


class Copy:
    """Both sides of a move: items into a window of the buffer's addresses, and out of it into ``target``."""

    def __init__(self, frame: Frame, buffer: Buffer, array: str, target: str, window: Window) -> None:
        found = numbering(frame.exchange, buffer.placement.order)
        assert found is not None, "a placement's order has a numbering"
        self.frame, self.buffer, self.array, self.target = frame, buffer, array, target
        self.window, self.numbering = window, found

    def writes(self) -> Steps:
        """Every element once, by the thread that is to write it."""
        rows = writers(self.frame.exchange, self.buffer).writes
        groups = self.buffer.write.groups
        packed = in_words(self.frame, groups)
        if packed is not None:
            words, packs = packed
            return (*words, *(step for group, row, pack in zip(groups, rows, packs, strict=True)
                              for step in self._put_pack(group, row, pack)))

        def items(item: Expr) -> Text:
            return Element(self.frame.before, item)

        return self.put(groups, rows, self.numbering.before, items)

    def _put_pack(self, group: tuple[int, ...], row: tuple[bool, ...], pack: Text) -> Steps:
        """One group by one access."""
        items = Items(self.frame, (group,))
        address = self._address(self.numbering.before, items, self.buffer.write)
        how = "store_columns" if self.buffer.write.columns else "store_words"
        stored = self.window.at(address, lambda place: (
            Do(Function(how, (Operation("+", Variable(self.array), place), pack))),))
        return when(test_of(self.frame, row), stored) if any(row) else ()

    def put(
        self, groups: Groups, rows: tuple[tuple[bool, ...], ...], layout: AnyLayout, value: Callable[[Expr], Text]
    ) -> Steps:
        """The values of groups of items to their places; ``rows[group][thread]``: whether that thread stores them."""
        by_test: dict[tuple[bool, ...], list[tuple[int, ...]]] = {}
        for group, row in zip(groups, rows, strict=True):
            if any(row):
                by_test.setdefault(row, []).append(group)
        out: list[Step] = []
        for row, chosen in by_test.items():
            out += when(test_of(self.frame, row), self._store(Items(self.frame, tuple(chosen)), layout, value))
        return tuple(out)

    def _store(self, items: Items, layout: AnyLayout, value: Callable[[Expr], Text]) -> Steps:
        held = tuple(value(items.of(Int(k))) for k in range(items.vector))
        side = self.buffer.write

        def store(address: Expr) -> Steps:
            if items.vector == 1:
                return (Assign(Element(self.array, address), held[0]),)
            pack = Aggregate(f"Pack<{self.frame.type}, {items.vector}>", held)
            return (Do(Function("store", (Operation("+", Variable(self.array), address), pack))),)

        return loop("group", items.count, self.window.at(self._address(layout, items, side), store))

    def reads(self) -> Steps:
        """Every item that is no copy of another."""
        items = Items(self.frame, self.buffer.read.groups)
        side = self.buffer.read

        def load(address: Expr) -> Steps:
            if items.vector == 1:
                return (Assign(Element(self.target, items.of(Int(0))), Element(self.array, address)),)
            element = numbered("element", items.vector)
            place = Operation("+", Variable(self.array), address)
            if self._in_words(side):
                how = "load_columns" if side.columns else "load_words"
                loaded = Function(f"{how}<{items.vector}>", (place,))
                first = Operation("+", Variable(self.target), items.of(Int(0)))
                return (Do(Function(f"put<{items.vector}>", (first, loaded))),)
            return (
                Let(f"Pack<{self.frame.type}, {items.vector}>", "pack", Function(f"load<{items.vector}>", (place,))),
                *loop("element", items.vector,
                      (Assign(Element(self.target, items.of(element)), Element("pack", element)),)),
            )

        return loop("group", items.count, self.window.at(self._address(self.numbering.after, items, side), load))

    def _in_words(self, side: Side) -> bool:
        """Whether narrow items come as they lie side by side in the thread's array, by columns or in whole words."""
        bytes = self.frame.exchange.bytes
        return side.columns or (bytes < WORD and side.vector * bytes % WORD == 0 and all(map(neighbours, side.groups)))

    def copies(self) -> Steps:
        """Items that are copies of others in their thread."""
        copies = copies_of(image(self.numbering.after), self.buffer.read.groups)
        return tuple(Assign(Element(self.target, Int(k)), Element(self.target, Int(first))) for k, first in copies)

    def _address(self, layout: AnyLayout, items: Items, side: Side) -> Expr:
        """Where a group begins; by columns, where the row begins that the lane names."""
        if side.columns:
            lane, element = naming(self.frame.lane, items.vector, self.frame.exchange.bytes)
            number = position_of(layout, lane + self.frame.thread // WARP * WARP, items.of(element))
            return address_of(self.buffer.placement, number, self.buffer.placement.vector)
        number = position_of(layout, self.frame.thread, items.of(Int(0))) - self.numbering.least
        return address_of(self.buffer.placement, number, items.vector)


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
