"""Random arrays on the GPU that is current."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from layoutc.backend.types import numpy_dtype
from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.resolve.binding import tensor_shape
from layoutc.resolve.program import Kernel, Tensor
from layoutc.resolve.types import Type

PATTERN = (1 << 20) + 7     # elements drawn; they repeat at no power of two
LARGEST_INTEGER = 100       # fits every type, and most index arrays


def random_inputs(
    kernel: Kernel, extents: Mapping[str, int], seed: int = 0, given: Mapping[str, Any] = MappingProxyType({})
) -> list[Any]:
    """CuPy arrays for a kernel's inputs: numbers from the normal distribution, integers from 0 to 100.

    ``given`` are NumPy's for some of them, by name, to take instead.

    Raises LayoutcError where one needs more memory than is free.
    """
    return [_sent(tensor, given[tensor.name]) if tensor.name in given
            else _filled(tensor, tensor_shape(tensor, extents), seed + n) for n, tensor in enumerate(kernel.inputs)]


def empty_outputs(kernel: Kernel, extents: Mapping[str, int]) -> list[Any]:
    """CuPy arrays for its outputs. Raises LayoutcError where one needs more memory than is free."""
    return [_typed(_room(t, tensor_shape(t, extents)), t, tensor_shape(t, extents)) for t in kernel.outputs]


def _filled(tensor: Tensor, shape: tuple[int, ...], seed: int) -> Any:
    room = _room(tensor, shape)
    cupy: Any = importlib.import_module("cupy")
    pattern = cupy.asarray(_drawn(tensor.type, min(max(prod(shape), 1), PATTERN), seed).view(np.uint8))
    whole = room.size // pattern.size * pattern.size
    room[:whole].reshape(-1, pattern.size)[...] = pattern
    room[whole:] = pattern[:room.size - whole]
    return _typed(room, tensor, shape)


def _sent(tensor: Tensor, array: Any) -> Any:
    cupy: Any = importlib.import_module("cupy")
    numbers = np.asarray(array, numpy_dtype(tensor.type.name), order="C")
    return cupy.asarray(numbers.reshape(-1).view(np.uint8)).view(numbers.dtype).reshape(numbers.shape)


def _drawn(type: Type, count: int, seed: int) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(seed)
    if type.is_float:
        return random.standard_normal(count, np.float32).astype(numpy_dtype(type.name))
    return random.integers(0, 2 if type.name == "bool" else LARGEST_INTEGER + 1, count).astype(numpy_dtype(type.name))


def _room(tensor: Tensor, shape: tuple[int, ...]) -> Any:
    cupy: Any = importlib.import_module("cupy")
    bytes = prod(shape) * tensor.type.bytes
    try:
        return cupy.empty(bytes, cupy.uint8)
    except cupy.cuda.memory.OutOfMemoryError:
        what = f"the GPU has no room for the {bytes} bytes of `{tensor.name}`"
        raise LayoutcError([Diagnostic("out-of-memory", what, help="give a smaller --shape")]) from None


def _typed(room: Any, tensor: Tensor, shape: tuple[int, ...]) -> Any:
    return room.view(numpy_dtype(tensor.type.name)).reshape(shape)
