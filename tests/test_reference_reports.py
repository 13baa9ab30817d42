"""Inputs on which other stencil libraries were reported wrong, with the right answers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from layoutc.diagnostics import LayoutcError
from tests.reference_support import Array, f32, kernel, run


def test_mirror_of_an_axis_of_one() -> None:     # scipy 11661
    text = """
    kernel three(x: i32[A, B, C, D]) -> (y: i32[A, B, C, D]) {
        edge x = mirror
        y[a, b, c, d] = sum(u in -1..=1) x[a + u, b, c, d]
    }
    """
    x = np.arange(24, dtype=np.int32).reshape(1, 2, 3, 4)
    assert_array_equal(run(text, x), 3 * x)


@pytest.mark.parametrize(
    ("rule", "x", "median"),
    [(rule, [2], [2]) for rule in ("reflect", "nearest", "wrap", "mirror")]
    + [("constant(0)", [2], [0]), ("reflect", [1, 2], [2, 1])],
)
def test_a_median_window_longer_than_the_array(rule: str, x: list[int], median: list[int]) -> None:  # scipy 22250
    text = f"kernel m(x: f64[N]) -> (y: f64[N]) {{ edge x = {rule}  y[i] = median(u in -2..=2) x[i + u] }}"
    assert_array_equal(run(text, np.array(x, np.float64)), median)


@pytest.mark.parametrize("rule", ["reflect", "wrap"])
def test_a_window_larger_than_the_image(rule: str) -> None:     # scipy 8684
    text = f"""
    kernel c(x: f64[H, W], w: f64[4, 4]) -> (y: f64[H, W]) {{
        edge x = {rule}
        y[i, j] = sum(u, v) w[u, v] * x[i + u - 2, j + v - 2]
    }}
    """
    w = np.zeros((4, 4))
    w[0, 3] = 1
    assert_array_equal(run(text, np.zeros((1, 1)), w), [[0]])


def test_integers_of_64_bits_are_exact() -> None:   # scipy 11816, 10390
    text = """
    kernel least(x: i64[H, W]) -> (y: i64[H, W]) {
        edge x = reflect
        y[i, j] = min(u in -1..=1, v in -1..=1) x[i + u, j + v]
    }
    """
    x = np.full((3, 3), np.iinfo(np.int64).max)
    x[1, 1] = 0
    assert_array_equal(run(text, x), np.zeros((3, 3)))
    times = "kernel t(x: i64[N], w: i64[1]) -> (y: i64[N]) { y[i] = sum(u) w[u] * x[i + u] }"
    assert run(times, np.array([2**62 + 1]), np.array([1])).item() == 4611686018427387905


def test_a_constant_that_the_type_does_not_hold_is_refused() -> None:   # scipy 20158
    text = "kernel c(x: u8[N]) -> (y: i32[N]) { edge x = constant(-1)  y[i] = 5 * i32(x[i - 1]) }"
    with pytest.raises(LayoutcError):
        kernel(text)
    held = """
    kernel c(x: u8[N], w: i32[3]) -> (y: i32[N]) {
        edge g = constant(-1)
        let g[i] = i32(x[i])
        y[i] = sum(u) w[u] * g[i + u - 1]
    }
    """
    assert_array_equal(run(held, np.zeros(3, np.uint8), np.array([5, 7, 6], np.int32)), [-5, 0, -6])


def test_nan_propagates_to_both_sides_alike() -> None:   # scipy 9077
    text = "kernel m(x: f32[N]) -> (y: f32[N]) { edge x = nearest  y[i] = max(u in -1..=1) x[i + u] }"
    x = f32(1, np.nan, 3, 2, 1)
    assert_array_equal(run(text, x), [np.nan, np.nan, np.nan, 3, 2])
    assert_array_equal(run(text, x[::-1])[::-1], run(text, x))


def test_rank_filters_of_small_windows() -> None:   # scipy 3694, cupy 8406
    sixth = """
    kernel sixth(x: i32[H, W]) -> (y: i32[H, W]) {
        edge x = constant(0)
        y[i, j] = i32(count(u in -1..=1, v in -1..=1) (x[i + u, j + v] > 0) >= 3)
    }
    """
    x = np.zeros((3, 3), np.int32)
    x[:, 0] = 1
    assert_array_equal(run(sixth, x), [[0, 0, 0], [1, 1, 0], [0, 0, 0]])
    second = """
    kernel second(x: i32[H, W]) -> (y: i32[H, W]) {
        edge x = reflect
        y[i, j] = min(a in 0..6, b in 0..6)
            where(a == b, 1000, max(x[i - 1 + a//3, j - 1 + a%3], x[i - 1 + b//3, j - 1 + b%3]))
    }
    """
    x = np.array([[3, 2, 5, 1, 4], [5, 8, 3, 7, 1], [5, 6, 9, 3, 5]], np.int32)
    assert_array_equal(run(second, x), [[2, 2, 1, 1, 1], [3, 3, 2, 1, 1], [5, 5, 3, 3, 1]])


def test_an_integer_mean_rounds_down_once() -> None:     # cupy 8401
    text = "kernel mean(x: i32[N]) -> (y: i32[N]) { edge x = reflect  y[i] = (sum(u in -3..3) x[i + u]) // 6 }"
    want = np.zeros(27)
    want[12:16] = 1
    assert_array_equal(run(text, np.repeat([0, 1, 0], 9).astype(np.int32)), want)


def test_mirrored_padding_of_one_element_repeats_it() -> None:      # pytorch 152152
    text = "kernel pad(x: f32[N]) -> (y: f32[N + 2]) { edge x = mirror  y[i] = x[i - 1] }"
    assert_array_equal(run(text, f32(5)), [5, 5, 5])


@pytest.mark.parametrize(
    ("window", "wanted"),
    [
        ("sum(u) w[u] * x[i + u - 2]", [0, 0, 4, 3, 2, 1, 0]),                      # correlate1d
        ("sum(u in 0..4) w[3 - u] * x[i + u - 1]", [0, 1, 2, 3, 4, 0, 0]),                  # convolve1d
        ("sum(v in 0..3) w[2 - v] * x[i + v - 2]", [0, 0, 0, 1, 2, 3, 0]),          # the same of three, origin -1
        ("sum(v in 0..3) w[2 - v] * x[i + v]", [0, 1, 2, 3, 0, 0, 0]),              # origin +1
    ],
)
def test_windows_are_not_flipped_and_lie_where_they_say(window: str, wanted: list[int]) -> None:
    # massiv 12, scipy 4580
    text = f"kernel w(x: i32[N], w: i32[4]) -> (y: i32[N]) {{ edge x = constant(0)  y[i] = {window} }}"
    impulse: Array = np.zeros(7, np.int32)
    impulse[3] = 1
    assert_array_equal(run(text, impulse, np.array([1, 2, 3, 4], np.int32)), wanted)


def test_an_empty_raster_stays_empty() -> None:     # xarray-spatial 3225
    text = """
    kernel slope(x: f32[H, W]) -> (y: f32[H, W]) { edge x = nearest  y[i, j] = x[i - 1, j] - x[i + 1, j] }
    """
    assert run(text, np.zeros((0, 5), np.float32)).shape == (0, 5)
