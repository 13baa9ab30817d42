"""What sets out for shared memory before it is worked on: whole vectors, or what edge rules say of their elements."""

from __future__ import annotations

from layoutc.index import TRUE, Expr, Int, Name, compare, dot, every
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.loading import Destination, copy_one
from layoutc.plan.lowering.places import InGlobal, fold
from layoutc.plan.machine import ASYNCHRONOUS
from layoutc.plan.nodes import Storage
from layoutc.plan.steps import Do, Either, Step, Turns
from layoutc.plan.values import Function, Operation, Text, Variable
from layoutc.resolve.program import EdgeRule
from layoutc.resolve.types import Type


def copy_vector(array: str, slot: Expr, source: Text, count: int, type: Type) -> Step:
    """So many elements that are there, in the background where the machine can."""
    target = Operation("+", Variable(array), slot)
    if count * type.bytes in ASYNCHRONOUS:
        return Do(Function(f"copy_async{count * type.bytes}", (target, source)))
    return Do(Function("store", (target, Function(f"load<{count}>", (source,)))))


def copy_by_rule(frame: Frame, s: Storage, array: str, slot: Expr, subscripts: tuple[Expr, ...], vector: int) -> None:
    """A vector where its line is one of the tensor's and it lies inside, else its elements; 0 where no rule answers."""
    source, in_background = frame.source_of(s.tensor), s.type.bytes in ASYNCHRONOUS
    if vector == 1:
        copy_one(frame, s, Destination(array, slot, in_background), subscripts, everywhere=True)
        return
    *outer, last = subscripts
    test, at = whole_there(frame, source, subscripts, vector)
    whole = copy_vector(array, slot, Operation("+", Variable(source.array), at), vector, s.type)
    element = Name(frame.names.take("element"), 0, vector - 1)
    with frame.lowering.block() as each:
        copy_one(frame, s, Destination(array, slot + element, in_background), (*outer, last + element), everywhere=True)
    frame.lowering.emit(Either(test, (whole,), (Turns("1", "int", element.id, Int(0), Int(vector), tuple(each)),)))
    frame.names.release(element.id)


def whole_there(
    frame: Frame, source: InGlobal, subscripts: tuple[Expr, ...], vector: int
) -> tuple[Expr, Expr]:
    """Whether a vector lies in one of a tensor's lines, and where that is in its array."""
    *outer, last = subscripts
    folded, tests = [], []
    for i, n, (low, high) in zip(outer, source.extents, source.edges or ((None, None),) * len(outer), strict=False):
        folded.append(fold(i, n, low, high))
        tests += [compare(">=", i, Int(0))] if _stops(low) else []
        tests += [compare("<", i, n)] if _stops(high) else []
    tests += [compare(">", n, Int(0)) for n in source.extents if n not in frame.counts]
    tests += [compare(">=", last, Int(0)), compare("<=", last + vector, source.extents[-1])]
    return every(t for t in tests if t != TRUE), dot((*folded, last), source.strides)


def _stops(rule: EdgeRule | None) -> bool:
    """Whether nothing is read beyond a side."""
    return rule is None or rule.value is not None
