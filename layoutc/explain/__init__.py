"""Everything that is derived of a kernel or a redistribution, as numbers and as text."""

from layoutc.explain.facts import explain
from layoutc.explain.redistribution import explain_redistribution, moved
from layoutc.explain.text import explain_text

__all__ = ["explain", "explain_redistribution", "explain_text", "moved"]
