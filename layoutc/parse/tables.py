"""The parser's tables, built from the grammar once a machine and kept in the user's cache."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import platformdirs
from lark import Lark, Token

from layoutc.parse.builder import BUILDER


class _EveryWordIsAName:
    """Lets the lexer take any word as a name where no keyword fits, so that the parser can name it in an error."""

    always_accept: Iterable[str] = ("NAME",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        return stream


@cache
def lark() -> Lark:
    """The LALR parser of the language, building the tree by :data:`BUILDER`.

    Building takes some 200 ms, loading 25 ms. Lark keys the stored tables by the grammar and its own
    version, and builds anew where they are missing, stale or damaged.
    """
    grammar = Path(__file__).with_name("grammar.lark").read_text(encoding="utf-8")
    stored = _stored_tables()
    return Lark(
        grammar, parser="lalr", maybe_placeholders=False, postlex=_EveryWordIsAName(), transformer=BUILDER,
        cache=str(stored) if stored else False)


def _stored_tables() -> Path | None:
    """The file that keeps the tables, in a folder of this user alone; None where there can be none."""
    folder = Path(os.environ.get("LAYOUTC_CACHE_DIR") or platformdirs.user_cache_dir("layoutc"))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError):
        return None
    return folder / "grammar.tables"
