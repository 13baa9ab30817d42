"""Arrays of either library, and where a filter's result goes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.calling.arguments import is_on_gpu

Array = Any             # a NumPy or a CuPy array

REAL = {np.dtype(name): short for name, short in {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float32": "f32", "float64": "f64"}.items()}
PARTS = {np.dtype("complex64"): np.dtype("float32"), np.dtype("complex128"): np.dtype("float64")}

_device: ContextVar[str] = ContextVar("layoutc_ndimage_device", default="auto")


@contextmanager
def on_device(device: str) -> Iterator[None]:
    """Runs the filters called inside on ``cpu`` or ``cuda``; ``auto`` (the default) follows the arrays."""
    token = _device.set(device)
    try:
        yield
    finally:
        _device.reset(token)


def chosen_device() -> str:
    """Where the next kernel runs."""
    return _device.get()


def library(array: Array) -> Any:
    """The module whose arrays these are: NumPy or CuPy."""
    if not is_on_gpu(array):
        return np
    import cupy

    return cupy


def as_array(value: object) -> Array:
    """A NumPy or CuPy array of a type that filters take, in the machine's byte order.

    Raises RuntimeError where it holds anything else (f16 too, as in scipy.ndimage).
    """
    array = library(value).asarray(value)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype not in REAL and array.dtype not in PARTS:
        raise RuntimeError(f"data type {array.dtype} not supported")
    return array


def host_array(value: object) -> NDArray[Any]:
    """A NumPy array of a small argument, wherever it lies."""
    array = library(value).asarray(value)
    found: NDArray[Any] = array if isinstance(array, np.ndarray) else array.get()
    return found


@dataclass(frozen=True, slots=True)
class Output:
    """Where a result goes: a new array, or one that was given."""

    dtype: np.dtype[Any]        # in the machine's byte order, as it is computed
    array: Array | None
    asked: np.dtype[Any]        # in the byte order of a new array

    def give(self, result: Array, shape: tuple[int, ...]) -> Array:
        """The result in its place; it has the output's type already."""
        result = result.reshape(shape)
        if self.array is None:
            return result if self.asked.isnative else result.astype(self.asked)
        self.array[...] = result
        return self.array


def output_of(output: object, x: Array, *, is_complex: bool = False) -> Output:
    """What ``output=`` asks for: None, a type, its name, or an array of the input's shape.

    Raises RuntimeError where it cannot hold the result.
    """
    if output is None:
        dtype = np.promote_types(x.dtype, np.complex64) if is_complex else x.dtype
        return _output(np.dtype(dtype), None)
    if isinstance(output, type | np.dtype | str):
        dtype = np.dtype(output)
        if is_complex and dtype.kind != "c":
            if isinstance(output, str):
                raise RuntimeError("output must have complex dtype")
            warnings.warn("promoting specified output dtype to complex", stacklevel=4)
            dtype = np.promote_types(dtype, np.complex64)
        return _output(np.dtype(dtype), None)
    array = library(output).asarray(output)
    if array.shape != x.shape:
        raise RuntimeError(f"output shape {array.shape} is not the input's {x.shape}")
    if is_complex and array.dtype.kind != "c":
        raise RuntimeError("output must have complex dtype")
    return _output(array.dtype, array)


def _output(asked: np.dtype[Any], array: Array | None) -> Output:
    dtype = asked.newbyteorder("=")
    if dtype not in REAL and dtype not in PARTS:
        raise RuntimeError(f"output of type {asked} not supported")
    return Output(dtype, array, asked)
