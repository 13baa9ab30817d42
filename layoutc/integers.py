"""What the operators and functions of index expressions mean, as Python integers."""

from __future__ import annotations

from collections.abc import Callable


def apply(op: str, a: int, b: int) -> int:
    """The value of one operator."""
    if op in ("/", "%"):
        if a < 0 or b <= 0:
            raise ArithmeticError(f"{a} {op} {b}: C truncates towards zero")
        return a // b if op == "/" else a % b
    return OPERATORS[op](a, b)


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "*": lambda a, b: a * b, "^": lambda a, b: a ^ b,
    "<": lambda a, b: int(a < b), "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b), ">=": lambda a, b: int(a >= b),
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
    "&&": lambda a, b: int(bool(a) and bool(b)), "||": lambda a, b: int(bool(a) or bool(b)),
}


def _reflect(i: int, n: int) -> int:
    j = i % (2 * n)
    return j if j < n else 2 * n - 1 - j


def _mirror(i: int, n: int) -> int:
    if n == 1:
        return 0
    j = i % (2 * n - 2)
    return j if j < n else 2 * n - 2 - j


FUNCTIONS: dict[str, Callable[..., int]] = {
    "min": min, "max": max, "minimum": min, "maximum": max, "i64": int,
    "floor_div": lambda a, b: a // b if b else 0, "floor_mod": lambda a, b: a % b if b else 0,
    "sign": lambda a: (a > 0) - (a < 0), "power": lambda a, n: a ** max(n, 0),
    "within": lambda i, n: int(0 <= i < n),
    "nearest": lambda i, n: min(max(i, 0), n - 1),
    "reflect": _reflect, "mirror": _mirror, "wrap": lambda i, n: i % n,
}


def next_power_of_two(n: int) -> int:
    """The least that is no smaller; 1 for numbers below."""
    return 1 << max(n - 1, 0).bit_length()
