"""The ranges of indices: one a name in a kernel, written or told by where the index stands alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from layoutc.diagnostics import Label
from layoutc.parse import syntax
from layoutc.resolve.errors import Errors, Refused, each
from layoutc.resolve.expressions import Expressions, Scope
from layoutc.resolve.program import Binary, Binder, Compare, Const, Value
from layoutc.resolve.reductions import Alone, stands_alone
from layoutc.resolve.tensors import AxisRange, Holder, same_range, same_value
from layoutc.resolve.types import I64
from layoutc.source import Span


@dataclass(slots=True)
class Ranges:
    """The range of every index name of a kernel, and where it was given."""

    errors: Errors
    known: dict[str, tuple[AxisRange, Span]] = field(default_factory=dict)

    def bind(self, name: syntax.Name, range: AxisRange) -> None:
        """Gives an index its range; refuses a second, different one."""
        if name.id not in self.known:
            self.known[name.id] = range, name.span
            return
        first, where = self.known[name.id]
        if not same_range(first, range):
            self.errors.refuse(
                "two-ranges", name.span, f"the index `{name.id}` has two ranges in this kernel",
                f"from {show(range[0])} to {show(range[1])} here",
                others=[Label(where, f"from {show(first[0])} to {show(first[1])} here")],
                help="choose another name for one of them",
            )


def show(value: Value) -> str:
    """A value over extents as one would write it."""
    match value:
        case Const(number):
            return str(number)
        case Binary(op, left, right):
            return f"{_grouped(left)} {op} {_grouped(right)}"
    return getattr(value, "name", "…")


def _grouped(value: Value) -> str:
    return f"({show(value)})" if isinstance(value, Binary) else show(value)


def range_of(x: Expressions, written: syntax.Range, around: Mapping[str, Span]) -> AxisRange:
    """A written range, half-open; ``around`` are the indices that it cannot use."""
    scope = Scope(reads="none", only="a range", outside=around)
    low, high = each(
        (written.low, written.high), lambda e: x.value(e, scope, I64, "the end of a range is an integer")
    )
    return low, _after(high) if written.inclusive else high


def _after(value: Value) -> Value:
    match value:
        case Const(int(number)):
            return Const(number + 1, I64, value.span)
        case Binary("-", left, Const(1)):
            return left
    return Binary("+", value, Const(1, I64, value.span), I64, value.span)


def reduction_binders(
    x: Expressions, ranges: Ranges, holders: Mapping[str, Holder], reduction: syntax.Reduction, scope: Scope
) -> tuple[Binder, ...]:
    """The binders of a reduction; refuses names in scope and ranges that cannot be told."""
    if not reduction.binders:
        x.errors.refuse(
            "argument-count", reduction.span, f"`{reduction.op.id}` names the indices that it runs over", "none given",
            help=f"`{reduction.op.id}(i) x[i]`",
        )
    seen = dict(scope.indices)
    for binder in reduction.binders:
        _check_unbound(x, binder.name, seen)
        seen[binder.name.id] = binder.name.span

    def bound(binder: syntax.Binder) -> Binder:
        range = range_of(x, binder.range, seen) if binder.range else _told(x, holders, reduction, binder.name)
        if reduction.op.id in ("min", "max", "argmin", "argmax", "median"):
            _refuse_nothing(x, reduction, binder, range)
        ranges.bind(binder.name, range)
        return Binder(binder.name.id, *range)

    return tuple(each(reduction.binders, bound))


def _check_unbound(x: Expressions, name: syntax.Name, seen: Mapping[str, Span]) -> None:
    constant = x.statics.constants.get(name.id)
    first = seen.get(name.id) or x.kernel.extents.get(name.id) or (constant.name.span if constant else None)
    if first is not None:
        x.errors.refuse(
            "name-in-scope", name.span, f"`{name.id}` is in scope already", "bound again",
            others=[Label(first, f"`{name.id}` is bound here")], help="choose another name for the index",
        )


def _refuse_nothing(x: Expressions, reduction: syntax.Reduction, binder: syntax.Binder, range: AxisRange) -> None:
    match range:
        case (Const(low), Const(high)) if high <= low:
            x.errors.refuse(
                "empty-reduction", (binder.range or binder.name).span,
                f"`{reduction.op.id}` of nothing has no value", f"from {low} up to {high} lies nothing",
            )


def _told(x: Expressions, holders: Mapping[str, Holder], reduction: syntax.Reduction, name: syntax.Name) -> AxisRange:
    """The range of the axes on which an index stands alone; they must agree."""
    places = [(p, r) for p in stands_alone(name.id, reduction.body) for r in [_axis(holders, p)] if r is not None]
    if not places:
        x.errors.refuse(
            "no-range", name.span, f"the range of `{name.id}` cannot be told", "no range",
            notes=["such an index takes the extent of the axis on which it stands alone, and it stands alone on none"],
            help=f"write it: `{name.id} in 0..n`",
        )
    (first, range), *others = places
    for place, other in others:
        _agree(x, name, (first, range), (place, other))
    return range


def _axis(holders: Mapping[str, Holder], place: Alone) -> AxisRange | None:
    holder = holders.get(place.tensor.id)
    if holder is None or holder.kind == "output" or place.axis >= len(holder.axes):
        return None
    return holder.axes[place.axis]


def _agree(
    x: Expressions, name: syntax.Name, first: tuple[Alone, AxisRange], second: tuple[Alone, AxisRange]
) -> None:
    for (one, two), end in zip(zip(first[1], second[1], strict=True), ("begin", "end"), strict=True):
        if same_value(one, two):
            continue
        axes = f"axis {first[0].axis} of {first[0].tensor.id} and axis {second[0].axis} of {second[0].tensor.id}"
        if isinstance(one, Const) and isinstance(two, Const):
            x.errors.report(
                "two-ranges", second[0].span,
                f"`{name.id}` runs over {axes}, which {end} at {one.value} and {two.value}",
                f"{end}s at {two.value}", others=[Label(first[0].span, f"{end}s at {one.value}")],
                help=f"write the range: `{name.id} in 0..n`",
            )
            raise Refused
        message = f"`{name.id}` runs over {axes}, which must {end} alike ({show(one)} and {show(two)})"
        x.typing.check(Compare("==", one, two, name.span), message, name.span)
