"""Short ways to resolve a text and to say what came of it."""

from __future__ import annotations

from layoutc.diagnostics import LayoutcError
from layoutc.parse.parser import parse
from layoutc.resolve import program as p
from layoutc.resolve.resolver import resolve
from layoutc.source import Source


def resolved(text: str, **constants: int) -> p.Program:
    source = Source("test.layout", text)
    return resolve(parse(source), source, constants)


def kernel(text: str, **constants: int) -> p.Kernel:
    return resolved(text, **constants).kernels[-1]


def refusals(text: str, **constants: int) -> list[tuple[str, str]]:
    """The slugs of the errors of a text, each with the words that it points at."""
    try:
        resolved(text, **constants)
    except LayoutcError as error:
        return [(d.slug, "" if d.span is None else text[d.span.start : d.span.end]) for d in error.diagnostics]
    return []


def shown(value: p.Value) -> str:
    """A value with the types of its leaves and every cast that the resolver has put in."""
    match value:
        case p.Const(number, type):
            return f"{number}:{type}"
        case p.Index(name):
            return name
        case p.Extent(name, type):
            return f"{name}:{type}"
        case p.Read(tensor, indices):
            return f"{tensor}[{', '.join(map(shown, indices))}]"
        case p.Unary(op, operand):
            return f"({op} {shown(operand)})"
        case p.Binary(op, left, right) | p.Compare(op, left, right) | p.Logic(op, left, right):
            return f"({shown(left)} {op} {shown(right)})"
        case p.Where(test, yes, no):
            return f"where({shown(test)}, {shown(yes)}, {shown(no)})"
        case p.Call(function, arguments):
            return f"{function}({', '.join(map(shown, arguments))})"
        case p.Cast(operand, type):
            return f"{type}({shown(operand)})"
        case p.Reduce(op, binders, body):
            ranges = ", ".join(f"{b.name} in {shown(b.low)}..{shown(b.high)}" for b in binders)
            return f"{op}({ranges}) {shown(body)}"
