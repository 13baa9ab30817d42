"""Everything that is derived of a kernel, as numbers and as text."""

from layoutc.explain.facts import explain

__all__ = ["explain"]
