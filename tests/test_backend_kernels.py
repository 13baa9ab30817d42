"""Hand-written kernels of every mechanism give NumPy's answers, whatever the order of threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import correlate

from layoutc.backend import CpuModule, Run
from tests.backend_support import Array, entry_of, kernels, launch, load

rng = np.random.default_rng(1)


def floats(*shape: int) -> NDArray[np.float32]:
    return rng.standard_normal(shape).astype(np.float32)


def whole_floats(*shape: int) -> NDArray[np.float32]:
    """Small integers, whose sums are exact in any order."""
    return rng.integers(-9, 10, shape).astype(np.float32)


@dataclass(frozen=True)
class Case:
    file: str
    entry: str
    blocks: int
    args: list[Any]
    wanted: list[Array]     # of the outputs, in order


def blur() -> Case:
    x, w = whole_floats(37, 150), whole_floats(5, 5)
    y = np.zeros_like(x)
    return Case("blur", "blur", 9, [x, w, y, 37, 150, 150, 150], [correlate(x, w, mode="nearest")])


def block_exchange() -> Case:
    v = floats(5, 128, 4)
    return Case("exchange", "block_exchange", 2, [v, np.zeros_like(v), 5], [v.reshape(5, 4, 128).transpose(0, 2, 1)])


def warp_exchange() -> Case:
    v = floats(5, 128, 4)
    wanted = v.reshape(5, 4, 4, 32).transpose(0, 1, 3, 2).reshape(5, 128, 4)
    return Case("exchange", "warp_exchange", 2, [v, np.zeros_like(v), 5], [wanted])


def row_sum() -> Case:
    x = whole_floats(11, 1000)
    return Case("reduce", "row_sum", 11, [x, np.zeros(11, np.float32), 1000], [x.sum(1)])


def rotate() -> Case:
    x = rng.standard_normal(300)
    lanes = np.concatenate([x, np.zeros(84)]).reshape(-1, 8)
    return Case("reduce", "rotate", 3, [x, np.zeros(300), 300], [np.roll(lanes, -1, 1).ravel()[:300]])


def odd_lanes() -> Case:
    x = rng.integers(0, 100, 128).astype(np.int32)
    lanes = x.reshape(4, 32).astype(np.int64)
    odd = np.repeat(((lanes % 2) << np.arange(32)).sum(1).astype(np.uint32), 32)
    before = np.concatenate([lanes[:, :1], lanes[:, :-1]], axis=1).ravel().astype(np.int32)
    return Case("reduce", "odd_lanes", 2, [x, np.zeros(128, np.uint32), np.zeros(128, np.int32)], [odd, before])


def add_rows() -> Case:
    x = rng.integers(-100, 100, (5, 64)).astype(np.int32)
    args = [x, np.zeros(64, np.int32), np.zeros_like(x), np.zeros(1, np.uint32), 5]
    return Case("parts", "add_rows", 5, args, [x.sum(0, dtype=np.int32), x, np.zeros(1, np.uint32)])


def walk() -> Case:
    x, k = whole_floats(70, 600), whole_floats(3)
    args = [x, k, np.zeros_like(x), 70, 600]
    return Case("walk", "walk", 6, args, [correlate(x, k[:, None], mode="constant")])


def chunked() -> Case:
    x = floats(7, 512)
    return Case("chunked", "chunked", 1, [x, np.zeros_like(x), 7], [2 * x[:, ::-1]])


def padded() -> Case:
    x = floats(128)
    wanted = np.where(np.arange(128) < 77, x, 0)
    return Case("chunked", "padded", 1, [x, np.zeros(256, np.float32), 77], [np.concatenate([wanted, wanted[::-1]])])


def gemm() -> Case:
    a, b = rng.integers(-5, 6, (16, 16)).astype(np.float16), rng.integers(-5, 6, (16, 8)).astype(np.float16)
    args = [a.view(np.uint32), np.ascontiguousarray(b.T).view(np.uint32), np.zeros((16, 8), np.float32)]
    return Case("gemm", "gemm", 1, args, [a.astype(np.float32) @ b.astype(np.float32)])


def by_matrices() -> Case:
    a, b = (rng.integers(-5, 6, (16, 16)).astype(np.float16) for _ in range(2))
    return Case("gemm", "by_matrices", 1, [a, b, np.zeros((16, 16), np.float32)], [a.astype(np.float32) @ b])


def of_bytes() -> Case:
    """The last of every thread's sums begins at the largest i32, and wraps."""
    a, b = rng.integers(-128, 128, (16, 32)).astype(np.int8), rng.integers(0, 256, (8, 32)).astype(np.uint8)
    wanted = a.astype(np.int64) @ b.astype(np.int64).T
    wanted[8:, 1::2] += 2**31 - 1
    return Case("gemm", "of_bytes", 1, [a, b, np.zeros((16, 8), np.int32)], [wanted.astype(np.int32)])


def warpgroup() -> Case:
    """Whole numbers, of which every order of products gives the same sum."""
    a, b = (rng.integers(-5, 6, (64, 320)).astype(np.float16) for _ in range(2))
    return Case("warpgroup", "warpgroup", 1, [a, b, np.zeros((64, 64), np.float32), 320], [a.astype(np.float32) @ b.T])


def regions() -> Case:
    x = rng.integers(-99, 100, 256).astype(np.float64)
    wanted = x.reshape(4, 64).cumsum(1)[:, ::-1].astype(np.int16).ravel()
    return Case("regions", "regions", 4, [x, np.zeros(256, np.int16)], [wanted])


def warp_scan() -> Case:
    x = rng.integers(-99, 100, 128).astype(np.int32)
    return Case("scan", "warp_scan", 2, [x, np.zeros_like(x)], [x.reshape(4, 32).cumsum(1).ravel().astype(np.int32)])


def scatter() -> Case:
    v = rng.integers(1, 100, 128).astype(np.int32)
    rank = rng.permutation(128).astype(np.int32) // 2 * 2 - 20
    v //= 2
    v[np.argsort(rank, kind="stable")] = np.repeat(np.arange(1, 65), 2)     # equals bring equals
    wanted = np.zeros(128, np.int32)
    inside = (rank >= 0) & (rank < 128)
    wanted[rank[inside]] = v[inside]
    return Case("scan", "scatter", 1, [v, rank, np.zeros_like(v)], [wanted])


CASES = [
    blur(), block_exchange(), warp_exchange(), row_sum(), rotate(), odd_lanes(), walk(), chunked(), padded(), gemm(),
    by_matrices(), of_bytes(), warpgroup(), regions(), warp_scan(), scatter(), add_rows(),
]
RUNS = [Run(order="ascending"), Run(order="descending"), Run(seed=1), Run(seed=2), Run(seed=3)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.entry)
def test_agrees_with_numpy(case: Case, device: str) -> None:
    source = kernels(case.file)
    entry = entry_of(source, case.entry)
    module = load(device, source)
    for run in RUNS:
        outputs = [arg for param, arg in zip(entry.params, case.args, strict=True) if getattr(param, "writes", False)]
        for output in outputs[:-1] if case.entry == "add_rows" else outputs:    # its counts are 0 before and after
            output[...] = 99
        variant = module.with_run(run) if isinstance(module, CpuModule) else module
        launch(variant, device, entry, case.blocks, case.args)
        for output, wanted in zip(outputs, case.wanted, strict=True):
            np.testing.assert_array_equal(output, wanted)
