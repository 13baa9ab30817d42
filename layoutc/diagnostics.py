"""What an error is, and the one renderer of errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

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


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``did you mean `x`?`` for the nearest known name, or nothing."""
    near = get_close_matches(name, list(known), n=1)
    return f"did you mean `{near[0]}`?" if near else ""


def render_diagnostic(diagnostic: Diagnostic) -> str:
    """Headline, place, line with caret and label, other places, notes, help; without a final newline."""
    d = diagnostic
    lines = [f"error[{d.slug}]: {d.message}"]
    if d.source is not None and d.span is not None:
        lines += _excerpt(d.source, d.span, d.label, d.others)
    lines += [f"  = note: {note}" for note in d.notes]
    if d.help:
        lines.append(f"  = help: {d.help}")
    return "\n".join(lines)


def _excerpt(source: Source, span: Span, label: str, others: tuple[Label, ...]) -> list[str]:
    first, column = source.line_column(span.start)
    places = sorted([(*source.line_column(o.span.start), "-", o.span, o.text) for o in others])
    places.append((first, column, "^", span, label))
    gutter = len(str(max(line for line, *_ in places)))
    out = [f"{' ' * gutter}--> {source.name}:{first}:{column}", f"{' ' * gutter} |"]
    for line, at, mark, where, text in places:
        shown = source.line(line).replace("\t", " ")
        width = max(1, min(where.end - where.start, len(shown) - at + 1))
        out.append(f"{line:>{gutter}} | {shown}")
        out.append(f"{' ' * gutter} | {' ' * (at - 1)}{mark * width} {text}".rstrip())
    return out
