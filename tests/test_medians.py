"""Medians of any window: sorted in registers or searched bit by bit, the answer is NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from layoutc.backend.types import numpy_dtype
from layoutc.module import compile

TYPES = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64")
RNG = np.random.default_rng(5)
Array = NDArray[Any]


def windows(x: Array, shape: tuple[int, ...]) -> Array:
    """Every window that lies inside, flat."""
    found = np.lib.stride_tricks.sliding_window_view(x, shape)
    return found.reshape(*found.shape[:x.ndim], -1)


def middle(x: Array, shape: tuple[int, ...]) -> Array:
    """The element of rank count // 2, NaN where an element is."""
    flat = windows(x, shape)
    out: Array = np.sort(flat, axis=-1)[..., flat.shape[-1] // 2]
    if flat.dtype.kind == "f":
        out[np.isnan(flat).any(axis=-1)] = np.nan
    return out


def values(type: str, shape: tuple[int, ...]) -> Array:
    """The whole range of a type, its ends too."""
    dtype = numpy_dtype(type)
    if dtype.kind == "f":
        x: Array = RNG.standard_normal(shape).astype(dtype) * dtype.type(1e3)
        x.flat[:6] = [np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal, 0.0, -1e-7]
        return x
    ends = np.iinfo(dtype)
    x = RNG.integers(ends.min, ends.max, shape, dtype=dtype, endpoint=True)
    x.flat[:4] = [ends.min, ends.max, 0, 1]
    return x


@pytest.mark.parametrize("type", TYPES)
def test_the_size_of_a_window_may_come_with_an_argument(type: str, device: str) -> None:
    median = compile(f"""
        kernel middle(x: {type}[H, W], size: i8[K, L]) -> (y: {type}[H - K + 1, W - L + 1]) {{
            require K >= 1, L >= 1
            y[i, j] = median(u in 0..K, v in 0..L) x[i + u, j + v]
        }}""").middle
    x = values(type, (7, 70))
    for shape in ((1, 1), (3, 4), (7, 33)):
        assert_array_equal(median(x, np.zeros(shape, np.int8), device=device), middle(x, shape))


@pytest.mark.parametrize("count", [120, 121, 122, 400])
def test_windows_on_both_sides_of_what_is_sorted(count: int, device: str) -> None:
    median = compile("const K = 1 kernel m(x: f32[N]) -> (y: f32[N - K + 1]) { y[i] = median(u in 0..K) x[i + u] }",
                     K=count).m
    x = RNG.standard_normal(450).astype(np.float32)
    assert_array_equal(median(x, device=device), middle(x, (count,)))
    x[200] = np.nan
    assert_array_equal(median(x, device=device), middle(x, (count,)))


def test_medians_of_whole_rows(device: str) -> None:
    median = compile("kernel m(x: i32[H, W]) -> (y: i32[H]) { y[i] = median(j) x[i, j] }").m
    x = RNG.integers(-9, 9, (5, 300), dtype=np.int32)
    assert_array_equal(median(x, device=device), np.sort(x, axis=1)[:, 150])


@pytest.mark.parametrize("size", [5, 150])
def test_nan_counts_wherever_it_stands(size: int, device: str) -> None:
    """Both ways to find a median, and the mirror image too."""
    median = compile("kernel m(x: f64[N], w: i8[K]) -> (y: f64[N - K + 1]) { require K >= 1"
                     "  y[i] = median(u in 0..K) x[i + u] }").m
    x = RNG.standard_normal(400)
    x[[3, 260]] = np.nan
    w = np.zeros(size, np.int8)
    assert_array_equal(median(x, w, device=device), middle(x, (size,)))
    assert_array_equal(median(x[::-1], w, device=device), middle(x, (size,))[::-1])


def test_the_sign_of_a_zero_is_ordered(device: str) -> None:
    """-0.0 is below +0.0, as in minimum and maximum."""
    x = np.array([0.0, -0.0, -0.0], np.float32)
    sorted_one = compile("kernel m(x: f32[3]) -> (y: f32[]) { y[] = median(u in 0..3) x[u] }").m
    searched = compile("kernel m(x: f32[N]) -> (y: f32[]) { y[] = median(u in 0..N) x[u] }").m
    assert np.signbit(sorted_one(x, device=device))
    assert np.signbit(searched(x, device=device))


def test_medians_of_bools_count_as_integers(device: str) -> None:
    median = compile("kernel m(x: bool[N], w: i8[K]) -> (y: i32[N - K + 1]) { require K >= 1"
                     "  y[i] = median(u in 0..K) x[i + u] }").m
    x = RNG.integers(0, 2, 40).astype(bool)
    assert_array_equal(median(x, np.zeros(9, np.int8), device=device), middle(x.astype(np.int32), (9,)))
