"""A reduction in pieces that can be joined in any order: its variables, how they take a value, how two are joined."""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.plan.lowering.reduce import NAMES, least_or_greatest, zero
from layoutc.plan.steps import Assign, Let, Steps, When
from layoutc.plan.values import Function, Literal, Operation, Text, register_type
from layoutc.plan.values import Variable as Held
from layoutc.resolve.program import Reduce
from layoutc.resolve.types import BOOL, I64, Type, compute_type


@dataclass(frozen=True, slots=True)
class Part:
    """A variable of an unfinished reduction."""

    name: str           # as it would like to be called
    type: Type          # in which it is held
    identity: Literal

    @property
    def register(self) -> str:
        """Its type in the text."""
        return register_type(self.type)


def parts_of(r: Reduce) -> tuple[Part, ...]:
    """The variables of a reduction: one, or a value and its place."""
    match r.op:
        case "argmin" | "argmax":
            body = compute_type(r.body.type)
            return (Part("best", body, least_or_greatest(body, greatest=r.op == "argmin")),
                    Part("place", I64, Literal(2**63 - 1, I64)))
        case "min" | "max":
            identity = least_or_greatest(r.type, greatest=r.op == "min")
        case "prod":
            identity = Literal(1, r.type)
        case "any" | "all":
            identity = Literal(r.op == "all", BOOL)
        case _:
            identity = zero(r.type)
    return (Part(NAMES[r.op], compute_type(r.type), identity),)


@dataclass(frozen=True, slots=True)
class Cells:
    """Where the parts of a reduction are; the same words as an ``Accumulator``'s for those who fill it."""

    reduce: Reduce
    at: tuple[Text, ...]        # one a part
    other: tuple[str, ...]      # variables for what is joined, one a part
    lost: Text | None = None    # of a float sum: what its roundings add too much

    @property
    def op(self) -> str:
        """The reduction's word."""
        return self.reduce.op

    @property
    def fused(self) -> bool:
        """Whether products are accumulated by fma."""
        return self.reduce.op == "sum" and self.lost is None

    def take(self, value: Text, position: Text | None) -> Steps:
        """One more value of the body."""
        if position is not None:
            return self.join_there((value, position))
        return self.join((Function("i64", (value,)) if self.op == "count" else value,))

    def take_product(self, left: Text, right: Text) -> Steps:
        """One more product, with one rounding (integers: exactly)."""
        function = "fma" if self.reduce.type.is_float else "mul_add"
        return (Assign(self.at[0], Function(function, (left, right, self.at[0]))),)

    def join(self, other: tuple[Text, ...]) -> Steps:
        """What another cell holds, each part named once."""
        mine, kind = self.at[0], compute_type(self.reduce.type)
        match self.op:
            case "sum" if self.lost is not None:
                joined: Text = Function("add_compensated", (mine, other[0], self.lost))
            case "sum" | "count":
                joined = Operation("+", mine, other[0]) if kind.is_float else Function("add", (mine, other[0]))
            case "prod":
                joined = Operation("*", mine, other[0]) if kind.is_float else Function("mul", (mine, other[0]))
            case "min" | "max":
                joined = Function("minimum" if self.op == "min" else "maximum", (mine, other[0]))
            case "any" | "all":
                joined = Operation("||" if self.op == "any" else "&&", mine, other[0])
            case _:
                return self._join_place(other)
        return (Assign(mine, joined),)

    def join_there(self, other: tuple[Text, ...]) -> Steps:
        """What is brought from elsewhere, under names of its own."""
        parts = parts_of(self.reduce)
        lets = tuple(Let(p.register, name, v) for p, name, v in zip(parts, self.other, other, strict=True))
        return (*lets, *self.join(tuple(map(Held, self.other))))

    def _join_place(self, other: tuple[Text, ...]) -> Steps:
        test = Function("first_least" if self.op == "argmin" else "first_greatest", (*other, *self.at))
        return (When(test, tuple(Assign(mine, theirs) for mine, theirs in zip(self.at, other, strict=True))),)
