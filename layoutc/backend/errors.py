"""What can go wrong between a text and its run."""

from __future__ import annotations

from layoutc.diagnostics import Diagnostic, LayoutcError


class MissingToolError(LayoutcError):
    """What was asked for is not on this machine: a compiler, a GPU, CuPy. The help says how to get it."""

    def __init__(self, message: str, help: str) -> None:
        super().__init__([Diagnostic("missing-tool", message, help=help)])


class KernelFault(LayoutcError):      # noqa: N818 (it is the kernel's, not layoutc's)
    """The kernel did what no GPU reports: the diagnostic's source is the CUDA text, its span the line."""


class BuildError(LayoutcError):
    """A compiler refused the text; the notes are what it said. Generated text never comes to this."""

    def __init__(self, name: str, log: str) -> None:
        notes = tuple(log.strip().splitlines()[:20])
        super().__init__([Diagnostic("does-not-compile", f"the compiler refused `{name}`", notes=notes)])
