"""A call on a GPU that was made before with arrays of the same form: only their addresses are new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layoutc.backend.cuda import as_stream, current_device, current_stream
from layoutc.backend.ready import ReadyLaunch
from layoutc.calling.arguments import WIDEST_ACCESS, byte_range
from layoutc.calling.stepping import Launches, Spare, Turns
from layoutc.calling.workspaces import Need, Rooms

Form = tuple[object, ...]


def form_of(arrays: Sequence[Any]) -> Form | None:
    """All that a launch depends on but the addresses; None where an argument is no array of CuPy's."""
    try:
        return tuple([(a.shape, a.strides, a.dtype, a.data.device_id, a.data.ptr % WIDEST_ACCESS) for a in arrays])
    except (AttributeError, ValueError):        # NumPy's have no such memory, some not even a buffer
        return None


@dataclass(frozen=True, slots=True)
class Ready:
    """The launches of one call, and the workspaces that stand after its arrays."""

    launches: tuple[ReadyLaunch, ...]
    needs: tuple[Need, ...]
    rooms: Rooms

    def __call__(self, arrays: Sequence[Any], stream: int) -> None:
        """Launch with these arrays on CuPy's current stream, whose address is ``stream``."""
        if self.needs:
            arrays = (*arrays, *self.rooms.take(self.needs))
        for launch in self.launches:
            launch(arrays, stream)


@dataclass(frozen=True, slots=True)
class Stepped:
    """The launches of a call that makes several steps; those that differ by their addresses alone are one here."""

    launches: Launches
    turns: Turns
    known: Mapping[tuple[bool, bool, int], Ready]       # as ``Turns.kind`` says
    inputs: int                                         # how many of the arrays are read
    spare: Spare

    def __call__(self, arrays: Sequence[Any], stream: int) -> None:
        """Launch as ``Ready`` does; the second places are the last call's, if they fit."""
        given, first = arrays[:self.inputs], arrays[self.inputs:]
        turns, where = self.turns, (current_device(), stream)
        second = self.spare.take(where, first)
        passed: dict[tuple[bool, bool], tuple[Any, ...]] = {}
        for number, fused in enumerate(self.launches):
            kind = turns.kind(number)
            if kind not in passed:
                passed[kind] = (*turns.sources(number, given, first, second), *turns.targets(number, first, second))
            self.known[*kind, fused](passed[kind], stream)
        self.spare.keep(where, second)


@dataclass(frozen=True, slots=True)
class Repeated:
    """The launches of a call of one form, ready but for the addresses."""

    ready: Ready | Stepped
    spans: tuple[tuple[int, int], ...]          # per array: its first byte and the one after its last, from its address
    inputs: int                                 # how many of the arrays are read
    device: int                                 # the GPU that the launches are for

    @classmethod
    def of(cls, ready: Ready | Stepped, arrays: Sequence[Any], inputs: int) -> Repeated:
        """From arrays of the form that it is for."""
        ranges = [(byte_range(a), a.data.ptr) for a in arrays]
        return cls(ready, tuple((low - at, high - at) for (low, high), at in ranges), inputs,
                   current_device())

    def launch(self, arrays: Sequence[Any], stream: object) -> bool:
        """Launch; False, and nothing done, on another device or where an output may share memory."""
        if self.device != current_device() or self._shares(arrays):
            return False
        if stream is None:
            self.ready(arrays, current_stream())
        else:
            with as_stream(stream) as current:
                self.ready(arrays, current.ptr)
        return True

    def _shares(self, arrays: Sequence[Any]) -> bool:
        addresses = [a.data.ptr for a in arrays]
        spans = self.spans
        for number in range(self.inputs, len(addresses)):
            low, high = spans[number][0] + addresses[number], spans[number][1] + addresses[number]
            for other in range(number):
                if addresses[other] + spans[other][0] < high and low < addresses[other] + spans[other][1]:
                    return True
        return False
