"""Lets: their domains, and an order in which each reads only earlier ones."""

from __future__ import annotations

from collections.abc import Sequence

from layoutc.diagnostics import Label
from layoutc.parse import syntax
from layoutc.resolve.binders import range_of
from layoutc.resolve.errors import Errors, Refused, each, report_circle
from layoutc.resolve.expressions import Expressions
from layoutc.resolve.names import subscripted_in
from layoutc.resolve.order import in_order
from layoutc.resolve.tensors import AxisRange, Holder


def written_ranges(x: Expressions, let: syntax.Let) -> tuple[AxisRange | None, ...]:
    """The ranges that a let's brackets give, None for an index without one; its indices are its own."""
    around = {b.name.id: b.name.span for b in let.binders}

    def one(binder: syntax.Binder) -> AxisRange | None:
        return range_of(x, binder.range, around) if binder.range is not None else None

    return tuple(each(let.binders, one))


def domain_of(
    errors: Errors,
    let: syntax.Let,
    written: tuple[AxisRange | None, ...],
    outputs: Sequence[tuple[syntax.Equation, Holder]],
    edge: syntax.Edge,
) -> tuple[AxisRange, ...]:
    """Where a let with an edge rule lives: as written, else where the output with the same indices lives."""
    given = tuple(axis for axis in written if axis is not None)
    if len(given) == len(written):
        return given
    names = tuple(b.name.id for b in let.binders)
    if not given:
        for equation, holder in outputs:
            if tuple(getattr(i, "id", None) for i in equation.indices) == names:
                known = tuple(axis for axis in holder.axes if axis is not None)
                if len(known) != len(names):
                    raise Refused
                return known
    loose = next(b.name for b, axis in zip(let.binders, written, strict=True) if axis is None)
    ranges = ", ".join(f"{name} in 0..n" for name in names)
    errors.refuse(
        "no-domain", loose.span, f"`{let.name.id}` has an edge rule, but no domain to leave", "no range",
        others=[Label(edge.span, "its edge rule")],
        notes=[] if given else [f"no output has the indices [{', '.join(names)}]"],
        help=f"write the domain: `let {let.name.id}[{ranges}] = …`",
    )


def lets_in_order(errors: Errors, lets: Sequence[syntax.Let]) -> list[syntax.Let]:
    """The lets, each after those that it reads; those that need themselves are reported and left out."""
    by_name = {let.name.id: let for let in lets}
    read = {name: sorted({n.id for n in subscripted_in(let.value)}) for name, let in by_name.items()}
    needs = {name: [n for n in names if n in by_name] for name, names in read.items()}
    order, circles = in_order(needs)
    for circle in circles:
        report_circle(errors, [by_name[name].name for name in circle])
    bad = {name for circle in circles for name in circle}
    return [by_name[name] for name in order if name not in bad]
