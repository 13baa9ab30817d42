"""Where text comes from and how a place in it is named."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_TEXT = 2**20
"""Characters that a text may have."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text and the name under which a person knows it (a path as given, or ``<text>``)."""

    name: str
    text: str

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line and column of a character offset, both counted from 1; past the end is the end."""
        offset = min(max(offset, 0), len(self.text))
        return self.text.count("\n", 0, offset) + 1, offset - self.text.rfind("\n", 0, offset)

    def line(self, number: int) -> str:
        """The text of line ``number`` (from 1), without its end."""
        start = 0
        for _ in range(number - 1):
            start = self.text.index("\n", start) + 1
        end = self.text.find("\n", start)
        return self.text[start:end if end >= 0 else None].rstrip("\r")


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of characters, ``start <= offset < end``."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """From the start of this span to the end of the other."""
        return Span(self.start, max(self.end, other.end))


NOWHERE = Span(0, 0)
