"""Values whose type may still depend on where they stand, and how they come to have one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from layoutc.diagnostics import Label
from layoutc.resolve.arithmetic import Number
from layoutc.resolve.errors import Errors
from layoutc.resolve.program import Cast, Check, Compare, Const, Extent, Value
from layoutc.resolve.types import BOOL, F16, F64, I64, Type, integer_range, meet, number_type, round_to
from layoutc.source import Span


@dataclass(frozen=True, slots=True)
class Bare:
    """An expression of numbers, constants and extents alone: the other operand or the destination decides its type.

    ``at`` gives the value for a type (in the type that computes for it), or refuses; ``floating`` says which
    type it has where nothing decides; ``number`` is its value where that is known already.
    """

    at: Callable[[Type], Value]
    span: Span
    floating: bool = False
    number: Number | None = None


Draft = Value | Bare


@dataclass(slots=True)
class Typing:
    """Gives drafts their types; gathers what must hold at the call for an extent to fit its type."""

    errors: Errors
    checks: list[Check] = field(default_factory=list)

    def number(self, value: Number, span: Span) -> Bare:
        """A bare number."""
        return Bare(lambda type: self._constant(value, type, span), span, isinstance(value, float), value)

    def extent(self, name: str, span: Span) -> Bare:
        """An extent used as a number."""
        return Bare(lambda type: self._extent(name, type, span), span)

    def natural(self, draft: Draft) -> Value:
        """The value where nothing else decides: integers are i64, floats f64."""
        if isinstance(draft, Bare):
            return draft.at(F64 if draft.floating else I64)
        return draft

    def into(self, draft: Draft, type: Type, destination: str) -> Value:
        """The value in a type that holds it; refuses what would be stored narrower, or in another kind.

        ``destination`` says for what, as in ``y holds u8``.
        """
        value = draft.at(type) if isinstance(draft, Bare) else draft
        if value.type == type:
            return value
        if type != BOOL and meet(value.type, type) == type:
            return Cast(value, type, value.span)
        self._refuse_destination(value, type, destination)

    def _refuse_destination(self, value: Value, type: Type, destination: str) -> NoReturn:
        written = self._short(value.span)
        number = number_type(value.type)
        narrower = type != BOOL and (number.is_float == type.is_float)
        if type == BOOL:
            help = f"compare it: `{written} != 0`"
        else:
            loses = (", which rounds" if type.is_float else ", which wraps") if narrower else ""
            help = f"write `{type}({written})`{loses}"
        self.errors.refuse(
            "narrowing" if narrower else "type", value.span, f"a value of {value.type} where {destination}",
            f"this is {value.type}", help=help,
        )

    def boolean(self, draft: Draft, needed_by: str) -> Value:
        """A truth value."""
        if not isinstance(draft, Bare) and draft.type == BOOL:
            return draft
        what = "a number" if isinstance(draft, Bare) else str(draft.type)
        written = self._short(draft.span)
        reduction = needed_by[1:-1] in ("any", "all", "count")
        self.errors.refuse(
            "type", draft.span, f"{needed_by} needs a truth value, not {what}", f"this is {what}",
            help=f"its body ends before a comparison; write `({written} != 0)`" if reduction
            else f"compare it: `{written} != 0`",
        )

    def common(self, drafts: Sequence[Draft]) -> Type | None:
        """The type in which the typed ones meet; None where all are bare."""
        found: Value | None = None
        type: Type | None = None
        for value in (d for d in drafts if not isinstance(d, Bare)):
            met = value.type if type is None else meet(type, value.type)
            if met is None:
                assert found is not None
                self._refuse_meeting(found, value)
            if met != type:
                found = value
            type = met
        return type

    def _refuse_meeting(self, left: Value, right: Value) -> NoReturn:
        """Points at the one to cast: an integer that meets a float, else the narrower."""
        one, two = number_type(left.type), number_type(right.type)
        right_stays = two.is_float if one.is_float != two.is_float else two.bits >= one.bits
        stays, cast = (right, left) if right_stays else (left, right)
        self.errors.refuse(
            "type", cast.span, f"{left.type} and {right.type} meet in no type that holds both", f"this is {cast.type}",
            others=[Label(stays.span, f"this is {stays.type}")],
            help=f"write `{stays.type}({self._short(cast.span)})`",
        )

    def float_needed(self, what: str, value: Value) -> NoReturn:
        """Refuses an integer where only a float can stand."""
        self.errors.refuse(
            "type", value.span, f"{what} takes floats, not {value.type}", f"this is {value.type}",
            help=f"write `f32({self._short(value.span)})`",
        )

    def _short(self, span: Span) -> str:
        text = self.errors.text(span)
        if text.startswith("(") and text.endswith(")") and "(" not in text[1:] and ")" not in text[:-1]:
            text = text[1:-1]
        return text if len(text) <= 40 else "…"

    def _constant(self, value: Number, type: Type, span: Span) -> Value:
        if type.is_float:
            try:
                return Const(round_to(value, type), type, span)
            except OverflowError:
                self._refuse_fit(value, type, span)
        if isinstance(value, float):
            self.errors.refuse(
                "does-not-fit", span, f"{value} is no {type}", f"{type} is needed here",
                help="write an integer, or cast what it meets: `f32(…)`",
            )
        low, high = integer_range(type)
        if type == BOOL or not low <= value <= high:
            self._refuse_fit(value, type, span)
        return Const(value, type, span)

    def _refuse_fit(self, value: Number, type: Type, span: Span) -> NoReturn:
        if type == BOOL:
            self.errors.refuse(
                "does-not-fit", span, f"{value} is no truth value", "bool is needed here",
                help="write `true` or `false`, or a comparison",
            )
        limits = "" if type.is_float else "{} to {}".format(*integer_range(type))
        self.errors.refuse(
            "does-not-fit", span, f"{value} does not fit {type}", f"{type} is needed here",
            notes=[f"{type} holds {limits}"] if limits else [],
            help="cast what it meets to a wider type"
            + ("" if type.is_float else f", or write `{type}({value})`, which wraps"),
        )

    def _extent(self, name: str, type: Type, span: Span) -> Value:
        if type == BOOL:
            self.errors.refuse(
                "type", span, f"the extent `{name}` is no truth value", "bool is needed here",
                help=f"compare it: `{name} != 0`",
            )
        most = 65504 if type == F16 else integer_range(type)[1] if type.is_integer else None
        if most is not None and most < integer_range(I64)[1]:
            fits = Compare("<=", Extent(name, I64, span), Const(most, I64, span), span)
            self.check(fits, f"{name} must be at most {most} to be used as {type}", span)
        return Extent(name, type, span)

    def check(self, condition: Value, message: str, span: Span) -> None:
        """Something that must hold at the call, said once."""
        check = Check(condition, message, span)
        if check not in self.checks:
            self.checks.append(check)


def at_span(value: Value, span: Span) -> Value:
    """The same value, said to be written there."""
    return replace(value, span=span)
