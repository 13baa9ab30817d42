"""How much a text may hold: its length and its nesting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import get_args

from lark import Token
from lark.parsers.lalr_interactive_parser import InteractiveParser

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.parse.builder import RefusedError, span_of
from layoutc.parse.syntax import (
    Binary,
    Binder,
    Call,
    Clause,
    Declaration,
    EdgeRule,
    LayoutPair,
    Range,
    Reduction,
    ScheduleClause,
    Subscript,
    TensorDeclaration,
    Tuple,
    Unary,
)
from layoutc.source import LONGEST_TEXT, Source, Span

DEEPEST = 200
"""Nesting of brackets, and of operators and calls in an expression; a chain of n operators is n deep."""

MOST_TOKENS = 2**15
"""Words, numbers and signs of a text; more would take over two seconds on a slow machine."""

_MOST_PENDING = 8 * DEEPEST     # what the parser may hold unfinished: chains of `-`, `not`, `**` nest without brackets


def check_length(source: Source) -> None:
    """Refuse a text of more than LONGEST_TEXT characters."""
    if len(source.text) > LONGEST_TEXT:
        raise LayoutcError([Diagnostic(
            "text-too-long", f"the text has {len(source.text)} characters; the limit is {LONGEST_TEXT}",
            source, Span(LONGEST_TEXT, LONGEST_TEXT + 1), label="the limit is here",
            help="split the file")])


def watched(parser: InteractiveParser, numbers: Iterator[int]) -> Iterator[Token]:
    """The parser's tokens, each about to be taken and counted by ``numbers``; refuses to nest too deep."""
    depth = 0
    for token in parser.iter_parse():
        if next(numbers) >= MOST_TOKENS:
            raise _too_long(span_of(token))
        if token.type in ("LPAR", "LSQB"):
            depth += 1
        elif token.type in ("RPAR", "RSQB"):
            depth -= 1
        if depth > DEEPEST or len(parser.parser_state.state_stack) > _MOST_PENDING:
            raise _too_deep(span_of(token))
        yield token


def check_depth(declaration: Declaration) -> None:
    """Refuse expressions deeper than DEEPEST, which could not be walked by recursion."""
    level = list(_compounds(declaration))
    for depth in range(DEEPEST + 3):        # past the limit, a binder and a range may be the last of a legal tree
        deep = next((node for node in level if not isinstance(node, Binder | Range)), None)
        if depth >= DEEPEST and deep:
            raise _too_deep(deep.span)
        if not level:
            return
        level = [child for node in level for child in _compounds(node)]


def _compounds(node: object) -> Iterator[_Compound]:
    """The compound expressions (binders and ranges too) right below a node, whatever stands between."""
    for child in node if isinstance(node, tuple) else [getattr(node, name) for name in _FIELDS.get(type(node), ())]:
        if isinstance(child, _Compound):
            yield child
        else:
            yield from _compounds(child)


_Compound = Tuple | LayoutPair | Unary | Binary | Call | Subscript | Reduction | Binder | Range

_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(field.name for field in fields(kind) if field.compare)
    for union in (Declaration, Clause, ScheduleClause, _Compound, TensorDeclaration | EdgeRule)
    for kind in get_args(union)
}


def _too_long(span: Span) -> RefusedError:
    return RefusedError(Diagnostic(
        "text-too-long", f"the text has more than {MOST_TOKENS} words and signs", label="the limit is here",
        help="split the file"), span, final=True)


def _too_deep(span: Span) -> RefusedError:
    return RefusedError(Diagnostic(
        "nesting-too-deep", f"this nests more than {DEEPEST} deep", label="too deep",
        notes=("a chain of n operators is n deep",),
        help="name a part with `let`, or write the chain as a reduction: `sum(u in 0..9) w[u] * x[i + u]`"), span)
