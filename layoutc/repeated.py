"""A call on a GPU that was made before with arrays of the same form: only their addresses are new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from layoutc.arguments import WIDEST_ACCESS, byte_range
from layoutc.backend.cuda import ReadyLaunch, as_stream, current_device

Form = tuple[object, ...]


def form_of(arrays: Sequence[Any]) -> Form | None:
    """All that a launch depends on but the addresses; None where an argument is no array of CuPy's."""
    try:
        return tuple([(a.shape, a.strides, a.dtype, a.data.device_id, a.data.ptr % WIDEST_ACCESS) for a in arrays])
    except AttributeError:
        return None


@dataclass(frozen=True, slots=True)
class Repeated:
    """Launches of one call, ready but for the addresses."""

    launches: tuple[ReadyLaunch, ...]
    spans: tuple[tuple[int, int], ...]          # per array: its first byte and the one after its last, from its address
    inputs: int                                 # how many of the arrays are read
    device: int                                 # the GPU that the launches are for

    @classmethod
    def of(cls, launches: Sequence[ReadyLaunch], arrays: Sequence[Any], inputs: int) -> Repeated:
        """From arrays of the form that it is for."""
        ranges = [(byte_range(a), a.data.ptr) for a in arrays]
        return cls(tuple(launches), tuple((low - at, high - at) for (low, high), at in ranges), inputs,
                   current_device())

    def launch(self, arrays: Sequence[Any], stream: object) -> bool:
        """Launch; False, and nothing done, on another device or where an output may share memory."""
        if self.device != current_device() or self._shares(arrays):
            return False
        if stream is None:
            self._launch(arrays)
        else:
            with as_stream(stream):
                self._launch(arrays)
        return True

    def _launch(self, arrays: Sequence[Any]) -> None:
        for ready in self.launches:
            ready(arrays)

    def _shares(self, arrays: Sequence[Any]) -> bool:
        addresses = [a.data.ptr for a in arrays]
        spans = self.spans
        for number in range(self.inputs, len(addresses)):
            low, high = spans[number][0] + addresses[number], spans[number][1] + addresses[number]
            for other in range(number):
                if addresses[other] + spans[other][0] < high and low < addresses[other] + spans[other][1]:
                    return True
        return False
