"""Where whatever goes wrong in a command becomes a message and an exit status."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import Any

import click

from layoutc.commands.interruptible import INTERRUPTED
from layoutc.commands.settings import Settings
from layoutc.diagnostics import Diagnostic, LayoutcError


class Commands(click.Group):
    """The commands, with one place where whatever goes wrong becomes a message and an exit status."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the words; ``--version`` and ``--help`` print here already."""
        _prepare_streams()
        try:
            return super().make_context(*args, **kwargs)
        except OSError as error:
            raise click.exceptions.Exit(_status_of(error, Settings())) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        ctx.obj = Settings()
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except Exception as error:
            ctx.exit(_status_of(error, ctx.obj))


def _status_of(error: Exception, settings: Settings) -> int:
    """Say what went wrong; the exit status of it."""
    match error:
        case LayoutcError():
            return settings.report(error)
        case OSError(errno=errno.EPIPE):        # who reads our output has read enough
            _abandon_output()
            return 0
        case OSError():
            _abandon_output()
            where = f" `{os.fsdecode(error.filename)}`" if error.filename else ""
            return settings.report(_failure("system", f"the system refused{where}: {error.strerror or error}".lower()))
        case MemoryError():
            return settings.report(_failure("out-of-memory", f"this machine has too little memory: {error}"))
    if os.environ.get("LAYOUTC_TRACEBACK") == "1":
        traceback.print_exception(error)
    what = f"{type(error).__name__}: {' '.join(str(error).split()):.200}"
    return settings.report(_failure(
        "internal", f"layoutc failed where it should not: {what}",
        "please report it with the file and the command; LAYOUTC_TRACEBACK=1 shows where it failed"))


def _failure(slug: str, message: str, help: str = "") -> LayoutcError:
    return LayoutcError([Diagnostic(slug, message, help=help)])


def _prepare_streams() -> None:
    """Let a terminal of few characters show the others by their numbers; what is closed takes anything."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _abandon_output() -> None:
    """Nothing more goes to standard output, not even what waits to be written when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
