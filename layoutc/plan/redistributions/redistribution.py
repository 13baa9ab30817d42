"""A redistribution from its layouts to the text's steps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from layoutc.plan.emission.comment import comment, comment_in_turns
from layoutc.plan.emission.frame import Frame
from layoutc.plan.emission.functions import (
    Parameters,
    device_function,
    function_in_turns,
    ranks_of,
    test_kernel,
)
from layoutc.plan.machine import WARP
from layoutc.plan.moves import by_rank, choose
from layoutc.plan.moves.by_rank import Ranked
from layoutc.plan.moves.costs import capability_of, costs_of
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import Move, Refusal, ThroughShared
from layoutc.plan.moves.through_shared import SHARED_BYTES, orders_of
from layoutc.plan.names import Names
from layoutc.plan.nodes import Target
from layoutc.plan.steps import DeviceFunction, File, Header
from layoutc.plan.values import c_type
from layoutc.resolve.types import BF16, F16, Type

Kind = Literal["exchange", "scatter", "gather"]

# What plain CUDA calls the types that layoutc gives names of its own; halves are the caller's type of that size.
PLAIN = {"i8": "signed char", "u8": "unsigned char", "i16": "short", "u16": "unsigned short", "i64": "long long",
         "u64": "unsigned long long"}


@dataclass(frozen=True, slots=True)
class RedistributionPlan:
    """What is done and why not otherwise; the kernel that tries it, and the function for anyone's CUDA.

    ``move`` is None where the means insisted on cannot be right; its refusal then says why, and there is no text.
    """

    name: str
    kind: Kind
    type: Type
    exchange: Exchange
    move: Move | Ranked | None
    refusals: tuple[Refusal, ...]
    entry: str = ""                         # the kernel
    parameters: Parameters | None = None    # of the kernel
    file: File | None = field(default=None, repr=False)

    @property
    def function(self) -> DeviceFunction:
        """The function in the kernel's text."""
        assert self.file is not None, "a plan without a move has no text"
        found = self.file.functions[0]
        assert isinstance(found, DeviceFunction)
        return found


def plan_redistribution(
    name: str, exchange: Exchange, kind: Kind, type: Type, via: str | None, target: Target
) -> RedistributionPlan:
    """The cheapest right move (of the means ``via``, if given) and its steps."""
    move, refusals = _move(exchange, kind, via, target)
    plan = RedistributionPlan(name, kind, type, exchange, move, refusals)
    return plan if move is None else _with_text(plan, move)


def _move(
    exchange: Exchange, kind: Kind, via: str | None, target: Target
) -> tuple[Move | Ranked | None, tuple[Refusal, ...]]:
    costs = costs_of(target.arch)
    if kind == "exchange":
        return choose(exchange, costs, via, target.shared_bytes, orders_of(capability_of(target.arch)))
    return by_rank.choose(exchange, kind, costs, via, target.shared_bytes)


def _with_text(plan: RedistributionPlan, move: Move | Ranked) -> RedistributionPlan:
    """The plan with the steps of its move."""
    names = _names()
    name = names.take(plan.name)
    entry = names.take(f"{plan.name}_test")
    words = comment(name, plan.type.name, plan.exchange, move)
    frame = Frame(plan.exchange, c_type(plan.type), names.copy(), name)
    function = device_function(frame, move, words)
    parameters = Parameters(*map(names.take, ("v", "ranks", "out", "tiles")))
    kernel = test_kernel(frame, entry, parameters, ranks_of(plan.exchange, move) if isinstance(move, Ranked) else 0)
    return replace(plan, entry=entry, parameters=parameters, file=File((), "i64", (function, kernel)))


def header_of(plan: RedistributionPlan) -> Header:
    """The function alone, for anyone's CUDA, where it pays also in turns; its helpers are the renderer's to add."""
    assert plan.move is not None, "a plan without a move has no text"
    names = _names()
    names.take("tiles")
    name = names.take(plan.name)
    half = plan.type in (F16, BF16)
    plain = "T" if half else PLAIN.get(plan.type.name, c_type(plan.type))
    tiles = plan.exchange.threads % WARP == 0       # none of two tiles shares a warp
    words = comment(name, plan.type.name, plan.exchange, plan.move, tiles)
    functions = [device_function(Frame(plan.exchange, plain, names.copy(), name, tiles=tiles), plan.move, words, half)]
    if isinstance(plan.move, ThroughShared) and _can_take_turns(plan.move, functions[0]):
        other = names.take(f"{name}_in_turns")
        frame = Frame(plan.exchange, plain, names.copy(), other, tiles=tiles)
        functions.append(function_in_turns(frame, plan.move, comment_in_turns(other, name), half))
    space = names.take(f"{name}_layoutc")
    return Header(f"LAYOUTC_{name.upper()}", space, (), tuple(functions),
                  tuple(word for f in functions for word in (f.name, f.shared_name)))


def _can_take_turns(move: ThroughShared, function: DeviceFunction) -> bool:
    """Whether two buffers save a barrier of the block and fit."""
    return move.barrier == "block" and move.slices == 1 and 2 * function.shared_bytes <= SHARED_BYTES


def _names() -> Names:
    """The names of a text in which those of its functions' steps are taken."""
    names = Names()
    for own in OWN:
        names.take(own)
    return names


# what the steps of a function declare
OWN = ("before", "after", "rank", "thread", "lane", "item", "group", "element", "pack", "slice", "address", "tile",
       "place", "nothing", "turn", "T", "Rank")
