"""How the arrays of a test lie in memory: padded, reversed, transposed, repeated, off the boundaries of vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.backend.guarded import data_address, element_range

Array = NDArray[Any]
ALIGNMENT = 64          # bytes: what allocators give, and more than any access takes


@dataclass(frozen=True, slots=True)
class Form:
    """The places of an array's elements; all fields empty: contiguous and aligned."""

    order: tuple[int, ...] = ()         # axes from the widest stride to the narrowest; (): as they come
    pad: tuple[int, ...] = ()           # per axis, elements left free after each step along it; (): none
    reverse: tuple[int, ...] = ()       # axes that run backwards
    repeat: tuple[int, ...] = ()        # axes of stride 0
    align: int = 1                      # rows, planes, … begin at multiples of so many elements
    offset: int = 0                     # elements by which the array begins past an aligned address

    def strides(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Strides in elements for an array of that shape."""
        strides = [0] * len(shape)
        room, align = 1, 1
        for axis in reversed(self.order or range(len(shape))):
            if axis in self.repeat:
                continue
            step = -(-(room + (self.pad[axis] if self.pad else 0)) // align) * align
            strides[axis] = -step if axis in self.reverse else step
            room, align = step * max(shape[axis], 1), self.align
        return tuple(strides)

    def as_json(self) -> dict[str, Any]:
        """The fields that say something."""
        fields = {"order": self.order, "pad": self.pad, "reverse": self.reverse, "repeat": self.repeat}
        found: dict[str, Any] = {name: list(value) for name, value in fields.items() if value}
        found |= {"align": self.align} if self.align > 1 else {}
        return found | ({"offset": self.offset} if self.offset else {})

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Form:
        """The form of its fields; ValueError or TypeError where they are none."""
        order, pad, reverse, repeat = (
            tuple(int(a) for a in fields.get(name, ())) for name in ("order", "pad", "reverse", "repeat"))
        return cls(order, pad, reverse, repeat, int(fields.get("align", 1)), int(fields.get("offset", 0)))


@dataclass(frozen=True, slots=True)
class Placed:
    """An array within a buffer of its own, so that what lies around it can be looked at."""

    buffer: Array               # one axis
    first: int                  # where in it element (0, 0, …) lies
    shape: tuple[int, ...]
    strides: tuple[int, ...]    # in elements

    def view(self) -> Array:
        """The array, over the buffer's memory."""
        size = self.buffer.itemsize
        array: Array = np.ndarray(self.shape, self.buffer.dtype, self.buffer.view(np.uint8).data, self.first * size,
                                  [stride * size for stride in self.strides])
        return array

    def over(self, buffer: Array) -> Placed:
        """The same places in another buffer."""
        return Placed(buffer, self.first, self.shape, self.strides)

    def surroundings(self) -> bytes:
        """All of the buffer but the array's elements."""
        rest = self.over(self.buffer.copy())
        rest.view()[...] = np.zeros((), rest.buffer.dtype)
        return rest.buffer.tobytes()


def place(
    values: Array, strides: tuple[int, ...], offset: int = 0, *, room: int = 0, seed: int = 0
) -> Placed:
    """The values with these strides in a buffer that holds garbage elsewhere; ``room`` elements are left behind it."""
    low, high = element_range(values.shape, strides, 1)
    buffer = _aligned(offset + high - low + room, values.dtype, seed)
    placed = Placed(buffer, offset - low, values.shape, strides)
    placed.view()[...] = values
    return placed


def _aligned(count: int, dtype: np.dtype[Any], seed: int) -> Array:
    """``count`` elements of garbage that begin at a multiple of ALIGNMENT."""
    rng = np.random.default_rng(seed)
    bytes = rng.integers(0, 2 if dtype == np.bool_ else 256, count * dtype.itemsize + ALIGNMENT, np.uint8)
    begin = -data_address(bytes) % ALIGNMENT
    return bytes[begin:begin + count * dtype.itemsize].view(dtype)
