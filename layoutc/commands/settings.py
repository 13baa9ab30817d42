"""What the common options say, and how a command speaks to a person."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from layoutc.diagnostics import Diagnostic, LayoutcError, render_diagnostic
from layoutc.excerpt import printable

if TYPE_CHECKING:
    from layoutc.plan.nodes import Target

WELL, WRONG, WRONG_WORDS, MISSING = 0, 1, 2, 3      # exit statuses

_OF_THE_WORDS = {"unknown-constant", "bad-override", "no-steps"}    # found later, but said by the command's words


class WordsError(LayoutcError):
    """The command's words do not fit the file: a kernel, a schedule, a tensor or an extent that it does not have."""

    def __init__(self, slug: str, message: str, help: str = "") -> None:
        super().__init__([Diagnostic(slug, message, help=help)])


@dataclass(frozen=True, slots=True)
class Settings:
    """The common options."""

    defines: Mapping[str, int] = field(default_factory=dict)
    schedule: str | None = None
    device: str = "auto"
    arch: str = "sm_90"
    color: str = "auto"
    quiet: bool = False
    verbose: bool = False

    @property
    def target(self) -> Target:
        """The machine that is planned for."""
        from layoutc.plan.nodes import Target

        return Target(arch=self.arch)

    def colors(self, stream: TextIO) -> bool:
        """Whether to colour what goes to a stream."""
        if self.color != "auto":
            return self.color == "always"
        return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"

    def note(self, text: str) -> None:
        """Lines on standard error for who asked for more."""
        if self.verbose:
            print(_safe(text), file=sys.stderr)

    def tell(self, text: str) -> None:
        """Lines on standard error, unless silence was asked for."""
        if not self.quiet:
            print(_safe(text), file=sys.stderr)

    def show(self, text: str) -> None:
        """Lines on standard output."""
        print(_safe(text))

    def summary(self, text: str) -> None:
        """Lines on standard output, unless silence was asked for."""
        if not self.quiet:
            self.show(text)

    def report(self, error: LayoutcError) -> int:
        """Every diagnostic of an error, on standard error; the exit status of such an error."""
        sys.stdout.flush()      # what was found before it stands before it
        for diagnostic in error.diagnostics:
            print(render_diagnostic(diagnostic, self.colors(sys.stderr)), file=sys.stderr)
        return exit_status(error)


def _safe(text: str) -> str:
    return "\n".join([printable(line) for line in text.split("\n")])


def exit_status(error: LayoutcError) -> int:
    """1: the file is wrong; 2: the command's words are; 3: this machine lacks what was asked for."""
    slugs = {d.slug for d in error.diagnostics}
    if "missing-tool" in slugs:
        return MISSING
    return WRONG_WORDS if isinstance(error, WordsError) or slugs <= _OF_THE_WORDS else WRONG


def counted(count: int, noun: str, plural: str = "") -> str:
    """``1 kernel``, ``2 kernels``."""
    return f"{count} {noun}" if count == 1 else f"{count} {plural or noun + 's'}"
