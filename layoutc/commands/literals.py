"""Numbers and lists of numbers as they are written on a command line."""

from __future__ import annotations

import ast
import re

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.source import Source, Span

Literal = int | float | bool | list["Literal"]

_WORDS = {
    "true": True, "false": False, "True": True, "False": False, "pi": 3.141592653589793,
    "nan": float("nan"), "NaN": float("nan"), "inf": float("inf"), "Infinity": float("inf"),
}
_BEGINS = re.compile(r"\s*(?:[\[(]|[-+]?\s*(?:\d|\.\d|(?:nan|inf|pi|true|false|infinity)\b))", re.I)


def is_literal(text: str) -> bool:
    """Whether a text begins as numbers do."""
    return bool(_BEGINS.match(text))


def read_literal(name: str, text: str) -> Literal:
    """The numbers of ``[[1, 2], [3, 4]]``, ``0.25``, ``-inf``; also what ``run --json`` prints.

    Raises LayoutcError (``bad-literal``) with the place in the text; ``name`` is what the text is given for.
    """
    source = Source(f"--in {name}", text)
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _value(source, tree.body, len(text) - len(text.lstrip()))
    except SyntaxError as error:
        column = (error.offset or 1) - 1 if error.lineno == 1 else 0
        raise _wrong(source, Span(column, column + 1), "not a number or a list of numbers") from None
    except (ValueError, RecursionError, MemoryError):
        raise _wrong(source, Span(0, 1), "too deep, too long, or not text") from None


def _value(source: Source, node: ast.expr, start: int) -> Literal:
    match node:
        case ast.List(items) | ast.Tuple(items):
            return [_value(source, item, start) for item in items]
        case ast.Constant(bool() | int() | float() as number):
            return number
        case ast.Constant(str(word)) if word.lstrip("-") in _WORDS:
            return -_WORDS[word[1:]] if word.startswith("-") else _WORDS[word]
        case ast.Name(word) if word in _WORDS:
            return _WORDS[word]
        case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, operand):
            signed = _value(source, operand, start)
            if not isinstance(signed, list | bool):
                return -signed if isinstance(sign, ast.USub) else signed
    end = node.end_col_offset if node.end_col_offset is not None and node.end_lineno == 1 else node.col_offset + 1
    at = start + node.col_offset if node.lineno == 1 else 0
    raise _wrong(source, Span(at, max(at + 1, start + end)), "no number")


def _wrong(source: Source, span: Span, label: str) -> LayoutcError:
    return LayoutcError([Diagnostic(
        "bad-literal", "this is not an array of numbers", source, span, label,
        help="write `0.25`, `[1, 2]` or `[[1, 2], [3, nan]]`; a file's name ends in .npy, .npz:name, .png or .jpg")])
