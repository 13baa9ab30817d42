"""``layoutc layout``: what a layout expression means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from itertools import groupby

from layoutc.diagnostics import Diagnostic, Label, LayoutcError
from layoutc.layout import Layout
from layoutc.layout.composed import ComposedLayout
from layoutc.layout.describe import Description, describe
from layoutc.parse import syntax
from layoutc.parse.parser import parse
from layoutc.resolve.constants import Statics
from layoutc.resolve.errors import Errors, Refused
from layoutc.resolve.layouts import Item, show
from layoutc.source import Source, Span

_OPENING = "assert "        # what may stand after it is any expression of constants and layouts
_MOST_RUNS = 16             # of the image


def evaluate(text: str, constants: Mapping[str, int]) -> Item:
    """The value of an expression of the language: a layout, an integer, a truth value or a tuple.

    Raises LayoutcError, its places those of the text.
    """
    source = Source("EXPR", text)
    try:
        spec = parse(Source(source.name, _OPENING + text))
        return _value(spec, Source(source.name, _OPENING + text), constants)
    except LayoutcError as error:
        raise LayoutcError([_moved(d, source) for d in error.diagnostics]) from None


def _value(spec: syntax.Spec, source: Source, constants: Mapping[str, int]) -> Item:
    first, *rest = spec.declarations
    if rest or not isinstance(first, syntax.Assertion):
        span = rest[0].span if rest else first.span
        raise LayoutcError([Diagnostic("not-an-expression", "one expression is wanted, not a file", source, span)])
    errors = Errors(source)
    known = {name: syntax.Constant(syntax.Name(name), syntax.Number(value)) for name, value in constants.items()}
    statics = Statics(errors, constants, known)
    statics.evaluate_all()
    try:
        return statics.item(first.condition)
    except Refused:
        raise LayoutcError(errors.found) from None


def _moved(d: Diagnostic, source: Source) -> Diagnostic:
    """A diagnostic of the text that was parsed as one of the text that was given."""
    if d.span is None:
        return d
    others = tuple(Label(_before(label.span), label.text) for label in d.others)
    help = "" if _OPENING in d.help else d.help      # an example that is no expression
    return replace(d, source=source, span=_before(d.span), others=others, help=help)


def _before(span: Span) -> Span:
    return Span(max(span.start - len(_OPENING), 0), max(span.end - len(_OPENING), 0))


def as_json(value: Item) -> str:
    """A layout with all that is known of it, or ``{"value": …}`` of what is none."""
    if isinstance(value, Layout | ComposedLayout):
        return json.dumps(asdict(describe(value)))
    return json.dumps({"value": _plain(value)})


def as_text(value: Item) -> str:
    """The same for a person."""
    if not isinstance(value, Layout | ComposedLayout):
        return show(value)
    d = describe(value)
    lines = [(name, _word(getattr(d, name))) for name in ("layout", "size", "cosize")]
    lines += [("image", _image(d)), *((n, _word(getattr(d, n))) for n in ("injective", "bijective", "contiguous"))]
    text = "\n".join([f"{name:<11} {word}" for name, word in lines])
    return f"{text}\n\n{_table(d.table)}" if d.table else text


def _plain(value: Item) -> object:
    return [_plain(v) for v in value] if isinstance(value, tuple) else value if isinstance(value, int) else str(value)


def _word(value: object) -> str:
    match value:
        case None:
            return "too large to decide"
        case bool():
            return "yes" if value else "no"
    return str(value)


def _image(d: Description) -> str:
    """The image as runs: ``0..11, 24``."""
    if d.image is None:
        return "too large to list"
    runs = [[v for _, v in run] for _, run in groupby(enumerate(d.image), lambda p: p[1] - p[0])]
    words = [str(run[0]) if len(run) == 1 else f"{run[0]}..={run[-1]}" for run in runs[:_MOST_RUNS]]
    return ", ".join([*words, *(["…"] if len(runs) > _MOST_RUNS else [])])


def _table(table: tuple[tuple[int, ...], ...]) -> str:
    """Rows are mode 0, columns mode 1."""
    width = max(len(str(v)) for row in table for v in (*row, len(table), len(row)))
    left = len(str(len(table) - 1))
    head = f"{'':>{left}} | {' '.join([f'{j:>{width}}' for j in range(len(table[0]))])}"
    rows = [f"{i:>{left}} | {' '.join([f'{v:>{width}}' for v in row])}" for i, row in enumerate(table)]
    return "\n".join([head, f"{'-' * left}-+{'-' * (len(head) - left - 2)}", *rows])
