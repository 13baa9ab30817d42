"""``step u = v``: which output is the next of which input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from layoutc.diagnostics import Label, did_you_mean
from layoutc.parse import syntax
from layoutc.resolve.affine import affine
from layoutc.resolve.errors import Refused, axes
from layoutc.resolve.expressions import Expressions
from layoutc.resolve.program import Compare
from layoutc.resolve.tensors import Holder, same_value
from layoutc.source import Span


def steps_of(
    x: Expressions, holders: Mapping[str, Holder], clauses: Sequence[syntax.Step]
) -> tuple[tuple[str, str], ...]:
    """(input, output) of every step, as written; what does not go together is reported.

    Shapes that are not known to agree must do so at the call.
    """
    found: dict[str, syntax.Step] = {}
    for clause in clauses:
        with suppress(Refused):
            before = _holder(x, holders, clause.input, "input")
            after = _holder(x, holders, clause.output, "output")
            for name in (clause.input, clause.output):
                if name.id in found:
                    x.errors.refuse("duplicate-step", name.span, f"`{name.id}` is stepped twice", "again",
                                    others=[Label(found[name.id].span, "the first")])
            found |= {clause.input.id: clause, clause.output.id: clause}
            _check_alike(x, clause.span, before, after)
    return tuple((c.input.id, c.output.id) for c in dict.fromkeys(found.values()))


def _holder(x: Expressions, holders: Mapping[str, Holder], name: syntax.Name, kind: str) -> Holder:
    holder = holders.get(name.id)
    if holder is not None and holder.kind == kind:
        return holder
    known = [n for n, h in holders.items() if h.kind == kind]
    article = {"input": "an input", "output": "an output", "let": "a let"}
    what = article[holder.kind] if holder is not None else "not declared"
    x.errors.refuse(
        "bad-step", name.span, f"`{name.id}` is {what}, where `step` needs {article[kind]}", f"no {kind}",
        help=did_you_mean(name.id, known) or "write `step input = output`: the output is the next input",
    )


def _check_alike(x: Expressions, span: Span, before: Holder, after: Holder) -> None:
    """Refuses an output that cannot stand where the input does."""
    one, other = before.name.id, after.name.id
    others = [Label(before.name.span, "the input"), Label(after.name.span, "the output")]
    if before.type is None or after.type is None or None in (*before.axes, *after.axes):
        raise Refused
    if before.type != after.type:
        x.errors.refuse("bad-step", span, f"`{one}` holds {before.type}, and `{other}` holds {after.type}",
                        "not of one type", others=others)
    if before.rank != after.rank:
        x.errors.refuse("bad-step", span, f"`{one}` has {axes(before.rank)}, and `{other}` has {after.rank}",
                        "not of one shape", others=others)
    for axis, ends in enumerate(zip(before.axes, after.axes, strict=False)):
        (_, n), (_, m) = (end for end in ends if end is not None)
        if same_value(n, m):
            continue
        message = f"axis {axis} of {one} and of {other} must have one extent, since one steps to the other"
        forms = affine(n), affine(m)
        if forms[0] is not None and forms[1] is not None and (forms[0] - forms[1]).is_constant:
            x.errors.refuse("bad-step", span, message, "not of one shape", others=others)
        x.typing.check(Compare("==", n, m, span), message, span)
    if before.strides is not None and before.strides != after.strides:
        x.errors.refuse(
            "bad-step", span, f"`{one}` insists on strides that `{other}` does not have", "not in one place",
            others=others, help=f"give `{other}` the same strides, or let `{one}` have any",
        )
