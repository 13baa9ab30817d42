"""The steps of loads and stores that have layouts of their own: item after item, each where its layout says."""

from __future__ import annotations

from collections.abc import Sequence

from layoutc.index import TRUE, Expr, Int, Name, compare, dot, every
from layoutc.plan.emission.frame import numbered, position_of
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.ownership import unravel
from layoutc.plan.redistributions.redistributed import DealtAccess
from layoutc.plan.steps import Assign, Do, Let, Loop, Registers, Step, Steps, When
from layoutc.plan.values import Element, Function, Variable, c_type, nothing

UNROLLED_ITEMS = 16         # of a thread, where they need not be registers


def when(test: Expr, body: Steps) -> Steps:
    """The body under a test; bare where that always holds."""
    return body if test == TRUE else (When(test, body),)


def item_of(access: DealtAccess) -> Expr:
    """The number of a thread's item."""
    return numbered("item", access.items)


def dealt(access: DealtAccess, at: str, body: Sequence[Step], first: Sequence[Step] = (), unroll: bool = False) -> Step:
    """For every item ``first``, then, where its position ``at`` is in the box, the body."""
    position = position_of(access.layout, numbered("thread", access.layout[0].size), item_of(access))
    inside = compare("<", Name(at, 0), Int(access.elements)) if access.exceeds else TRUE
    steps = (*first, Let("int", at, position), *when(inside, tuple(body)))
    return Loop(unroll or access.items <= UNROLLED_ITEMS, "int", "item", Int(0), Int(access.items), steps)


def cleared(array: str, type: str, item: Expr) -> Step:
    """Nothing into a register: what travels is never what no one wrote."""
    return Assign(Element(array, item), nothing(type))


def moved(frame: Frame, access: DealtAccess, before: str, after: str) -> None:
    """The values of one array of registers to another, by the threads of the block together."""
    assert access.move is not None
    frame.lowering.emit(Do(Function(access.function.name, (Variable(before), Variable(after)))))


# ---- stores


def begin_stores(frame: Frame, item: Expr) -> None:
    """Registers for the outputs that are stored by layouts of their own; ``frame.targets`` then names them."""
    for access in frame.stores.values():
        type = c_type(access.type)
        array = frame.names.take(f"{frame.arrays[access.tensor]}_made")
        frame.lowering.emit(
            Registers(type, array, access.held),
            Loop(True, "int", "item", Int(0), Int(access.held), (cleared(array, type, numbered("item", access.held)),)))
        frame.targets[access.tensor] = Element(array, item)


def finish_stores(frame: Frame) -> None:
    """What was made to the threads that store it, and into memory."""
    for access in frame.stores.values():
        array = frame.targets[access.tensor].array
        if access.move is not None:
            stored = frame.names.take(f"{frame.arrays[access.tensor]}_stored")
            frame.lowering.emit(Registers(c_type(access.type), stored, access.items))
            moved(frame, access, array, stored)
            array = stored
        _store(frame, access, array)


def _store(frame: Frame, access: DealtAccess, array: str) -> None:
    """A thread's items to their places in the tile, those inside the tensor."""
    place = frame.place_of(access.tensor)
    at = frame.names.take("at")
    steps: list[Step] = []
    tests: list[Expr] = []
    coordinates: list[Expr] = []
    local = unravel(Name(at, 0, access.elements - 1), access.extents)
    for index, inner, size, n in zip(frame.indices, local, access.extents, frame.counts, strict=True):
        name = frame.names.take(f"{frame.arrays[access.tensor]}_{frame.spelled[index]}")
        steps.append(Let("Index", name, frame.origin(index) + inner))
        last = n.value - 1 if isinstance(n, Int) and n.value % size == 0 else None
        coordinates.append(Name(name, 0, last))
        tests.append(compare("<", coordinates[-1], n))
    store = Assign(Element(place.array, dot(coordinates, place.strides)), Element(array, item_of(access)))
    frame.lowering.emit(dealt(access, at, (*steps, *when(every(tests), (store,))), unroll=True))
    frame.names.release(at)
