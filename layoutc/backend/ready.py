"""A launch on a GPU that is made again and again: its arguments lie ready in memory, but for the arrays' addresses."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

from layoutc.backend.tensor_maps import MAP_BYTES, Mapped, map_of
from layoutc.cuda_source import MapParam

MapSlot = tuple[int, int, MapParam, tuple[int, ...]]    # argument, number of the array, and what its map is made by
CELL_BYTES = 8


@dataclass(frozen=True, slots=True)
class Parameters:
    """The arguments as the driver takes them: the address of each, which stands in a cell of 64 bits or in a room."""

    cells: ctypes.Array[ctypes.c_uint64]
    addresses: ctypes.Array[ctypes.c_void_p]
    at: int                         # where the addresses are
    rooms: tuple[int, ...]          # where the maps are

    @classmethod
    def of(cls, values: Sequence[int], maps: Sequence[int]) -> Parameters:
        """Of whole numbers, what is narrower than a cell being its lower bytes; ``maps`` are the arguments in rooms."""
        count, room = len(values), MAP_BYTES // CELL_BYTES
        cells = (ctypes.c_uint64 * (count + room * len(maps)))(*values)
        first = ctypes.addressof(cells)
        rooms = tuple(first + (count + room * n) * CELL_BYTES for n in range(len(maps)))
        addresses = (ctypes.c_void_p * count)(*range(first, first + count * CELL_BYTES, CELL_BYTES))
        for place, at in zip(maps, rooms, strict=True):
            addresses[place] = at
        return cls(cells, addresses, ctypes.addressof(addresses), rooms)


@dataclass(frozen=True, slots=True)
class ReadyLaunch:
    """A launch whose arguments are known but for the arrays."""

    kernel: Any                                 # cupy.cuda.function.Function
    blocks: int
    threads: int
    shared_bytes: int
    values: tuple[Any, ...]                     # NumPy's whole numbers; None where an array is
    slots: tuple[tuple[int, int], ...]          # (argument, number of the array that it will be)
    maps: tuple[MapSlot, ...] = ()              # the same of arrays that go as maps
    _free: list[Parameters] = field(default_factory=list, compare=False)

    def __call__(self, arrays: Sequence[Any], stream: int) -> None:
        """Launch with these arrays on the stream of an address, CuPy's current one, and come back at once."""
        try:
            parameters = self._free.pop()       # no other thread has them now
        except IndexError:
            parameters = Parameters.of([0 if v is None else int(v) for v in self.values], [m[0] for m in self.maps])
        for place, number in self.slots:
            parameters.cells[place] = arrays[number].data.ptr
        for room, (_, number, param, last) in zip(parameters.rooms, self.maps, strict=True):
            ctypes.memmove(room, map_of(param, Mapped(arrays[number], last)).tobytes(), MAP_BYTES)
        try:
            _driver().launchKernel(self.kernel.ptr, self.blocks, 1, 1, self.threads, 1, 1, self.shared_bytes, stream,
                                   parameters.at, 0)
        except _driver().CUDADriverError:
            self._by_cupy(arrays)               # this may be the thread's first call, of which the driver knows nothing
        self._free.append(parameters)

    def _by_cupy(self, arrays: Sequence[Any]) -> None:
        """The same launch as CuPy does it, which makes the GPU known to the thread."""
        values = list(self.values)
        for place, number in self.slots:
            values[place] = arrays[number]
        for place, number, param, last in self.maps:
            values[place] = map_of(param, Mapped(arrays[number], last))
        self.kernel((self.blocks, 1, 1), (self.threads, 1, 1), values, shared_mem=self.shared_bytes)


@cache
def _driver() -> ModuleType:
    return importlib.import_module("cupy_backends.cuda.api.driver")
