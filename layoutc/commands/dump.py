"""Any record as text: on one line where it fits, else field by field."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields, is_dataclass

from layoutc.index import Expr
from layoutc.layout import Layout
from layoutc.layout.composed import ComposedLayout
from layoutc.resolve.program import Const, Extent, Index
from layoutc.resolve.types import I64, Type
from layoutc.source import Source, Span

WIDTH = 100
STEP = "  "


def dump(value: object) -> str:
    """The text of a record, ending in a line end; spans, sources and fields at their defaults are left out."""
    return "\n".join(_lines(value)) + "\n"


def _lines(value: object) -> list[str]:
    match value:
        case str() | Expr() | Layout() | ComposedLayout() | Type():
            return [str(value)]
        case Index(name) | Extent(name, Type(name="i64")):
            return [name]
        case Const(number, of):
            return [f"{number}" if of == I64 else f"{of}({number})"]
        case tuple() | list() | frozenset():
            return _bracket("[", [("", item) for item in value], "]")
        case dict():
            return _bracket("{", [(f"{key}: ", item) for key, item in value.items()], "}")
    if is_dataclass(value) and not isinstance(value, type):
        shown = [(f"{f.name}=", getattr(value, f.name)) for f in fields(value) if _is_shown(f, value)]
        return _bracket(f"{type(value).__name__}(", shown, ")")
    return [repr(value)]


def _bracket(opening: str, children: list[tuple[str, object]], closing: str) -> list[str]:
    parts = []
    for label, child in children:
        first, *rest = _lines(child)
        parts.append([label + first, *rest])
    if all(len(part) == 1 for part in parts):
        line = f"{opening}{', '.join([part[0] for part in parts])}{closing}"
        if len(line) <= WIDTH:
            return [line]
    return [opening, *[STEP + line for part in parts for line in part], closing]


def _is_shown(field: Field[object], record: object) -> bool:
    value = getattr(record, field.name)
    if not field.repr or isinstance(value, Span | Source):
        return False
    return field.default is MISSING or bool(value != field.default)
