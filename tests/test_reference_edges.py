"""Edge rules at any distance: NumPy's pad, scipy.ndimage, and elements found by walking back and forth."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import scipy.ndimage as nd
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from layoutc.diagnostics import LayoutcError
from layoutc.reference import evaluate
from tests.padding import MODES, padded
from tests.reference_support import Array, f32, kernel, run

FOLDS = tuple(MODES)
SCIPY = {"nearest": "nearest", "reflect": "reflect", "mirror": "mirror", "wrap": "grid-wrap", "constant(5)": "constant"}
RULES = [*FOLDS, "constant(5)"]


def walked(rule: str, index: int, n: int) -> int | None:
    """The element read for an index, found step by step; None: the constant stands there."""
    while not 0 <= index < n:
        below = index < 0
        if rule == "nearest":
            index += 1 if below else -1
        elif rule == "wrap":
            index += n if below else -n
        elif rule == "reflect":
            index = -1 - index if below else 2 * n - 1 - index
        elif rule == "mirror":
            index = 0 if n == 1 else -index if below else 2 * n - 2 - index
        else:
            return None
    return index


@pytest.mark.parametrize("rule", FOLDS)
@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_folds_are_those_of_numpy_pad(rule: str, n: int) -> None:
    text = f"kernel far(x: i64[N]) -> (y: i64[N + 40]) {{ edge x = {rule}  y[i] = x[i - 20] }}"
    x = np.arange(10, 10 + n)
    assert_array_equal(run(text, x), padded(x, 20, rule))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("n", "size", "origin"), [(1, 1, 0), (1, 4, -1), (2, 9, 3), (3, 8, -4), (7, 3, 1), (5, 15, 7)])
def test_windows_longer_than_the_array_are_those_of_scipy(rule: str, n: int, size: int, origin: int) -> None:
    text = f"""
    kernel window(x: f64[N], w: f64[{size}]) -> (y: f64[N]) {{
        edge x = {rule}
        y[i] = sum(u) w[u] * x[i + u - {size // 2 + origin}]
    }}
    """
    rng = np.random.default_rng(size)
    x, w = rng.integers(-9, 9, n).astype(float), rng.integers(-9, 9, size).astype(float)
    assert_array_equal(run(text, x, w), nd.correlate1d(x, w, mode=SCIPY[rule], cval=5.0, origin=origin))


@settings(max_examples=60, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    rules=st.tuples(*[st.sampled_from(RULES)] * 4),
    places=st.lists(st.tuples(st.integers(-13, 13), st.integers(-13, 13)), min_size=1, max_size=30),
)
def test_every_side_has_its_own_rule(
    shape: tuple[int, int], rules: tuple[str, str, str, str], places: list[tuple[int, int]]
) -> None:
    sides = [rule.replace("(5)", f"({-1 - n})") for n, rule in enumerate(rules)]
    text = f"""
    kernel pick(x: i32[H, W], p: i64[N], q: i64[N]) -> (y: i32[N]) {{
        edge x[0] = ({sides[0]}, {sides[1]})
        edge x[1] = ({sides[2]}, {sides[3]})
        y[k] = x[p[k], q[k]]
    }}
    """
    x = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
    rows, columns = np.array(places, np.int64).T
    want = [picked(x, index, rules) for index in places]
    assert_array_equal(run(text, x, rows, columns), want)


def picked(x: Array, index: tuple[int, ...], rules: tuple[str, ...]) -> int:
    """An element by hand: constants first, of the lowest axis; the constant of side k is -1 - k."""
    side: list[int] = [2 * axis + (i >= n) for axis, (i, n) in enumerate(zip(index, x.shape, strict=True))]
    outside = [not 0 <= i < n for i, n in zip(index, x.shape, strict=True)]
    for axis, out in enumerate(outside):
        if out and rules[side[axis]].startswith("constant"):
            return -1 - side[axis]
    place = [walked(rules[s], i, n) for s, i, n in zip(side, index, x.shape, strict=True)]
    return int(x[tuple(p for p in place if p is not None)])


def test_axes_of_a_tensor_may_be_read_in_any_order_and_more_than_once() -> None:
    text = """
    kernel turned(x: i64[N, N, N]) -> (y: i64[N, N], z: i64[N, N, N]) {
        edge x = wrap
        y[i, j] = x[i, j + 1, i - 1]
        z[a, b, c] = x[-c, 2, a + b] + x[c, a, -b]
    }
    """
    x = np.random.default_rng(0).integers(0, 99, (4, 4, 4))
    y, z = evaluate(kernel(text), [x])
    for i, j in product(range(4), repeat=2):
        assert y[i, j] == x[i, (j + 1) % 4, i - 1]
    for a, b, c in product(range(4), repeat=3):
        assert z[a, b, c] == x[-c, 2, (a + b) % 4] + x[c, a, -b]


def test_a_constant_edge_may_be_any_expression_without_an_index() -> None:
    text = """
    kernel bordered(x: f32[N], c: f32[]) -> (y: f32[N]) {
        edge x[0] = (constant(2 * c[] + 1), constant(-inf))
        y[i] = max(x[i - 1], x[i + 1])
    }
    """
    assert_array_equal(run(text, f32(1, 2, 3), np.array(4, np.float32)), [9, 3, 2])


def test_views_are_read_as_they_lie() -> None:
    text = "kernel three(x: f32[N]) -> (y: f32[N]) { edge x = constant(0)  y[i] = sum(u in -1..=1) x[i + u] }"
    assert_array_equal(run(text, np.broadcast_to(f32(1), 3)), [2, 3, 2])
    assert_array_equal(run(text, f32(1, 2, 4, 8)[::-1]), [12, 14, 7, 3])
    parent = np.ones((5, 5), np.float32)
    assert_array_equal(run(text, parent[2, 1:4]), [2, 3, 2])       # the parent's elements are outside
    assert_array_equal(run(text, parent[1:4, 2]), [2, 3, 2])


@pytest.mark.parametrize("rule", FOLDS)
def test_a_fold_into_nothing_is_refused(rule: str) -> None:
    text = f"kernel far(x: f32[N]) -> (y: f32[N + 1]) {{ edge x = {rule}  y[i] = x[i] }}"
    with pytest.raises(LayoutcError) as caught:
        run(text, f32())
    assert caught.value.diagnostics[0].slug == "empty-fold"
    assert "x" in caught.value.diagnostics[0].message


def test_a_constant_stands_even_where_there_is_no_element() -> None:
    text = "kernel far(x: f32[N]) -> (y: f32[N + 2]) { edge x = constant(7)  y[i] = x[i - 1] }"
    assert_array_equal(run(text, f32()), [7, 7])
