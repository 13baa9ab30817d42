"""Expressions as text: the fewest parentheses, and lines no wider than need be."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from layoutc.parse.syntax import (
    Binary,
    Binder,
    Call,
    Expression,
    LayoutPair,
    Name,
    Number,
    Reduction,
    Subscript,
    Tuple,
    Unary,
)

WIDTH = 100
"""Columns after which a line is broken where it can be."""

INDENT = "    "

# how tightly the grammar binds, from the loosest
OR, AND, NOT, COMPARE, PAIR, SUM, PRODUCT, UNARY, POWER, POSTFIX = range(10)

_LEVELS = {
    "or": OR, "and": AND, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "//": PRODUCT, "%": PRODUCT, "**": POWER,
}


class _Shape(NamedTuple):
    """Where a binary operation stands and what it asks of its operands."""

    own: int
    left: int
    right: int


def _shape(op: str) -> _Shape:
    own = _LEVELS.get(op, COMPARE)
    if op == "**":
        return _Shape(own, POSTFIX, UNARY)
    if own == COMPARE:
        return _Shape(own, PAIR, PAIR)
    return _Shape(own, own, own + 1)


def level(e: Expression) -> int:
    """How tightly the outermost form of an expression binds."""
    match e:
        case Binary(op):
            return _shape(op).own
        case LayoutPair():
            return PAIR
        case Unary("not"):
            return NOT
        case Unary() | Reduction():
            return UNARY
    return POSTFIX


def _reaches_on(e: Expression) -> bool:
    """Whether the text ends in a reduction, whose body would take a factor that follows."""
    while True:
        match e:
            case Reduction():
                return True
            case Binary("*" | "/" | "//" | "%" | "**", _, e) | Unary("-", e) if level(e) >= UNARY:
                continue
        return False


def parenthesised(e: Expression, least: int, followed: bool = False) -> bool:
    """Whether an expression needs parentheses where ``least`` is asked; ``followed`` by a factor or not."""
    return level(e) < least or (followed and _reaches_on(e))


def text(e: Expression, least: int = OR, followed: bool = False) -> str:
    """An expression on one line."""
    if parenthesised(e, least, followed):
        return f"({text(e)})"
    match e:
        case Name(id):
            return id
        case Number(value):
            return number_text(value)
        case Tuple(items):
            return f"({listed(items)}{',' if len(items) == 1 else ''})"
        case LayoutPair(shape, stride):
            return f"{text(shape, SUM)}:{text(stride, SUM)}"
        case Unary(op, operand):
            return f"not {text(operand, NOT)}" if op == "not" else f"-{text(operand, UNARY)}"
        case Binary(op, left, right):
            asks = _shape(op)
            gap = "" if op == "**" or _is_tight(e) else " "
            return f"{text(left, asks.left, asks.own == PRODUCT)}{gap}{op}{gap}{text(right, asks.right)}"
        case Call(function, arguments):
            return f"{function.id}({listed(arguments)})"
        case Subscript(base, indices):
            return f"{_base(base)}[{listed(indices)}]"
        case Reduction(_, _, body):
            return f"{reduction_head(e)} {text(body, PRODUCT)}"


def _is_tight(e: Expression) -> bool:
    """Whether it is a product of names and numbers, written ``2*R`` in ``2*R + 1``."""
    while isinstance(e, Binary) and e.op == "*" and isinstance(e.right, Name | Number):
        e = e.left
    return isinstance(e, Name | Number)


def _base(e: Expression) -> str:
    """What a subscript is of; a number's word before `[` would be a name."""
    shown = text(e, POSTFIX)
    return f"({shown})" if isinstance(e, Number) and shown.isalpha() else shown


def after_word(e: Expression, *reserved: str) -> str:
    """An expression where it may not begin with one of the reserved words."""
    shown = text(e)
    first = re.match(r"\w+", shown)
    return f"({shown})" if first and first[0] in reserved else shown


def listed(items: tuple[Expression, ...]) -> str:
    """Expressions with commas between."""
    return ", ".join([text(item) for item in items])


def number_text(value: int | float | bool) -> str:
    """A number as the language writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if math.isnan(value):
            return "nan"
        case float() if value == math.pi:
            return "pi"
    return repr(value)


def binder_text(binder: Binder) -> str:
    """``u`` or ``u in 0..K``."""
    if binder.range is None:
        return binder.name.id
    low, high = text(binder.range.low, SUM), text(binder.range.high, SUM)
    return f"{binder.name.id} in {low}{'..=' if binder.range.inclusive else '..'}{high}"


def reduction_head(e: Reduction) -> str:
    """``sum(u in 0..K, j)``."""
    return f"{e.op.id}({', '.join([binder_text(b) for b in e.binders])})"


# ---- on several lines


def lines(e: Expression, room: int, least: int = OR, followed: bool = False) -> list[str]:
    """An expression on as few lines as ``room`` columns allow; the later ones are indented by one step."""
    flat = text(e, least, followed)
    if len(flat) <= room:
        return [flat]
    if parenthesised(e, least, followed):
        inner = lines(e, room - 2)
        return [f"({inner[0]}", *inner[1:-1], f"{inner[-1]})"] if len(inner) > 1 else [flat]
    match e:
        case Binary(op) if op != "**":
            return _chain_lines(e, room)
        case Unary(op, operand):
            word = "not " if op == "not" else "-"
            first, *rest = lines(operand, room - len(word), NOT if op == "not" else UNARY)
            return [word + first, *rest]
        case Reduction(_, _, body):
            head = reduction_head(e)
            first, *rest = lines(body, room - len(head) - 1, PRODUCT)
            return [f"{head} {first}", *rest]
        case Call(function, arguments) if arguments:
            return _item_lines(f"{function.id}(", arguments, ")", room)
        case Tuple(items):
            return _item_lines("(", items, ")", room)
    return [flat]


def _chain_lines(e: Binary, room: int) -> list[str]:
    """``a + b - c`` with each operator at the head of a line."""
    own = _shape(e.op).own
    operands: list[tuple[str, Expression]] = []
    rest: Expression = e
    while isinstance(rest, Binary) and _shape(rest.op).own == own and (
        not operands or not parenthesised(rest, _shape(operands[-1][0]).left, own == PRODUCT)
    ):
        operands.append((rest.op, rest.right))
        rest = rest.left
    asks = _shape(e.op)
    out = lines(rest, room, asks.left, own == PRODUCT)
    for place, (op, operand) in enumerate(reversed(operands)):
        followed = own == PRODUCT and place < len(operands) - 1
        first, *others = lines(operand, room - len(INDENT) - len(op) - 1, asks.right, followed)
        out += [f"{INDENT}{op} {first}", *[INDENT + other for other in others]]
    return out


def _item_lines(opening: str, items: tuple[Expression, ...], closing: str, room: int) -> list[str]:
    """One item a line, each with its comma."""
    out = [opening]
    for item in items:
        inner = lines(item, room - len(INDENT) - 1)
        out += [INDENT + line for line in inner[:-1]] + [f"{INDENT}{inner[-1]},"]
    return [*out, closing]
