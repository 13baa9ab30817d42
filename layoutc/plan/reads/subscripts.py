"""Subscripts and extents as index expressions, over whatever stands for their indices."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from layoutc.index import Binary as Operation
from layoutc.index import Call as FunctionOf
from layoutc.index import Expr, Int, Select, divide, multiplied, multiply, remainder
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
from layoutc.resolve.trees import children
from layoutc.resolve.types import BOOL, I64

Env = Mapping[str, Expr]    # what stands for an index or an extent
MOST_FACTORS = 4            # of a power that is written out
OPPOSITE = {"<": ">=", ">=": "<", "<=": ">", ">": "<=", "==": "!=", "!=": "=="}


def as_index(value: Value, env: Env) -> Expr | None:
    """A subscript or an extent as an index expression, or None where it holds more than integer arithmetic on indices.

    What only extents decide may also divide by them, take least and greatest ones, powers and signs, and choose.
    """
    match value:
        case Const(number):
            return Int(int(number))
        case Index(name) | Extent(name):
            return env.get(name)
        case Cast(operand, type) if type == I64 and operand.type.is_integer:
            return as_index(operand, env)
        case Unary("-", operand):
            inner = as_index(operand, env)
            return None if inner is None else -inner
        case Binary("+" | "-" | "*" | "//" | "%", left, right):
            a, b = as_index(left, env), as_index(right, env)
            return None if a is None or b is None else _arithmetic(value.op, a, b, fixed=is_over_extents(value))
        case Call() | Binary() | Where() if is_over_extents(value):
            return _of_extents(value, env)
        case Cast(operand, type) if type == I64 and operand.type == BOOL and is_over_extents(operand):
            test = _test(operand, env)
            return None if test is None else Select(test, Int(1), Int(0))
    return None


def is_over_extents(value: Value) -> bool:
    """Whether constants and extents alone decide it."""
    return not isinstance(value, Index | Read | Reduce) and all(map(is_over_extents, children(value)))


def _arithmetic(op: str, a: Expr, b: Expr, *, fixed: bool) -> Expr | None:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return multiply(a, b)
    if isinstance(b, Int) and b.value > 0:
        return divide(a, b) if op == "//" else remainder(a, b)
    return FunctionOf("floor_div" if op == "//" else "floor_mod", (a, b)) if fixed else None


def _test(value: Value, env: Env, outcome: bool = True) -> Expr | None:
    """Whether a condition on extents has an outcome."""
    match value:
        case Const(bool(known)):
            return Int(int(known == outcome))
        case Unary("not", operand):
            return _test(operand, env, not outcome)
        case Logic(op, left, right):
            a, b = _test(left, env, outcome), _test(right, env, outcome)
            return None if a is None or b is None else Operation("&&" if (op == "and") == outcome else "||", a, b)
        case Compare(op, left, right):
            one, two = as_index(left, env), as_index(right, env)
            return None if one is None or two is None else Operation(op if outcome else OPPOSITE[op], one, two)
    return None


def _of_extents(value: Call | Binary | Where, env: Env) -> Expr | None:
    match value:
        case Where(_, yes, no):
            operands: tuple[Value, ...] = (yes, no)
        case Binary("**", base, Cast(exponent)):    # which is not negative: the call is refused else
            operands = (base, exponent)
        case _:
            operands = children(value)
    parts = [as_index(v, env) for v in operands]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    match value:
        case Where(condition):
            test = _test(condition, env)
            return None if test is None else Select(test, found[0], found[1])
        case Call("sign", _):
            return FunctionOf("sign", (found[0],))
        case Call("min" | "max", _):
            return reduce(lambda a, b: FunctionOf(f"{value.function}imum", (a, b)), found)
        case Call("abs", _):
            return FunctionOf("maximum", (found[0], -found[0]))
        case Call("clamp", _):
            return FunctionOf("minimum", (FunctionOf("maximum", (found[0], found[1])), found[2]))
        case Binary("**", _, Const(int(power))) if 0 <= power <= MOST_FACTORS:
            return multiplied([found[0]] * power)
        case Binary("**"):
            return FunctionOf("power", (found[0], found[1]))
    return None
