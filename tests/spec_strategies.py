"""Hypothesis strategies of trees that the grammar can produce."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from layoutc.parse import syntax as tree

KEYWORDS = (
    "const", "layout", "kernel", "schedule", "redistribute", "assert", "edge", "require", "let", "step", "tile",
    "threads", "over", "stage", "halo", "global", "double", "load", "store", "vector", "budget", "march", "fuse",
    "unroll", "mma", "via", "warp", "scatter", "gather", "in", "as",
)
REDUCTIONS = ("sum", "prod", "any", "all", "count", "argmin", "argmax", "median")
NUMBER_WORDS = ("inf", "nan", "true", "false", "pi")
OTHERS = ("x", "i", "H", "__shared__", "float", "threadIdx", "_", "min", "max", "f32", "shared", "KiB", "B1", "android")

words = st.sampled_from((*OTHERS, *KEYWORDS, *REDUCTIONS, *NUMBER_WORDS)).map(tree.Name)
"""A name where an expression never stands."""
names = st.sampled_from((*OTHERS, *KEYWORDS, *REDUCTIONS)).map(tree.Name)
"""A name that an expression can mention."""
units = st.sampled_from(OTHERS).map(tree.Name)
"""A name that cannot begin a clause."""

numbers = st.one_of(
    st.integers(0, 9), st.integers(0, 2**64 - 1), st.booleans(),
    st.floats(0, allow_nan=False).map(abs), st.sampled_from((math.nan, math.inf, math.pi)),
).map(tree.Number)


def _tuples(items: st.SearchStrategy[Any], least: int = 0, most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, min_size=least, max_size=most).map(tuple)


OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "and", "or")


@st.composite
def _expressions(draw: st.DrawFn, depth: int) -> tree.Expression:
    """An expression of at most ``depth`` levels."""
    if depth == 0:
        return draw(names | numbers)
    inner = _expressions(depth - 1)
    kind = draw(st.sampled_from(("leaf", "binary", "unary", "pair", "tuple", "call", "subscript", "reduction")))
    match kind:
        case "binary":
            return tree.Binary(draw(st.sampled_from(OPERATORS)), draw(inner), draw(inner))
        case "unary":
            return tree.Unary(draw(st.sampled_from(("-", "not"))), draw(inner))
        case "pair":
            return tree.LayoutPair(draw(inner), draw(inner))
        case "tuple":
            return tree.Tuple(draw(_tuples(inner, 1)))
        case "call":
            return _called(draw(words), draw(_tuples(inner)))
        case "subscript":
            return tree.Subscript(draw(words | inner), draw(_tuples(inner)))
        case "reduction":
            return draw(_reductions(depth - 1))
    return draw(names | numbers)


@st.composite
def _binders(draw: st.DrawFn, depth: int, ranged: bool | None = None) -> tree.Binder:
    if ranged is None:
        ranged = draw(st.booleans())
    inner = _expressions(depth)
    return tree.Binder(draw(names), tree.Range(draw(inner), draw(inner), draw(st.booleans())) if ranged else None)


@st.composite
def _reductions(draw: st.DrawFn, depth: int) -> tree.Reduction:
    op = draw(st.sampled_from((*REDUCTIONS, "min", "max")))
    binders = draw(_tuples(_binders(depth), 1))
    if op in ("min", "max") and len(binders) > 1 and not binders[0].range:
        binders = (draw(_binders(depth, True)), *binders)
    return tree.Reduction(tree.Name(op), binders, draw(_expressions(depth)))


def _called(function: tree.Name, arguments: tuple[tree.Expression, ...]) -> tree.Expression:
    """A call, unless the text would begin a reduction."""
    lone = len(arguments) == 1 and isinstance(arguments[0], tree.Name)
    if function.id in REDUCTIONS or (function.id in ("min", "max") and lone):
        return tree.Call(tree.Name("f"), arguments)
    return tree.Call(function, arguments)


expressions = _expressions(3)

_rules = st.builds(tree.EdgeRule, words, st.none() | expressions)
_tensors = st.builds(tree.TensorDeclaration, words, words, _tuples(expressions), st.none() | expressions)
_clauses = st.one_of(
    st.builds(tree.Edge, words, st.none() | expressions, _rules, st.none() | _rules),
    st.builds(tree.Require, _tuples(expressions, 1)),
    st.builds(tree.Let, words, _tuples(_binders(2)), expressions),
    st.builds(tree.Equation, words, _tuples(expressions), expressions),
    st.builds(tree.Step, words, words),
)
_ways = st.one_of(
    st.builds(tree.Tile, _tuples(st.tuples(words, expressions))),
    st.builds(tree.Threads, expressions),
    st.builds(tree.ThreadsOver, words),
    st.builds(tree.Stage, words, words, st.booleans(), st.booleans()),
    st.builds(tree.Access, st.sampled_from(("load", "store")), words, expressions),
    st.builds(tree.Vector, expressions),
    st.builds(tree.Budget, words, expressions, st.none() | units),
    st.builds(tree.March, words),
    st.builds(tree.Fuse, expressions),
    st.builds(tree.Unroll, words),
    st.builds(tree.Mma, st.none() | words),
)
_declarations = st.one_of(
    st.builds(tree.Constant, names, expressions),
    st.builds(tree.LayoutDeclaration, names, expressions),
    st.builds(tree.Kernel, words, _tuples(_tensors), _tuples(_tensors, 1), _tuples(_clauses)),
    st.builds(tree.Schedule, words, st.none() | words, _tuples(_ways)),
    st.builds(tree.Redistribute, words, words, st.sampled_from(("exchange", "scatter", "gather")), expressions,
              expressions, st.none() | words, st.none() | expressions),
    st.builds(tree.Assertion, expressions),
)
specs = st.builds(tree.Spec, _tuples(_declarations, 0, 4))
