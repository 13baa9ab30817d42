"""Reading a layout's literal, ``((2, 2), 3):((1, 4), 2)``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from layoutc.diagnostics import Diagnostic
from layoutc.layout.errors import LayoutError
from layoutc.layout.tuples import DEEPEST, GREATEST, LEAST, IntTuple, collapse
from layoutc.source import Source, Span

TOKEN = re.compile(r"\s+|(?P<word>-?\d+|[(),:]|\S)", re.ASCII)
END = ""


@dataclass(frozen=True, slots=True)
class Token:
    """A number or a mark of the text; ``END`` after the last."""

    text: str
    span: Span


def read_literal(text: str) -> tuple[IntTuple, IntTuple]:
    """Shape and stride of a literal; a bare integer ``n`` is ``n:1``. Errors are located in the text."""
    reader = Reader(Source("<text>", text))
    shape = reader.read_tuple(0)
    if reader.token.text == ":":
        reader.advance()
        stride = reader.read_tuple(0)
    elif isinstance(shape, int):
        stride = 1
    else:
        raise reader.error("a shape without strides", "write `shape:stride`, such as `(4,3):(1,4)`")
    if reader.token.text != END:
        raise reader.error(f"`{reader.token.text}` after the end of a layout", "")
    return shape, stride


class Reader:
    """Recursive descent over the tokens of one literal."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens = tokens_of(source.text)
        self.token = next(self.tokens)

    def advance(self) -> None:
        """Go to the next token."""
        self.token = next(self.tokens)

    def read_tuple(self, level: int) -> IntTuple:
        """An integer, or a list of such in parentheses."""
        if self.token.text != "(":
            return self.read_integer()
        if level == DEEPEST:
            raise self.error("a layout is nested too deeply", f"{DEEPEST} levels are the limit")
        items: list[IntTuple] = []
        while self.token.text == "(" if not items else self.token.text == ",":
            self.advance()
            items.append(self.read_tuple(level + 1))
        if self.token.text != ")":
            raise self.error(f"{named(self.token)} where `,` or `)` should be", "")
        self.advance()
        return collapse(items)

    def read_integer(self) -> int:
        """A signed integer of 64 bits."""
        if not self.token.text.lstrip("-").isdigit():
            raise self.error(f"{named(self.token)} where an integer or `(` should be", "")
        if len(self.token.text.lstrip("-0")) > 19 or not LEAST <= int(self.token.text) <= GREATEST:
            raise self.error("an integer does not fit in 64 bits", "")
        value = int(self.token.text)
        self.advance()
        return value

    def error(self, message: str, help: str) -> LayoutError:
        """What is wrong at the present token."""
        return LayoutError(Diagnostic("layout-text", message, self.source, self.token.span, help=help))


def tokens_of(text: str) -> Iterator[Token]:
    """The tokens of a text, then ``END`` without end."""
    for match in TOKEN.finditer(text):
        if match["word"]:
            yield Token(match["word"], Span(match.start(), match.end()))
    while True:
        yield Token(END, Span(len(text), len(text)))


def named(token: Token) -> str:
    """How a message calls a token."""
    return f"`{token.text}`" if token.text else "the end of the text"
