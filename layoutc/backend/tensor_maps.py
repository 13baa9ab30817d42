"""Tensors as the engine that copies boxes of them knows them: 128 bytes of the driver, or a record of the CPU run."""

from __future__ import annotations

import ctypes
import importlib
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from layoutc.backend.types import numpy_dtype
from layoutc.cuda_source import MapParam

MOST_AXES = 5           # lc::MOST_AXES
RECORD = struct.Struct("@5q5qII5II5i5i5iI")     # lc::TensorMap after its view
MAP_BYTES, MAP_ALIGNMENT = 128, 64
UNSIGNED = {1: 0, 2: 1, 4: 2, 8: 4}             # CU_TENSOR_MAP_DATA_TYPE_UINT8 and so on, by bytes: bits are only moved
PANEL, PROMOTED = 3, 3  # CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B
NOTHING_BYTES = 128     # that stand for a tensor without elements
KEPT = 4096             # maps


@dataclass(frozen=True, slots=True)
class Mapped:
    """What is passed for a ``MapParam``: an array, and the first taps of the last windows along its axes of windows."""

    array: Any              # NumPy's, CuPy's or a Guarded
    last: tuple[int, ...] = ()


def _filled(values: Sequence[int]) -> list[int]:
    return [*values, *(0,) * (MOST_AXES - len(values))]


def _over_axes(param: MapParam, values: Sequence[int]) -> list[int]:
    """Numbers of the axes that windows have, among all axes."""
    return _filled([0, *values, 0] if param.windows else [])


def record(param: MapParam, mapped: Mapped, array: np.ndarray[Any, Any]) -> bytes:
    """``lc::TensorMap`` but for its view."""
    strides = [s // array.itemsize for s in array.strides]
    return RECORD.pack(
        *_filled(array.shape), *_filled(strides), array.ndim, array.itemsize, *_filled(param.box), param.windows,
        *_over_axes(param, param.low), *_over_axes(param, mapped.last), *_over_axes(param, param.step),
        param.is_panel)


def map_of(param: MapParam, mapped: Mapped) -> np.void:
    """The driver's map of an array on the GPU that is current."""
    array = mapped.array
    if array.dtype != numpy_dtype(param.type):
        raise TypeError(f"{param.name} holds {param.type}, not {array.dtype}")
    if not array.size:
        ones, zeros = (1,) * array.ndim, (0,) * array.ndim
        return _encoded(param, _nothing(_cupy().cuda.runtime.getDevice()), ones, zeros, mapped.last)
    return _encoded(param, int(array.data.ptr), array.shape, array.strides, mapped.last)


@lru_cache(KEPT)
def _encoded(
    param: MapParam, address: int, shape: tuple[int, ...], strides: tuple[int, ...], last: tuple[int, ...]
) -> np.void:
    """By cuTensorMapEncodeTiled or cuTensorMapEncodeIm2col, which count axes from the last one on."""
    size, rank = numpy_dtype(param.type).itemsize, len(shape)
    room = (ctypes.c_uint8 * (MAP_BYTES + MAP_ALIGNMENT))()
    at = -(-ctypes.addressof(room) // MAP_ALIGNMENT) * MAP_ALIGNMENT
    first = (ctypes.c_void_p(at), UNSIGNED[size], ctypes.c_uint32(rank), ctypes.c_void_p(address),
             _numbers(ctypes.c_uint64, shape), _numbers(ctypes.c_uint64, _whole_strides(shape, strides, size)))
    end = (0, PANEL if param.is_panel else 0, PROMOTED, 0)
    if param.windows:
        upper = [n - (extent - 1) for n, extent in zip(last, shape[1:-1], strict=True)]
        code = _driver().cuTensorMapEncodeIm2col(
            *first, _numbers(ctypes.c_int32, param.low), _numbers(ctypes.c_int32, upper),
            ctypes.c_uint32(param.box[-1]), ctypes.c_uint32(param.windows),
            _numbers(ctypes.c_uint32, (1, *param.step, 1)), *end)
    else:
        code = _driver().cuTensorMapEncodeTiled(
            *first, _numbers(ctypes.c_uint32, param.box), _numbers(ctypes.c_uint32, (1,) * rank), *end)
    if code:
        raise RuntimeError(f"the driver makes no map of {param.name} with extents {shape}, strides {strides}: {code}")
    made: np.void = np.frombuffer(ctypes.string_at(at, MAP_BYTES), np.dtype((np.void, MAP_BYTES)))[0]
    return made


def _numbers(type: Any, values: Sequence[int]) -> Any:
    """An array of C, the last axis first."""
    return (type * len(values))(*reversed(values))


def _whole_strides(shape: Sequence[int], strides: Sequence[int], size: int) -> list[int]:
    """In bytes, of all axes but the last; where an axis has one element, a number that the driver takes."""
    out: list[int] = []
    natural = -(-shape[-1] * size // 16) * 16
    for n, stride in zip(reversed(shape[:-1]), reversed(strides[:-1]), strict=True):
        out.append(stride if n > 1 else natural)
        natural = out[-1] * n
    return out[::-1]


@cache
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")


@cache
def _zeros_on(device: int) -> Any:
    with _cupy().cuda.Device(device):
        return _cupy().zeros(NOTHING_BYTES, "u1")


def _nothing(device: int) -> int:
    """The address of zeros, of which a tensor without elements is made: what is read of it lies outside."""
    return int(_zeros_on(device).data.ptr)


def _cupy() -> ModuleType:
    return importlib.import_module("cupy")
