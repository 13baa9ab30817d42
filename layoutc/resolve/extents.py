"""The values that are known as soon as the extents are: lengths, bounds of ranges, requirements."""

from __future__ import annotations

from collections.abc import Mapping

from layoutc.resolve.program import (
    Binary,
    Call,
    Cast,
    Compare,
    Const,
    Extent,
    Logic,
    Unary,
    Value,
    Where,
)

Extents = Mapping[str, int]
Number = int | float | bool


def evaluate_index(value: Value, extents: Extents) -> Number:
    """A value over constants and extents only (an extent, a bound of a range, a requirement), as a Python number.

    Integers floor in ``//`` and ``%``, and divided by zero give 0. Raises ValueError for any other value.
    """
    match value:
        case Const(number):
            return number
        case Extent(name):
            return extents[name]
        case Cast(operand, type):
            inner = evaluate_index(operand, extents)
            return float(inner) if type.is_float else int(inner) if type.is_integer else bool(inner)
        case Unary(op, operand):
            inner = evaluate_index(operand, extents)
            return -inner if op == "-" else not inner
        case Binary(op, left, right):
            return _arithmetic(op, evaluate_index(left, extents), evaluate_index(right, extents))
        case Compare(op, left, right):
            return _compare(op, evaluate_index(left, extents), evaluate_index(right, extents))
        case Logic(op, left, right):
            a, b = bool(evaluate_index(left, extents)), bool(evaluate_index(right, extents))
            return (a and b) if op == "and" else (a or b)
        case Where(test, yes, no):
            return evaluate_index(yes if evaluate_index(test, extents) else no, extents)
        case Call(function, arguments):
            return _call(function, [evaluate_index(a, extents) for a in arguments])
    raise ValueError(f"not a value over extents: {value}")


def _arithmetic(op: str, a: Number, b: Number) -> Number:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/":
            return a / b
        case "//":
            return a // b if b else 0
        case "%":
            return a % b if b else 0
        case _:
            return integer_power(int(a), int(b))


def integer_power(base: int, exponent: int) -> int:
    """``base ** exponent``; past 64 bits any number past 64 bits. An exponent below 0 counts as 0."""
    if exponent <= 0:
        return 1
    return int(base ** (min(exponent, 64) if abs(base) > 1 else 2 - exponent % 2))


def _compare(op: str, a: Number, b: Number) -> bool:
    match op:
        case "<":
            return a < b
        case "<=":
            return a <= b
        case ">":
            return a > b
        case ">=":
            return a >= b
        case "==":
            return a == b
        case _:
            return a != b


def _call(function: str, arguments: list[Number]) -> Number:
    match function, arguments:
        case ("min", _):
            return min(arguments)
        case ("max", _):
            return max(arguments)
        case ("abs", [a]):
            return abs(a)
        case ("sign", [a]):
            return (a > 0) - (a < 0)
        case ("clamp", [a, low, high]):
            return min(max(a, low), high)
    raise ValueError(f"not a function over extents: {function}")
