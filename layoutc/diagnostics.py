"""What an error is, and the one renderer of errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from heapq import nsmallest

from layoutc.excerpt import Mark, excerpt, printable
from layoutc.source import Source, Span


@dataclass(frozen=True, slots=True)
class Label:
    """A second place that explains the first, and what it shows."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing that is wrong: found where, and what would mend it.

    ``slug`` is stable; ``message`` is one sentence in lower case without a full stop;
    ``label`` stands under the caret; ``notes`` state facts; ``help`` names an action.
    ``source`` and ``span`` are None where the fault lies in no text (an argument, an option).
    """

    slug: str
    message: str
    source: Source | None = None
    span: Span | None = None
    label: str = ""
    others: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""


class LayoutcError(Exception):
    """Everything that a person can mend; ``diagnostics`` holds at least one."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(render_diagnostic(d) for d in self.diagnostics))

    def within(self, source: Source) -> LayoutcError:
        """The same error, its places being places of this text."""
        return LayoutcError(replace(d, source=source) if d.span is not None else d for d in self.diagnostics)


_LONGEST_MISSPELT = 80      # characters; comparing takes their square in time


_MOST_COMPARED = 16         # of a file's names, those that look nearest at a glance


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``did you mean `x`?`` for the nearest known name, or nothing."""
    spellings = {word.lower(): word for word in known}
    if len(name) > _LONGEST_MISSPELT:
        return ""
    word = name.lower()
    likely: Iterable[str] = spellings
    if len(spellings) > _MOST_COMPARED:
        likely = nsmallest(_MOST_COMPARED, spellings, key=lambda other: _unlikeness(word, other))
    near = get_close_matches(word, likely, n=1, cutoff=0.65)
    return f"did you mean `{spellings[near[0]]}`?" if near else ""


def _unlikeness(word: str, other: str) -> int:
    """How much more the two differ in length than they share at their beginnings and ends."""
    return abs(len(word) - len(other)) - _alike(word, other) - _alike(word[::-1], other[::-1])


def _alike(word: str, other: str) -> int:
    return next((k for k, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))


def render_diagnostic(diagnostic: Diagnostic, color: bool = False) -> str:
    """Headline, place, line with caret and label, other places, notes, help; without a final newline.

    With ``color``, ANSI escapes mark the parts; the text between them is the same.
    Nothing that the file holds can reach a terminal as a control character.
    """
    d = diagnostic
    paint = _paint if color else _plain
    lines = [f"{paint(f'error[{d.slug}]', 'error')}{paint(f': {printable(d.message)}', 'bold')}"]
    if d.source is not None and d.span is not None:
        lines += _places(d.source, d.span, d, color)
    for word, text in [*(("note", note) for note in d.notes), *([("help", d.help)] if d.help else [])]:
        first, *rest = text.split("\n")
        lines.append(f"  {paint('=', 'frame')} {paint(word, 'bold')}: {printable(first)}")
        lines += [f"          {printable(line)}".rstrip() for line in rest]
    return "\n".join(lines)


def _places(source: Source, span: Span, d: Diagnostic, color: bool) -> list[str]:
    paint = _paint if color else _plain
    line, column = source.line_column(span.start)
    marks = [Mark(span, "^", d.label), *(Mark(other.span, "-", other.text) for other in d.others)]
    gutter, rows = excerpt(source, marks)
    out = [
        f"{' ' * gutter}{paint('-->', 'frame')} {printable(source.name)}:{line}:{column}",
        f"{' ' * gutter} {paint('|', 'frame')}",
    ]
    for row in rows:
        frame = paint(f"{row.number:>{gutter}} |", "frame")
        style = "error" if row.mark == "^" else "frame" if row.mark else ""
        out.append(f"{frame} {row.blank}{paint(row.text, style)}" if row.text else frame)
    return out


_STYLES = {"error": "1;31", "bold": "1", "frame": "1;34"}


def _paint(text: str, style: str) -> str:
    return f"\033[{_STYLES[style]}m{text}\033[0m" if style else text


def _plain(text: str, style: str) -> str:
    return text
