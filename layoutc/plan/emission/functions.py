"""A move as a ``__device__`` function, and a kernel around it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass

from layoutc.index import Int, Name
from layoutc.plan.emission.copying import slice_elements
from layoutc.plan.emission.frame import Frame, loop, numbered
from layoutc.plan.emission.ranked import gathered_steps, ranked_steps
from layoutc.plan.emission.registers import keep_steps, rename_steps
from layoutc.plan.emission.shared import half_bytes, shared_steps, turned_steps
from layoutc.plan.emission.shuffles import shuffle_steps
from layoutc.plan.machine import WARP
from layoutc.plan.moves.by_rank import ByRank, GatherByShuffles, Ranked
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import Keep, Move, RenameRegisters, Shuffle, ThroughShared
from layoutc.plan.steps import Assign, DeviceFunction, Do, Function, Let, Registers, Steps, Tiles
from layoutc.plan.values import Element, Operation
from layoutc.plan.values import Function as Called
from layoutc.plan.values import Variable as Held


def device_function(
    frame: Frame, move: Move | Ranked, comment: tuple[str, ...], own_type: bool = False
) -> DeviceFunction:
    """The function of a move, to be called by all threads of the block.

    ``own_type``: the type of its items is the caller's choice.
    """
    steps = move_steps(frame, move, frame.names.take(f"{frame.name}_buffer"))
    room = 0
    if isinstance(move, ThroughShared | ByRank):
        room = slice_elements(move.buffer.placement, move.elements, move.slices) * frame.exchange.bytes
    ranks = (f"const Rank (&{frame.rank})[{ranks_of(frame.exchange, move)}]",) if isinstance(move, Ranked) else ()
    return _function(frame, steps, room, comment, own_type, ranks)


def function_in_turns(
    frame: Frame, move: ThroughShared, comment: tuple[str, ...], own_type: bool = False
) -> DeviceFunction:
    """The same with one barrier and two buffers; calls that follow one another take them in turns."""
    buffer, present = frame.names.take(f"{frame.name}_buffer"), frame.names.take("present")
    return _function(frame, turned_steps(frame, move, buffer, present), 2 * half_bytes(frame, move), comment, own_type,
                     last=("unsigned turn",))


def _function(
    frame: Frame, steps: Steps, shared_bytes: int, comment: tuple[str, ...], own_type: bool,
    ranks: tuple[str, ...] = (), last: tuple[str, ...] = (),
) -> DeviceFunction:
    exchange = frame.exchange
    shared = frame.names.take(f"{frame.name}_shared_bytes")
    body = with_numbers(frame, steps)
    if own_type:
        size = Operation("==", Held(f"sizeof({frame.type})"), Int(exchange.bytes))
        body = (Do(Called("static_assert", (size,))), *body)
    parameters = (f"const {frame.type} (&{frame.before})[{exchange.items_before}]", *ranks,
                  f"{frame.type} (&{frame.after})[{exchange.items_after}]", *last)
    choices = (("int tiles = 1", frame.tiles), ("class T", own_type), ("class Rank", bool(ranks)))
    classes = [choice for choice, own in choices if own]
    return DeviceFunction(comment, ", ".join(classes), shared, shared_bytes, frame.name, parameters, body)


def ranks_of(exchange: Exchange, move: Ranked) -> int:
    """Ranks that a thread brings."""
    return exchange.items_before if move.kind == "scatter" else exchange.items_after


def move_steps(frame: Frame, move: Move | Ranked, buffer: str) -> Steps:
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
        case ByRank():
            return ranked_steps(frame, move, buffer)
        case GatherByShuffles():
            return gathered_steps(frame, move)


def with_numbers(frame: Frame, body: Steps) -> Steps:
    """The body after its tables and, where they are mentioned, the numbers of the lane and the thread."""
    whole: Steps = (*frame.head, *body)
    if mentions(whole, "lane"):
        whole = (Let("int", "lane", frame.thread % WARP), *whole)
    if mentions(whole, "tile"):
        whole = (Let("int", "tile", Name(f"tiles > 1 ? threadIdx.x / {frame.exchange.threads} : 0")), *whole)
    if mentions(whole, "thread"):
        number = f"tiles > 1 ? threadIdx.x % {frame.exchange.threads} : threadIdx.x" if frame.tiles else "threadIdx.x"
        whole = (Let("int", "thread", Name(number)), *whole)
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


def test_kernel(frame: Frame, entry: str, names: Parameters, ranks: int) -> Function:
    """``out[tile, thread, :]`` from ``v`` and, where a thread brings ``ranks``, from these: tile after tile a block."""
    exchange = frame.exchange
    before, after = exchange.items_before, exchange.items_after
    ranked = ranks > 0
    body = (
        *_loaded(frame, frame.type, "before", names.v, before),
        *(_loaded(frame, RANK, "rank", names.rank, ranks) if ranked else ()),
        Registers(frame.type, "after", after),
        Do(Called(frame.name, (Held("before"), *((Held("rank"),) if ranked else ()), Held("after")))),
        *loop("item", after, (Assign(_element(frame, names.out, after), Element("after", numbered("item", after))),)),
    )
    steps: Steps = (Tiles("tile", names.tiles, body),)
    if exchange.threads > 1:
        steps = (Let("int", "thread", Name("threadIdx.x")), *steps)
    parameters = (f"In<{frame.type}> {names.v}", *((f"In<{RANK}> {names.rank}",) if ranked else ()),
                  f"Out<{frame.type}> {names.out}", f"Index {names.tiles}")
    return Function(exchange.threads, entry, parameters, steps)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The kernel's, as the text spells them."""

    v: str
    rank: str
    out: str
    tiles: str


RANK = "i64"        # of the kernel; the function takes any integers


def _loaded(frame: Frame, type: str, name: str, array: str, items: int) -> Steps:
    """A thread's items of the present tile in registers."""
    item = numbered("item", items)
    load = Assign(Element(name, item), _element(frame, array, items))
    return (Registers(type, name, items), *loop("item", items, (load,)))


def _element(frame: Frame, array: str, items: int) -> Element:
    """A thread's present item of the present tile."""
    tile = Name("tile", 0, None)
    return Element(array, (tile * frame.exchange.threads + frame.thread) * items + numbered("item", items))
