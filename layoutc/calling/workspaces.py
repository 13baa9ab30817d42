"""Arrays between the passes of a call, kept with a compiled kernel so that no call allocates any again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any

import numpy as np

from layoutc.backend import Guarded, guarded
from layoutc.backend.types import numpy_dtype
from layoutc.plan.nodes import Pass, Workspace, WorkspaceArgument

PER_THREAD = 2      # the address of a thread's own default stream
POISON = 0xFF       # of every byte: NaN, and integers that no sum of a test comes to


@dataclass(frozen=True, slots=True)
class Need:
    """A workspace of one call."""

    name: str
    type: str
    count: int      # elements
    zero: bool = False      # before a call, and again after it


def needs_of(passes: Sequence[Pass], extents: Mapping[str, int]) -> tuple[Need, ...]:
    """The workspaces of a call with these extents, each once."""
    found: dict[str, Workspace] = {}
    for one in passes:
        for argument in one.arguments:
            if isinstance(argument, WorkspaceArgument):
                found[argument.workspace.name] = argument.workspace
    return tuple(Need(w.name, w.type.name, w.count.at(extents), w.zero) for w in found.values())


@dataclass(slots=True)
class Rooms:
    """Workspaces on GPUs. Calls on one stream follow one another, so they share; calls on others have their own.

    A thread's own default stream has one address in all threads. What a graph captures is the graph's alone: it may be
    replayed on any stream, and what clears it is made only then.
    """

    _held: dict[tuple[int, int, int, str], Any] = field(default_factory=dict)
    _captured: list[Any] = field(default_factory=list)      # as long as the kernel, for graphs hold addresses alone

    def take(self, needs: Sequence[Need]) -> list[Any]:
        """Arrays on CuPy's current stream, at least as large as is needed."""
        if not needs:
            return []
        import cupy

        device = cupy.cuda.runtime.getDevice()
        stream = cupy.cuda.get_current_stream()
        if stream.is_capturing():
            self._captured += (made := [_made(need) for need in needs])
            return made
        thread = get_ident() if stream.ptr == PER_THREAD else 0
        out = []
        for need in needs:
            key = (device, stream.ptr, thread, need.name)
            held = self._held.get(key)
            if held is None or held.size < need.count or held.dtype != numpy_dtype(need.type):
                held = self._held[key] = _made(need)
            out.append(held)
        return out


def _made(need: Need) -> Any:
    """A new array on the GPU that is current; what clears it goes into the current stream, before the launch."""
    import cupy

    make = cupy.zeros if need.zero else cupy.empty
    return make(max(need.count, 1), numpy_dtype(need.type))


def poisoned(needs: Sequence[Need]) -> list[Guarded]:
    """Arrays for a run on the CPU, which holds its stores against them."""
    out = []
    for need in needs:
        dtype = numpy_dtype(need.type)
        room = np.full(need.count * dtype.itemsize, 0 if need.zero else POISON, np.uint8)
        out.append(guarded(room.view(dtype)))
    return out
