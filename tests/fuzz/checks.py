"""What can be asked of a text, from the cheapest."""

from __future__ import annotations

from layoutc.parse.formatter import format_text
from layoutc.parse.parser import parse
from layoutc.parse.printer import print_spec
from layoutc.resolve.resolver import resolve
from layoutc.source import Source


def parse_only(text: str) -> None:
    """It parses."""
    parse(Source("<text>", text))


def print_too(text: str) -> None:
    """It parses, prints and formats to the same tree."""
    spec = parse(Source("<text>", text))
    assert repr(parse(Source("<printed>", print_spec(spec)))) == repr(spec)
    formatted = format_text(Source("<text>", text))
    assert repr(parse(Source("<formatted>", formatted))) == repr(spec)
    assert format_text(Source("<formatted>", formatted)) == formatted


def resolve_too(text: str) -> None:
    """It parses and has a meaning."""
    source = Source("<text>", text)
    resolve(parse(source), source)


CHECKS = {"parse": parse_only, "print": print_too, "resolve": resolve_too}
