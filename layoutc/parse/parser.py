"""Text -> Spec, or every syntax error in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from lark import Token
from lark.exceptions import UnexpectedInput
from lark.utils import TextSlice

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.parse.builder import RefusedError
from layoutc.parse.errors import explain
from layoutc.parse.limits import check_depth, check_length, watched
from layoutc.parse.syntax import Declaration, Spec
from layoutc.parse.tables import lark
from layoutc.source import Source

MOST_ERRORS = 20
"""Syntax errors reported of one text."""

_NEXT_DECLARATION = re.compile(
    r"^[ \t]*((?:const|layout|kernel|schedule|redistribute)\b(?=[ \t]+[A-Za-z_])|assert\b(?=[ \t]*[^\s\[]))", re.M)


def parse(source: Source) -> Spec:
    """The tree of a text.

    Raises LayoutcError with up to 20 located syntax errors: after one, parsing goes on at the
    next declaration that begins a line.
    """
    check_length(source)
    declarations: tuple[Declaration, ...] = ()
    problems: list[Diagnostic] = []
    start = 0
    numbers = count()
    while len(problems) < MOST_ERRORS:
        try:
            declarations += _parse_from(source, start, numbers)
            break
        except RefusedError as refused:
            problems.append(replace(refused.diagnostic, source=source, span=refused.span))
            following = _recovery(source.text, refused.resume, start)
            if following is None or refused.final:
                break
            start = following
    if problems:
        raise LayoutcError(problems)
    return Spec(declarations)


def _parse_from(source: Source, start: int, numbers: Iterator[int]) -> tuple[Declaration, ...]:
    text = source.text
    parser = lark().parse_interactive(TextSlice(text, start, len(text)))
    try:
        for _ in watched(parser, numbers):
            pass
        spec = parser.feed_token(Token("$END", "", start_pos=len(text), end_pos=len(text)))
    except UnexpectedInput as error:
        raise explain(error, parser, text) from None
    assert isinstance(spec, Spec)
    for declaration in spec.declarations:
        check_depth(declaration)
    return spec.declarations


def _recovery(text: str, fault: int, start: int) -> int | None:
    """Where the next declaration begins, at the fault or after it."""
    found = _NEXT_DECLARATION.search(text, max(text.rfind("\n", 0, fault) + 1, start + 1))
    while found and found.start(1) < fault:
        found = _NEXT_DECLARATION.search(text, found.end())
    return found.start() if found else None
