"""A redistribution from its layouts to the text's steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from layoutc.plan.emission.comment import comment
from layoutc.plan.emission.frame import Frame
from layoutc.plan.emission.functions import device_function, test_kernel
from layoutc.plan.moves import choose
from layoutc.plan.moves.costs import costs_of
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import Move, Refusal
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
    move: Move | None
    refusals: tuple[Refusal, ...]
    entry: str = ""                         # of the kernel
    arrays: tuple[str, str, str] = ("", "", "")     # the kernel's parameters: v, out, tiles
    file: File | None = None
    header: Header | None = None

    @property
    def function(self) -> DeviceFunction:
        """The function in the kernel's text."""
        assert self.file is not None
        found = self.file.functions[0]
        assert isinstance(found, DeviceFunction)
        return found


def plan_redistribution(
    name: str, exchange: Exchange, kind: Kind, type: Type, via: str | None, target: Target
) -> RedistributionPlan:
    """The cheapest right move (of the means ``via``, if given) and its steps."""
    move, refusals = choose(exchange, costs_of(target.arch), via)
    if move is None:
        return RedistributionPlan(name, kind, type, exchange, None, refusals)
    return with_text(RedistributionPlan(name, kind, type, exchange, move, refusals))


def with_text(plan: RedistributionPlan) -> RedistributionPlan:
    """The plan with the steps of its move."""
    assert plan.move is not None
    names = Names()
    for own in OWN:
        names.take(own)
    function_name = names.take(plan.name)
    entry = names.take(f"{plan.name}_test")
    arrays = (names.take("v"), names.take("out"), names.take("tiles"))
    words = comment(function_name, plan.type.name, plan.exchange, plan.move)
    frame = Frame(plan.exchange, c_type(plan.type), names.copy(), function_name)
    function = device_function(frame, plan.move, words)
    kernel = test_kernel(frame, entry, arrays)
    half = plan.type in (F16, BF16)
    plain = "T" if half else PLAIN.get(plan.type.name, c_type(plan.type))
    alone = device_function(Frame(plan.exchange, plain, names.copy(), function_name), plan.move, words,
                            "class T" if half else "")
    header = Header(f"LAYOUTC_{function_name.upper()}", names.take(f"{function_name}_layoutc"), (), alone,
                    (alone.name, alone.shared_name))
    return RedistributionPlan(plan.name, plan.kind, plan.type, plan.exchange, plan.move, plan.refusals, entry, arrays,
                              File((), "i64", (function, kernel)), header)


# what the steps of a function declare
OWN = ("before", "after", "thread", "lane", "item", "group", "element", "pack", "slice", "address", "tile", "T")
