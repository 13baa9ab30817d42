"""The tensors of a kernel: their types and extents, and what binds the names of extents."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from layoutc.diagnostics import Label, did_you_mean
from layoutc.parse import syntax
from layoutc.resolve.affine import affine
from layoutc.resolve.errors import Errors, Refused, axes, each
from layoutc.resolve.expressions import Expressions, Scope
from layoutc.resolve.functions import known_elsewhere
from layoutc.resolve.names import names_in
from layoutc.resolve.program import Const, Value
from layoutc.resolve.types import I64, TYPES, Type
from layoutc.source import Span

AxisRange = tuple[Value, Value]         # half-open
EXTENT_SCOPE = Scope(reads="none", only="an extent")


@dataclass(slots=True)
class Holder:
    """What can stand before brackets in a kernel: an input, an output or a let."""

    name: syntax.Name
    kind: Literal["input", "output", "let"]
    rank: int
    type: Type | None = None                        # None: not known, or refused
    axes: tuple[AxisRange | None, ...] = ()         # None: everywhere
    strides: tuple[Value, ...] | None = None


def bound_extents(kernel: syntax.Kernel, constants: Mapping[str, object]) -> dict[str, Span]:
    """The names that stand alone as an extent of an input, in order of first mention in any extent of an input."""
    alone = {e.id for t in kernel.inputs for e in t.extents if isinstance(e, syntax.Name)}
    mentioned: dict[str, Span] = {}
    for tensor in kernel.inputs:
        for extent in tensor.extents:
            for name in names_in(extent):
                if name.id in alone and name.id not in constants:
                    mentioned.setdefault(name.id, name.span)
    return mentioned


def declare(tensor: syntax.TensorDeclaration, kind: Literal["input", "output"], x: Expressions) -> Holder:
    """A tensor as declared; refuses a type that does not exist and extents that nothing binds."""
    holder = Holder(tensor.name, kind, len(tensor.extents))
    with suppress(Refused):
        holder.type = element_type(x.errors, tensor.type)
    with suppress(Refused):
        highs = each(tensor.extents, lambda e: _extent(x, kind, e))
        holder.axes = tuple((Const(0, I64, high.span), high) for high in highs)
    if tensor.strides is not None:
        with suppress(Refused):
            holder.strides = _strides(x, tensor, tensor.strides)
    return holder


def element_type(errors: Errors, name: syntax.Name) -> Type:
    """The element type of that name."""
    if name.id not in TYPES:
        errors.refuse(
            "unknown-type", name.span, f"there is no element type `{name.id}`", "unknown",
            help=known_elsewhere(name.id, list(TYPES)), notes=[f"the types are {' '.join(TYPES)}"],
        )
    return TYPES[name.id]


def _extent(x: Expressions, kind: str, e: syntax.Expression) -> Value:
    loose = [n for n in names_in(e) if not _known(x, n.id)]
    for name in loose:
        known = [*x.kernel.extents, *x.statics.constants]
        x.errors.report(
            "unbound-extent", name.span, f"no input binds the extent `{name.id}`",
            "only mentioned here" if kind == "output" else "does not stand alone",
            help=did_you_mean(name.id, known)
            or f"let it stand alone as an extent of an input: `t: f32[{name.id}]`, or declare `const {name.id} = …`",
        )
    if loose:
        raise Refused
    value = x.value(e, EXTENT_SCOPE, I64, "an extent is an integer")
    form = affine(value)
    if form is not None and form.is_constant and form.constant < 0:
        x.errors.refuse("negative-extent", e.span, f"this extent is {form.constant}", "below 0")
    return value


def _known(x: Expressions, name: str) -> bool:
    return name in x.kernel.extents or name in x.statics.constants or name in x.statics.layouts


def _strides(x: Expressions, tensor: syntax.TensorDeclaration, written: syntax.Expression) -> tuple[Value, ...]:
    items = written.items if isinstance(written, syntax.Tuple) else (written,)
    if len(items) != len(tensor.extents):
        x.errors.refuse(
            "bad-strides", written.span, f"`{tensor.name.id}` has {axes(len(tensor.extents))}", f"{len(items)} given",
            help="give one stride an axis, in elements",
        )
    scope = Scope(reads="none", only="a stride")
    return tuple(each(items, lambda e: x.value(e, scope, I64, "a stride is an integer")))


def same_value(left: Value, right: Value) -> bool:
    """Whether two values over extents are written alike or have one linear form."""
    if left == right:
        return True
    form = affine(left)
    return form is not None and form == affine(right)


def same_range(left: AxisRange, right: AxisRange) -> bool:
    """Whether two ranges are the same for all extents, as far as linear forms tell."""
    return same_value(left[0], right[0]) and same_value(left[1], right[1])


def first_declared(name: syntax.Name, first: Span) -> Label:
    """The earlier of two."""
    return Label(first, f"`{name.id}` is declared here")
