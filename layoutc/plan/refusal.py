"""What a schedule asks for and cannot have."""

from __future__ import annotations

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.resolve.program import Program, Schedule
from layoutc.source import Span


def refusal(program: Program, slug: str, message: str, span: Span, help: str = "") -> LayoutcError:
    """The error at a place of the file."""
    return LayoutcError([Diagnostic(slug, message, program.source, span, help=help)])


def needing(schedule: Schedule) -> Span:
    """The clause that limits shared memory, or else one that makes a block need as much as it does."""
    clauses = dict(schedule.clause_spans)
    said = [clauses[word] for word in ("budget", "tile", "fuse") if word in clauses]
    said += [s.span for s in schedule.stages if s.where == "shared"]
    return said[0] if said else schedule.span
