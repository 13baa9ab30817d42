"""Double buffering: how the elements of the next chunk come into a box while the present one is computed with."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from layoutc.index import TRUE, Expr, Int, Name, compare
from layoutc.plan.kernel.boxes import emit_rounds
from layoutc.plan.kernel.dealt import dealt, item_of
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.loading import Destination, in_vectors, loads_of, vector_into
from layoutc.plan.lowering.places import InBox
from layoutc.plan.machine import ASYNCHRONOUS
from layoutc.plan.nodes import Storage
from layoutc.plan.steps import Assign, Do, Let, Loop, Registers, Step, Steps, When
from layoutc.plan.values import Element, Function, Operation, Variable, memory_type

MOST_HELD = 16                  # elements that a thread holds between a load and its store


@dataclass(frozen=True, slots=True)
class Transfer:
    """One box on its way."""

    asynchronous: bool          # copies in the background, which someone must wait for
    declared: Steps             # registers in which elements wait
    begin: Steps                # before the arithmetic on the present chunk
    finish: Steps               # after it


def transfer(frame: Frame, s: Storage, box: InBox) -> Transfer:
    """By copies in the background where the target and the type have them; else through registers, if they suffice."""
    vector = vector_into(frame, s)
    assert box.buffer is not None
    first = box.buffer * prod(box.extents)
    asynchronous = frame.choice.asynchronous and s.type.bytes * vector in ASYNCHRONOUS
    rounds = _rounds(frame, s, box, vector)
    if asynchronous or rounds * vector > MOST_HELD:
        return Transfer(asynchronous, (), _straight(frame, s, box, first, asynchronous), ())
    return _through_registers(frame, s, box, first, rounds)


def _rounds(frame: Frame, s: Storage, box: InBox, vector: int) -> int:
    """Vectors that one thread moves."""
    access = frame.loads.get(s.tensor)
    vectors = prod(in_vectors(box.extents, vector))
    return access.items if access is not None else -(-vectors // frame.choice.owner.threads)


def _straight(frame: Frame, s: Storage, box: InBox, first: Expr, asynchronous: bool) -> Steps:
    """From global memory into the box."""
    vector = vector_into(frame, s)
    with frame.lowering.block() as steps:
        at, loads = loads_of(frame, s, box, lambda at: Destination(box.array, first + at * vector, asynchronous))
        if s.tensor in frame.loads:
            frame.lowering.emit(dealt(frame.loads[s.tensor], at, loads))
            frame.names.release(at)
        else:
            emit_rounds(frame, at, in_vectors(box.extents, vector), loads)
    return tuple(steps)


def _through_registers(frame: Frame, s: Storage, box: InBox, first: Expr, rounds: int) -> Transfer:
    """Loads before the arithmetic, stores after it."""
    vector, type = vector_into(frame, s), memory_type(s.type)
    array = frame.names.take(f"{frame.arrays[s.tensor]}_next")
    declared = Registers(type if vector == 1 else f"Pack<{type}, {vector}>", array, rounds)
    access = frame.loads.get(s.tensor)
    turn = Name(frame.names.take("turn"), 0, rounds - 1) if access is None else item_of(access)
    held = Destination(array, turn) if vector == 1 else Destination(f"{array}[{turn}]", Int(0), vector=array, at=turn)
    with frame.lowering.block():
        at, loads = loads_of(frame, s, box, lambda _: held)
    place = first + Name(at, 0) * vector
    value = Element(array, turn)
    stores: tuple[Step, ...] = (
        Assign(Element(box.array, place), value) if vector == 1
        else Do(Function("store", (Operation("+", Variable(box.array), place), value))),)
    if access is not None:
        begin, finish = dealt(access, at, loads, unroll=True), dealt(access, at, stores, unroll=True)
    else:
        count = prod(in_vectors(box.extents, vector))
        begin, finish = (_turns(frame, turn, at, rounds, count, steps) for steps in (tuple(loads), stores))
        frame.names.release(str(turn))
    frame.names.release(at)
    return Transfer(False, (declared,), (begin,), (finish,))


def _turns(frame: Frame, turn: Expr, at: str, rounds: int, count: int, body: Steps) -> Step:
    """Every thread its share of ``count`` vectors, in a number of turns known to the compiler."""
    threads = frame.choice.owner.threads
    position = turn * threads + (Name("thread", 0, threads - 1) if threads > 1 else Int(0))
    inside = compare("<", Name(at, 0), Int(count)) if rounds * threads > count else TRUE
    guarded = body if inside == TRUE else (When(inside, body),)
    return Loop(True, "int", str(turn), Int(0), Int(rounds), (Let("int", at, position), *guarded))
