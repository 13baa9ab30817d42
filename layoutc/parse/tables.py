"""The parser's tables, built from the grammar once a machine and kept in the user's cache."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from lark import Lark, Token

from layoutc.cache import cache_dir
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
    return Lark(
        grammar, parser="lalr", maybe_placeholders=False, postlex=_EveryWordIsAName(), transformer=BUILDER,
        cache=str(cache_dir() / "grammar.tables"))
