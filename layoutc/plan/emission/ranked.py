"""The steps of a scatter and of a gather: through shared memory, to or from positions that ranks name."""

from __future__ import annotations

from layoutc.index import Binary, Expr, Int, Name
from layoutc.plan.emission.copying import Copy, address_of, filled
from layoutc.plan.emission.frame import Frame, index_of, loop, numbered
from layoutc.plan.emission.shared import barrier
from layoutc.plan.moves.by_rank import ByRank, GatherByShuffles
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.writers import writers
from layoutc.plan.steps import Assign, Do, Let, Registers, Rounds, Step, Steps, When
from layoutc.plan.values import Choice, Element, Function, Operation, Text, Variable

ZERO = Name("nothing")          # what a destination holds that nothing reached


def ranked_steps(frame: Frame, move: ByRank, array: str) -> Steps:
    """The whole move."""
    nothing = Let(frame.type, "nothing", Variable("{}"))
    size = move.elements, move.slices
    if move.kind == "scatter":
        return (nothing, *filled(frame, move.buffer, array, *size, lambda copy: _scatter(frame, move, copy),
                                 Copy.copies, ZERO))
    return (nothing, *filled(frame, move.buffer, array, *size, lambda copy: _gather(frame, move, copy),
                             lambda copy: (), ZERO))


def _scatter(frame: Frame, move: ByRank, copy: Copy) -> Steps:
    """Clear, meet, write where the ranks say, meet, read.

    Who reads an element clears it, so that a next call need not wait for others to have read; where that is not so,
    all meet first.
    """
    meet = barrier(frame, move.barrier)
    item = numbered("item", frame.exchange.items_before)

    def write(address: Expr) -> Steps:
        target = Operation("+", Variable(copy.array), address)
        return (Do(Function("store_any", (target, Element(frame.before, item)))),)

    writes = loop("item", frame.exchange.items_before, (
        _place(copy, move, item), When(IS_IN, copy.window.at(_address(move), write))))
    cleared: Steps = _cleared(frame, move, copy) if move.owners_clear else (meet, *_filled(frame, copy))
    return (*cleared, meet, *writes, meet, *copy.reads())


def _cleared(frame: Frame, move: ByRank, copy: Copy) -> Steps:
    """Nothing into every element of the destination, by the one thread that reads it."""
    own = Exchange(frame.exchange.destination, frame.exchange.destination, frame.exchange.bytes)
    rows = writers(own, move.buffer).writes
    return copy.put(move.buffer.read.groups, rows, copy.numbering.after, lambda item: ZERO)


def _filled(frame: Frame, copy: Copy) -> Steps:
    """Nothing into the whole buffer."""
    body = (Assign(Element(copy.array, Name("address")), ZERO),)
    return (Rounds("address", frame.thread, Int(copy.window.room), frame.exchange.threads, body),)


def _gather(frame: Frame, move: ByRank, copy: Copy) -> Steps:
    """Meet, write, meet, read where the ranks say."""
    meet = barrier(frame, move.barrier)
    item = numbered("item", frame.exchange.items_after)

    def read(address: Expr) -> Steps:
        return (Assign(Element(copy.target, item), Element(copy.array, address)),)

    nothing: Steps = () if copy.window.start is not None else (Assign(Element(copy.target, item), ZERO),)
    reads = loop("item", frame.exchange.items_after, (
        _place(copy, move, item), *nothing, When(IS_IN, copy.window.at(_address(move), read))))
    gaps: Steps = (*_filled(frame, copy), meet) if move.gaps else ()
    return (meet, *gaps, *copy.writes(), meet, *reads)


def gathered_steps(frame: Frame, move: GatherByShuffles) -> Steps:
    """Read every item of the lane that a rank names, keep the one it means; all lanes take part, whatever they want."""
    taken, held, came = map(frame.names.take, ("taken", "held", "came"))
    item, source = numbered("item", move.wanted), numbered("element", move.items)
    slot = index_of(move.slots, Name(held, 0, move.elements - 1))
    lanes = Variable(frame.lanes_mask() or "0xffffffffu")
    shown = Function("shuffle", (lanes, Element(frame.before, source), slot // move.items, Int(frame.exchange.warp)))
    is_it: Text = IS_IN if move.items == 1 else Operation("&&", IS_IN, Binary("==", slot % move.items, source))
    reads = loop("element", move.items, (
        Let(frame.type, came, shown), When(is_it, (Assign(Element(taken, item), Name(came)),))))
    place = Function("place_of", (Element(frame.rank, item), Int(move.least), Int(move.elements)))
    within = Choice(IS_IN, Name("place"), Int(0))
    return (
        Registers(frame.type, taken, move.wanted),
        *loop("item", move.wanted, (Let("int", "place", place), Let("int", held, within),
                                    Assign(Element(taken, item), Variable("{}")), *reads)),
        *loop("item", move.wanted, (Assign(Element(frame.after, item), Element(taken, item)),)),
    )


IS_IN: Text = Binary(">=", Name("place"), Int(0))


def _place(copy: Copy, move: ByRank, item: Expr) -> Step:
    """The position that an item's rank names, counted from the least; -1 outside the tile."""
    bounds = Int(copy.numbering.least), Int(move.elements)
    return Let("int", "place", Function("place_of", (Element(copy.frame.rank, item), *bounds)))


def _address(move: ByRank) -> Expr:
    return address_of(move.buffer.placement, Name("place", 0, move.elements - 1), 1)
