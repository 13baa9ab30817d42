"""The NumPy meaning of kernels: numbers known from outside, and NumPy and SciPy themselves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.ndimage as nd
from numpy.testing import assert_allclose, assert_array_equal

from layoutc.diagnostics import LayoutcError
from layoutc.reference import evaluate
from tests.reference_support import f32, kernel, run

WINDOW = """
kernel correlate(x: i32[H, W], w: i32[3, 3]) -> (y: i32[H, W]) {
    edge x = constant(0)
    y[i, j] = sum(u in 0..3, v in 0..3) w[u, v] * x[i + u - 1, j + v - 1]
}
"""

VALID = """
kernel valid(x: i32[H, W], w: i32[3, 3]) -> (y: i32[H - 2, W - 2]) {
    require H >= 2, W >= 2
    y[i, j] = sum(u in 0..3, v in 0..3) w[u, v] * x[i + u, j + v]
}
"""


def test_a_window_that_looks_ahead_sees_zeros_past_the_end() -> None:
    text = """
    kernel ahead(a: f64[N], w: f64[3]) -> (y: f64[N]) { edge a = constant(0)  y[i] = sum(u) w[u] * a[i + u] }
    """
    y = run(text, np.arange(1.0, 13.0), np.full(3, 1 / 3))
    assert_allclose(y, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 23 / 3, 4], rtol=1e-15)


def test_a_centred_window() -> None:
    text = """
    kernel centred(x: i32[N], F: i32[3]) -> (y: i32[N]) { edge x = constant(0)  y[i] = sum(u) F[u] * x[i + u - 1] }
    """
    y = run(text, np.array([4, 1, 3, 2, 3], np.int32), np.array([2, 1, 4], np.int32))
    assert_array_equal(y, [8, 21, 13, 20, 7])


def test_a_cross_of_weights_over_four_by_four() -> None:
    x = np.arange(1, 17, dtype=np.int32).reshape(4, 4)
    w = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]], np.int32)
    assert_array_equal(run(VALID, x, w), [[30, 35], [50, 55]])
    assert_array_equal(run(WINDOW, x, w), [[7, 14, 17, 11], [17, 30, 35, 22], [29, 50, 55, 34], [23, 34, 37, 27]])


@pytest.mark.parametrize("stride", [1, 2])
def test_a_convolution_layer_is_the_sum_that_defines_it(stride: int) -> None:
    text = f"""
    const P = 1
    const S = {stride}
    const D = 2
    kernel conv2d(x: i8[C, H, W], w: i8[M, C, 3, 3], b: i32[M])
        -> (y: i32[M, (H + 2*P - 2*D - 1)//S + 1, (W + 2*P - 2*D - 1)//S + 1]) {{
        require H >= 3, W >= 3
        edge x = constant(0)
        y[m, i, j] = b[m] + sum(c, u, v) i32(w[m, c, u, v]) * i32(x[c, S*i + D*u - P, S*j + D*v - P])
    }}
    """
    rng = np.random.default_rng(1)
    x, w = rng.integers(-128, 128, (3, 7, 6), np.int8), rng.integers(-128, 128, (5, 3, 3, 3), np.int8)
    b = rng.integers(-1000, 1000, 5, np.int32)
    padded = np.pad(x.astype(int), ((0, 0), (1, 1), (1, 1)))
    high, wide = (padded.shape[1] - 5) // stride + 1, (padded.shape[2] - 5) // stride + 1
    want = np.zeros((5, high, wide), int)
    for i in range(high):
        for j in range(wide):
            box = padded[:, stride * i : stride * i + 5 : 2, stride * j : stride * j + 5 : 2]
            want[:, i, j] = b + np.einsum("mcuv,cuv->m", w.astype(int), box)
    assert_array_equal(run(text, x, w, b), want)


def test_lets_are_formulas_wherever_their_inputs_are() -> None:
    text = """
    kernel two(x: i32[H, W]) -> (y: i32[H, W]) {
        edge x = nearest
        let g[i, j] = sum(v in -1..=1) x[i, j + v]
        y[i, j] = sum(u in -1..=1) g[i + u, j]
    }
    """
    x = np.random.default_rng(2).integers(-99, 99, (6, 7), np.int32)
    assert_array_equal(run(text, x), nd.correlate(x, np.ones((3, 3), np.int32), mode="nearest"))


def test_a_let_with_edges_is_extended_from_its_domain() -> None:
    text = """
    kernel two(x: i32[N]) -> (y: i32[N]) {
        edge x = wrap
        edge g[0] = (constant(-7), mirror)
        let g[k in 2..N-1] = 10 * x[k] + x[k + 1]
        y[i] = g[i - 1] + 1000 * g[i + 2]
    }
    """
    x = np.arange(1, 8, dtype=np.int32)
    g = [10 * x[i] + x[i + 1] for i in range(2, 6)]     # the domain, 2..5
    mirrored = [*g, g[2], g[1], g[0]]                   # 2..8
    low = [-7 if i < 2 else mirrored[i - 2] for i in range(-1, 6)]
    high = [mirrored[i - 2] for i in range(2, 9)]
    assert_array_equal(run(text, x), np.array(low) + 1000 * np.array(high))


def test_stages_run_on_and_a_chain_of_forty_is_quick() -> None:
    lets = "\n".join(f"let g{n + 1}[i] = g{n}[i - 1] + g{n}[i + 1]" for n in range(40))
    text = f"kernel chain(x: u64[N]) -> (y: u64[N]) {{ edge x = wrap\n let g0[i] = x[i]\n {lets}\n y[i] = g40[i] }}"
    x = np.arange(5, dtype=np.uint64)
    want = x
    for _ in range(40):
        want = np.roll(want, 1) + np.roll(want, -1)
    assert_array_equal(run(text, x), want)


def test_a_long_chain_may_be_read_at_places_that_data_name() -> None:
    lets = "\n".join(f"let g{n + 1}[i] = g{n}[i - 1] + g{n}[i + 1]" for n in range(150))
    text = f"""
    kernel chain(x: u64[N], at: i64[M]) -> (y: u64[M]) {{
        edge x = wrap
        let g0[i] = x[i]
        {lets}
        y[j] = g150[at[j]]
    }}
    """
    x, at = np.arange(5, dtype=np.uint64), np.array([3, -1000, 7, 0])
    want = x
    for _ in range(150):
        want = np.roll(want, 1) + np.roll(want, -1)
    assert_array_equal(run(text, x, at), want[at % 5])


def test_a_domain_that_ends_before_it_begins_holds_nothing() -> None:
    text = """
    kernel none(x: i32[N]) -> (y: i32[N + 3]) {
        edge x = wrap
        edge g = constant(9)
        let g[k in 2..N+1] = x[k]
        y[i] = g[i]
    }
    """
    assert_array_equal(run(text, np.zeros(0, np.int32)), [9, 9, 9])


def test_subscripts_may_be_any_integer_expression() -> None:
    text = """
    kernel odd(x: f32[N], at: i32[M]) -> (y: f32[M], z: f32[M]) {
        edge x = wrap
        let g[i] = 2.0 * x[i]
        y[i] = x[i64(at[i])]
        z[i] = g[i // 2 + i % 3] + g[where(i > 2, i64(at[i]), -i)]
    }
    """
    x, at = f32(1, 10, 100, 1000), np.array([-1, 5, 2, 7, -9], np.int32)
    y, z = evaluate(kernel(text), [x, at])
    assert_array_equal(y, x[at % 4])
    i = np.arange(5)
    assert_array_equal(z, 2 * x[(i // 2 + i % 3) % 4] + 2 * x[np.where(i > 2, at, -i) % 4])


def test_several_outputs_scalars_and_no_inputs() -> None:
    text = """
    kernel many(x: f32[N], c: f32[]) -> (s: f32[], y: f32[N]) { s[] = sum(i) x[i]  y[k] = c[] * x[k] }
    """
    s, y = evaluate(kernel(text), [f32(1, 2, 3), np.array(4, np.float32)])
    assert s.shape == ()
    assert s == 6
    assert_array_equal(y, [4, 8, 12])
    table = evaluate(kernel("kernel table() -> (t: i64[3, 4]) { t[i, j] = 10*i + j }"), [])[0]
    assert_array_equal(table, [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]])


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (1, 1), (1, 3)])
@pytest.mark.parametrize("rule", ["nearest", "reflect", "mirror", "wrap", "constant(3)"])
def test_extents_of_none_and_one(shape: tuple[int, int], rule: str) -> None:
    text = WINDOW.replace("constant(0)", rule)
    x, w = np.full(shape, 2, np.int32), np.arange(9, dtype=np.int32).reshape(3, 3)
    y = run(text, x, w)
    assert y.shape == shape
    if rule != "constant(3)":
        assert_array_equal(y, np.full(shape, 2 * 36))


def test_reductions_of_nothing_have_their_identities() -> None:
    text = """
    kernel none(x: f32[N]) -> (s: f32[], p: f32[], a: bool[], b: bool[], c: i64[]) {
        s[] = sum(i) x[i]  p[] = prod(i) x[i]
        a[] = any(i) (x[i] > 0)  b[] = all(i) (x[i] > 0)  c[] = count(i) (x[i] > 0)
    }
    """
    assert [o.item() for o in evaluate(kernel(text), [f32()])] == [0.0, 1.0, False, True, 0]


@pytest.mark.parametrize("reduction", ["min(i)", "max(i)", "argmin(i)", "argmax(i)"])
def test_what_has_no_identity_is_refused_over_nothing(reduction: str) -> None:
    type = "i64" if reduction.startswith("arg") else "f32"
    text = f"kernel none(x: f32[N]) -> (s: {type}[]) {{ s[] = {reduction} x[i] }}"
    with pytest.raises(LayoutcError) as caught:
        run(text, f32())
    assert caught.value.diagnostics[0].slug == "empty-reduction"


def test_first_places_in_the_order_of_the_binders() -> None:
    text = """
    kernel place(x: f32[H, W]) -> (a: i64[H], b: i64[], c: i64[]) {
        a[i] = argmax(j in 1..W) x[i, j]
        b[] = argmin(k in 0..H, l) x[k, l]
        c[] = argmax(l, k) x[k, l]
    }
    """
    x = np.array([[9, 1, 4, 4], [0, 7, 7, 0], [9, 9, 2, 2]], np.float32)
    a, b, c = evaluate(kernel(text), [x])
    assert_array_equal(a, [2, 1, 1])    # the index itself
    assert b == 4                       # the row-major position
    assert c == 0
    x[1, 2] = np.nan
    a, b, c = evaluate(kernel(text), [x])
    assert_array_equal(a, [2, 2, 1])    # the first NaN, as in NumPy
    assert b == 6
    assert c == 2 * 3 + 1


def test_the_median_is_the_element_of_half_the_count() -> None:
    text = "kernel m(x: f32[H, 4]) -> (y: f32[H]) { y[i] = median(j in 0..4) x[i, j] }"
    y = run(text, np.array([[4, 1, 3, 2], [1, np.nan, 1, 1], [-np.inf, 0, 5, np.inf]], np.float32))
    assert_array_equal(y, [3, np.nan, 5])


def test_large_arrays_are_evaluated_in_pieces() -> None:
    text = """
    kernel blur(x: f32[H, W]) -> (y: f32[H, W], m: f32[H, W]) {
        edge x = mirror
        let g[i, j] = sum(v in -2..=2) x[i, j + v]
        y[i, j] = sum(u in -2..=2) g[i + u, j]
        m[i, j] = median(a in -1..=1, b in -1..=1) x[i + a, j + b]
    }
    """
    x = np.random.default_rng(3).integers(0, 100, (700, 900)).astype(np.float32)
    y, m = evaluate(kernel(text), [x])
    assert_array_equal(y, nd.correlate(x, np.ones((5, 5), np.float32), mode="mirror"))
    assert_array_equal(m, nd.median_filter(x, 3, mode="mirror"))


def test_what_a_call_gives_wrong_is_refused_together() -> None:
    with pytest.raises(LayoutcError) as caught:
        run(WINDOW, np.zeros((2, 2), np.int32), np.zeros((3, 3), np.float32))
    assert [d.slug for d in caught.value.diagnostics] == ["type-mismatch"]
