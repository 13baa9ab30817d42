"""Files that are either whole or not there."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import BinaryIO

from layoutc.diagnostics import Diagnostic, LayoutcError

Write = Callable[[BinaryIO], object]


def write_all(files: Sequence[tuple[str, Write]]) -> None:
    """Write every file beside its place, then move all into place; nothing is left of a failure to write.

    A link is followed; a directory or a device is not replaced. Raises LayoutcError (``cannot-write``).
    """
    made: list[tuple[str, str, str]] = []       # as given, the temporary file, its place
    try:
        for path, write in files:
            place = writable_place(path)
            temporary = os.path.join(os.path.dirname(place), f".layoutc-{secrets.token_hex(8)}")
            with _located(path), open(temporary, "xb") as file:
                made.append((path, temporary, place))
                write(file)
        for path, temporary, place in made:
            with _located(path):
                os.replace(temporary, place)
    finally:
        for _, temporary, _ in made:
            with suppress(OSError):
                os.unlink(temporary)


def text_writer(text: str) -> Write:
    """What writes a text, in UTF-8."""

    def write(file: BinaryIO) -> None:
        file.write(text.encode())

    return write


def writable_place(path: str) -> str:
    """Where a file of this path will lie, links followed. Raises LayoutcError where no file can be put there."""
    with _located(path):
        place = os.path.realpath(path)
        try:
            mode = os.stat(place).st_mode
        except FileNotFoundError:
            os.stat(os.path.dirname(place))
            if path.endswith(os.sep):
                raise IsADirectoryError(f"`{path}` names a directory") from None
        else:
            if stat.S_ISDIR(mode):
                raise cannot_write(path, "it is a directory")
            if not stat.S_ISREG(mode):
                raise cannot_write(path, "it is no ordinary file")
    return place


def make_folder(path: str) -> None:
    """Make a folder and those above it where they are missing. Raises LayoutcError (``cannot-write``)."""
    with _located(path):
        os.makedirs(path, exist_ok=True)


def cannot_write(path: str, why: str) -> LayoutcError:
    """The error of a file that cannot be written."""
    return LayoutcError([Diagnostic("cannot-write", f"`{path}` cannot be written: {why}")])


class _located:     # noqa: N801 - a context manager reads as a word
    """Turns what the system refuses into a diagnostic that names the file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise cannot_write(self.path, (error.strerror or str(error)).lower()) from None
        if isinstance(error, ValueError):       # a path that no system takes: it holds a zero
            raise cannot_write(self.path, str(error)) from None
