"""A move as a ``__device__`` function, and a kernel around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from layoutc.index import Expr, Int, Name
from layoutc.plan.emission.frame import WARP, Frame, loop, numbered
from layoutc.plan.emission.registers import keep_steps, rename_steps
from layoutc.plan.emission.shared import shared_steps, slice_elements
from layoutc.plan.emission.shuffles import shuffle_steps
from layoutc.plan.moves.nodes import Keep, Move, RenameRegisters, Shuffle, ThroughShared
from layoutc.plan.steps import Assign, DeviceFunction, Do, Function, Let, Registers, Steps, Tiles
from layoutc.plan.values import Element, Operation
from layoutc.plan.values import Function as Called
from layoutc.plan.values import Variable as Held


def device_function(frame: Frame, move: Move, comment: tuple[str, ...], template: str = "") -> DeviceFunction:
    """The function of a move, to be called by all threads of the block."""
    exchange = frame.exchange
    buffer = frame.names.take(f"{frame.name}_buffer")
    shared = frame.names.take(f"{frame.name}_shared_bytes")
    body = with_numbers(frame, move_steps(frame, move, buffer))
    room = slice_elements(move) * exchange.bytes if isinstance(move, ThroughShared) else 0
    if template:
        size = Operation("==", Held(f"sizeof({frame.type})"), Int(exchange.bytes))
        body = (Do(Called("static_assert", (size,))), *body)
    parameters = (f"const {frame.type} (&{frame.before})[{exchange.items_before}]",
                  f"{frame.type} (&{frame.after})[{exchange.items_after}]")
    return DeviceFunction(comment, template, shared, room, frame.name, parameters, body)


def move_steps(frame: Frame, move: Move, buffer: str) -> Steps:
    """The steps of any move; they use ``thread`` and ``lane``."""
    match move:
        case Keep():
            return keep_steps(frame, move)
        case RenameRegisters():
            return rename_steps(frame, move)
        case Shuffle():
            return shuffle_steps(frame, move)
        case ThroughShared():
            return shared_steps(frame, move, buffer)


def with_numbers(frame: Frame, body: Steps) -> Steps:
    """The body after its tables and, where they are mentioned, the numbers of the lane and the thread."""
    whole: Steps = (*frame.head, *body)
    if mentions(whole, "lane"):
        whole = (Let("int", "lane", frame.thread % WARP), *whole)
    if mentions(whole, "thread"):
        whole = (Let("int", "thread", Name("threadIdx.x")), *whole)
    return whole


def mentions(record: object, name: str) -> bool:
    """Whether a variable stands anywhere in the steps."""
    return any(re.search(rf"\b{name}\b", word) for word in _words(record))


def _words(record: object) -> Iterator[str]:
    if isinstance(record, str):
        yield record
    elif isinstance(record, tuple):
        for part in record:
            yield from _words(part)
    elif is_dataclass(record):
        for one in fields(record):
            yield from _words(getattr(record, one.name))


def test_kernel(frame: Frame, entry: str, names: tuple[str, str, str]) -> Function:
    """``out[tile, thread, :]`` from ``v[tile, thread, :]``: a block takes tile after tile."""
    v, out, tiles = names
    exchange = frame.exchange
    tile: Expr = Name("tile", 0, None)

    def place(items: int) -> Expr:
        return (tile * exchange.threads + frame.thread) * items + numbered("item", items)

    before, after = exchange.items_before, exchange.items_after
    body = (
        Registers(frame.type, "before", before),
        *loop("item", before, (Assign(Element("before", numbered("item", before)), Element(v, place(before))),)),
        Registers(frame.type, "after", after),
        Do(Called(frame.name, (Held("before"), Held("after")))),
        *loop("item", after, (Assign(Element(out, place(after)), Element("after", numbered("item", after))),)),
    )
    steps: Steps = (Tiles("tile", tiles, body),)
    if exchange.threads > 1:
        steps = (Let("int", "thread", Name("threadIdx.x")), *steps)
    return Function(exchange.threads, entry, (f"In<{frame.type}> {v}", f"Out<{frame.type}> {out}", f"Index {tiles}"),
                    steps)
