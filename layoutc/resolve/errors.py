"""The catalogue of user errors, and the list in which one resolution gathers them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from layoutc.diagnostics import Diagnostic, Label, LayoutcError
from layoutc.parse.syntax import Name
from layoutc.source import Source, Span

SLUGS = {
    # names
    "duplicate-name": "two things of one name space have the same name",
    "unknown-name": "a name that nothing declares",
    "unknown-function": "a name before `(` that is no function of the language",
    "unknown-type": "a name that is no element type",
    "name-in-scope": "a binder takes a name that already means something there",
    "cycle": "a declaration that needs itself",
    "misused-name": "a name of one kind where another kind is needed",
    # constants and layouts
    "unknown-constant": "a constant given from outside that the file does not declare",
    "bad-override": "a constant given from outside that is no 64-bit integer",
    "overflow": "an integer that leaves its range",
    "division-by-zero": "a constant divided by zero",
    "negative-exponent": "an integer to a negative power",
    "not-a-constant": "something that is not known when the file is compiled",
    "not-an-integer": "something else where an integer is needed",
    "not-a-layout": "something else where a layout is needed",
    "layout-argument": "an argument that a function of layouts does not take",
    "layout-complement": "a complement that does not exist",
    "layout-composition": "a composition that is no layout",
    "layout-divide": "a division that leaves a rest",
    "layout-inverse": "an inverse that does not exist",
    "layout-mma": "a shape or a type that no mma.sync has",
    "layout-mode": "a mode that a layout does not have",
    "layout-overflow": "a layout whose numbers leave 64 bits",
    "layout-shape": "a shape and a stride that make no layout",
    "layout-swizzle": "a swizzle that does not exist",
    "layout-tiler": "a tuple that tiles no layout",
    "layout-too-large": "a question about a layout that is too large to decide",
    "argument-count": "a function with too many or too few arguments",
    "assertion": "an assert that does not hold",
    # kernels
    "unbound-extent": "an extent's name that no input binds",
    "bad-strides": "a strides clause that does not fit its tensor",
    "missing-equation": "an output without an equation",
    "duplicate-equation": "an output with two equations",
    "bad-target": "an equation for something that is no output",
    "bad-bracket": "the brackets of an equation or a let do not hold distinct plain names",
    "rank": "a number of subscripts or indices that is not the tensor's",
    "two-ranges": "an index name with two ranges in one kernel",
    "no-range": "a reduction index whose range cannot be told",
    "no-domain": "a let with an edge rule whose domain cannot be told",
    "lets-too-deep": "a let that nests too deep with those that it reads",
    "empty-reduction": "a minimum, a maximum or a median of nothing",
    "require": "a requirement that never holds",
    "negative-extent": "an extent that is always negative",
    "bad-step": "a step between an input and an output that cannot stand for each other",
    "duplicate-step": "an input or an output that is stepped twice",
    # types
    "type": "operands or a destination whose types do not go together",
    "integer-division": "`/` on integers",
    "does-not-fit": "a number that its type does not hold",
    "narrowing": "a value stored in a type that does not hold it",
    # edges and bounds
    "unknown-rule": "a name that is no edge rule",
    "rule-value": "an edge rule with a value that it does not take, or without one that it needs",
    "edge-target": "an edge rule for something that has no such edge",
    "duplicate-edge": "an edge rule given twice",
    "out-of-bounds": "a read that leaves its tensor, or is not proved to stay inside",
    # schedules
    "duplicate-schedule": "two schedules of a kernel with one name",
    "duplicate-clause": "a clause of a schedule given twice",
    "bad-tile": "a tile that is too small or too large",
    "bad-threads": "a count or a layout of threads that cannot run",
    "bad-stage": "a staging that cannot be honoured",
    "bad-access": "a layout of a load or a store that cannot be honoured",
    "bad-march": "a march that does not go with the rest of its schedule",
    "bad-mma": "tensor cores in a schedule with clauses that they leave no room for",
    "bad-vector": "a vector length that no memory access has",
    "bad-budget": "a budget that cannot be read",
    "bad-fuse": "steps a launch that no kernel can make, or of a kernel without `step`",
    # redistributions
    "bad-side": "a side of a redistribution that no block of threads can hold",
    "different-tiles": "two sides of a redistribution that do not hold the same tile",
    "bad-via": "a way for values to travel that does not exist or cannot be right",
    "bad-warp": "a number of lanes that no warp has",
}

MOST_SHOWN = 8      # of a long list

T = TypeVar("T")
R = TypeVar("R")


class Refused(Exception):  # noqa: N818 - not an error by itself: what is wrong was reported before
    """What is wrong was reported; whatever depends on it is not looked at."""


@dataclass(slots=True)
class Errors:
    """The errors found so far in one file."""

    source: Source
    found: list[Diagnostic] = field(default_factory=list)
    known: set[Diagnostic] = field(default_factory=set)     # the same: a file may have thousands
    met: int = 0            # how often something wrong was met, known before or not

    def report(
        self,
        slug: str,
        span: Span | None,
        message: str,
        label: str = "",
        *,
        others: Iterable[Label] = (),
        notes: Iterable[str] = (),
        help: str = "",
    ) -> None:
        """Adds an error; one that is already there is not repeated. Without a span it lies outside the text."""
        source = None if span is None else self.source
        error = Diagnostic(slug, message, source, span, label, tuple(others), tuple(notes), help)
        self.met += 1
        if error not in self.known:
            self.known.add(error)
            self.found.append(error)

    def refuse(
        self,
        slug: str,
        span: Span | None,
        message: str,
        label: str = "",
        *,
        others: Iterable[Label] = (),
        notes: Iterable[str] = (),
        help: str = "",
    ) -> NoReturn:
        """Adds an error and gives up on what needed it."""
        self.report(slug, span, message, label, others=others, notes=notes, help=help)
        raise Refused

    def text(self, span: Span) -> str:
        """What stands there in the file, blanks run together."""
        return " ".join(self.source.text[span.start : span.end].split())

    def stop_if_any(self) -> None:
        """Raises what was found, sorted by place."""
        if self.found:
            outside = Span(-1, -1)
            raise LayoutcError(sorted(self.found, key=lambda d: (d.span or outside, d.slug, d.message)))


def each(items: Iterable[T], action: Callable[[T], R]) -> list[R]:
    """The results of all; all are tried, so that every error is found, before any refusal counts."""
    results: list[R] = []
    count = 0
    for item in items:
        count += 1
        with suppress(Refused):
            results.append(action(item))
    if len(results) < count:
        raise Refused
    return results


def report_circle(errors: Errors, circle: Sequence[Name]) -> None:
    """Reports declarations that need each other, each the next and the last the first."""
    first, *rest = circle
    more = ["…"] if len(rest) > MOST_SHOWN else []
    names = [first.id, *(name.id for name in rest[:MOST_SHOWN]), *more, first.id]
    errors.report(
        "cycle", first.span, f"`{first.id}` needs itself", "needs itself",
        others=[Label(name.span, "which needs the next") for name in rest[:MOST_SHOWN]],
        notes=[" → ".join(names)] if rest else [],
    )


def expected(count: int, noun: str) -> str:
    """``1 argument``, ``2 arguments``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def axes(count: int) -> str:
    """``1 axis``, ``2 axes``, ``no axis``."""
    return {0: "no axis", 1: "1 axis"}.get(count, f"{count} axes")
