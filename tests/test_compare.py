"""Comparison: what conforming runs may give passes, and what they may not is named."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutc.compare import compare, expected
from layoutc.reference import evaluate
from layoutc.reference.fma import fma
from tests.reference_support import Array, f32, kernel

BLUR = """
kernel blur(x: f32[H, W], w: f32[3, 3]) -> (y: f32[H, W]) {
    edge x = reflect
    y[i, j] = sum(u in 0..3, v in 0..3) w[u, v] * x[i + u - 1, j + v - 1]
}
"""

KERNELS = [
    BLUR,
    """
    kernel soft(x: f32[H, W], w: f32[3, 3]) -> (y: f32[H, W]) {
        let m[i] = max(j in 0..W) x[i, j]
        let e[i, k] = exp(x[i, k] - m[i])
        y[i, k] = e[i, k] / (sum(j in 0..W) e[i, j]) + 0.0 * w[0, 0]
    }
    """,
    """
    kernel shade(x: f32[H, W], w: f32[3, 3]) -> (y: u8[H, W], k: i64[H], q: f32[H, W]) {
        edge x = nearest
        let p[i, j] = (x[i, j + 1] - x[i, j - 1]) / 8.0
        let q2[i, j] = (x[i + 1, j] - x[i - 1, j]) / 8.0
        let slope[i, j] = atan(hypot(p[i, j], q2[i, j]))
        y[i, j] = u8(clamp(255.0 * (cos(slope[i, j]) + sin(slope[i, j]) * cos(atan2(q2[i, j], -p[i, j]))), 0.0, 255.0))
        k[i] = argmax(l in 0..W) exp(x[i, l]) * w[1, 1]
        q[i, j] = where(exp(x[i, j]) > 1.0, log(x[i, j] * x[i, j] + 1.0) ** 1.5, tanh(x[i, j] / w[0, 1]))
    }
    """,
    """
    kernel halves(x: f32[H, W], w: f32[3, 3]) -> (y: f16[H, W], z: bf16[H, W], m: f32[H, W]) {
        edge x = wrap
        y[i, j] = f16(exp(x[i, j]) * x[i, j + 1])
        z[i, j] = bf16(sqrt(abs(x[i, j])) // 0.1 + w[0, 0])
        m[i, j] = median(u in 0..3, v in 0..3) sin(x[i + u, j + v]) * w[u, v]
    }
    """,
]

values = st.sampled_from([0.0, -0.0, 1.0, -2.5, 1e-30, 3e38, -3e38, math.inf, -math.inf, math.nan]) | st.floats(
    -10, 10, width=32
)


@st.composite
def inputs(draw: st.DrawFn) -> tuple[Array, Array]:
    high, wide = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    x = draw(st.lists(values, min_size=high * wide, max_size=high * wide))
    w = draw(st.lists(values, min_size=9, max_size=9))
    return np.array(x, np.float32).reshape(high, wide), np.array(w, np.float32).reshape(3, 3)


@pytest.mark.parametrize("text", KERNELS)
@settings(max_examples=60, deadline=None)
@given(arrays=inputs())
def test_numpys_own_numbers_pass_where_they_are_multiplied_and_added(text: str, arrays: tuple[Array, Array]) -> None:
    blur = kernel(text)
    assert compare(blur, arrays, evaluate(blur, arrays), fused=False) == []


def blurred(x: Array, w: Array) -> Array:
    """A 3 by 3 window, its products accumulated by fma."""
    padded, total = np.pad(x, 1, mode="symmetric"), np.zeros_like(x)
    for u in range(3):
        for v in range(3):
            total = fma(np.asarray(w[u, v]), padded[u : u + x.shape[0], v : v + x.shape[1]], total)
    return total


def test_a_window_by_fma_agrees_bit_for_bit() -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((20, 30)).astype(np.float32), rng.standard_normal((3, 3)).astype(np.float32)
    y = blurred(x, w)
    assert compare(kernel(BLUR), [x, w], [y]) == []
    assert [(e.low == e.high).all() for e in expected(kernel(BLUR), [x, w])] == [True]
    y[7, 11] = np.nextafter(y[7, 11], np.float32(np.inf))
    (found,) = compare(kernel(BLUR), [x, w], [y])
    assert (found.output, found.index, found.got, found.allowed) == ("y", (7, 11), y[7, 11], 0)
    assert str(found) == f"y[7, 11] is {y[7, 11]}, expected {found.expected}"


@pytest.mark.parametrize("fault", ["flipped", "shifted", "edge", "lost", "scaled"])
def test_wrong_windows_are_seen(fault: str) -> None:
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((9, 7)).astype(np.float32), rng.standard_normal((3, 3)).astype(np.float32)
    right = blurred(x, w)
    wrong = {
        "flipped": blurred(x, w[::-1, ::-1]),
        "shifted": np.roll(right, 1, axis=1),
        "edge": blurred(np.pad(x, 1, mode="wrap"), w)[1:-1, 1:-1],
        "lost": np.where(np.arange(7) == 6, 0, right).astype(np.float32),
        "scaled": right * np.float32(1 + 2**-22),
    }[fault]
    assert compare(kernel(BLUR), [x, w], [wrong])


def test_a_sum_over_data_passes_in_any_order_and_a_lost_term_does_not() -> None:
    total = kernel("kernel total(x: f32[N]) -> (s: f32[]) { s[] = sum(i) x[i] }")
    x = np.random.default_rng(2).standard_normal(1000).astype(np.float32)
    for order in (x, x[::-1], np.sort(x)):
        assert compare(total, [x], [np.add.accumulate(order)[-1]]) == []
        assert compare(total, [x], [order.sum()]) == []
    (found,) = compare(total, [x], [x[:-1].sum()])
    assert 0 < found.allowed < abs(found.got - found.expected)
    assert "±" in str(found)


def test_functions_pass_within_their_units() -> None:
    text = "kernel f(x: f32[N]) -> (y: f32[N]) { y[i] = exp(x[i]) }"
    x = np.linspace(-5, 5, 101, dtype=np.float32)
    y = np.exp(x.astype(np.float64)).astype(np.float32)
    for units in (-2, 0, 2):
        assert compare(kernel(text), [x], [y + units * np.spacing(y)]) == []
    assert len(compare(kernel(text), [x], [y + 8 * np.spacing(y)], limit=200)) == 101


def test_what_depends_on_an_uncertain_value_is_open_only_where_it_jumps() -> None:
    text = "kernel f(x: f64[N]) -> (y: i32[N], z: bool[N]) { y[i] = i32(floor(exp(x[i])))  z[i] = exp(x[i]) > 1.0 }"
    x = np.array([0.0, 0.5, 2.0])
    y, z = expected(kernel(text), [x])
    assert (y.low.tolist(), y.high.tolist()) == ([0, 1, 7], [1, 1, 7])
    assert (z.low.tolist(), z.high.tolist()) == ([False, True, True], [True, True, True])


def test_a_read_at_an_uncertain_place_is_open_and_the_others_are_not() -> None:
    text = "kernel f(x: f64[N]) -> (y: f64[N]) { edge x = wrap  y[i] = x[i64(exp(x[i]))] }"
    (y,) = expected(kernel(text), [np.array([0.0, 0.5, 2.0])])
    assert y.low[0] == -np.inf
    assert y.high[0] == np.inf
    assert y.low[1:].tolist() == y.high[1:].tolist() == [0.5, 0.5]


def test_nan_is_any_nan_and_nothing_else() -> None:
    text = "kernel f(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] - x[i] }"
    x = f32(math.inf, 1)
    other = np.array([0x7FC12345, 0], np.uint32).view(np.float32)
    assert compare(kernel(text), [x], [other]) == []
    assert [m.index for m in compare(kernel(text), [x], [f32(0, math.nan)])] == [(0,), (1,)]


def test_the_sign_of_a_zero_counts_where_it_is_only_moved() -> None:
    moved = kernel("kernel m(x: f32[N]) -> (y: f32[N]) { edge x = wrap  y[i] = x[i - 1] }")
    added = kernel("kernel m(x: f32[N]) -> (y: f32[N]) { edge x = wrap  y[i] = x[i - 1] + 0.0 }")
    x = f32(-0.0, -0.0)
    assert compare(moved, [x], [x]) == []
    assert len(compare(moved, [x], [f32(0, -0.0)])) == 1
    assert compare(added, [x], [f32(0, -0.0)]) == []


def test_integers_and_truth_values_agree_exactly() -> None:
    text = "kernel f(x: i64[N]) -> (y: i64[N], z: bool[N]) { y[i] = x[i] * x[i]  z[i] = x[i] > 2 }"
    x = np.array([2**40, 3, -1])
    y, z = evaluate(kernel(text), [x])
    assert compare(kernel(text), [x], [y, z]) == []
    found = compare(kernel(text), [x], [y + np.array([0, 0, 1]), ~z])
    assert [(m.output, m.index) for m in found] == [("y", (2,)), ("z", (0,)), ("z", (1,)), ("z", (2,))]
    assert str(found[0]) == "y[2] is 2, expected 1"


@pytest.mark.filterwarnings("error")
def test_a_value_that_may_be_almost_anything_is_still_told_from_nan() -> None:
    text = "kernel f(x: f64[N]) -> (y: f64[N]) { y[i] = tan(atan(x[i]) * 1.0) }"
    (found,) = compare(kernel(text), [np.array([1e300])], [np.array([math.nan])])
    assert found.allowed == math.inf
    assert str(found) == "y[0] is nan, expected -inf to inf"


def test_outputs_of_another_shape_or_type_are_an_error_of_the_caller() -> None:
    text = "kernel f(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }"
    for wrong in (np.zeros(3, np.float32), np.zeros(2, np.float64)):
        with pytest.raises(ValueError, match="y is"):
            compare(kernel(text), [f32(1, 2)], [wrong])
