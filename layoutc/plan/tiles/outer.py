"""Products of a thread's outputs as an outer product: each factor is taken once for all outputs that share it.

Compilers do not find this by themselves once loops around are unrolled: each product would read both factors again.
"""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.index import Expr, Int, Name
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.items import ItemPlace
from layoutc.plan.kernel.used import names_in, with_used
from layoutc.plan.lowering.reduce import Accumulator
from layoutc.plan.reads.subscripts import Env
from layoutc.plan.steps import Assign, Let, Loop, Registers, Step, Steps
from layoutc.plan.values import Element, Text, register_type
from layoutc.plan.values import Variable as Held
from layoutc.resolve.program import Binary, Reduce, Value


@dataclass(frozen=True, slots=True)
class Sharing:
    """Which items of a thread share a value: those with the same ``item // every % count``."""

    every: int
    count: int

    def number(self, item: Expr) -> Expr:
        """The number of an item's value."""
        return item // self.every % self.count


def outer_product(frame: Frame, r: Reduce, env: Env, into: Accumulator, place: ItemPlace, items: int) -> Steps | None:
    """One product of every item into its accumulator; None where no factor is shared or none is a product."""
    body = r.body
    if not (into.fused and isinstance(body, Binary) and body.op == "*"):
        return None
    item = Name("item", 0, items - 1)
    made = [_factor(frame, value, env, place, items, wanted)
            for value, wanted in ((body.left, "left"), (body.right, "right"))]
    if all(declared is None for declared, *_ in made):
        return None
    values = [value for _, _, value in made]
    inside = with_used(place.steps, (*(step for _, own, _ in made for step in own),
                                     *into.take_product(values[0], values[1])))
    for (declared, *_), value in zip(made, values, strict=True):
        if declared is not None and isinstance(value, Held | Element):
            frame.names.release(value.name if isinstance(value, Held) else value.array)
    loop = Loop(True, "int", str(item), Int(0), Int(items), inside)
    return (*(step for declared, *_ in made for step in declared or ()), loop)


def _factor(
    frame: Frame, value: Value, env: Env, place: ItemPlace, items: int, wanted: str
) -> tuple[Steps | None, Steps, Text]:
    """What is taken before the items' loop (None: nothing), what an item makes in it, and the factor there."""
    lowering = frame.lowering
    with lowering.block() as steps:
        found = lowering.value(value, env)
    array = Let(register_type(value.type), "", found)
    sharing = _sharing(place, (*steps, array), items)
    if sharing is None:
        return None, tuple(steps), found
    name = frame.names.take(wanted)
    if sharing.count == 1:
        only = _places_of(place, Int(0))
        return with_used(only, (*steps, Let(array.type, name, found))), (), Held(name)
    part = Name(frame.names.take("part"), 0, sharing.count - 1)
    body = with_used(_places_of(place, part * sharing.every), (*steps, Assign(Element(name, part), found)))
    frame.names.release(str(part))
    declared = (Registers(array.type, name, sharing.count),
                Loop(True, "int", str(part), Int(0), Int(sharing.count), body))
    return declared, (), Element(name, sharing.number(Name("item", 0, items - 1)))


def _places_of(place: ItemPlace, item: Expr) -> list[Step]:
    """The declarations of an item's coordinates, with its number replaced."""
    return [Let(s.type, s.name, s.value.over({"item": item}))
            for s in place.steps if isinstance(s, Let) and isinstance(s.value, Expr)]


def _sharing(place: ItemPlace, steps: Steps, items: int) -> Sharing | None:
    """How items share what the steps make; None where each has its own."""
    if "item" in names_in(steps):
        return None
    used = {s.name for s in with_used(place.steps, steps)[:-len(steps)] if isinstance(s, Let)}
    first: dict[tuple[object, ...], int] = {}
    numbers = []
    for item in range(items):
        at = tuple(s.value for s in _places_of(place, Int(item)) if isinstance(s, Let) and s.name in used)
        numbers.append(first.setdefault(at, len(first)))
    count = len(first)
    if count == items:
        return None
    for every in range(1, items + 1):
        if numbers == [item // every % count for item in range(items)]:
            return Sharing(every, count)
    return None
