"""The names that an expression uses."""

from __future__ import annotations

from collections.abc import Iterator

from layoutc.parse import syntax


def names_in(e: syntax.Expression) -> Iterator[syntax.Name]:
    """The names that stand for a value, in the order of the text: not functions, binders, or what is subscripted."""
    match e:
        case syntax.Name():
            yield e
        case syntax.Subscript(_, indices):
            for index in indices:
                yield from names_in(index)
        case _:
            for operand in operands(e):
                yield from names_in(operand)


def subscripted_in(e: syntax.Expression) -> Iterator[syntax.Name]:
    """The names before brackets, in the order of the text."""
    if isinstance(e, syntax.Subscript) and isinstance(e.base, syntax.Name):
        yield e.base
    for operand in operands(e):
        yield from subscripted_in(operand)


def operands(e: syntax.Expression) -> tuple[syntax.Expression, ...]:
    """What an expression is made of; of a reduction the body."""
    match e:
        case syntax.Unary(_, operand):
            return (operand,)
        case syntax.Binary(_, left, right) | syntax.LayoutPair(left, right):
            return left, right
        case syntax.Call(_, items) | syntax.Tuple(items):
            return items
        case syntax.Subscript(base, indices):
            return (base, *indices)
        case syntax.Reduction(_, _, body):
            return (body,)
    return ()
