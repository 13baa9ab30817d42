"""Copies of arrays in which every axis is fenced, so that a step off a row's end is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

FORBIDDEN = 0xFFFFFFFF      # lc::FORBIDDEN
ALIGNMENT = 16              # bytes: the widest access
FENCE = 64                  # bytes at least between two rows, planes, …


def element_range(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """``[low, high)``: the elements spanned, counted from element (0, 0, …); strides in bytes."""
    if 0 in shape:
        return 0, 0
    steps = [(extent - 1) * (stride // itemsize) for extent, stride in zip(shape, strides, strict=True)]
    return sum(step for step in steps if step < 0), sum(step for step in steps if step > 0) + 1


@dataclass(frozen=True, slots=True)
class Guarded:
    """An array with a map of its elements, which a checked launch on the CPU takes in place of the array.

    ``owner[e - low]`` belongs to the element e steps from element (0, 0, …): FORBIDDEN between the rows, 0 where
    nothing was written, else the number of the thread that wrote it, from 1.
    """

    array: NDArray[Any]
    owner: NDArray[np.uint32]

    def written(self) -> NDArray[np.bool_]:
        """Which elements launches have written since the last ``forget``, in the array's shape."""
        written: NDArray[np.bool_] = self._owners() != 0
        return written

    def forget(self) -> None:
        """Let the next launch write every element anew."""
        distinct(self._owners())[...] = 0

    def _owners(self) -> NDArray[np.uint32]:
        step = self.array.itemsize
        low, _ = element_range(self.array.shape, self.array.strides, step)
        strides = [stride // step * self.owner.itemsize for stride in self.array.strides]
        return as_strided(self.owner[-low:], self.array.shape, strides)


def distinct(array: NDArray[Any]) -> NDArray[Any]:
    """A view of an array in which axes of stride 0 have one element: those that it stands for may be any number."""
    return array[(*(slice(0, 1) if stride == 0 and extent > 1 else slice(None)
                    for stride, extent in zip(array.strides, array.shape, strict=True)), ...)]


def guarded(array: NDArray[Any], *, keep_strides: bool = False) -> Guarded:
    """A copy of ``array`` in which each axis but the densest has a fence, the elements between forbidden.

    Signs and zeros of strides stay, and so do the residues modulo 16 bytes of strides and address, which decide
    how many elements one access may move; a pitch wider than the fence becomes as narrow as it, to take little room.
    ``keep_strides`` is for a kernel that insists on its strides.
    """
    step = array.itemsize
    strides = array.strides if keep_strides else _widened(array)
    low, high = element_range(array.shape, strides, step)
    buffer = np.full((high - low) * step + 2 * ALIGNMENT, 0xFF, np.uint8)
    offset = -low * step
    offset += (data_address(array) - data_address(buffer) - offset) % ALIGNMENT
    copy: NDArray[Any] = np.ndarray(array.shape, array.dtype, buffer.data, offset, strides)
    distinct(copy)[...] = distinct(array)
    made = Guarded(copy, np.full(high - low, FORBIDDEN, np.uint32))
    made.forget()
    return made


def data_address(array: NDArray[Any]) -> int:
    """The address of element (0, 0, …); faster than ``array.ctypes.data``."""
    return int(array.__array_interface__["data"][0])


def _widened(array: NDArray[Any]) -> tuple[int, ...]:
    strides = list(array.strides)
    covered = 0                         # bytes, by the axes so far
    axes = [axis for axis, extent in enumerate(array.shape) if extent > 1 and strides[axis] != 0]
    for axis in sorted(axes, key=lambda axis: abs(strides[axis])):
        width = abs(strides[axis])
        if covered:
            least = covered + FENCE
            width = least + (width - least) % ALIGNMENT
        elif width > FENCE:
            width = FENCE + (width - FENCE) % ALIGNMENT
        strides[axis] = width if strides[axis] > 0 else -width
        covered += width * (array.shape[axis] - 1) + (0 if covered else array.itemsize)
    return tuple(strides)
