"""Reductions over the same ranges: which points a team walks for all of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from layoutc.index import Call, Expr, Int, Name, not_negative, terms
from layoutc.plan.reads.subscripts import Env, as_index
from layoutc.plan.reductions.course import Digit
from layoutc.plan.reductions.found import Found
from layoutc.resolve.program import Binder, Const, Kernel, Read, Reduce, Value
from layoutc.resolve.trees import children

INNER_POINTS = 64       # of constant ranges, which each thread walks by itself


@dataclass(frozen=True, slots=True)
class Group:
    """Reductions of one level whose walked ranges are the same."""

    members: tuple[Found, ...]
    digits: tuple[Digit, ...]           # in the order of the walk, the fastest last
    orders: tuple[tuple[int, ...], ...]     # of each member: which of its walked binders each digit is


def walked(reduce: Reduce) -> tuple[Binder, ...]:
    """The binders that a team walks together; short constant ranges are left to each thread."""
    points = prod(filter(None, map(_points, reduce.binders)))
    return tuple(b for b in reduce.binders if _points(b) is None) if points <= INNER_POINTS else reduce.binders


def _points(binder: Binder) -> int | None:
    """Of a constant range how many places it has."""
    match binder.low, binder.high:
        case Const(low), Const(high):
            return int(high) - int(low)
    return None


def groups_of(kernel: Kernel, found: Sequence[Found], env: Env, by_columns: bool) -> list[Group]:
    """The groups in the order in which they are made."""
    made: dict[object, list[tuple[Found, tuple[int, ...]]]] = {}
    of: dict[object, tuple[Digit, ...]] = {}
    for one in found:
        binders = walked(one.reduce)
        order = tuple(range(len(binders))) if by_columns else _fast_last(kernel, one, binders, env)
        digits = []
        for number in order:
            low, high = as_index(binders[number].low, env), as_index(binders[number].high, env)
            assert low is not None
            assert high is not None
            digits.append(Digit(binders[number].name, low, not_negative(high - low), high))
        key = (one.level, tuple((d.low, d.count) for d in digits))
        made.setdefault(key, []).append((one, order))
        of.setdefault(key, tuple(digits))
    return [Group(tuple(one for one, _ in members), of[key], tuple(order for _, order in members))
            for key, members in made.items()]


def _fast_last(kernel: Kernel, one: Found, binders: tuple[Binder, ...], env: Env) -> tuple[int, ...]:
    """The binder last along which memory is contiguous in most reads."""
    inner = {**env, **dict(one.at), **{b.name: Name(f"{b.name}#") for b in one.reduce.binders}}
    ends = [s[-1] for _, s in plain_reads(kernel, one.reduce.body, inner) if s]
    score = [sum(1 for e in ends if (Name(f"{b.name}#"), 1) in terms(e)) for b in binders]
    fast = max(range(len(binders)), key=lambda n: (score[n], n))
    return (*(n for n in range(len(binders)) if n != fast), fast)


def plain_reads(kernel: Kernel, value: Value, env: Env) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    """Reads of inputs that a value makes once: through lets without edges, outside of reductions of its own."""
    stages = {s.name: s for s in kernel.stages}
    match value:
        case Reduce():
            return
        case Read(tensor, indices):
            places = [as_index(i, env) for i in indices]
            at = tuple(e for e in places if e is not None)
            if len(at) < len(places):
                return
            if tensor not in stages:
                yield tensor, at
            elif not stages[tensor].edges:
                stage = stages[tensor]
                inner = {**{e: env[e] for e in kernel.extents}, **dict(zip(stage.indices, at, strict=True))}
                yield from plain_reads(kernel, stage.value, inner)
            return
    for child in children(value):
        yield from plain_reads(kernel, child, env)


def bound(group: Group, one: Found, env: Env, at: Sequence[Expr]) -> dict[str, Expr]:
    """What stands for names in a member's body at a point of the walk."""
    binders, order = walked(one.reduce), group.orders[group.members.index(one)]
    return {**env, **dict(one.at), **{binders[n].name: e for n, e in zip(order, at, strict=True)}}


def is_of_one_tensor(kernel: Kernel, group: Group, env: Env) -> bool:
    """Whether each point of the walk reads an element of its own of some tensor, which has no fewer elements then."""
    without = {t.name for t in kernel.inputs if not any(any(rules) for rules in t.edges)}
    marks = [Name(f"{d.name}#") for d in group.digits]
    for one in group.members:
        for tensor, at in plain_reads(kernel, one.reduce.body, bound(group, one, env, marks)):
            axes = [[mark for mark in marks if (mark, 1) in terms(e)] for e in at]
            if tensor in without and all(len(own) <= 1 for own in axes) and all(any(mark in own for own in axes)
                                                                               for mark in marks):
                return True
    return False


def inner_binders(one: Found) -> tuple[Binder, ...]:
    """Those that each thread walks by itself."""
    names = {b.name for b in walked(one.reduce)}
    return tuple(b for b in one.reduce.binders if b.name not in names)


def runs_of(digits: Sequence[Digit], vector: int) -> Expr:
    """How many runs a walk has, in 64 bits where several ranges multiply."""
    *outer, last = (d.count for d in digits)
    out: Expr = last // vector
    for n in outer:
        out = out * (Call("i64", (n,)) if not isinstance(n, Int) else n)
    return out
