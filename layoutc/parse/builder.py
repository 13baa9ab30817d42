"""From the grammar's rules to the tree: one small method a rule, called while the parser runs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from lark import Token, Transformer, v_args

from layoutc.diagnostics import Diagnostic
from layoutc.parse import syntax as tree
from layoutc.source import Span

WORD_NUMBERS: dict[str, float | bool] = {
    "inf": math.inf, "nan": math.nan, "true": True, "false": False, "pi": math.pi,
}
"""The numbers that are written as words; in an expression these names mean nothing else."""

LARGEST_INTEGER = 2**64 - 1


class RefusedError(Exception):
    """A syntax error; its diagnostic still lacks the source.

    After a ``final`` one nothing is worth reading; after any other, what begins at ``resume`` or behind it.
    """

    def __init__(self, diagnostic: Diagnostic, span: Span, final: bool = False, resume: int | None = None) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic
        self.span = span
        self.final = final
        self.resume = span.start if resume is None else resume


def span_of(token: Token) -> Span:
    """Where a token stands."""
    return Span(token.start_pos or 0, token.end_pos or 0)


def name_of(token: Token) -> tree.Name:
    """A token as a name."""
    return tree.Name(str(token), span_of(token))


def _widened(node: tree.Expression, span: Span) -> tree.Expression:
    """The same expression standing where its parentheses do."""
    return replace(node, span=span)


def _integer(token: Token) -> int:
    digits = token.lstrip("0") or "0"
    if len(digits) > len(str(LARGEST_INTEGER)) or int(digits) > LARGEST_INTEGER:
        raise RefusedError(Diagnostic(
            "number-too-large", "this integer does not fit in 64 bits", label="more than 64 bits",
            notes=(f"the largest is {LARGEST_INTEGER}",), help="a float such as `1e30` may be larger"),
            span_of(token))
    return int(digits)


def _float(token: Token) -> float:
    value = float(token)
    if math.isinf(value):
        raise RefusedError(Diagnostic(
            "number-too-large", "this float is larger than any f64", label="more than 1.8e308",
            help="write `inf` for infinity"), span_of(token))
    return value


def _declarable(name: tree.Name, what: str) -> tree.Name:
    """Refuse a name that an expression could never mention."""
    if name.id in WORD_NUMBERS:
        raise RefusedError(Diagnostic(
            "reserved-name", f"`{name.id}` is a number and cannot name {what}", label="a number in every expression",
            notes=("`inf nan true false pi` are numbers",), help=f"choose another name, such as `{name.id}_`"),
            name.span)
    return name


def _end(parts: tuple[object, ...]) -> Span:
    """Where the closing token of a rule stands."""
    end = parts[-1]
    assert isinstance(end, Token)
    return span_of(end)


@v_args(inline=True)
class _Builder(Transformer[Token, tree.Spec]):
    """Makes the records of :mod:`layoutc.parse.syntax`; holds no state."""

    # ---- the file

    def start(self, *declarations: tree.Declaration) -> tree.Spec:
        return tree.Spec(declarations)

    def constant(self, start: Token, name: tree.Name, value: tree.Expression) -> tree.Constant:
        return tree.Constant(_declarable(name, "a constant"), value, span_of(start).to(value.span))

    def layout(self, start: Token, name: tree.Name, value: tree.Expression) -> tree.LayoutDeclaration:
        return tree.LayoutDeclaration(_declarable(name, "a layout"), value, span_of(start).to(value.span))

    def assertion(self, start: Token, condition: tree.Expression) -> tree.Assertion:
        return tree.Assertion(condition, span_of(start).to(condition.span))

    def redistribute(
        self, start: Token, name: tree.Name, type: tree.Name,
        kind: Literal["exchange", "scatter", "gather"], source: tree.Expression, destination: tree.Expression,
        route: tuple[tree.Name | None, tree.Expression | None, Span | None],
    ) -> tree.Redistribute:
        via, warp, end = route
        span = span_of(start).to(end or destination.span)
        return tree.Redistribute(name, type, kind, source, destination, via, warp, span)

    def kind(self, word: Token | None = None) -> str:
        return str(word) if word else "exchange"

    def no_route(self) -> tuple[None, None, None]:
        return None, None, None

    def via(self, _: Token, means: tree.Name) -> tuple[tree.Name, None, Span]:
        return means, None, means.span

    def warp(self, _: Token, lanes: tree.Expression) -> tuple[None, tree.Expression, Span]:
        return None, lanes, lanes.span

    def via_warp(
        self, _: Token, means: tree.Name, __: Token, lanes: tree.Expression,
    ) -> tuple[tree.Name, tree.Expression, Span]:
        return means, lanes, lanes.span

    def warp_via(
        self, _: Token, lanes: tree.Expression, __: Token, means: tree.Name,
    ) -> tuple[tree.Name, tree.Expression, Span]:
        return means, lanes, means.span

    # ---- kernels

    def kernel(
        self, start: Token, name: tree.Name, inputs: tuple[tree.TensorDeclaration, ...],
        outputs: tuple[tree.TensorDeclaration, ...], clauses: tuple[tree.Clause, ...], end: Token,
    ) -> tree.Kernel:
        return tree.Kernel(name, inputs, outputs, clauses, span_of(start).to(span_of(end)))

    def inputs(self, *tensors: tree.TensorDeclaration) -> tuple[tree.TensorDeclaration, ...]:
        return tensors

    outputs = inputs

    def clauses(self, *clauses: tree.Clause) -> tuple[tree.Clause, ...]:
        return clauses

    def tensor(
        self, name: tree.Name, type: tree.Name, extents: tuple[tree.Expression, ...], end: Token,
        strides: tree.Expression | None,
    ) -> tree.TensorDeclaration:
        span = name.span.to(strides.span if strides else span_of(end))
        return tree.TensorDeclaration(name, type, extents, strides, span)

    def strides(self, value: tree.Expression | None = None) -> tree.Expression | None:
        return value

    def edge(
        self, start: Token, tensor: tree.Name, axis: tree.Expression | None, low: tree.EdgeRule,
        high: tree.EdgeRule | None = None, end: Token | None = None,
    ) -> tree.Edge:
        span = span_of(start).to(span_of(end) if end else low.span)
        return tree.Edge(tensor, axis, low, high, span)

    axis = strides

    def rule(
        self, name: tree.Name, value: tree.Expression | None = None, end: Token | None = None,
    ) -> tree.EdgeRule:
        return tree.EdgeRule(name, value, name.span.to(span_of(end)) if end else name.span)

    def require(self, start: Token, *conditions: tree.Expression) -> tree.Require:
        return tree.Require(conditions, span_of(start).to(conditions[-1].span))

    def let(
        self, start: Token, name: tree.Name, binders: tuple[tree.Binder, ...], value: tree.Expression,
    ) -> tree.Let:
        return tree.Let(name, binders, value, span_of(start).to(value.span))

    def step(self, start: Token, input: tree.Name, output: tree.Name) -> tree.Step:
        return tree.Step(input, output, span_of(start).to(output.span))

    def equation(
        self, output: tree.Name, indices: tuple[tree.Expression, ...], value: tree.Expression,
    ) -> tree.Equation:
        return tree.Equation(output, indices, value, output.span.to(value.span))

    def target(self, word: Token) -> tree.Name:
        return name_of(word)

    memory = target

    # ---- schedules

    def schedule(
        self, start: Token, kernel: tree.Name, alias: tree.Name | None,
        clauses: tuple[tree.ScheduleClause, ...], end: Token,
    ) -> tree.Schedule:
        return tree.Schedule(kernel, alias, clauses, span_of(start).to(span_of(end)))

    def alias(self, _: Token | None = None, name: tree.Name | None = None) -> tree.Name | None:
        return name

    def ways(self, *clauses: tree.ScheduleClause) -> tuple[tree.ScheduleClause, ...]:
        return clauses

    def tile(self, start: Token, *rest: tuple[tree.Name, tree.Expression] | Token) -> tree.Tile:
        sizes = tuple(size for size in rest if isinstance(size, tuple))
        return tree.Tile(sizes, span_of(start).to(_end(rest)))

    def size(self, index: tree.Name, extent: tree.Expression) -> tuple[tree.Name, tree.Expression]:
        return index, extent

    def threads(self, start: Token, value: tree.Expression) -> tree.Threads:
        return tree.Threads(value, span_of(start).to(value.span))

    def over(self, start: Token, _: Token, tensor: tree.Name) -> tree.ThreadsOver:
        return tree.ThreadsOver(tensor, span_of(start).to(tensor.span))

    def stage(
        self, start: Token, tensor: tree.Name, _: Token, where: tree.Name, *options: Token,
    ) -> tree.Stage:
        words = {option.type for option in options}
        end = span_of(options[-1]) if options else where.span
        return tree.Stage(tensor, where, "HALO" in words, "DOUBLE" in words, span_of(start).to(end))

    def access(self, verb: Token, tensor: tree.Name, _: Token, layout: tree.Expression) -> tree.Access:
        word: Literal["load", "store"] = "load" if verb.type == "LOAD" else "store"
        return tree.Access(word, tensor, layout, span_of(verb).to(layout.span))

    def vector(self, start: Token, elements: tree.Expression) -> tree.Vector:
        return tree.Vector(elements, span_of(start).to(elements.span))

    def budget(
        self, start: Token, memory: tree.Name, amount: tree.Expression, unit: tree.Name | None = None,
    ) -> tree.Budget:
        return tree.Budget(memory, amount, unit, span_of(start).to(unit.span if unit else amount.span))

    def march(self, start: Token, index: tree.Name) -> tree.March:
        return tree.March(index, span_of(start).to(index.span))

    def fuse(self, start: Token, steps: tree.Expression) -> tree.Fuse:
        return tree.Fuse(steps, span_of(start).to(steps.span))

    def unroll(self, start: Token, index: tree.Name) -> tree.Unroll:
        return tree.Unroll(index, span_of(start).to(index.span))

    def mma(self, word: Token, _: Token | None = None, way: tree.Name | None = None) -> tree.Mma:
        return tree.Mma(way, span_of(word) if way is None else span_of(word).to(way.span))

    # ---- expressions

    def expressions(self, *items: tree.Expression) -> tuple[tree.Expression, ...]:
        return items

    def binary(self, left: tree.Expression, op: Token, right: tree.Expression) -> tree.Binary:
        return tree.Binary(str(op), left, right, left.span.to(right.span))

    def unary(self, op: Token, operand: tree.Expression) -> tree.Unary:
        word: Literal["-", "not"] = "-" if op.type == "MINUS" else "not"
        return tree.Unary(word, operand, span_of(op).to(operand.span))

    def pair(self, shape: tree.Expression, stride: tree.Expression) -> tree.LayoutPair:
        return tree.LayoutPair(shape, stride, shape.span.to(stride.span))

    def reduction(
        self, op: Token, binders: tuple[tree.Binder, ...], body: tree.Expression,
    ) -> tree.Reduction:
        return tree.Reduction(name_of(op), binders, body, span_of(op).to(body.span))

    def call(
        self, function: tree.Name, arguments: tuple[tree.Expression, ...], end: Token,
    ) -> tree.Call:
        return tree.Call(function, arguments, function.span.to(span_of(end)))

    def subscript(
        self, base: tree.Expression, indices: tuple[tree.Expression, ...], end: Token,
    ) -> tree.Subscript:
        return tree.Subscript(base, indices, base.span.to(span_of(end)))

    def group(self, start: Token, inner: tree.Expression, end: Token) -> tree.Expression:
        return _widened(inner, span_of(start).to(span_of(end)))

    def entries(self, start: Token, *rest: tree.Expression | Token) -> tree.Tuple:
        items = [item for item in rest if not isinstance(item, Token)]
        return tree.Tuple(tuple(items), span_of(start).to(_end(rest)))

    def number(self, token: Token) -> tree.Number:
        span = span_of(token)
        match token.type:
            case "INTEGER":
                return tree.Number(_integer(token), span)
            case "FLOAT":
                return tree.Number(_float(token), span)
            case _:
                return tree.Number(WORD_NUMBERS[token], span)

    def binders(self, *binders: tree.Binder) -> tuple[tree.Binder, ...]:
        return binders

    def binder(self, name: tree.Name, _: Token | None = None, bounds: tree.Range | None = None) -> tree.Binder:
        return tree.Binder(_declarable(name, "an index"), bounds, name.span.to(bounds.span if bounds else name.span))

    def bounds(self, low: tree.Expression, dots: Token, high: tree.Expression) -> tree.Range:
        return tree.Range(low, high, dots.type == "THROUGH", low.span.to(high.span))

    def name(self, token: Token) -> tree.Name:
        return name_of(token)


BUILDER = _Builder()
