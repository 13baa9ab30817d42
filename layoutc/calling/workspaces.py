"""Arrays between the passes of a call, kept with a compiled kernel so that no call allocates any again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from layoutc.backend import Guarded, guarded
from layoutc.backend.types import numpy_dtype
from layoutc.plan.nodes import Pass, Workspace, WorkspaceArgument

POISON = 0xFF       # of every byte: NaN, and integers that no sum of a test comes to


@dataclass(frozen=True, slots=True)
class Need:
    """A workspace of one call."""

    name: str
    type: str
    count: int      # elements


def needs_of(passes: Sequence[Pass], extents: Mapping[str, int]) -> tuple[Need, ...]:
    """The workspaces of a call with these extents, each once."""
    found: dict[str, Workspace] = {}
    for one in passes:
        for argument in one.arguments:
            if isinstance(argument, WorkspaceArgument):
                found[argument.workspace.name] = argument.workspace
    return tuple(Need(w.name, w.type.name, w.count.at(extents)) for w in found.values())


@dataclass(slots=True)
class Rooms:
    """Workspaces on GPUs. Calls on one stream follow one another, so they share; calls on others have their own."""

    _held: dict[tuple[int, int, str], Any] = field(default_factory=dict)

    def take(self, needs: Sequence[Need]) -> list[Any]:
        """Arrays on CuPy's current stream, at least as large as is needed."""
        if not needs:
            return []
        import cupy

        device = cupy.cuda.runtime.getDevice()
        stream = cupy.cuda.get_current_stream().ptr
        out = []
        for need in needs:
            key = (device, stream, need.name)
            held = self._held.get(key)
            if held is None or held.size < need.count or held.dtype != numpy_dtype(need.type):
                held = self._held[key] = cupy.empty(max(need.count, 1), numpy_dtype(need.type))
            out.append(held)
        return out


def poisoned(needs: Sequence[Need]) -> list[Guarded]:
    """Arrays for a run on the CPU, which holds its stores against them."""
    out = []
    for need in needs:
        dtype = numpy_dtype(need.type)
        room = np.full(need.count * dtype.itemsize, POISON, np.uint8)
        out.append(guarded(room.view(dtype)))
    return out
