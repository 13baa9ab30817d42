"""The outputs that a turn finishes, in registers."""

from __future__ import annotations

from layoutc.plan.passing.state import Passing
from layoutc.plan.steps import Assign, Registers
from layoutc.plan.values import Element, c_type, store
from layoutc.resolve.program import Equation


def make_outputs(walk: Passing) -> list[tuple[Equation, str]]:
    """All outputs of a turn; of each equation the array that holds them."""
    frame, equations = walk.frame, walk.work.equations
    made = [(e, walk.names.take(f"{frame.arrays[e.output]}_{walk.made}")) for e in equations]
    for e, array in made:
        frame.lowering.emit(Registers(c_type(frame.output(e).type), array, walk.count))
    with walk.over_items(frame.at) as (item, at):
        for led in walk.led:
            frame.lowering.made[led.reduce] = Element(walk.sums[led.reduce].name, item)
        with frame.lowering.block() as body:
            for e, array in made:
                value = store(frame.lowering.value(e.value, {**frame.extents, **at}), frame.output(e).type)
                frame.lowering.emit(Assign(Element(array, item), value))
        walk.where_valid(at, body)
        frame.lowering.made.clear()
    return made
