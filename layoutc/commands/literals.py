"""Numbers and lists of numbers as they are written on a command line."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.source import Source, Span

Literal = int | float | bool | list["Literal"]

DEEPEST = 64        # axes that an array of NumPy may have

_WORDS = {
    "true": True, "false": False, "nan": math.nan, "inf": math.inf, "infinity": math.inf, "pi": math.pi,
}
_BLANK = re.compile(r"\s*")
_NUMBER = re.compile(r"[-+]?(?:(\d+)(?![\d.eE])|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?!\w)", re.A)
_WORD = re.compile(r'("?)([-+]?)(\w+)\1')
_CLOSES = {"[": "]", "(": ")"}


def is_literal(text: str) -> bool:
    """Whether a text begins as numbers do."""
    begin = text.lstrip()
    word = _WORD.match(begin)
    return begin.startswith(("[", "(")) or bool(re.match(r"[-+]?\.?\d", begin)) or (
        word is not None and word[3].lower() in _WORDS)


def read_literal(name: str, text: str) -> Literal:
    """The numbers of ``[[1, 2], [3, 4]]``, ``0.25``, ``-inf``; also what ``run --json`` prints.

    Raises LayoutcError (``bad-literal``) with the place in the text; ``name`` is what the text is given for.
    """
    reader = _Reader(Source(f"--in {name}", text))
    value = reader.value(0)
    reader.skip_blanks()
    if reader.at < len(text):
        raise reader.wrong("nothing may follow the value")
    return value


@dataclass(slots=True)
class _Reader:
    source: Source
    at: int = 0

    def skip_blanks(self) -> None:
        found = _BLANK.match(self.source.text, self.at)
        self.at = found.end() if found else self.at

    def value(self, depth: int) -> Literal:
        self.skip_blanks()
        text, start = self.source.text, self.at
        if text[start:start + 1] in _CLOSES:
            return self._list(depth)
        if number := _NUMBER.match(text, start):
            self.at = number.end()
            return self._integer(number[0], start) if number[1] else self._float(number[0], start)
        word = _WORD.match(text, start)
        if word is None or word[3].lower() not in _WORDS:
            raise self.wrong("a number belongs here", len(word[0]) if word else 1)
        self.at = word.end()
        value = _WORDS[word[3].lower()]
        return -value if word[2] == "-" else value

    def _integer(self, digits: str, start: int) -> int:
        try:
            return int(digits)
        except ValueError:      # Python reads no more than some thousand digits
            raise self.wrong("too many digits", len(digits), start) from None

    def _float(self, digits: str, start: int) -> float:
        value = float(digits)
        if math.isinf(value):
            raise self.wrong("beyond every float; write `inf` for infinity", len(digits), start)
        return value

    def _list(self, depth: int) -> Literal:
        text, start = self.source.text, self.at
        if depth >= DEEPEST:
            raise self.wrong("too deep")
        close = _CLOSES[text[start]]
        items: list[Literal] = []
        commas = 0
        self.at += 1
        while True:
            self.skip_blanks()
            if text.startswith(close, self.at):
                self.at += 1
                return items[0] if close == ")" and items and not commas else items     # (1) is 1, as everywhere
            if items and commas < len(items):
                raise self.wrong(f"`,` or `{close}` belongs here")
            items.append(self.value(depth + 1))
            self.skip_blanks()
            if text.startswith(",", self.at):
                self.at += 1
                commas += 1

    def wrong(self, label: str, length: int = 1, start: int | None = None) -> LayoutcError:
        begin = self.at if start is None else start
        return LayoutcError([Diagnostic(
            "bad-literal", "this is not an array of numbers", self.source, Span(begin, begin + length), label,
            help="write `0.25` or `[[1, 2], [3, nan]]`; a file's name ends in .npy, .npz:name, .png or .jpg")])
