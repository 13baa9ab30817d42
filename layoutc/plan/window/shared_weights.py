"""Small tensors that a block shares: their arrays, and what of them is in registers that threads have in common."""

from __future__ import annotations

from dataclasses import replace
from math import prod

from layoutc.index import Int, Name, dot
from layoutc.plan.kernel.boxes import declare_shared, fill_shared
from layoutc.plan.lowering.places import InBox
from layoutc.plan.nodes import Storage
from layoutc.plan.steps import Assign, Loop, Registers
from layoutc.plan.values import Element, load, memory_type, register_type
from layoutc.plan.window.state import Walk

MOST_COMMON = 32            # elements of a small tensor that threads hold in common: there are 63 such registers


def share_weights(walk: Walk) -> None:
    """Emit what fills them; where sums do not take them by lines, the first ones stand in registers too."""
    shared = [s for s in walk.shape.weights if s.where == "shared"]
    begun = {s.tensor: _beginning(walk, s) for s in shared
             if not walk.takes_lines and len(walk.shape.weights) == 1 and s.extents[-1] <= MOST_COMMON}
    fill_shared(walk.frame, shared, declare_shared(walk.frame), everywhere=True)
    for s in shared:
        place = walk.frame.lowering.places[s.tensor]
        assert isinstance(place, InBox)
        walk.shared[place.array] = memory_type(s.type)
        if s.tensor in begun:
            array, count = begun[s.tensor]
            walk.frame.lowering.places[s.tensor] = replace(place, beginning=array, begun=count)


def _beginning(walk: Walk, s: Storage) -> tuple[str, int]:
    """The first lines of a small tensor, in registers that all threads have in common where the compiler finds them.

    The array, and how many elements they are.
    """
    frame, axes = walk.frame, walk.shape.found[s.tensor].axes or ()
    extents = [a.high - a.low + 1 for a in axes]
    lines = min(MOST_COMMON // extents[-1], prod(extents[:-1]))
    count = lines * extents[-1]
    type, name = register_type(s.type), frame.names.take(f"{frame.arrays[s.tensor]}_first")
    at = Name(frame.names.take("at"), 0, count - 1)
    places = [at // prod(extents[n + 1:]) % extent + a.low
              for n, (extent, a) in enumerate(zip(extents, axes, strict=True))]
    source = frame.source_of(s.tensor)
    value = load(Element(source.array, dot(places, source.strides)), s.type)
    frame.lowering.emit(Registers(type, name, count), Loop(
        True, "int", at.id, Int(0), Int(count), (Assign(Element(name, at), value),)))
    frame.names.release(at.id)
    walk.begun[name] = (type, count)
    return name, count
