"""Layouts in the language: what the algebra is given, and its refusals as located diagnostics."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from layoutc.diagnostics import did_you_mean
from layoutc.layout import Layout, LayoutError
from layoutc.layout.composed import ComposedLayout
from layoutc.layout.functions import FUNCTIONS, Function, Kind
from layoutc.layout.swizzles import Swizzle
from layoutc.parse import syntax
from layoutc.resolve.arithmetic import I64_RANGE, checked
from layoutc.resolve.errors import Errors, each, expected
from layoutc.resolve.types import Type
from layoutc.source import Span

AnyLayout = Layout | ComposedLayout
Map = Layout | ComposedLayout | Swizzle
Item = int | Layout | ComposedLayout | Swizzle | tuple["Item", ...]

INTEGER_FUNCTIONS: dict[str, Callable[..., int]] = {
    "min": min,
    "max": max,
    "ceildiv": lambda a, b: -(-a // b),
}

_TAKES: dict[Kind, tuple[type, ...]] = {
    "layout": (int, Layout, ComposedLayout),
    "map": (int, Layout, ComposedLayout, Swizzle),
    "tiler": (int, Layout, ComposedLayout, tuple),
    "integer": (int,),
    "shape": (int, tuple),
    "type": (Type,),
}

T = TypeVar("T")


def show(value: Item) -> str:
    """A value as the language writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case tuple():
            return f"({', '.join(map(show, value))}{',' if len(value) == 1 else ''})"
    return str(value)


def describe(value: Item | Type) -> str:
    """A value with what it is: ``the layout (4, 3):(3, 1)``."""
    if isinstance(value, Type):
        return f"the type {value}"
    kinds = {Layout: "layout", ComposedLayout: "layout", Swizzle: "swizzle", tuple: "tuple", bool: "truth value"}
    return f"the {kinds.get(type(value), 'number')} {show(value)}"


def pair(errors: Errors, span: Span, shape: Item, stride: Item) -> Layout:
    """``shape:stride``."""
    return _algebra(errors, span, lambda: Layout(*(_entries(part) for part in (shape, stride))))


def _entries(value: Item) -> int | tuple[int, ...]:
    """A shape or a stride; the algebra refuses whatever is no nest of integers."""
    return cast("int | tuple[int, ...]", value)


def as_map(errors: Errors, span: Span, value: Item) -> Map:
    """A layout or a swizzle; an integer ``n`` stands for ``n:1``."""
    if isinstance(value, Map):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
        return _algebra(errors, span, lambda: Layout(number, 1))
    errors.refuse(
        "not-a-layout", span, f"a layout is needed here, not {describe(value)}", "no layout",
        help=f"write its strides, `{show(value)}:(…)`, or `col_major{show(value)}`" if isinstance(value, tuple) else "",
    )


def equal(errors: Errors, span: Span, left: Item, right: Item) -> bool:
    """``==``: of layouts by shape and stride, of an integer with a layout as ``n:1``."""
    if isinstance(left, Map) or isinstance(right, Map):
        one, two = as_map(errors, span, left), as_map(errors, span, right)
        return _algebra(errors, span, lambda: one == two)
    return left == right


def mode(errors: Errors, span: Span, layout: AnyLayout, which: int) -> AnyLayout:
    """``A[k]``."""
    if not 0 <= which < layout.rank:
        errors.refuse(
            "layout-mode", span, f"the layout {layout} has no mode {which}", "no such mode",
            help=f"it has {expected(layout.rank, 'mode')}, counted from 0",
        )
    return _algebra(errors, span, lambda: layout[which])


def values(errors: Errors, span: Span, layout: AnyLayout) -> tuple[int, ...]:
    """The value at every coordinate, colexicographically."""
    return _algebra(errors, span, lambda: layout.values)


def takes_type(function: str, position: int) -> bool:
    """Whether an argument of a function is the name of an element type."""
    known = FUNCTIONS.get(function)
    return known is not None and position < len(known.takes) and known.takes[position] == "type"


def call(errors: Errors, e: syntax.Call, arguments: list[Item | Type]) -> Item:
    """A function of the language on integers, tuples and layouts."""
    name = e.function
    if name.id in INTEGER_FUNCTIONS:
        return _integer_call(errors, e, arguments)
    function = FUNCTIONS.get(name.id)
    if function is None:
        errors.refuse(
            "unknown-function", name.span, f"`{name.id}` is no function of constants and layouts", "unknown",
            help=did_you_mean(name.id, [*INTEGER_FUNCTIONS, *FUNCTIONS]),
        )
    _check_count(errors, e, function.fewest, function.most)
    _check_kinds(errors, e, arguments, function)
    plain = [str(a) if isinstance(a, Type) else a for a in arguments]
    return _algebra(errors, e.span, lambda: cast("Item", function.call(*plain)))


def _check_count(errors: Errors, e: syntax.Call, fewest: int, most: int | None) -> None:
    given = len(e.arguments)
    if given < fewest or (most is not None and given > most):
        words = f"{fewest} or more arguments" if most is None else f"{fewest} to {most} arguments"
        wanted = expected(fewest, "argument") if fewest == most else words
        errors.refuse("argument-count", e.span, f"`{e.function.id}` takes {wanted}", f"{given} given")


def _check_kinds(errors: Errors, e: syntax.Call, arguments: list[Item | Type], function: Function) -> None:
    def check(position: int) -> None:
        kind = function.takes[min(position, len(function.takes) - 1)]
        argument = arguments[position]
        if not isinstance(argument, _TAKES[kind]) or isinstance(argument, bool):
            words = {"map": "a layout or a swizzle", "tiler": "a layout or a tuple of them", "integer": "an integer"}
            errors.refuse(
                "not-an-integer" if kind == "integer" else "not-a-layout", e.arguments[position].span,
                f"`{e.function.id}` takes {words.get(kind, f'a {kind}')} here, not {describe(argument)}", f"no {kind}",
            )

    each(range(len(arguments)), check)


def _integer_call(errors: Errors, e: syntax.Call, arguments: list[Item | Type]) -> int:
    name = e.function.id
    _check_count(errors, e, 2, 2 if name == "ceildiv" else None)

    def integer(position: int) -> int:
        argument = arguments[position]
        if isinstance(argument, int):
            return argument
        errors.refuse(
            "not-an-integer", e.arguments[position].span, f"`{name}` takes integers, not {describe(argument)}",
            "no integer",
        )

    numbers = each(range(len(arguments)), integer)
    if name == "ceildiv" and numbers[1] == 0:
        errors.refuse("division-by-zero", e.span, f"ceildiv({numbers[0]}, 0) divides by zero", "evaluated here")
    return checked(INTEGER_FUNCTIONS[name](*numbers), I64_RANGE)


def _algebra(errors: Errors, span: Span, action: Callable[[], T]) -> T:
    """An operation of the algebra; what it refuses is said here."""
    try:
        return action()
    except LayoutError as refusal:
        first = refusal.diagnostics[0]
        notes = first.notes
        witness = str(refusal.witness).replace(" ", "")
        if refusal.witness is not None and not any(witness in text for text in (first.message, *notes)):
            notes = (*notes, f"the first coordinate that fails is {witness}")
        errors.refuse(first.slug, span, first.message, first.label or "refused", notes=notes, help=first.help)
