"""Reductions: the ranges of their indices, and the types of their results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from layoutc.parse import syntax
from layoutc.resolve.drafts import Bare, Draft, Typing
from layoutc.resolve.names import operands
from layoutc.resolve.program import Binder, Reduce, Value
from layoutc.resolve.types import BOOL, I64, Type, arithmetic_type, number_type
from layoutc.resolve.words import Reduction
from layoutc.source import Span


@dataclass(frozen=True, slots=True)
class Alone:
    """A place where a name is a subscript by itself: of which tensor, on which axis."""

    tensor: syntax.Name
    axis: int
    span: Span


def stands_alone(name: str, body: syntax.Expression) -> Iterator[Alone]:
    """Every place in a body, in the order of the text, where the name is a subscript by itself."""
    if isinstance(body, syntax.Subscript) and isinstance(body.base, syntax.Name):
        for axis, index in enumerate(body.indices):
            if isinstance(index, syntax.Name) and index.id == name:
                yield Alone(body.base, axis, index.span)
    for operand in operands(body):
        yield from stands_alone(name, operand)


def reduce(typing: Typing, op: Reduction, binders: tuple[Binder, ...], body: Draft, span: Span) -> Draft:
    """The reduction of a body, in the type that it accumulates in."""
    if op in ("any", "all", "count"):
        value = typing.boolean(body, f"`{op}`")
        return Reduce(op, binders, value, I64 if op == "count" else BOOL, span)
    if op in ("argmin", "argmax"):
        value = typing.natural(body)
        type = number_type(value.type)
        return Reduce(op, binders, typing.into(value, type, ""), I64, span)

    def at(type: Type) -> Value:
        own = arithmetic_type(type) if op in ("sum", "prod") else number_type(type)
        return Reduce(op, binders, typing.into(body, own, f"`{op}` computes in {own}"), own, span)

    return Bare(at, span, body.floating) if isinstance(body, Bare) else at(body.type)
