"""Walks over values."""

from __future__ import annotations

from collections.abc import Iterator

from layoutc.resolve.program import (
    Binary,
    Call,
    Cast,
    Compare,
    Logic,
    Read,
    Reduce,
    Unary,
    Value,
    Where,
)


def children(value: Value) -> tuple[Value, ...]:
    """The operands of a value; a reduction's body, a read's subscripts."""
    match value:
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
        case Reduce(_, _, body):
            return (body,)
    return ()


def parts(value: Value) -> Iterator[Value]:
    """A value and everything in it."""
    pending = [value]
    while pending:
        value = pending.pop()
        yield value
        pending += children(value)
