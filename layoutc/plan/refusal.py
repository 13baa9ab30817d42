"""What a schedule asks for and cannot have."""

from __future__ import annotations

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.resolve.program import Program
from layoutc.source import Span


def refusal(program: Program, slug: str, message: str, span: Span, help: str = "") -> LayoutcError:
    """The error at a place of the file."""
    return LayoutcError([Diagnostic(slug, message, program.source, span, help=help)])
