"""The functions of equations, on drafts, and casts by type name."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NoReturn

from layoutc.diagnostics import did_you_mean
from layoutc.parse import syntax
from layoutc.resolve.arithmetic import Number
from layoutc.resolve.drafts import Bare, Draft, Typing, at_span
from layoutc.resolve.errors import expected
from layoutc.resolve.program import Binary, Call, Cast, Const, Extent, Read, Unary, Value, Where
from layoutc.resolve.types import (
    BF16,
    BOOL,
    F16,
    F64,
    I64,
    TYPES,
    Type,
    arithmetic_type,
    integer_range,
    number_type,
    round_to,
)
from layoutc.source import Span

FLOAT_FUNCTIONS = {
    **dict.fromkeys(("sqrt", "rsqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tan", "asin", "acos", "atan"), 1),
    **dict.fromkeys(("sinh", "cosh", "tanh", "erf", "floor", "ceil", "round", "trunc"), 1),
    **dict.fromkeys(("atan2", "hypot", "pow"), 2),
    "fma": 3,
}
"""Functions of floats, and how many they take."""

TESTS = ("isnan", "isinf")
EXTREMES = ("min", "max", "fmin", "fmax")
STATIC_FUNCTIONS = ("size", "cosize", "rank", "depth")
FUNCTIONS = (*FLOAT_FUNCTIONS, *TESTS, *EXTREMES, "clamp", "abs", "sign", "where", "ceildiv", *STATIC_FUNCTIONS, *TYPES)
"""Every name that may stand before ``(`` in an equation, reductions aside."""

REDUCTIONS = ("sum", "prod", "any", "all", "count", "argmin", "argmax", "median")

_ELSEWHERE = {
    "float": "f32", "double": "f64", "half": "f16", "int": "i32", "float16": "f16", "float32": "f32", "float64": "f64",
    "bfloat16": "bf16", **{f"{u}int{bits}": f"{u or 'i'}{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)},
    "fabs": "abs", "mod": "%", "power": "pow", "clip": "clamp", "maximum": "max", "minimum": "min", "arctan2": "atan2",
    "arctan": "atan", "arcsin": "asin", "arccos": "acos", "mean": "sum", "select": "where", "rint": "round",
}


def known_elsewhere(name: str, known: Sequence[str]) -> str:
    """Help for a name that C, NumPy or torch has for something that is called otherwise here."""
    if name in _ELSEWHERE:
        return f"here it is `{_ELSEWHERE[name]}`"
    return did_you_mean(name, known)


def call(typing: Typing, function: syntax.Name, arguments: list[Draft], span: Span) -> Draft:
    """A function applied to drafts; STATIC_FUNCTIONS take none and are not for here."""
    name = function.id
    _check_count(typing, name, len(arguments), span)
    if name in TYPES:
        return _cast(typing, arguments[0], TYPES[name], span)
    if name == "where":
        return _where(typing, arguments, span)
    if name in TESTS:
        return _test(typing, name, arguments[0], span)
    if name == "ceildiv":
        return _ceildiv(typing, arguments, span)
    typed = typing.common(arguments)
    if typed is not None:
        return _call_at(typing, name, arguments, typed, span)
    bare = [a for a in arguments if isinstance(a, Bare)]
    numbers = [a.number for a in bare if a.number is not None]
    if name not in FLOAT_FUNCTIONS and len(numbers) == len(bare):
        return typing.number(_fold(name, numbers), span)
    floating = name in FLOAT_FUNCTIONS or any(a.floating for a in bare)
    return Bare(lambda type: _call_at(typing, name, arguments, type, span), span, floating)


def _check_count(typing: Typing, name: str, given: int, span: Span) -> None:
    if name in EXTREMES:
        if given < 2:
            typing.errors.refuse(
                "argument-count", span, f"`{name}` takes two or more values", f"{given} given",
                help=f"a reduction names its index and its body follows: `{name}(i) x[i]`" if name[0] == "m" else "",
            )
        return
    wanted = FLOAT_FUNCTIONS.get(name, {"clamp": 3, "where": 3, "ceildiv": 2}.get(name, 1))
    if given != wanted:
        typing.errors.refuse(
            "argument-count", span, f"`{name}` takes {expected(wanted, 'value')}", f"{given} given",
            help={"clamp": "clamp(x, low, high)", "where": "where(test, yes, no)", "fma": "fma(a, b, c)"}.get(name, ""),
        )


def _call_at(typing: Typing, name: str, arguments: Sequence[Draft], type: Type, span: Span) -> Value:
    if name in FLOAT_FUNCTIONS and not type.is_float:
        _refuse_integers(typing, name, arguments, type, span)
    type = arithmetic_type(type) if name in ("abs", "sign") else number_type(type)
    values = [typing.into(a, type, f"`{name}` computes in {type}") for a in arguments]
    if name in EXTREMES:
        return _extreme(name if type.is_float else name[-3:], values, type, span)
    return Call(name, tuple(values), type, span)


def _refuse_integers(typing: Typing, name: str, arguments: Sequence[Draft], type: Type, span: Span) -> NoReturn:
    typed = next((a for a in arguments if not isinstance(a, Bare)), None)
    if typed is not None:
        typing.float_needed(f"`{name}`", typed)
    written = typing.errors.text(span)
    typing.errors.refuse(
        "type", span, f"`{name}` gives a float, and {type} is needed here", "a float", help=f"write `{type}({written})`"
    )


def _extreme(name: str, values: list[Value], type: Type, span: Span) -> Value:
    """Calls of two, halving, so that many values nest a few calls deep."""
    if len(values) == 1:
        return values[0]
    middle = len(values) // 2
    halves = (_extreme(name, values[:middle], type, span), _extreme(name, values[middle:], type, span))
    return Call(name, halves, type, span)


def _fold(name: str, numbers: list[Number]) -> Number:
    match name:
        case "min" | "fmin":
            return _propagate(min, numbers, skip=name == "fmin")
        case "max" | "fmax":
            return _propagate(max, numbers, skip=name == "fmax")
        case "clamp":
            return _propagate(lambda n: min(max(n[0], n[1]), n[2]), numbers, skip=False)
        case "abs":
            return abs(numbers[0])
    value = numbers[0]
    sign = math.copysign(1, value) if value and value == value else value
    return int(sign) if isinstance(value, int) else sign


def _propagate(function: Callable[[list[Number]], Number], numbers: list[Number], *, skip: bool) -> Number:
    kept = [n for n in numbers if n == n]
    if len(kept) < len(numbers) and (not skip or not kept):
        return math.nan
    result = function(kept)
    return float(result) if any(isinstance(n, float) for n in numbers) else result


def _where(typing: Typing, arguments: list[Draft], span: Span) -> Draft:
    test = typing.boolean(arguments[0], "the first of `where`")
    choices = arguments[1:]

    def at(type: Type) -> Value:
        yes, no = (typing.into(c, type, f"`where` chooses a value of {type}") for c in choices)
        return Where(test, yes, no, type, span)

    typed = typing.common(choices)
    if typed is None:
        return Bare(at, span, any(isinstance(c, Bare) and c.floating for c in choices))
    return at(typed)


def _test(typing: Typing, name: str, argument: Draft, span: Span) -> Value:
    value = argument.at(F64) if isinstance(argument, Bare) else argument
    if not value.type.is_float:
        typing.float_needed(f"`{name}`", value)
    return Call(name, (value,), BOOL, span)


def _ceildiv(typing: Typing, arguments: list[Draft], span: Span) -> Draft:
    """``-(-a // b)``: exact for every sign."""
    typed = typing.common(arguments)

    def at(type: Type) -> Value:
        computes = arithmetic_type(type)
        if not computes.is_integer or computes.kind == "uint":
            typing.errors.refuse(
                "type", span, f"`ceildiv` takes signed integers, not {computes}", f"computes in {computes}"
            )
        one, two = (typing.into(a, computes, f"`ceildiv` computes in {computes}") for a in arguments)
        floor = Binary("//", Unary("-", one, computes, span), two, computes, span)
        return Unary("-", floor, computes, span)

    if typed is not None:
        return at(typed)
    numbers = [a.number for a in arguments if isinstance(a, Bare) and isinstance(a.number, int)]
    if len(numbers) == 2 and numbers[1] != 0:
        return typing.number(-(-numbers[0] // numbers[1]), span)
    return Bare(at, span)


def _cast(typing: Typing, draft: Draft, type: Type, span: Span) -> Value:
    if isinstance(draft, Bare):
        if draft.number is not None:
            return Const(convert(draft.number, type), type, span)
        value = draft.at(type if type.is_float else F64) if draft.floating else draft.at(I64)
    else:
        value = draft
    rounds = type in (F16, BF16) and not isinstance(value, Read | Const)     # such a value is held in f32
    if value.type == type and not rounds:
        return at_span(value, span)
    if isinstance(value, Extent) and type == I64:
        return value
    return Cast(value, type, span)


def convert(number: Number, type: Type) -> Number | bool:
    """A number as a cast gives it: integers wrap, floats truncate, saturate and take NaN to 0, floats round."""
    if type == BOOL:
        return number != 0
    if type.is_float:
        try:
            return round_to(number, type)
        except OverflowError:
            return math.copysign(math.inf, number)
    low, high = integer_range(type)
    if isinstance(number, int):
        return (number - low) % (1 << type.bits) + low
    if math.isnan(number):
        return 0
    return max(low, min(high, math.trunc(number))) if math.isfinite(number) else high if number > 0 else low
