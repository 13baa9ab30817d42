"""From written expressions to values: names bound, types decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NoReturn, Protocol

from layoutc.diagnostics import did_you_mean
from layoutc.parse import syntax
from layoutc.resolve import functions, operators, reductions
from layoutc.resolve.constants import Statics
from layoutc.resolve.drafts import Bare, Draft, Typing
from layoutc.resolve.errors import Errors, Refused, axes, each, expected
from layoutc.resolve.program import Binder, Cast, Const, Index, Read, Value
from layoutc.resolve.types import BOOL, I64, U64, Type
from layoutc.resolve.words import REDUCTIONS, certainly
from layoutc.source import Span


@dataclass(frozen=True, slots=True)
class Scope:
    """What a name can mean in one place, besides constants and extents."""

    indices: Mapping[str, Span] = field(default_factory=dict)   # in scope, and where each was bound
    reads: Literal["all", "inputs", "none"] = "all"
    only: str = ""                                              # "a range": why indices are not in scope
    outside: Mapping[str, Span] = field(default_factory=dict)   # indices that this keeps out

    @property
    def knows(self) -> str:
        """What may stand here, where not everything may."""
        return "knows constants and extents only" if self.reads == "none" else "knows no index"

    def within(self, names: Iterable[syntax.Name]) -> Scope:
        """The scope of what these names are bound around."""
        return replace(self, indices={**self.indices, **{n.id: n.span for n in names}})


@dataclass(frozen=True, slots=True)
class Target:
    """What a subscript reads."""

    type: Type
    rank: int


class Surroundings(Protocol):
    """What the kernel around an expression knows."""

    @property
    def extents(self) -> Mapping[str, Span]:
        """The names of the extents, and where each was first mentioned."""

    def target(self, tensor: syntax.Name, scope: Scope) -> Target:
        """The tensor or let of a name that may be read there; refuses any other."""

    def tensor_names(self) -> list[str]:
        """Every name that can be subscripted."""

    def binders(self, reduction: syntax.Reduction, scope: Scope) -> tuple[Binder, ...]:
        """The indices of a reduction with their ranges."""


@dataclass(frozen=True, slots=True)
class Expressions:
    """Turns the expressions of one kernel into values."""

    errors: Errors
    statics: Statics
    typing: Typing
    kernel: Surroundings

    def value(self, e: syntax.Expression, scope: Scope, type: Type, destination: str) -> Value:
        """The value in the type of its destination."""
        return self.typing.into(self.draft(e, scope), type, destination)

    def natural(self, e: syntax.Expression, scope: Scope) -> Value:
        """The value in its own type."""
        return self.typing.natural(self.draft(e, scope))

    def condition(self, e: syntax.Expression, scope: Scope, what: str) -> Value:
        """A truth value."""
        return self.typing.boolean(self.draft(e, scope), what)

    def draft(self, e: syntax.Expression, scope: Scope) -> Draft:
        """The value, or what becomes one when its type is known."""
        match e:
            case syntax.Number(bool(value)):
                return Const(value, BOOL, e.span)
            case syntax.Number(value):
                return self.typing.number(value, e.span)
            case syntax.Name():
                return self._name(e, scope)
            case syntax.Unary(op, operand):
                return operators.unary(self.typing, op, self.draft(operand, scope), e.span)
            case syntax.Binary(op, left, right):
                one, two = each((left, right), lambda side: self.draft(side, scope))
                return operators.binary(self.typing, op, one, two, e.span)
            case syntax.Call():
                return self._call(e, scope)
            case syntax.Subscript(base, indices):
                return self._read(e, base, indices, scope)
            case syntax.Reduction(op, binders, body):
                if scope.only:
                    self._forbid(e.span, f"the reduction `{op.id}(…)`", scope)
                bound = self.kernel.binders(e, scope)
                inner = self.draft(body, scope.within(b.name for b in binders))
                return reductions.reduce(self.typing, certainly(REDUCTIONS, op.id), bound, inner, e.span)
            case syntax.Tuple() | syntax.LayoutPair():
                self.errors.refuse(
                    "type", e.span, "a number is needed here, not a tuple or a layout",
                    "this is no number",
                )

    def _forbid(self, span: Span, what: str, scope: Scope) -> NoReturn:
        self.errors.refuse(
            "not-a-constant", span, f"{what} stands in {scope.only}, which {scope.knows}",
            "not known there",
        )

    def _name(self, name: syntax.Name, scope: Scope) -> Draft:
        if name.id in scope.indices:
            return Index(name.id, name.span)
        if name.id in self.kernel.extents:
            return self.typing.extent(name.id, name.span)
        if name.id in self.statics.constants:
            return self.typing.number(self.statics.constant(name.id), name.span)
        if name.id in self.kernel.tensor_names():
            self.errors.refuse(
                "misused-name", name.span, f"`{name.id}` is a tensor, and an element of it is needed", "a tensor",
                help=f"write its subscripts: `{name.id}[…]`, or `{name.id}[]` of a scalar",
            )
        if name.id in self.statics.layouts:
            self.errors.refuse(
                "misused-name", name.span, f"`{name.id}` is a layout, and a number is needed", "a layout",
                help=f"`size({name.id})` and `cosize({name.id})` are numbers",
            )
        if name.id in scope.outside:
            self._forbid(name.span, f"the index `{name.id}`", scope)
        known = [*scope.indices, *self.kernel.extents, *self.statics.constants]
        where = f"in {scope.only}, which {scope.knows}" if scope.only else "here"
        self.errors.refuse(
            "unknown-name", name.span, f"there is no index, extent or constant `{name.id}` {where}",
            "not known here", help=did_you_mean(name.id, known),
        )

    def _call(self, e: syntax.Call, scope: Scope) -> Draft:
        name = e.function.id
        if name in functions.STATIC_FUNCTIONS:
            return self.typing.number(self.statics.integer(e), e.span)
        known = name in functions.FUNCTIONS
        if not known:
            self._report_function(e.function)
        arguments = each(e.arguments, lambda a: self.draft(a, scope))
        if not known:
            raise Refused
        return functions.call(self.typing, e.function, arguments, e.span)

    def _report_function(self, name: syntax.Name) -> None:
        if name.id in self.kernel.tensor_names():
            help = f"an element is read with brackets: `{name.id}[…]`"
        elif name.id in self.statics.layouts:
            help = "a name before `(` is a function of the language, never a layout"
        else:
            help = functions.known_elsewhere(name.id, [*functions.FUNCTIONS, *functions.REDUCTIONS])
        self.errors.report("unknown-function", name.span, f"there is no function `{name.id}`", "unknown", help=help)

    def _read(
        self, e: syntax.Subscript, base: syntax.Expression, indices: tuple[syntax.Expression, ...], scope: Scope
    ) -> Draft:
        if not isinstance(base, syntax.Name):
            self.errors.refuse("misused-name", base.span, "only a tensor or a `let` has elements", "no tensor")
        if scope.reads == "none":
            self._forbid(e.span, f"a read of `{base.id}`", scope)
        target = self.kernel.target(base, scope)
        subscripts = each(indices, lambda i: self.subscript(i, scope))
        if len(indices) != target.rank:
            self.errors.refuse(
                "rank", e.span, f"`{base.id}` has {axes(target.rank)}",
                expected(len(indices), "subscript"),
                help=f"a scalar is read `{base.id}[]`" if target.rank == 0 else "",
            )
        return Read(base.id, tuple(subscripts), target.type, e.span)

    def subscript(self, e: syntax.Expression, scope: Scope) -> Value:
        """An integer expression, as i64."""
        draft = self.draft(e, scope)
        if isinstance(draft, Bare):
            return self.typing.into(draft, I64, "a subscript is an integer")
        if draft.type.is_integer and draft.type != U64:
            return draft if draft.type == I64 else Cast(draft, I64, e.span)
        self.errors.refuse(
            "type", e.span, f"a subscript is an integer that i64 holds, not {draft.type}", f"this is {draft.type}",
            help=f"write `i64({self.errors.text(e.span)})`",
        )
