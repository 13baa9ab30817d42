"""Reductions as an accumulator: how it starts, takes a value, and what it gives."""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.index import Expr
from layoutc.plan.names import Names
from layoutc.plan.reads.subscripts import Env
from layoutc.plan.steps import Assign, Let, Steps, Variable, When
from layoutc.plan.values import Function, Literal, Operation, Prefix, Text, register_type
from layoutc.plan.values import Variable as Held
from layoutc.resolve.program import Reduce
from layoutc.resolve.sharing import free_indices, over_extents, shares_terms
from layoutc.resolve.types import BOOL, I64, Type, compute_type

Key = tuple[Reduce, tuple[tuple[str, Expr], ...]]
NAMES = {
    "sum": "sum", "prod": "product", "min": "least", "max": "greatest", "any": "found", "all": "held",
    "count": "count", "argmin": "place", "argmax": "place",
}


@dataclass(frozen=True, slots=True)
class Accumulator:
    """A reduction in the making; ``fused``: products are accumulated by fma."""

    op: str
    type: Type          # of the body
    name: str
    start: Steps
    result: Text
    fused: bool = False
    first: str = ""     # argmin, argmax: a flag that is true until a value came
    best: str = ""
    here: str = ""      # the value that is compared with the best
    lost: str = ""      # a float sum over extents: what its roundings add too much

    def take(self, value: Text, position: Text | None) -> Steps:
        """One more value, in binder order."""
        total = Held(self.name)
        match self.op:
            case "sum" if self.lost:
                taken: Text = Function("add_compensated", (total, value, Held(self.lost)))
            case "sum":
                taken = Operation("+", total, value) if self.type.is_float else Function("add", (total, value))
            case "prod":
                taken = Operation("*", total, value) if self.type.is_float else Function("mul", (total, value))
            case "min" | "max":
                taken = Function("minimum" if self.op == "min" else "maximum", (total, value))
            case "any":
                taken = Operation("||", total, value)
            case "all":
                taken = Operation("&&", total, value)
            case "count":
                taken = Operation("+", total, Function("i64", (value,)))
            case _:
                return self._take_place(value, position)
        return (Assign(total, taken),)

    def take_product(self, left: Text, right: Text) -> Steps:
        """One more product, accumulated with one rounding (integers: exactly)."""
        function = "fma" if self.type.is_float else "mul_add"
        return (Assign(Held(self.name), Function(function, (left, right, Held(self.name)))),)

    def _take_place(self, value: Text, position: Text | None) -> Steps:
        assert position is not None
        better: Text = Operation("<" if self.op == "argmin" else ">", Held(self.here), Held(self.best))
        if self.type.is_float:
            is_nan = [Function("is_nan", (Held(name),)) for name in (self.here, self.best)]
            better = Operation("||", better, Operation("&&", is_nan[0], Prefix("!", is_nan[1])))
        return (
            Let(register_type(self.type), self.here, value),
            When(Operation("||", Held(self.first), better), (
                Assign(Held(self.best), Held(self.here)), Assign(Held(self.name), position),
                Assign(Held(self.first), Literal(False, BOOL)))),
        )


def key_of(reduce: Reduce, env: Env) -> Key:
    """A reduction where indices stand for these expressions."""
    return reduce, tuple((name, env[name]) for name in sorted(free_indices(reduce)))


def accumulator(r: Reduce, names: Names) -> Accumulator:
    """The accumulator of a reduction, its variables named after it."""
    name = names.take(NAMES[r.op])
    held = register_type(r.type)
    match r.op:
        case "argmin" | "argmax":
            best, first = names.take("best"), names.take("none_yet")
            here = names.take(f"{best}_here")
            start: Steps = (
                Variable(register_type(r.body.type), best, zero(r.body.type)),
                Variable("i64", name, Literal(0, I64)),
                Variable("bool", first, Literal(True, BOOL)),
            )
            return Accumulator(r.op, r.body.type, name, start, Held(name), first=first, best=best, here=here)
        case "min" | "max":
            identity: Text = least_or_greatest(r.type, greatest=r.op == "min")
        case "prod":
            identity = Literal(1, r.type)
        case "all":
            identity = Literal(True, BOOL)
        case "any":
            identity = Literal(False, BOOL)
        case _:
            identity = zero(r.type)
    start = (Variable(held, name, identity),)
    if r.op == "sum" and r.type.is_float and over_extents(r) and not shares_terms(r):
        lost = names.take("lost")
        start = (*start, Variable(held, lost, identity))
        return Accumulator(r.op, r.type, name, start, Held(name), lost=lost)
    return Accumulator(r.op, r.type, name, start, Held(name), fused=r.op == "sum")


def zero(type: Type) -> Literal:
    """0 of a type."""
    return Literal(False if type == BOOL else 0, type)


def least_or_greatest(type: Type, *, greatest: bool) -> Literal:
    """The identity of min (greatest) or max (least)."""
    kind = compute_type(type)
    if kind.is_float:
        return Literal(float("inf") if greatest else float("-inf"), type)
    if kind == BOOL:
        return Literal(greatest, type)
    if kind.kind == "uint":
        return Literal(2**kind.bits - 1 if greatest else 0, type)
    return Literal(2 ** (kind.bits - 1) - 1 if greatest else -(2 ** (kind.bits - 1)), type)
