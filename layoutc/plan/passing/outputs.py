"""The outputs that a turn finishes, in registers."""

from __future__ import annotations

from layoutc.plan.passing.state import Passing
from layoutc.plan.steps import Assign, Registers
from layoutc.plan.values import Element, c_type, store
from layoutc.resolve.program import Equation, Reduce
from layoutc.resolve.types import BF16, F16


def make_outputs(walk: Passing) -> list[tuple[Equation, str]]:
    """All outputs of a turn; of each equation the array that holds them, which may be that of its sums."""
    sums = {e: name for e in walk.work.equations if (name := _sums_of(walk, e)) is not None}
    made = {e: walk.names.take(f"{walk.frame.arrays[e.output]}_{walk.made}")
            for e in walk.work.equations if e not in sums}
    if made:
        _make(walk, made)
    return [(e, sums.get(e) or made[e]) for e in walk.work.equations]


def _sums_of(walk: Passing, equation: Equation) -> str | None:
    """The partial results that are the outputs themselves once they are whole."""
    value = equation.value
    if not isinstance(value, Reduce) or value not in walk.sums or walk.frame.output(equation).type in (F16, BF16):
        return None
    return walk.sums[value].name


def _make(walk: Passing, made: dict[Equation, str]) -> None:
    frame = walk.frame
    for e, array in made.items():
        frame.lowering.emit(Registers(c_type(frame.output(e).type), array, walk.count))
    with walk.over_items(frame.at) as (item, at):
        for led in walk.led:
            frame.lowering.made[led.reduce] = Element(walk.sums[led.reduce].name, item)
        with frame.lowering.block() as body:
            for e, array in made.items():
                value = store(frame.lowering.value(e.value, {**frame.extents, **at}), frame.output(e).type)
                frame.lowering.emit(Assign(Element(array, item), value))
        walk.where_valid(at, body)
        frame.lowering.made.clear()
