"""Everything that is derived of a kernel, as numbers and as text."""

from layoutc.explain.facts import explain
from layoutc.explain.text import explain_text

__all__ = ["explain", "explain_text"]
