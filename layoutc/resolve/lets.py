"""Lets: their domains, and an order in which each reads only earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from layoutc.diagnostics import Label
from layoutc.parse import syntax
from layoutc.resolve.binders import Ranges, range_of
from layoutc.resolve.errors import Errors, Refused, each
from layoutc.resolve.expressions import Expressions
from layoutc.resolve.tensors import AxisRange, Holder


def written_ranges(x: Expressions, ranges: Ranges, let: syntax.Let) -> tuple[AxisRange | None, ...]:
    """The ranges that a let's brackets give, None for an index without one."""
    around = {b.name.id: b.name.span for b in let.binders}

    def one(binder: syntax.Binder) -> AxisRange | None:
        if binder.range is None:
            return None
        range = range_of(x, binder.range, around)
        ranges.bind(binder.name, range)
        return range

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
    needs = {name: sorted({n for n in _read_names(let.value) if n in by_name}) for name, let in by_name.items()}
    done: dict[str, syntax.Let] = {}
    bad: set[str] = set()
    for start in by_name:
        path: list[tuple[str, Iterator[str]]] = [(start, iter(needs[start]))] if start not in done else []
        while path:
            name, rest = path[-1]
            need = next((n for n in rest if n not in done), None)
            if need is None:
                done[name] = by_name[name]
                path.pop()
            elif need in (open_names := [n for n, _ in path]):
                circle = open_names[open_names.index(need) :]
                if not bad & set(circle):
                    _report_cycle(errors, [by_name[n] for n in circle])
                bad |= set(circle)
            else:
                path.append((need, iter(needs[need])))
    return [let for name, let in done.items() if name not in bad]


def _report_cycle(errors: Errors, circle: list[syntax.Let]) -> None:
    first = circle[0]
    errors.report(
        "cycle", first.name.span, f"the let `{first.name.id}` needs itself", "needs itself",
        others=[Label(let.name.span, "which needs the next") for let in circle[1:]],
        notes=[" → ".join(let.name.id for let in [*circle, first])],
    )


def _read_names(e: syntax.Expression) -> Iterator[str]:
    """The names before brackets, anywhere in an expression."""
    match e:
        case syntax.Subscript(base, indices):
            if isinstance(base, syntax.Name):
                yield base.id
            for index in indices:
                yield from _read_names(index)
        case syntax.Unary(_, operand):
            yield from _read_names(operand)
        case syntax.Binary(_, left, right):
            yield from _read_names(left)
            yield from _read_names(right)
        case syntax.Call(_, arguments):
            for argument in arguments:
                yield from _read_names(argument)
        case syntax.Reduction(_, _, body):
            yield from _read_names(body)
