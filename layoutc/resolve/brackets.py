"""The index names that an equation or a let binds between its brackets."""

from __future__ import annotations

from collections.abc import Iterable

from layoutc.diagnostics import Label
from layoutc.parse import syntax
from layoutc.resolve.errors import Errors
from layoutc.resolve.expressions import Expressions
from layoutc.source import Span


def plain_name(x: Expressions, index: syntax.Expression) -> syntax.Name | None:
    """The index that is written there; None where it is no plain name, which is reported."""
    if isinstance(index, syntax.Name):
        check_free(x, index)
        return index
    x.errors.report(
        "bad-bracket", index.span, "the brackets of an equation hold plain index names", "no name",
        help="move the arithmetic to the reads on the right: `y[i] = x[i - 1]`, not `y[i + 1] = x[i]`",
    )
    return None


def check_free(x: Expressions, name: syntax.Name) -> None:
    """Reports an index whose name means an extent or a constant already."""
    extent, constant = x.kernel.extents.get(name.id), x.statics.constants.get(name.id)
    first = extent or (constant.name.span if constant else None)
    if first is not None:
        what = "an extent" if extent else "a constant"
        x.errors.report(
            "name-in-scope", name.span, f"`{name.id}` is {what} already", "bound again",
            others=[Label(first, what)], help="choose another name for the index",
        )


def distinct(errors: Errors, names: Iterable[syntax.Name]) -> bool:
    """Whether no name stands twice; reports those that do."""
    seen: dict[str, Span] = {}
    twice = False
    for name in names:
        if name.id in seen:
            twice = True
            errors.report(
                "bad-bracket", name.span, f"the index `{name.id}` stands twice in these brackets", "again",
                others=[Label(seen[name.id], "first here")],
            )
        seen.setdefault(name.id, name.span)
    return not twice
