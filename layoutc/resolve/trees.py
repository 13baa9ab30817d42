"""Walks over values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from layoutc.resolve.program import (
    Binary,
    Call,
    Cast,
    Compare,
    Const,
    Extent,
    Index,
    Logic,
    Read,
    Reduce,
    Unary,
    Value,
    Where,
)


def children(value: Value) -> tuple[Value, ...]:
    """The values right below a value; a read's subscripts and the ends of a reduction's ranges too."""
    match value:
        case Const() | Index() | Extent():
            return ()
        case Unary(_, operand) | Cast(operand):
            return (operand,)
        case Binary(_, left, right) | Compare(_, left, right) | Logic(_, left, right):
            return left, right
        case Where(test, yes, no):
            return test, yes, no
        case Call(_, arguments):
            return arguments
        case Read(_, indices):
            return indices
        case Reduce(_, binders, body):
            return (*(end for b in binders for end in (b.low, b.high)), body)


def parts(value: Value) -> Iterator[Value]:
    """A value and everything in it."""
    pending = [value]
    while pending:
        value = pending.pop()
        yield value
        pending += children(value)


def rebuilt(value: Value, change: Callable[[Value], Value]) -> Value:
    """The value with each of those right below it changed; the ranges of reductions stay."""
    match value:
        case Const() | Index() | Extent():
            return value
        case Unary(_, operand) | Cast(operand):
            return replace(value, operand=change(operand))
        case Binary(_, left, right) | Compare(_, left, right) | Logic(_, left, right):
            return replace(value, left=change(left), right=change(right))
        case Where(test, yes, no):
            return replace(value, test=change(test), yes=change(yes), no=change(no))
        case Call(_, arguments):
            return replace(value, arguments=tuple(map(change, arguments)))
        case Read(_, indices):
            return replace(value, indices=tuple(map(change, indices)))
        case Reduce(_, _, body):
            return replace(value, body=change(body))


def replaced(value: Value, other: Callable[[Reduce], Value | None]) -> Value:
    """The value in which others stand for some of its reductions, those outside first; None: it stays."""
    found = other(value) if isinstance(value, Reduce) else None
    return found if found is not None else rebuilt(value, lambda child: replaced(child, other))
