"""Reads the hand-written kernels of tests/kernels and tests/faults, and runs them on either device."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.backend import CpuModule, CudaModule, Module, load_cpu, load_cuda
from layoutc.backend.types import C_TYPES
from layoutc.cuda_source import ArrayParam, ConstantParam, CudaSource, Entry, Param, ScalarParam

HERE = Path(__file__).parent
LAYOUTC_TYPES = {c: name for name, c in C_TYPES.items()}
Array = NDArray[Any]


def parameter(text: str) -> Param:
    """``In<float> x`` and its kin as a record."""
    if match := re.fullmatch(r"(In|Out|Parts)<(\w+)> (\w+)", text):
        return ArrayParam(match[3], LAYOUTC_TYPES[match[2]], match[1] != "In")
    if match := re.fullmatch(r"CONSTANT_PARAM Constant<(\w+), (\d+)> (\w+)", text):
        return ConstantParam(match[3], LAYOUTC_TYPES[match[1]], int(match[2]))
    type, name = text.split()
    return ScalarParam(name, LAYOUTC_TYPES[type])


def entries(text: str) -> tuple[Entry, ...]:
    """The kernels of a text; one that takes regions of dynamic shared memory gets 1 KiB, of panels 64."""
    found = re.findall(r"KERNEL\((\d+)\) (\w+)\((.*)\) \{", text)
    shared = 64 << 10 if "PANEL_AT(" in text else 1024 if "SHARED_AT(" in text else 0
    return tuple(
        Entry(name, int(threads), tuple(map(parameter, re.split(r", (?![^<]*>)", params))), shared)
        for threads, name, params in found
    )


def source_of(name: str, text: str) -> CudaSource:
    return CudaSource(name, text, entries(text))


def read(path: Path) -> CudaSource:
    return source_of(path.name, path.read_text(encoding="utf-8"))


@cache
def kernels(name: str) -> CudaSource:
    """The text of tests/kernels/NAME.cu."""
    return read(HERE / "kernels" / f"{name}.cu")


def numpy_or_cupy(device: str) -> Any:
    """The library whose arrays lie on the device."""
    return np if device == "cpu" else importlib.import_module("cupy")


def load(device: str, source: CudaSource) -> CpuModule | CudaModule:
    return load_cuda(source) if device == "cuda" else load_cpu(source)


def launch(module: Module, device: str, entry: Entry, blocks: int, args: Sequence[object]) -> None:
    """Launch on either device; outputs are NumPy arrays in both cases."""
    if device == "cpu":
        module.launch(entry.name, blocks, args)
        return
    cupy = importlib.import_module("cupy")
    pairs = list(zip(entry.params, args, strict=False))      # a wrong count is the module's to refuse
    there = [cupy.asarray(arg) if isinstance(param, ArrayParam) else arg for param, arg in pairs]
    module.launch(entry.name, blocks, there)
    for (param, arg), result in zip(pairs, there, strict=True):
        if isinstance(param, ArrayParam) and param.writes:
            assert isinstance(arg, np.ndarray)
            arg[...] = cupy.asnumpy(result)


def entry_of(source: CudaSource, name: str) -> Entry:
    return next(entry for entry in source.entries if entry.name == name)
