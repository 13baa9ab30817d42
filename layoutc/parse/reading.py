"""A file's bytes as a Source, or why not."""

from __future__ import annotations

import sys
from pathlib import Path

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.source import LONGEST_TEXT, Source, Span

_MOST_BYTES = 4 * LONGEST_TEXT + 3      # UTF-8 takes four bytes a character at most, the mark before a text three


def read_source(path: str) -> Source:
    """The text of a file, or of standard input for ``-``; UTF-8, perhaps with a byte order mark.

    Raises LayoutcError: no such file, a directory, not readable, too long, not UTF-8 (with the place).
    """
    if not path:
        raise LayoutcError([Diagnostic("no-such-file", "the name of a file is empty", help="`-` is standard input")])
    try:
        data = _read(path)
    except (OSError, ValueError) as error:
        raise LayoutcError([_unreadable(path, error)]) from None
    if len(data) > _MOST_BYTES:
        raise LayoutcError([Diagnostic(
            "text-too-long", f"`{path}` has more than {LONGEST_TEXT} characters", help="split the file")])
    try:
        return Source(path, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise LayoutcError([_undecodable(path, data, error)]) from None


def _read(path: str) -> bytes:
    if path == "-":
        if sys.stdin is None:
            raise ValueError("standard input is closed")
        return sys.stdin.buffer.read(_MOST_BYTES + 1)
    with Path(path).open("rb") as file:
        return file.read(_MOST_BYTES + 1)


def _unreadable(path: str, error: OSError | ValueError) -> Diagnostic:
    match error:
        case FileNotFoundError():
            return Diagnostic("no-such-file", f"there is no file `{path}`", help="`-` is standard input")
        case IsADirectoryError():
            return Diagnostic("not-a-file", f"`{path}` is a directory", help="name the `.layout` files in it")
        case OSError():
            return Diagnostic("unreadable-file", f"`{path}` cannot be read: {(error.strerror or str(error)).lower()}")
        case _:
            return Diagnostic("unreadable-file", f"`{path}` cannot be read: {error}")


def _undecodable(path: str, data: bytes, error: UnicodeDecodeError) -> Diagnostic:
    before = data[:len(data) - len(error.object) + error.start].decode("utf-8-sig", "replace")
    source = Source(path, data.decode("utf-8-sig", "replace"))
    found = error.object[error.start]
    return Diagnostic(
        "not-utf8", f"this text is not UTF-8: byte 0x{found:02x}", source, Span(len(before), len(before) + 1),
        label="not a character", help="save the file as UTF-8")
