"""Partial results of reductions that follow what passes: as many outputs' as it belongs to wait in registers."""

from __future__ import annotations

from collections.abc import Mapping

from layoutc.index import Expr, Int
from layoutc.plan.lowering.loops import take
from layoutc.plan.lowering.reduce import NAMES, Accumulator, accumulator
from layoutc.plan.passing.led import Led
from layoutc.plan.passing.state import Passing
from layoutc.plan.steps import Assign, Loop, Registers, Variable
from layoutc.plan.values import Element
from layoutc.plan.values import Variable as Held
from layoutc.resolve.trees import parts


def declare_sums(walk: Passing) -> None:
    """The partial results of every such reduction, which begin before the first output."""
    for led in walk.led:
        walk.sums[led.reduce] = _declared(walk, led)


def _declared(walk: Passing, led: Led) -> Accumulator:
    frame, plain = walk.frame, accumulator(led.reduce, walk.names)
    walk.names.release(plain.name)
    equation = next(e for e in walk.work.equations if led.reduce in parts(e.value))
    name = walk.names.take(f"{frame.arrays[equation.output]}_{NAMES[led.reduce.op]}")
    start, = plain.start
    assert isinstance(start, Variable)
    count = led.rows * walk.count
    frame.lowering.emit(Registers(start.type, name, count), walk.cleared(name, 0, count, start.value))
    return Accumulator(plain.op, plain.type, name, (Assign(Held(name), start.value),), Held(name), plain.fused)


def take_newest(walk: Passing, led: Led, u: Expr, env: Mapping[str, Expr]) -> None:
    """What came last into the partial results of the outputs ``u`` before it: these do not wait for each other."""
    into = walk.sums[led.reduce]
    with walk.over_items(env) as (item, here):
        total = Element(into.name, (Int(led.high - 1) - u) * walk.count + item)
        one = Accumulator(into.op, into.type, str(total), (), total, into.fused)
        take(walk.frame.lowering, led.reduce, here, one)


def moved_sums(walk: Passing) -> list[Loop]:
    """The partial results of each output become those of the one before it; one more begins."""
    moves: list[Loop] = []
    for led in walk.led:
        into, (start, *_) = walk.sums[led.reduce], walk.sums[led.reduce].start
        assert isinstance(start, Assign)
        kept = (led.rows - 1) * walk.count
        moves.append(walk.moved(into.name, kept, walk.count))
        moves.append(walk.cleared(into.name, kept, walk.count, start.value))
    return moves
