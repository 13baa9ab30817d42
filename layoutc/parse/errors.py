"""What the parser's surprise means, in the language's words."""

from __future__ import annotations

from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from layoutc.diagnostics import Diagnostic
from layoutc.parse.builder import RefusedError, span_of
from layoutc.source import Span


def explain(error: UnexpectedInput, parser: InteractiveParser, text: str) -> RefusedError:
    """The diagnostic of a surprise, and its place."""
    if isinstance(error, UnexpectedToken):
        span = span_of(error.token)
        return RefusedError(Diagnostic("syntax", f"unexpected `{error.token}`"), span)
    at = error.pos_in_stream or 0
    return RefusedError(Diagnostic("syntax", f"unexpected `{text[at]}`"), Span(at, at + 1))
