"""Text -> canonical text with its comments, for ``layoutc fmt``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from layoutc.parse.expression_text import INDENT, WIDTH
from layoutc.parse.parser import parse
from layoutc.parse.printer import Block, Piece, block_lines, piece
from layoutc.source import Source, Span

_COMMENT = re.compile(r"#[^\r\n]*")
_LINE_END = re.compile(r"\r\n|\r|\n")


def format_text(source: Source) -> str:
    """The canonical text of a source, with every comment, and a blank line where there were any.

    A comment on a line of its own stays before what follows it, one behind code stays behind it (those of lines that
    follow one another in one column), and one inside a clause moves before the clause. A kernel whose head holds a
    comment has a line for each of its tensors. Formatting the result changes nothing. Raises LayoutcError as
    ``parse`` does.
    """
    comments = [_Comment(match.start(), match.end(), match[0].rstrip()) for match in _COMMENT.finditer(source.text)]
    writer = _Writer(source.text, comments)
    for declaration in parse(source).declarations:
        for item in _items(piece(declaration), source.text, comments):
            writer.write(item)
    writer.write(_Item((), Span(len(source.text), len(source.text))))
    return "".join([f"{line}\n" for line in _aligned(writer.lines)])


@dataclass(frozen=True, slots=True)
class _Comment:
    """A comment: where it stands, and its text without blanks at its end."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class _Item:
    """Lines that no comment may part: a clause, a head with its brace, a closing brace."""

    lines: tuple[str, ...]
    span: Span
    indent: str = ""            # of the comments before it
    first_of_block: bool = False
    closes: bool = False
    apart: bool = False         # it begins a declaration of several lines


def _items(shown: Piece | Block, text: str, comments: list[_Comment]) -> Iterator[_Item]:
    """A declaration's items; a body with comments never goes on one line."""
    whole = block_lines(shown)
    if isinstance(shown, Piece):
        yield _Item(tuple(whole), shown.span, apart=len(whole) > 1)
        return
    brace = _brace(text, shown.head.span.end, comments)
    inside = [comment.start for comment in comments if shown.span.start < comment.start < shown.span.end]
    is_broken = bool(shown.broken) and any(start < brace for start in inside)
    if len(whole) == 1 and not is_broken and not any(brace < start for start in inside):
        yield _Item(tuple(whole), shown.span)
        return
    if is_broken:
        yield from _broken_head(shown, text, comments, brace)
    else:
        head = (*shown.head.lines[:-1], f"{shown.head.lines[-1]} {{")
        yield _Item(head, Span(shown.span.start, brace + 1), apart=True)
    for place, clause in enumerate(shown.clauses):
        yield _Item(tuple(INDENT + line for line in clause.lines), clause.span, INDENT, first_of_block=place == 0)
    yield _Item(("}",), Span(shown.span.end - 1, shown.span.end), INDENT, not shown.clauses, closes=True)


def _broken_head(shown: Block, text: str, comments: list[_Comment], brace: int) -> Iterator[_Item]:
    """A head with a line a tensor, each with its comments."""
    opening, *parts = shown.broken
    yield _Item(opening.lines, opening.span, apart=True)
    for part in parts:
        is_between = part.span.start == part.span.end
        at = _outside(text, "->", part.span.end, comments) if is_between else part.span.start
        yield _Item(part.lines, Span(at, max(at, part.span.end)), INDENT, first_of_block=not is_between)
    yield _Item((") {",), Span(brace, brace + 1), INDENT)


def _brace(text: str, start: int, comments: list[_Comment]) -> int:
    """The first opening brace from ``start`` on that is in no comment."""
    return _outside(text, "{", start, comments)


def _outside(text: str, sign: str, start: int, comments: list[_Comment]) -> int:
    """Where a sign first stands from ``start`` on in no comment."""
    at = text.index(sign, start)
    while any(comment.start < at < comment.end for comment in comments):
        at = text.index(sign, at + 1)
    return at


def _aligned(lines: list[_Line]) -> Iterator[str]:
    """The lines as text, the comments behind lines that follow one another in one column."""
    for has_comment, group in groupby(lines, lambda line: bool(line.comment)):
        run = list(group)
        column = max((len(line.code) for line in run if len(line.code) <= WIDTH), default=0)
        for line in run:
            yield f"{line.code:<{column}}  {line.comment}" if has_comment else line.code


@dataclass(frozen=True, slots=True)
class _Line:
    """A line, and the comment behind it."""

    code: str
    comment: str = ""


BLANK = _Line("")


class _Writer:
    """The lines written so far, and how far the source has been read."""

    def __init__(self, text: str, comments: list[_Comment]) -> None:
        self.lines: list[_Line] = []
        self._text = text
        self._comments = comments[::-1]     # the next one last
        self._read = 0
        self._apart = False                 # a declaration of several lines has just ended

    def write(self, item: _Item) -> None:
        """The comments before and inside an item, then the item."""
        comments = self._take(item.span.end)
        if comments and self.lines and self._line_ends(comments[0].start) == 0:
            self._trail(comments.pop(0))
        blanks = not item.first_of_block
        group = len(self.lines)
        for comment in comments:
            self._part(min(comment.start, item.span.start), blanks)
            self.lines.append(_Line(item.indent + comment.text))
            self._read = max(self._read, min(comment.end, item.span.start))
            blanks = True
        if item.lines:
            self._part(item.span.start, blanks and not item.closes)
        if self._apart or item.apart:
            self._set_apart(group, bool(item.lines))
        self.lines += map(_Line, item.lines)
        self._read = item.span.end
        self._apart = item.closes or (item.apart and not item.lines[-1].endswith(("{", "(")))

    def _take(self, end: int) -> list[_Comment]:
        """The comments before ``end`` that are not yet written."""
        taken = []
        while self._comments and self._comments[-1].start < end:
            taken.append(self._comments.pop())
        return taken

    def _trail(self, comment: _Comment) -> None:
        self.lines[-1] = _Line(self.lines[-1].code, comment.text)
        self._read = comment.end

    def _part(self, start: int, blanks: bool) -> None:
        """A blank line, if the source has one before ``start``."""
        if blanks and self.lines and self.lines[-1] != BLANK and self._line_ends(start) > 1:
            self.lines.append(BLANK)

    def _set_apart(self, group: int, more: bool) -> None:
        """A blank line before what was written from line ``group`` on, or is about to be, unless it has one."""
        if group > 0 and BLANK not in self.lines[group:] and (more or group < len(self.lines)):
            self.lines.insert(group, BLANK)

    def _line_ends(self, start: int) -> int:
        return len(_LINE_END.findall(self._text, self._read, max(start, self._read)))
