"""Medians: a small window of constant size is sorted in registers, any other is searched bit by bit.

The search is selection by counting on keys that order as the values do (Knuth, TAOCP 3, 5.3.3 names selection; the
keys are those of radix sort): the greatest key of which no more than ``count // 2`` keys are below is the median's.
It reads the window once for each bit of the type and holds nothing, so the window may be of any size.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

from layoutc.index import Expr, Int, multiply, not_negative
from layoutc.plan.lowering.loops import loop
from layoutc.plan.lowering.network import median_network
from layoutc.plan.reads.subscripts import Env, as_index
from layoutc.plan.steps import Assign, Let, Loop, Network, Registers, Variable
from layoutc.plan.values import Choice, Element, Function, Literal, Operation, Text, convert, register_type
from layoutc.plan.values import Variable as Held
from layoutc.resolve import program as p
from layoutc.resolve.types import BOOL, I32, I64, U32, U64, Type

if TYPE_CHECKING:
    from layoutc.plan.lowering.lower import Lowering

SORTED_UP_TO = 121      # elements that a thread sorts in registers: 11 x 11
PAIRS_A_ROW = 8

Body = Callable[[dict[str, Expr]], None]


def median(lowering: Lowering, r: p.Reduce, env: Env) -> Text:
    """The element of rank ``count // 2``, NaN where an element is; what computes it is emitted."""
    count = _constant_count(r)
    if count is not None and 0 < count <= SORTED_UP_TO:
        return _sorted(lowering, r, env, count)
    return _searched(lowering, r, env)


def _constant_count(r: p.Reduce) -> int | None:
    counts = [b.count for b in r.binders if b.count is not None]
    return prod(counts) if len(counts) == len(r.binders) else None


# ---- in registers


def _sorted(lowering: Lowering, r: p.Reduce, env: Env, count: int) -> Text:
    """All values into registers, then a sorting network as far as the middle needs it."""
    window = lowering.names.take("window")
    lowering.emit(Registers(register_type(r.type), window, count))
    _fill(lowering, r, r.binders, dict(env), window, Int(0))
    last = r.binders[-1]
    columns = int(last.high.value) - int(last.low.value) if isinstance(last.low, p.Const) and isinstance(
        last.high, p.Const) and len(r.binders) > 1 else 1
    network, middle = median_network(count, columns)
    pairs = [f"{{ {low}, {high} }}" for low, high in network]
    rows = tuple(", ".join(pairs[k:k + PAIRS_A_ROW]) for k in range(0, len(pairs), PAIRS_A_ROW))
    if pairs:
        lowering.emit(Network(window, lowering.names.take("exchange"), rows, len(pairs)))
    return Element(window, Int(middle))


def _fill(
    lowering: Lowering, r: p.Reduce, binders: tuple[p.Binder, ...], env: dict[str, Expr], window: str, at: Expr
) -> None:
    if not binders:
        lowering.emit(Assign(Element(window, at), lowering.value(r.body, env)))
        return
    first, *rest = binders
    with loop(lowering, first, env, True) as inner:
        low, high = _range(first, env)
        _fill(lowering, r, tuple(rest), inner, window, multiply(at, high - low) + (inner[first.name] - low))


# ---- bit by bit


def _searched(lowering: Lowering, r: p.Reduce, env: Env) -> Text:
    """The greatest key that no more than half of the window's keys are below, from its highest bit down."""
    names, emit = lowering.names, lowering.emit
    lowest, bits, type = _keys(r.type)
    key_type, held = register_type(type), register_type(r.type)
    middle, key, step = names.take("middle"), names.take("median_key"), names.take("key_step")
    emit(Let("i64", middle, Operation("/", _count(r, env), Literal(2, I64))))
    undefined = _any_nan(lowering, r, env) if r.type.is_float else None
    emit(Variable(key_type, key, Literal(lowest, type)))
    emit(Variable(key_type, step, Literal(2 ** (bits - 1), type)))
    bit, trial, below = names.take("bit"), names.take("trial"), names.take("below")
    with lowering.block() as steps:
        emit(Let(key_type, trial, Operation("+", Held(key), Held(step))), Variable("i64", below, Literal(0, I64)))

        def count_below(inner: dict[str, Expr]) -> None:
            value = convert(lowering.value(r.body, inner), r.body.type, r.type)
            less = Operation("<", Function("order_key", (value,)), Held(trial))
            emit(Assign(Held(below), Operation("+", Held(below), Function("i64", (less,)))))

        _nest(lowering, r.binders, dict(env), count_below)
        emit(Assign(Held(key), Choice(Operation("<=", Held(below), Held(middle)), Held(trial), Held(key))))
        emit(Assign(Held(step), Operation("/", Held(step), Literal(2, type))))
    emit(Loop(False, "int", bit, Int(0), Int(bits), tuple(steps)))
    computed = register_type(r.type if r.type.bits >= 32 or r.type.is_float else I32)
    found: Text = Function(f"from_key<{computed}>", (Held(key),))
    if computed != held:
        found = Function(held, (found,))
    return found if undefined is None else Choice(undefined, Literal(float("nan"), r.type), found)


def _keys(type: Type) -> tuple[int, int, Type]:
    """The least key of a type's values, the bits in which keys differ, and the keys' own type."""
    if type.bits == 64:
        return 0, 64, U64
    if type.is_float or type.bits == 32:
        return 0, 32, U32
    return 2**31 - (2 ** (type.bits - 1) if type.kind == "int" else 0), type.bits, U32      # held as int


def _count(r: p.Reduce, env: Env) -> Text:
    """Elements of the window."""
    out: Text | None = None
    for binder in r.binders:
        low, high = _range(binder, env)
        size = Function("i64", (not_negative(high - low),))
        out = size if out is None else Function("mul", (out, size))
    assert out is not None
    return out


def _any_nan(lowering: Lowering, r: p.Reduce, env: Env) -> Text:
    undefined = Held(lowering.names.take("undefined"))
    lowering.emit(Variable("bool", undefined.name, Literal(False, BOOL)))

    def note(inner: dict[str, Expr]) -> None:
        value = Function("is_nan", (lowering.value(r.body, inner),))
        lowering.emit(Assign(undefined, Operation("||", value, undefined)))

    _nest(lowering, r.binders, dict(env), note)
    return undefined


def _nest(lowering: Lowering, binders: tuple[p.Binder, ...], env: dict[str, Expr], body: Body) -> None:
    if not binders:
        body(env)
        return
    with loop(lowering, binders[0], env, lowering.unroll.get(binders[0].name, False)) as inner:
        _nest(lowering, binders[1:], inner, body)


def _range(binder: p.Binder, env: Env) -> tuple[Expr, Expr]:
    low, high = as_index(binder.low, env), as_index(binder.high, env)
    assert low is not None
    assert high is not None
    return low, high
