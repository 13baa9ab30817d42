"""Edge rules: which rule a tensor follows on each side of each axis."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import NoReturn

from layoutc.diagnostics import Label, did_you_mean
from layoutc.parse import syntax
from layoutc.resolve.errors import Refused, axes, each
from layoutc.resolve.expressions import Expressions, Scope
from layoutc.resolve.program import EdgeRule, Sides
from layoutc.resolve.tensors import Holder
from layoutc.resolve.types import Type
from layoutc.resolve.words import RULES, one_of

_ELSEWHERE = {
    "edge": "nearest", "replicate": "nearest", "clamp": "nearest", "clip": "nearest", "symmetric": "reflect",
    "periodic": "wrap", "circular": "wrap", "zero": "constant(0)", "zeros": "constant(0)", "fill": "constant(0)",
}
"""What NumPy, torch and others call these rules."""


def sides_of(x: Expressions, holder: Holder, edges: Iterable[syntax.Edge]) -> tuple[Sides, ...]:
    """The rules of a tensor, an axis; a rule for one axis beats the general one."""
    rules: dict[int | None, Sides] = {}
    first: dict[int | None, syntax.Edge] = {}
    for edge in edges:
        with suppress(Refused):
            axis = _axis(x, holder, edge)
            if axis in first:
                _refuse_second(x, edge, axis, first[axis])
            first[axis] = edge
            written = (edge.low, edge.high) if edge.high is not None else (edge.low,)
            sides = each(written, lambda rule: _rule(x, holder, rule))
            rules[axis] = (sides[0], sides[-1])
    general = rules.get(None, (None, None))
    return tuple(rules.get(axis, general) for axis in range(holder.rank))


def _axis(x: Expressions, holder: Holder, edge: syntax.Edge) -> int | None:
    if holder.rank == 0:
        x.errors.refuse(
            "edge-target", edge.tensor.span, f"`{edge.tensor.id}` has no axis to go past", "a scalar has no edge"
        )
    if edge.axis is None:
        return None
    axis = x.statics.integer(edge.axis)
    if not 0 <= axis < holder.rank:
        x.errors.refuse(
            "edge-target", edge.axis.span, f"`{edge.tensor.id}` has no axis {axis}", "no such axis",
            help=f"it has {axes(holder.rank)}, counted from 0",
        )
    return axis


def _refuse_second(x: Expressions, edge: syntax.Edge, axis: int | None, first: syntax.Edge) -> NoReturn:
    where = "" if axis is None else f" on axis {axis}"
    x.errors.refuse(
        "duplicate-edge", edge.span, f"the edge of `{edge.tensor.id}`{where} is given twice", "again",
        others=[Label(first.span, "first given here")],
        help="" if axis is None else f"give both sides at once: `edge {edge.tensor.id}[{axis}] = (nearest, wrap)`",
    )


def _rule(x: Expressions, holder: Holder, rule: syntax.EdgeRule) -> EdgeRule:
    name = one_of(RULES, rule.name.id)
    if name is None:
        written = rule.name.id
        near = did_you_mean(written, [*RULES, *_ELSEWHERE])
        known = near.removeprefix("did you mean `").removesuffix("`?")
        other = _ELSEWHERE.get(written.lower()) or _ELSEWHERE.get(known)
        x.errors.refuse(
            "unknown-rule", rule.name.span, f"there is no edge rule `{written}`", "unknown",
            help=f"did you mean `{other}`?" if other else near,
            notes=["the rules are constant(value), nearest, reflect, mirror and wrap, as in scipy.ndimage"],
        )
    if name != "constant":
        if rule.value is not None:
            x.errors.refuse("rule-value", rule.value.span, f"`{name}` takes no value", "not taken")
        return EdgeRule(name)
    if rule.value is None:
        x.errors.refuse(
            "rule-value", rule.span, "`constant` needs the value that lies outside", "no value", help="`constant(0)`"
        )
    scope = Scope(reads="inputs", only="the value of an edge rule")
    type = holder.type
    if type is None:
        raise Refused
    return EdgeRule("constant", x.value(rule.value, scope, type, _holds(holder, type)))


def _holds(holder: Holder, type: Type) -> str:
    return f"`{holder.name.id}` holds {type}"
