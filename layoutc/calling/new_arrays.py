"""The arrays that a call makes for its outputs, and the strides that a kernel insists on."""

from __future__ import annotations

import numpy as np

from layoutc.backend.types import numpy_dtype
from layoutc.calling.arguments import Array, overlaps_itself, refuse, strides_in_elements
from layoutc.resolve.binding import evaluate_index
from layoutc.resolve.program import Tensor


def new_array(tensor: Tensor, shape: tuple[int, ...], on_gpu: bool, extents: dict[str, int]) -> Array:
    """An array for an output; LayoutcError where the kernel insists on strides that no new array has."""
    dtype = numpy_dtype(tensor.type.name)
    if tensor.strides is not None:
        return _strided(tensor, shape, on_gpu, extents)
    if on_gpu:
        import cupy

        return cupy.empty(shape, dtype)
    return np.empty(shape, dtype)


def _strided(tensor: Tensor, shape: tuple[int, ...], on_gpu: bool, extents: dict[str, int]) -> Array:
    """An output in the strides that the kernel insists on."""
    strides = [int(evaluate_index(s, extents)) for s in tensor.strides or ()]
    if any(s <= 0 and n > 1 for s, n in zip(strides, shape, strict=True)):
        raise refuse("argument-strides", f"`{tensor.name}` asks for strides that are not above 0; pass `out`")
    dtype = numpy_dtype(tensor.type.name)
    room = 1 + sum(s * max(n - 1, 0) for s, n in zip(strides, shape, strict=True))
    if on_gpu:
        import cupy

        flat = cupy.empty(room, dtype)
        return cupy.lib.stride_tricks.as_strided(flat, shape, [s * dtype.itemsize for s in strides])
    made = np.lib.stride_tricks.as_strided(np.empty(room, dtype), shape, [s * dtype.itemsize for s in strides])
    if overlaps_itself(made):
        raise refuse("argument-strides", f"elements of `{tensor.name}` would share their places in memory")
    return made


def check_strides(tensor: Tensor, array: Array, extents: dict[str, int]) -> None:
    """Refuse an array without the strides that the kernel insists on."""
    if tensor.strides is None or not array.size:
        return
    wanted = tuple(evaluate_index(s, extents) for s in tensor.strides)
    found = strides_in_elements(array)
    if any(w != f and n > 1 for w, f, n in zip(wanted, found, array.shape, strict=True)):
        raise refuse("argument-strides", f"`{tensor.name}` has strides {found} in elements, the kernel wants {wanted}")
