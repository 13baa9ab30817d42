"""Operators on drafts: the type each computes in."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from layoutc.resolve.arithmetic import Fault, compare, number_operation
from layoutc.resolve.drafts import Bare, Draft, Typing
from layoutc.resolve.program import Binary, Cast, Compare, Const, Extent, Logic, Unary, Value
from layoutc.resolve.types import BOOL, F64, I64, U64, Type, arithmetic_type
from layoutc.resolve.words import ARITHMETIC, COMPARISONS, CONNECTIVES, Arithmetic, Comparison, certainly, one_of
from layoutc.source import Span


def binary(typing: Typing, op: str, left: Draft, right: Draft, span: Span) -> Draft:
    """``+ - * / // % **``, a comparison, ``and``, ``or``."""
    if connective := one_of(CONNECTIVES, op):
        one, two = typing.boolean(left, f"`{op}`"), typing.boolean(right, f"`{op}`")
        return Logic(connective, one, two, span)
    if comparison := one_of(COMPARISONS, op):
        return _comparison(typing, comparison, left, right, span)
    return _arithmetic(typing, certainly(ARITHMETIC, op), left, right, span)


def _arithmetic(typing: Typing, op: Arithmetic, left: Draft, right: Draft, span: Span) -> Draft:
    if isinstance(left, Bare) and isinstance(right, Bare):
        return _bare(typing, op, left, right, span)
    if op == "**":
        return _power(typing, left, right, span)
    type = typing.common((left, right))
    assert type is not None
    return _compute(typing, op, left, right, type, span)


def unary(typing: Typing, op: str, operand: Draft, span: Span) -> Draft:
    """``-a``, in the type that computes, or ``not a``."""
    if op == "not":
        return Unary("not", typing.boolean(operand, "`not`"), BOOL, span)
    if isinstance(operand, Bare):
        if operand.number is not None:
            return typing.number(-operand.number, span)
        return Bare(lambda type: _negative(typing, operand, type, span), span, operand.floating)
    return _negative(typing, operand, operand.type, span)


def _negative(typing: Typing, operand: Draft, type: Type, span: Span) -> Value:
    computes = arithmetic_type(type)
    return Unary("-", typing.into(operand, computes, f"`-` computes in {computes}"), computes, span)


def _bare(typing: Typing, op: Arithmetic, left: Bare, right: Bare, span: Span) -> Bare:
    if left.number is not None and right.number is not None:
        try:
            result = typing.number(number_operation(op, left.number, right.number), span)
        except Fault as fault:
            typing.errors.refuse(fault.slug, span, fault.message, "evaluated here")
        return _quotient(typing, result, span) if op == "/" else result
    floating = left.floating or right.floating or op == "/"
    if op == "**":
        return Bare(lambda type: _power_at(typing, left, right, type, span), span, floating)
    return Bare(lambda type: _compute(typing, op, left, right, type, span), span, floating)


def _quotient(typing: Typing, result: Bare, span: Span) -> Bare:
    """``1 / 2`` is a number where a float is needed, and no integer."""

    def at(type: Type) -> Value:
        if not type.is_float:
            _refuse_division(typing, type, span)
        return result.at(type)

    return replace(result, at=at)


def _refuse_division(typing: Typing, type: Type, span: Span) -> NoReturn:
    typing.errors.refuse(
        "integer-division", span, f"`/` divides floats, and {type} is needed here", f"in {type}",
        help="write `//`, which floors, or cast both sides: `f32(a) / f32(b)`",
    )


def _compute(typing: Typing, op: Arithmetic, left: Draft, right: Draft, type: Type, span: Span) -> Value:
    computes = arithmetic_type(type)
    if op == "/" and not computes.is_float:
        _refuse_division(typing, type, span)
    said = f"`{op}` computes in {computes}"
    one, two = typing.into(left, computes, said), typing.into(right, computes, said)
    return Binary(op, one, two, computes, span)


def _power(typing: Typing, left: Draft, right: Draft, span: Span) -> Draft:
    """The exponent of an integer has its own type; else both have one."""
    if isinstance(left, Bare):
        assert not isinstance(right, Bare)
        return _power_at(typing, left, right, right.type, span)
    if left.type.is_float:
        type = typing.common((left, right))
        assert type is not None
        return _compute(typing, "**", left, right, type, span)
    return _power_at(typing, left, right, left.type, span)


def _power_at(typing: Typing, left: Draft, right: Draft, type: Type, span: Span) -> Value:
    computes = arithmetic_type(type)
    if computes.is_float:
        return _compute(typing, "**", left, right, type, span)
    base = typing.into(left, computes, f"`**` computes in {computes}")
    return Binary("**", base, _exponent(typing, right, computes), computes, span)


def _exponent(typing: Typing, exponent: Draft, type: Type) -> Value:
    """A value that is not negative: a constant, an extent, an unsigned value; else it is refused."""
    if isinstance(exponent, Bare):
        if exponent.number is not None and exponent.number < 0:
            typing.errors.refuse(
                "negative-exponent", exponent.span, "an integer to a negative power is no integer", "negative",
                help="cast the base: `f32(…)`",
            )
        if exponent.number is not None:
            return exponent.at(type)
        value = exponent.at(I64)
        if isinstance(value, Extent):
            return exponent.at(U64)
        not_negative = Compare(">=", value, Const(0, I64, value.span), value.span)
        typing.check(not_negative, f"the exponent {typing.errors.text(value.span)} must not be negative", value.span)
        return Cast(value, U64, value.span)
    if exponent.type.kind == "uint":
        return exponent if exponent.type == U64 else Cast(exponent, U64, exponent.span)
    written = typing.errors.text(exponent.span)
    typing.errors.refuse(
        "type" if exponent.type.is_float else "negative-exponent", exponent.span,
        f"the exponent of an integer is unsigned, not {exponent.type}", f"this is {exponent.type}",
        help=f"write `u64({written})`, or cast the base to a float",
    )


def _comparison(typing: Typing, op: Comparison, left: Draft, right: Draft, span: Span) -> Draft:
    type = typing.common((left, right))
    if type is None:
        assert isinstance(left, Bare)
        assert isinstance(right, Bare)
        if left.number is not None and right.number is not None:
            return Const(compare(op, left.number, right.number), BOOL, span)
        type = F64 if left.floating or right.floating else I64
    computes = arithmetic_type(type)
    said = f"`{op}` compares in {computes}"
    one, two = typing.into(left, computes, said), typing.into(right, computes, said)
    return Compare(op, one, two, span)
