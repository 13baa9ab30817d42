"""Sums of products on the arithmetic units: right in every corner of sides, chunks, edges, types and strides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc.module import Kernel, compile
from tests.padding import padded

Array = NDArray[Any]

RULES = ("constant(-1.5)", "mirror", "wrap")
TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "u64": np.uint64}
LAYER = """
kernel f(x: {type}[N, H, W, C], w: {type}[M, 3, 3, C], b: {type}[M]) -> (y: {type}[N, (H - 1)//2 + 1, W, M]) {{
    edge x[1] = {rule}
    edge x[2] = {rule}
    y[n, i, j, m] = b[m] + sum(u in 0..3, v in 0..3, c) w[m, u, v, c] * x[n, 2*i + u - 1, j + v - 1, c]
}}"""


def drawn(seed: int, shape: tuple[int, ...], type: str = "f32") -> Array:
    """Whole numbers, so that sums of their products are exact whatever their order."""
    low = 0 if type == "u64" else -4
    return np.random.default_rng(seed).integers(low, 5, shape).astype(TYPES[type])


def made_by(text: str) -> Kernel:
    """The kernel, which must be made as a product."""
    kernel: Kernel = compile(text).f
    assert kernel.plan.passes[0].strategy == "product"
    return kernel


def around(x: Array, rule: str) -> Array:
    """One line more on each side of both axes in the middle."""
    return padded(x, ((0, 0), (1, 1), (1, 1), (0, 0)), rule)


@pytest.mark.parametrize("rule", RULES)
def test_edges_of_a_layer_of_every_second_row(rule: str, device: str) -> None:
    """Outputs are counted through images and rows: those past an image's end begin the next."""
    kernel = made_by(LAYER.format(type="f32", rule=rule))
    x, w, b = drawn(1, (3, 5, 6, 7)), drawn(2, (9, 3, 3, 7)), drawn(3, (9,))
    p = around(x, rule)
    y = b + sum(np.einsum("mc,nijc->nijm", w[:, u, v], p[:, u:u + 5:2, v:v + 6])
                for u in range(3) for v in range(3))
    np.testing.assert_array_equal(kernel(x, w, b, device=device), y)


@pytest.mark.parametrize(("type", "shape"), [("f64", (130, 18, 66)), ("u64", (129, 5, 64))])
def test_types_and_ragged_vectors(type: str, shape: tuple[int, int, int], device: str) -> None:
    """Rows whose lengths are no multiples of a vector's begin at places where no vector lies."""
    kernel = made_by(f"kernel f(a: {type}[M, K], b: {type}[K, N]) -> (c: {type}[M, N]) "
                     "{ c[i, j] = sum(k) a[i, k] * b[k, j] }")
    m, k, n = shape
    a, b = drawn(1, (m, k), type), drawn(2, (k, n), type)
    wide = np.zeros((k, n + 5), TYPES[type])
    wide[:, 2:n + 2] = b
    for given in (b, wide[:, 2:n + 2]):
        np.testing.assert_array_equal(kernel(a, given, device=device), a @ b)


def test_factors_that_run_along_their_sides(device: str) -> None:
    """Transposed on the left, and casts of what is read; a factor of another size of element."""
    kernel = made_by("kernel f(a: i32[K, M], b: f64[K, N]) -> (c: f64[M, N]) "
                     "{ c[i, j] = sum(k) f64(a[k, i]) * b[k, j] }")
    a, b = drawn(4, (37, 70), "i32"), drawn(5, (37, 45), "f64")
    np.testing.assert_array_equal(kernel(a, b, device=device), a.T @ b)


def test_bits_are_those_of_the_binders_order(device: str) -> None:
    """Signs of zeros and what is no number too: nothing is multiplied that the sum does not hold."""
    text = """
    kernel f(x: f32[B, 5, W], w: f32[6, 5, 3]) -> (y: f32[B, 6, W]) {
        edge x[2] = constant(0)
        y[n, m, i] = sum(c in 0..5, v in 0..3) w[m, c, v] * x[n, c, i + v - 1]
    }
    schedule f as plain { tile (m: 2, i: 8) }"""
    kernel = made_by(text)
    random = np.random.default_rng(3)
    x, w = random.standard_normal((2, 5, 37)).astype(np.float32), random.standard_normal((6, 5, 3)).astype(np.float32)
    x[0, 1, :4] = [np.inf, -np.inf, np.nan, 0.0]
    x[1], w[0] = -1e-30, 1e-30
    y, plain = kernel(x, w, device=device), kernel(x, w, schedule="plain", device=device)
    np.testing.assert_array_equal(y.view(np.uint32)[~np.isnan(y)], plain.view(np.uint32)[~np.isnan(plain)])
    np.testing.assert_array_equal(np.isnan(y), np.isnan(plain))


def test_what_both_factors_share_is_one_a_block(device: str) -> None:
    kernel = made_by("""
    kernel f(x: f32[N, G, C, W], w: f32[G, M, C]) -> (y: f32[N, G, M, W], z: f32[N, G, M, W]) {
        let s[n, g, m, i] = sum(c) w[g, m, c] * x[n, g, c, i]
        y[n, g, m, i] = max(s[n, g, m, i], 0)
        z[n, g, m, i] = s[n, g, m, i] * s[n, g, m, i]
    }""")
    assert kernel.plan.passes[0].groups == (("n", "i"), ("g",), ("m",))
    x, w = drawn(6, (2, 3, 5, 11)), drawn(7, (3, 8, 5))
    s = np.einsum("gmc,ngci->ngmi", w, x)
    y, z = kernel(x, w, device=device)
    np.testing.assert_array_equal(y, np.maximum(s, 0))
    np.testing.assert_array_equal(z, s * s)


def test_sums_and_extents_of_nothing(device: str) -> None:
    kernel = made_by(LAYER.format(type="f32", rule="constant(0)"))
    b = drawn(3, (9,))
    for shape in [(2, 3, 4, 0), (0, 3, 4, 4), (2, 1, 1, 4)]:
        x, w = drawn(1, shape), drawn(2, (9, 3, 3, shape[3]))
        y = kernel(x, w, b, device=device)
        p = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
        rows = (shape[1] - 1) // 2 + 1
        made = sum(np.einsum("mc,nijc->nijm", w[:, u, v], p[:, u:u + 2 * rows - 1:2, v:v + shape[2]])
                   for u in range(3) for v in range(3))
        np.testing.assert_array_equal(y, b + made)


@pytest.mark.parametrize("window", ["5, 5", "2, 15", "7, 7", "3, 1"])
@pytest.mark.parametrize("type", ["f32", "f64"])
def test_chunks_of_any_window_find_room(type: str, window: str) -> None:
    kernel = made_by(f"""
    kernel f(x: {type}[N, C, H, W], w: {type}[M, C, {window}]) -> (y: {type}[N, M, H, W]) {{
        edge x = nearest
        require N > 0, C > 0, H > 0, W > 0
        y[n, m, i, j] = sum(c, u, v) w[m, c, u, v] * x[n, c, i + u, j + v]
    }}""")
    one = kernel.plan.passes[0]
    assert one.shared_bytes <= kernel.plan.target.shared_bytes
    assert "copy_async" in kernel.cuda


def test_names_of_the_text_step_aside(device: str) -> None:
    """Tensors and indices may be called what a product's own variables are."""
    kernel = made_by("kernel f(part: f32[row, slot], step: f32[slot, column]) -> (left: f32[row, column]) "
                     "{ left[turn, element] = sum(buffer) part[turn, buffer] * step[buffer, element] }")
    a, b = drawn(1, (9, 21)), drawn(2, (21, 10))
    np.testing.assert_array_equal(kernel(a, b, device=device), a @ b)


@pytest.mark.parametrize(("text", "why"), [
    ("f(x: f32[H, K], w: f32[K, H]) -> (y: f32[H, H]) { let s[i, m] = sum(k) x[i, k] * w[k, m]  "
     "y[i, m] = s[i, m] + s[m, i] }", "other places"),
    ("f(x: f32[H, K], w: f32[K, M]) -> (y: f32[H, M]) { y[i, m] = sum(k) (x[i, k] - w[k, m]) }", "no sum of products"),
    ("f(x: f16[H, K], w: f16[K, M]) -> (y: f16[H, M]) { y[i, m] = sum(k) x[i, k] * w[k, m] }", "2 bytes"),
    ("f(x: f32[H, K], w: f32[K, M], p: i32[K]) -> (y: f32[H, M]) { edge x = nearest  require H > 0, K > 0 "
     "y[i, m] = sum(k) x[i, p[k]] * w[k, m] }", "no integer expression"),
    ("f(x: f32[H, K]) -> (y: f32[H, H]) { y[i, m] = sum(k) x[i, k] * x[m, k] }", "one tensor"),
])
def test_what_is_no_product_says_why(text: str, why: str) -> None:
    one = compile(f"kernel {text}").f.plan.passes[0]
    assert one.strategy != "product"
    refused, = (r for r in one.rejected if r.strategy == "product")
    assert why in refused.why
