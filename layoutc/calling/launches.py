"""The passes of one call, launched in their order; on a GPU also what launches them again for other arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from layoutc.backend import Guarded
from layoutc.backend.ready import ReadyLaunch
from layoutc.backend.tensor_maps import Mapped
from layoutc.calling.arguments import Array, refuse, strides_in_elements
from layoutc.calling.repeated import Ready
from layoutc.calling.stepping import plain
from layoutc.calling.workspaces import Rooms, needs_of, poisoned
from layoutc.plan.nodes import (
    ConstantArgument,
    ExtentArgument,
    MapArgument,
    Pass,
    StrideArgument,
    TensorArgument,
    WorkspaceArgument,
)

MOST_BLOCKS = 2**31 - 1
WORKSPACE = "workspace "    # before the name of an array that is no tensor's


def launch_passes(
    module: Any, passes: Sequence[Pass], extents: dict[str, int], tensors: Mapping[str, Array | Guarded],
    given: Mapping[str, Array], rooms: Rooms | None,
) -> Ready | None:
    """Launch; None on the CPU, and where an array goes by value.

    ``tensors`` are the arrays by name, ``given`` those of them that may go by value; ``rooms`` keeps the workspaces of
    a GPU and is None on the CPU.
    """
    needs = needs_of(passes, extents)
    spaces = poisoned(needs) if rooms is None else rooms.take(needs)
    handed = {**tensors, **dict(zip([f"{WORKSPACE}{n.name}" for n in needs], spaces, strict=True))}
    arrays = {name: plain(array) for name, array in tensors.items()}
    repeated: list[ReadyLaunch] | None = None if rooms is None else []
    for one in passes:
        blocks = block_count(one, extents)
        if blocks > MOST_BLOCKS:
            raise refuse("too-many-blocks", f"the launch has {blocks} blocks, a grid at most {MOST_BLOCKS}",
                         "make the tile larger")
        if blocks:
            values = _values_of(one, extents, arrays, handed, given)
            module.launch(one.entry, blocks, values)
            repeated = _with(repeated, module, one, blocks, values, list(handed))
    return None if repeated is None or rooms is None else Ready(tuple(repeated), needs, rooms)


def _with(
    repeated: list[ReadyLaunch] | None, module: Any, one: Pass, blocks: int, values: list[object], names: list[str]
) -> list[ReadyLaunch] | None:
    """One more launch to repeat, or None where an array went by value."""
    if repeated is None or any(isinstance(a, ConstantArgument) for a in one.arguments):
        return None
    slots = [(place, names.index(_handed(a))) for place, a in enumerate(one.arguments)
             if isinstance(a, TensorArgument | WorkspaceArgument | MapArgument)]
    return [*repeated, module.entries[one.entry].ready(blocks, values, slots)]


def _handed(argument: TensorArgument | WorkspaceArgument | MapArgument) -> str:
    """The name under which an array is handed over."""
    return f"{WORKSPACE}{argument.workspace.name}" if isinstance(argument, WorkspaceArgument) else argument.tensor


def block_count(one: Pass, extents: dict[str, int]) -> int:
    """Blocks of a pass for these extents; 0 where there is nothing to do."""
    count = one.sharing.at(extents)
    for n in one.blocks:
        count *= n.at(extents)
    return one.launched(count)


def _values_of(
    one: Pass, extents: dict[str, int], tensors: Mapping[str, Array], handed: Mapping[str, Any],
    given: Mapping[str, Array],
) -> list[object]:
    out: list[object] = []
    for argument in one.arguments:
        match argument:
            case TensorArgument() | WorkspaceArgument():
                out.append(handed[_handed(argument)])
            case MapArgument(_, made):
                out.append(Mapped(handed[_handed(argument)], made.last(extents)))
            case ConstantArgument(name):
                array = given[name]
                out.append(array if isinstance(array, np.ndarray) else array.get())
            case ExtentArgument(name):
                out.append(extents[name])
            case StrideArgument(name, axis):
                out.append(strides_in_elements(tensors[name])[axis])
    return out
