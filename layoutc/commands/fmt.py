"""``layoutc fmt``: one canonical form."""

from __future__ import annotations

import sys

from layoutc.commands.files import text_writer, write_all
from layoutc.commands.settings import Settings
from layoutc.diagnostics import LayoutcError
from layoutc.parse.reading import read_source


def fmt(settings: Settings, paths: tuple[str, ...], only_check: bool) -> bool:
    """Rewrite files in their canonical form, standard input to standard output; or only say which are not in it."""
    return all([_format_file(settings, path, only_check) for path in paths])      # a list: every file is looked at


def _format_file(settings: Settings, path: str, only_check: bool) -> bool:
    from layoutc.parse.formatter import format_text

    try:
        source = read_source(path)
        text = format_text(source)
        if only_check:
            if text != source.text:
                settings.summary(f"{path}: not in canonical form")
            return text == source.text
        if path == "-":
            sys.stdout.write(text)
        elif text != source.text:
            write_all([(path, text_writer(text))])
            settings.summary(f"{path}: formatted")
    except LayoutcError as error:
        settings.report(error)
        return False
    return True
