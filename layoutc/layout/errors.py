"""The refusal of the layout algebra."""

from __future__ import annotations

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.layout.tuples import IntTuple

DECIDABLE = 2**20       # up to this size every representable result is found, by evaluation if need be


class LayoutError(LayoutcError, ValueError):
    """An operation on layouts that has no exact answer, or words that name no layout.

    ``diagnostics`` holds one diagnostic; ``witness`` is the first coordinate, colexicographically, that no
    refining layout can fit (of the right operand, or of the only one), or None where there is none.
    """

    def __init__(self, diagnostic: Diagnostic, witness: IntTuple | None = None) -> None:
        super().__init__([diagnostic])
        self.witness = witness


def refusal(
    slug: str,
    message: str,
    *,
    witness: IntTuple | None = None,
    notes: tuple[str, ...] = (),
    help: str = "",
) -> LayoutError:
    """The error to raise for an operation that no text holds; the resolver adds the place."""
    return LayoutError(Diagnostic(slug, message, notes=notes, help=help), witness)


def too_large(what: str, size: int) -> LayoutError:
    """The error for a question that only evaluation could answer, past the size up to which it is asked."""
    return refusal(
        "layout-too-large",
        f"{what} is too large to decide",
        notes=(f"its size is {size}; what structure alone cannot settle is evaluated up to {DECIDABLE}",),
    )
