"""The lines of a text that an error shows, fit for any terminal."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from itertools import groupby

from layoutc.source import Source, Span

WIDEST = 110
"""Columns of a shown line; a longer one is cut on both sides of its mark."""

_TAB = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to underline with ``sign``, and what to write beside it."""

    span: Span
    sign: str
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row of an excerpt: a line of the text (``number`` set) or a mark under it (``mark`` set)."""

    number: str
    text: str
    mark: str = ""
    blank: str = ""     # spaces before the mark


def printable(text: str) -> str:
    """The text with every character that a terminal could obey shown as a picture of itself."""
    return text if text.isprintable() else "".join(_picture(c) for c in text)


def excerpt(source: Source, marks: list[Mark]) -> tuple[int, list[Row]]:
    """The width of the gutter and the rows: each marked line once, its marks below it."""
    placed = sorted(((*source.line_column(mark.span.start), mark) for mark in marks), key=lambda p: p[:2])
    rows: list[Row] = []
    previous = None
    for number, group in groupby(placed, key=lambda p: p[0]):
        if previous is not None and number > previous + 1:
            rows.append(Row("", "..."))
        rows += _line_rows(source.line(number), number, [(column - 1, mark) for _, column, mark in group])
        previous = number
    return max(len(row.number) for row in rows), rows


def _line_rows(line: str, number: int, marks: list[tuple[int, Mark]]) -> list[Row]:
    nearest = min(at for at, _ in marks)
    skipped = max(0, nearest - WIDEST)      # a line may be a million characters long
    cells = _cells(line[skipped:nearest + WIDEST])
    first, last = _window(cells, nearest - skipped)
    left = "…" if first or skipped else ""
    right = "…" if last < len(cells) or nearest + WIDEST < len(line) else ""
    shown = "".join(text for text, _ in cells[first:last])
    rows = [Row(str(number), f"{left}{shown}{right}".rstrip())]
    for at, mark in marks:
        start = min(max(at - skipped, first), last)
        end = min(max(at - skipped + mark.span.end - mark.span.start, start), last)
        blank = len(left) + sum(width for _, width in cells[first:start])
        width = max(1, sum(width for _, width in cells[start:end]))
        rows.append(Row("", f"{mark.sign * width} {printable(mark.text)}".rstrip(), mark.sign, " " * blank))
    return rows


def _window(cells: list[tuple[str, int]], at: int) -> tuple[int, int]:
    """The cells to show: all, or a third of the room before ``at`` and the rest from there on."""
    if sum(width for _, width in cells) <= WIDEST:
        return 0, len(cells)
    first = last = min(at, len(cells))
    room = WIDEST - 2
    while room > 0 and (first > 0 or last < len(cells)):
        if first > 0 and (last >= len(cells) or 2 * (at - first) < last - at):
            first -= 1
            room -= cells[first][1]
        else:
            room -= cells[last][1]
            last += 1
    return first, last


def _cells(line: str) -> list[tuple[str, int]]:
    """Each character as it is shown, with its columns."""
    cells: list[tuple[str, int]] = []
    column = 0
    for character in line:
        if character == "\t":
            width = _TAB - column % _TAB
            cells.append((" " * width, width))
        else:
            width = _width(character)
            cells.append((_picture(character), width))
        column += width
    return cells


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return "\ufffd"
    return character
