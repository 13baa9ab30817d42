"""Where text comes from and how a place in it is named."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

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
        starts = _line_starts(self.text)
        number = bisect_right(starts, offset)
        return number, offset - starts[number - 1] + 1

    def line(self, number: int) -> str:
        """The text of line ``number`` (from 1), without its end."""
        start = _line_starts(self.text)[number - 1]
        end = self.text.find("\n", start)
        return self.text[start:end if end >= 0 else None].rstrip("\r")


@lru_cache(maxsize=4)
def _line_starts(text: str) -> tuple[int, ...]:
    """Where the lines begin: found once for a text, of which thousands of errors may speak."""
    return (0, *(found.end() for found in re.finditer("\n", text)))


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of characters, ``start <= offset < end``."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """From the start of this span to the end of the other."""
        return Span(self.start, max(self.end, other.end))


NOWHERE = Span(0, 0)
