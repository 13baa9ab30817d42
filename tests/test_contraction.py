"""Sums of products without a schedule: tiled in chunks where factors serve many outputs, and right in every corner."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc.module import Kernel, compile
from layoutc.plan.nodes import Target
from layoutc.testing import assert_matches_numpy

Array = NDArray[Any]

MATMUL = "kernel f(a: {type}[M, K], b: {type}[K, N]) -> (c: {type}[M, N]) {{ c[i, j] = sum(k) a[i, k] * b[k, j] }}"
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}


def whole_numbers(seed: int, shape: tuple[int, ...], type: str = "f32") -> Array:
    """Small enough that sums of their products are exact."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(TYPES[type])


def strategy_of(kernel: Kernel) -> str:
    return kernel.plan.passes[0].strategy


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize(
    "shape", [(5, 7, 9), (64, 16, 128), (65, 33, 130), (1, 1, 1), (3, 0, 4), (0, 3, 4), (70, 2, 1)], ids=str)
def test_matrix_products(type: str, shape: tuple[int, int, int], device: str) -> None:
    kernel = compile(MATMUL.format(type=type)).f
    assert strategy_of(kernel) == ("mma" if type == "f16" else "product")
    m, k, n = shape
    a, b = whole_numbers(1, (m, k), type), whole_numbers(2, (k, n), type)
    np.testing.assert_array_equal(kernel(a, b, device=device), a.astype(np.float64) @ b.astype(np.float64))


def test_strided_factors(device: str) -> None:
    """Transposed, reversed and broadcast arguments have rows that no vector reads."""
    kernel = compile(MATMUL.format(type="f32")).f
    a = whole_numbers(1, (17, 20)).T
    for b in (whole_numbers(2, (34, 60))[::-2, ::2], np.broadcast_to(whole_numbers(3, (1, 40)), (17, 40))):
        np.testing.assert_array_equal(kernel(a, b, device=device), a @ b)


@pytest.mark.parametrize(
    ("shape", "made"), [((1, 3, 9, 11), 5), ((2, 5, 4, 33), 40), ((1, 4, 1, 1), 32), ((1, 0, 3, 4), 4)])
def test_a_layer(shape: tuple[int, int, int, int], made: int, device: str) -> None:
    kernel = compile("""
    kernel layer(x: f32[N, C, H, W], w: f32[M, C, 3, 3], b: f32[M]) -> (y: f32[N, M, (H - 1)//2 + 1, W]) {
        edge x[2] = constant(0)
        edge x[3] = constant(0)
        y[n, m, i, j] = max(b[m] + sum(c, u, v) w[m, c, u, v] * x[n, c, 2*i + u - 1, j + v - 1], 0)
    }""").layer
    assert strategy_of(kernel) == "product"
    x, w, b = whole_numbers(5, shape), whole_numbers(6, (made, shape[1], 3, 3)), whole_numbers(7, (made,))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    rows = (shape[2] - 1) // 2 + 1
    sums = sum(np.einsum("mc,ncij->nmij", w[:, :, u, v], padded[:, :, u:u + 2 * rows - 1:2, v:v + shape[3]])
               for u, v in product(range(3), repeat=2))
    np.testing.assert_array_equal(kernel(x, w, b, device=device), np.maximum(sums + b[:, None, None], 0))


@pytest.mark.parametrize("channels", ["C", "24"])
def test_channels_last(channels: str, device: str) -> None:
    """Where all ranges are constant the window's indices stay outermost."""
    kernel = compile(f"""
    kernel layer(x: f32[N, H, W, {channels}], w: f32[M, 3, 3, {channels}]) -> (y: f32[N, H, W, M]) {{
        edge x[1] = constant(0)
        edge x[2] = constant(0)
        y[n, i, j, m] = sum(u, v, c in 0..{channels}) w[m, u, v, c] * x[n, i + u - 1, j + v - 1, c]
    }}
    schedule layer as plain {{ tile (i: 4, j: 8, m: 4) }}""").layer
    assert strategy_of(kernel) == "product"
    chunks = {c.index: c.size for c in kernel.plan.passes[0].chunks}
    assert chunks == {"u": 1, "v": 1, "c": 24 if channels == "24" else 32}
    random = np.random.default_rng(9)
    for n, h, width, made in [(2, 5, 7, 33), (1, 1, 1, 1), (1, 3, 18, 130)]:
        x = random.standard_normal((n, h, width, 24)).astype(np.float32)
        w = random.standard_normal((made, 3, 3, 24)).astype(np.float32)
        y = kernel(x, w, device=device)
        if channels == "24":
            np.testing.assert_array_equal(y, kernel(x, w, schedule="plain", device=device))
        assert_matches_numpy(kernel, x, w, device=device)


def test_a_factor_by_rows_of_both(device: str) -> None:
    kernel = compile("kernel f(a: f32[M, K], b: f32[N, K]) -> (c: f32[M, N]) { c[i, j] = sum(k) a[i, k] * b[j, k] }").f
    assert kernel.plan.passes[0].sizes == {"i": 64, "j": 64, "k": 32}
    for m, k, n in [(65, 35, 130), (3, 17, 2), (1, 1, 1)]:
        a, b = whole_numbers(1, (m, k)), whole_numbers(2, (n, k))
        np.testing.assert_array_equal(kernel(a, b, device=device), a @ b.T)


def test_bytes_through_registers_and_straight(device: str) -> None:
    """Few elements of a thread wait in registers; of many, as these weights are, none."""
    kernel = compile("""
    kernel f(x: i8[H, C], w: i8[M, C]) -> (y: i32[H, M]) { y[i, m] = sum(c) i32(w[m, c]) * i32(x[i, c]) }
    schedule f { tile (i: 8, m: 32, c: 16)  threads 16  stage x in shared double  stage w in shared double }""").f
    assert "x_next[8]" in kernel.cuda
    assert "w_next" not in kernel.cuda
    x = np.random.default_rng(1).integers(-128, 128, (11, 37)).astype(np.int8)
    w = np.random.default_rng(2).integers(-128, 128, (40, 37)).astype(np.int8)
    np.testing.assert_array_equal(kernel(x, w, device=device), x.astype(int) @ w.T.astype(int))


def test_bytes_of_which_two_factors_lie_in_a_word(device: str) -> None:
    kernel = compile("""
    kernel f(a: i8[M, 96], b: i8[96, N]) -> (c: i32[M, N]) { c[i, j] = sum(k in 0..64) i32(a[i, k]) * i32(b[k, j]) }
    schedule f { tile (i: 8, j: 2, k: 2)  stage a in shared  stage b in shared  vector 1  threads 1 }""").f
    a = np.random.default_rng(1).integers(-128, 128, (9, 96)).astype(np.int8)
    b = np.random.default_rng(2).integers(-128, 128, (96, 3)).astype(np.int8)
    np.testing.assert_array_equal(kernel(a, b, device=device), a[:, :64].astype(int) @ b[:64].astype(int))


def test_groups_and_batches_are_one_a_block(device: str) -> None:
    kernel = compile("""
    kernel f(a: f32[B, G, M, K], b: f32[B, G, K, N]) -> (c: f32[B, G, M, N], d: f32[B, G, M, N]) {
        let s[n, g, i, j] = sum(k) a[n, g, i, k] * b[n, g, k, j]
        c[n, g, i, j] = s[n, g, i, j]
        d[n, g, i, j] = 2 * s[n, g, i, j] + f32(n)
    }""").f
    assert strategy_of(kernel) == "product"
    assert kernel.plan.passes[0].sizes == {"n": 1, "g": 1, "i": 128, "j": 64, "k": 16}
    a, b = whole_numbers(1, (2, 3, 9, 5)), whole_numbers(2, (2, 3, 5, 7))
    c, d = kernel(a, b, device=device)
    np.testing.assert_array_equal(c, a @ b)
    np.testing.assert_array_equal(d, 2 * (a @ b) + np.arange(2)[:, None, None, None])


def test_constant_ranges_keep_the_order_of_their_indices(device: str) -> None:
    kernel = compile("""
    kernel f(x: f32[24, W], w: f32[M, 24, 3]) -> (y: f32[M, W]) {
        edge x[1] = wrap
        require W > 0
        y[m, i] = sum(c, v) w[m, c, v] * x[c, i + v]
    }
    schedule f as plain { tile (m: 2, i: 32) }""").f
    assert strategy_of(kernel) == "product"
    random = np.random.default_rng(8)
    x, w = random.standard_normal((24, 150)).astype(np.float32), random.standard_normal((20, 24, 3)).astype(np.float32)
    np.testing.assert_array_equal(kernel(x, w, device=device), kernel(x, w, schedule="plain", device=device))


@pytest.mark.parametrize(("text", "why"), [
    ("f(x: f32[H, W], w: f32[3, 3]) -> (y: f32[H, W]) { edge x = nearest  require H > 0, W > 0 "
     "y[i, j] = sum(u, v) w[u, v] * x[i + u - 1, j + v - 1] }", "no index of the reduction moves two factors"),
    ("f(a: f32[M, K], x: f32[K]) -> (y: f32[M]) { y[i] = sum(k) a[i, k] * x[k] }", "every index of the other"),
    ("f(a: f32[M, K]) -> (y: f32[M]) { y[i] = sum(k) a[i, k] * a[i, k] }", "no index of"),
    ("f(a: f32[K, M], b: f32[K, 2]) -> (c: f32[M, 2]) { c[i, j] = sum(k) a[k, i] * b[k, j] }", "too few"),
    ("f(a: f32[M, N]) -> (c: f32[M, N]) { c[i, j] = a[i, j] }", "nothing is reduced"),
    ("f(a: f32[M, K], b: f32[K, N], p: i64[N]) -> (c: f32[M, N]) { edge b = nearest  require K > 0, N > 0 "
     "c[i, j] = sum(k) a[i, k] * b[k, p[j]] }", "no index of"),
])
def test_what_is_no_contraction_is_tiled_otherwise(text: str, why: str) -> None:
    one = compile(f"kernel {text}").f.plan.passes[0]
    assert one.strategy != "contraction"
    refused, = (r for r in one.rejected if r.strategy == "contraction")
    assert why in refused.why


def test_what_a_schedule_says_is_not_overruled() -> None:
    for clauses in ("tile (i: 4, j: 8)", "threads 64", "stage a in global", "vector 2"):
        kernel = compile(MATMUL.format(type="f32") + f" schedule f {{ {clauses} }}").f
        assert strategy_of(kernel) == "tile"
    budgeted = compile(MATMUL.format(type="f32") + " schedule f { budget shared 7000 }").f.plan.passes[0]
    assert budgeted.strategy == "product"
    assert budgeted.shared_bytes <= 7000


def test_factors_are_taken_once_for_all_outputs_that_share_them() -> None:
    """Eight rows by eight columns: sixteen vectors of four steps for 256 products."""
    text = compile(MATMUL.format(type="f32")).f.cuda
    assert "Pack<float, 4> left[8];" in text
    assert "Pack<float, 4> right[8];" in text
    assert "sum[item] = fma(left[item / 8][element], right[element * 2 + item / 4 % 2][item % 4]," in text
    kernel = compile(MATMUL.format(type="f16")).f
    narrow = Kernel(kernel.program, kernel.meaning, Target("sm_75")).cuda      # without tensor cores
    assert "float left[8];" in narrow
    assert "float right[4];" in narrow
    assert "sum[item] = fma(left[item / 4], right[item % 4], sum[item]);" in narrow
