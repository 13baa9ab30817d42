"""Reductions as loops: nests in binder order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from layoutc.index import Expr, Int, Name, Select, multiply
from layoutc.plan.lowering.reduce import Accumulator, accumulator
from layoutc.plan.reads.subscripts import Env, as_index
from layoutc.plan.steps import Loop, Unroll
from layoutc.plan.values import Function, Text
from layoutc.resolve import program as p

if TYPE_CHECKING:
    from layoutc.plan.lowering.lower import Lowering
    from layoutc.plan.reductions.parts import Cells

UNROLLED = 64           # iterations of a nest of loops that are written out by the compiler


def reduce_value(lowering: Lowering, r: p.Reduce, env: Env) -> Text:
    """The reduction's value; its loops are emitted."""
    into = accumulator(r, lowering.names)
    lowering.emit(*into.start)
    nest(lowering, r, r.binders, dict(env), into)
    return into.result


def nest(
    lowering: Lowering, r: p.Reduce, binders: tuple[p.Binder, ...], env: dict[str, Expr], into: Accumulator | Cells
) -> None:
    """Loops over these binders, each point taken; the reduction's other binders stand in ``env``."""
    if not binders:
        take(lowering, r, env, into)
        return
    first, *rest = binders
    with loop(lowering, first, env, _is_unrolled(lowering, r, first)) as inner:
        nest(lowering, r, tuple(rest), inner, into)


def take(lowering: Lowering, r: p.Reduce, env: Env, into: Accumulator | Cells) -> None:
    """The body's value where the binders have values, into the accumulator."""
    body = r.body
    if into.fused and isinstance(body, p.Binary) and body.op == "*":
        lowering.emit(*into.take_product(lowering.value(body.left, env), lowering.value(body.right, env)))
        return
    at = _position(lowering, [(env[b.name], b) for b in r.binders], env) if r.op in ("argmin", "argmax") else None
    lowering.emit(*into.take(lowering.value(body, env), at))


@contextmanager
def loop(lowering: Lowering, binder: p.Binder, env: Mapping[str, Expr], unroll: Unroll) -> Iterator[dict[str, Expr]]:
    """A loop over the binder's range; what is emitted inside goes into its body."""
    low, high = as_index(binder.low, env), as_index(binder.high, env)
    assert low is not None
    assert high is not None
    if isinstance(high, Select):
        high = Name(lowering.let("Index", f"{binder.name}_end", high))
    name = lowering.names.take(binder.name)
    known = isinstance(low, Int) and isinstance(high, Int)
    last = high.value - 1 if isinstance(high, Int) else None
    if not isinstance(high, Int):
        lowering.limits[name] = high
    with lowering.block() as steps:
        yield {**env, binder.name: Name(name, low.interval[0], last)}
    lowering.emit(Loop(unroll, "int" if known else "Index", name, low, high, tuple(steps)))
    lowering.names.release(name)
    lowering.limits.pop(name, None)


@contextmanager
def loops(lowering: Lowering, binders: Sequence[p.Binder], env: Mapping[str, Expr]) -> Iterator[dict[str, Expr]]:
    """Loops over the ranges of several binders, one in the other, all written out."""
    with ExitStack() as stack:
        inner = dict(env)
        for binder in binders:
            inner = stack.enter_context(loop(lowering, binder, inner, True))
        yield inner


def _is_unrolled(lowering: Lowering, r: p.Reduce, binder: p.Binder) -> Unroll:
    if binder.name in lowering.unroll:
        return lowering.unroll[binder.name]
    count = 1
    for inner in reversed(r.binders):
        if not (isinstance(inner.low, p.Const) and isinstance(inner.high, p.Const)):
            return False
        count *= max(int(inner.high.value) - int(inner.low.value), 0)
        if inner is binder:
            return count <= UNROLLED
    return False


def _position(lowering: Lowering, at: list[tuple[Expr, p.Binder]], env: Env) -> Text:
    """Of one index its value, of several the row-major position."""
    if len(at) == 1:
        return Function("i64", (at[0][0],))
    out: Expr = Int(0)
    for index, binder in at:
        low, high = as_index(binder.low, env), as_index(binder.high, env)
        assert low is not None
        assert high is not None
        out = multiply(out, high - low) + (index - low)
    return Function("i64", (out,))
