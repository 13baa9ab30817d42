"""``layoutc fmt``: one canonical form."""

from __future__ import annotations

import sys

from layoutc.commands.files import text_writer, write_all
from layoutc.commands.settings import WELL, WRONG, Settings
from layoutc.diagnostics import LayoutcError
from layoutc.parse.reading import read_source


def fmt(settings: Settings, paths: tuple[str, ...], only_check: bool) -> int:
    """Rewrite files in their canonical form, standard input to standard output; or only say which are not in it.

    Gives the exit status.
    """
    return max([_format_file(settings, path, only_check) for path in paths])


def _format_file(settings: Settings, path: str, only_check: bool) -> int:
    from layoutc.parse.formatter import format_text

    try:
        source = read_source(path)
        text = format_text(source)
        if only_check:
            if text == source.text:
                return WELL
            settings.summary(f"{path}: not in canonical form")
            return WRONG
        if path == "-":
            sys.stdout.write(text)
        elif text != source.text:
            write_all([(path, text_writer(text))])
            settings.summary(f"{path}: formatted")
    except LayoutcError as error:
        return settings.report(error)
    return WELL
