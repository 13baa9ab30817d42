"""Exact arithmetic on the numbers of a file, with bounds on everything."""

from __future__ import annotations

import math

I64_RANGE = (-(2**63), 2**63 - 1)
NUMBER_RANGE = (-(2**63), 2**64 - 1)      # a bare number may yet become a u64

Number = int | float


class Fault(Exception):  # noqa: N818 - becomes a located diagnostic
    """An operation without a result: the slug of its error and the sentence."""

    def __init__(self, slug: str, message: str) -> None:
        super().__init__(message)
        self.slug = slug
        self.message = message


def checked(value: int, limits: tuple[int, int]) -> int:
    """The value, if it lies within the limits."""
    if limits[0] <= value <= limits[1]:
        return value
    shown = str(value) if abs(value) < 10**40 else "the result"
    raise Fault("overflow", f"{shown} leaves the range of 64-bit integers")


def integer_operation(op: str, left: int, right: int, limits: tuple[int, int] = I64_RANGE) -> int:
    """``+ - * // % **`` of integers; division floors."""
    if op in ("//", "%") and right == 0:
        raise Fault("division-by-zero", f"{left} {op} 0 divides by zero")
    match op:
        case "+":
            value = left + right
        case "-":
            value = left - right
        case "*":
            value = left * right
        case "//":
            value = left // right
        case "%":
            value = left % right
        case _:
            value = _power(left, right)
    return checked(value, limits)


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise Fault("negative-exponent", f"{base} to the power {exponent} is no integer")
    if abs(base) <= 1:
        return base ** (exponent % 2 + 2) if exponent else 1
    if exponent > 64:
        raise Fault("overflow", f"{base} to the power {exponent} leaves the range of 64-bit integers")
    return int(base**exponent)


def number_operation(op: str, left: Number, right: Number) -> Number:
    """An operation on bare numbers as Python computes it: of integers exactly, else in f64; ``/`` gives a float."""
    if op != "/" and isinstance(left, int) and isinstance(right, int):
        return integer_operation(op, left, right, NUMBER_RANGE)
    try:
        return _float_operation(op, float(left), float(right))
    except ZeroDivisionError:
        raise Fault("division-by-zero", f"{left} {op} {right} divides by zero") from None
    except OverflowError:
        return math.inf


def _float_operation(op: str, left: float, right: float) -> float:
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "/":
            return left / right
        case "//":
            return left // right
        case "%":
            return left % right
    power: float | complex = left**right
    return power if isinstance(power, float) else math.nan


def compare(op: str, left: Number, right: Number) -> bool:
    """A comparison."""
    match op:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case ">=":
            return left >= right
        case "==":
            return left == right
    return left != right
