"""Inputs on which other stencil libraries were reported wrong, with the right answers: the kernel's and NumPy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

from layoutc import ndimage
from layoutc.diagnostics import LayoutcError
from layoutc.module import compile
from tests.backend_support import numpy_or_cupy

Array = NDArray[Any]
RULES = ("reflect", "nearest", "wrap", "mirror", "constant(0)")
MODES = ("reflect", "nearest", "wrap", "mirror", "constant")
SECOND_OF_SIX = np.array([[3, 2, 5, 1, 4], [5, 8, 3, 7, 1], [5, 6, 9, 3, 5]], np.int32)


@pytest.fixture(autouse=True)
def _on_device(device: str) -> Iterator[None]:
    with ndimage.on_device(device):
        yield


@pytest.fixture
def run(device: str) -> Any:
    """The output of a text's one kernel, the same as NumPy's."""
    def of(text: str, *inputs: Array, schedule: str | None = None) -> Array:
        module = compile(text)
        kernel = module[next(iter(module))]
        out: Array = kernel(*inputs, device=device, schedule=schedule)
        assert_array_equal(out, kernel.reference(*inputs))
        return out

    return of


def test_mirror_of_an_axis_of_one(run: Any) -> None:     # scipy 11661
    text = """
    kernel three(x: i32[A, B, C, D]) -> (y: i32[A, B, C, D]) {
        edge x = mirror
        y[a, b, c, d] = sum(u in -1..=1) x[a + u, b, c, d]
    }
    """
    x = np.arange(24, dtype=np.int32).reshape(1, 2, 3, 4)
    assert_array_equal(run(text, x), 3 * x)
    assert_array_equal(ndimage.correlate1d(x, [1, 1, 1], 0, mode="mirror"), 3 * x)


@pytest.mark.parametrize(
    ("rule", "x", "median"),
    [(rule, [2], [2]) for rule in RULES[:-1]] + [(RULES[-1], [2], [0]), ("reflect", [1, 2], [2, 1])],
)
def test_a_median_window_longer_than_the_array(rule: str, x: list[int], median: list[int], run: Any) -> None:
    # scipy 22250, 22586, 23075
    text = f"kernel m(x: f64[N]) -> (y: f64[N]) {{ edge x = {rule}  y[i] = median(u in -2..=2) x[i + u] }}"
    assert_array_equal(run(text, np.array(x, np.float64)), median)
    assert_array_equal(ndimage.median_filter(x, 5, mode=rule.removesuffix("(0)")), median)


@pytest.mark.parametrize("rule", ["reflect", "wrap"])
def test_a_window_larger_than_the_image(rule: str, run: Any) -> None:     # scipy 8684
    text = f"""
    kernel c(x: f64[H, W], w: f64[4, 4]) -> (y: f64[H, W]) {{
        edge x = {rule}
        y[i, j] = sum(u, v) w[u, v] * x[i + u - 2, j + v - 2]
    }}
    """
    w = np.zeros((4, 4))
    w[0, 3] = 1
    assert_array_equal(run(text, np.zeros((1, 1)), w), [[0]])
    assert_array_equal(ndimage.convolve(np.zeros((1, 1)), w, mode=rule), [[0]])


def test_integers_of_64_bits_are_exact(run: Any) -> None:   # scipy 11816, 10390: wrong in scipy 1.17 still
    text = """
    kernel least(x: i64[H, W]) -> (y: i64[H, W]) {
        edge x = reflect
        y[i, j] = min(u in -1..=1, v in -1..=1) x[i + u, j + v]
    }
    """
    x = np.full((3, 3), np.iinfo(np.int64).max)
    x[1, 1] = 0
    assert_array_equal(run(text, x), np.zeros((3, 3)))
    assert_array_equal(ndimage.minimum_filter(x, 3), np.zeros((3, 3)))
    assert_array_equal(ndimage.minimum_filter(x, footprint=[[1, 0, 1], [1, 1, 0], [1, 1, 1]]),
                       [[0, 0, 0], [x.max(), 0, 0], [0, x.max(), 0]])
    assert_array_equal(ndimage.median_filter(x, 3), x.max())
    times = "kernel t(x: i64[N], w: i64[1]) -> (y: i64[N]) { y[i] = sum(u) w[u] * x[i + u] }"
    odd = np.array([2**62 + 1])
    assert run(times, odd, np.array([1])).item() == 4611686018427387905
    for weights in ([[1]], [[1.0]]):
        assert ndimage.convolve(odd[None], weights).item() == 4611686018427387905
    assert ndimage.sobel(np.array([[0, 2**62 + 1, 2]]), 1)[0, 0] == 4 * (2**62 + 1) - 2**64


def test_a_constant_that_the_type_does_not_hold(run: Any) -> None:   # scipy 20158: -6 is 250 or 0, by the processor
    text = "kernel c(x: u8[N]) -> (y: i32[N]) { edge x = constant(-1)  y[i] = 5 * i32(x[i - 1]) }"
    with pytest.raises(LayoutcError):
        compile(text)
    held = """
    kernel c(x: u8[N], w: i32[3]) -> (y: i32[N]) {
        edge g = constant(-1)
        let g[i] = i32(x[i])
        y[i] = sum(u) w[u] * g[i + u - 1]
    }
    """
    x = np.zeros(3, np.uint8)
    assert_array_equal(run(held, x, np.array([5, 7, 6], np.int32)), [-5, 0, -6])
    exact = ndimage.correlate(x, [5, 7, 6], mode="constant", cval=-1, output=np.int32)
    assert_array_equal(exact, [-5, 0, -6])
    assert_array_equal(ndimage.correlate(x, [5, 7, 6], mode="constant", cval=-1), [251, 0, 250])    # modulo 256


def test_nan_propagates_to_both_sides_alike(run: Any) -> None:   # scipy 9077, 22000
    text = "kernel m(x: f32[N]) -> (y: f32[N]) { edge x = nearest  y[i] = max(u in -1..=1) x[i + u] }"
    x = np.array([1, np.nan, 3, 2, 1], np.float32)
    assert_array_equal(run(text, x), [np.nan, np.nan, np.nan, 3, 2])
    filters = (ndimage.maximum_filter, ndimage.minimum_filter, ndimage.median_filter)
    for one in filters:
        here = one(x, 3)
        assert_array_equal(np.isnan(here), [True, True, True, False, False])
        assert_array_equal(one(x[::-1], 3)[::-1], here)


def test_rank_filters_in_place(run: Any) -> None:   # scipy 3694, 9553, 9578; cupy 8406
    sixth = """
    kernel sixth(x: i32[H, W]) -> (y: i32[H, W]) {
        edge x = constant(0)
        y[i, j] = i32(count(u in -1..=1, v in -1..=1) (x[i + u, j + v] > 0) >= 3)
    }
    """
    x = np.zeros((3, 3), np.int32)
    x[:, 0] = 1
    wanted = [[0, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert_array_equal(run(sixth, x), wanted)
    a = x.astype(np.float64)
    ndimage.rank_filter(a, 6, footprint=np.ones((3, 3)), mode="constant", output=a)
    assert_array_equal(a, wanted)
    b = SECOND_OF_SIX.copy()
    ndimage.rank_filter(b, 1, size=(2, 3), output=b)
    assert_array_equal(b, [[2, 2, 1, 1, 1], [3, 3, 2, 1, 1], [5, 5, 3, 3, 1]])


def test_strides_of_zero_and_below_keep_their_masks(run: Any) -> None:  # cupy 8912
    text = "kernel s(x: f64[N]) -> (y: f64[N]) { edge x = constant(0)  y[i] = sum(u in -1..=1) x[i + u] }"
    same = np.broadcast_to(np.ones(1), 3)
    assert_array_equal(run(text, same), [2, 3, 2])
    assert_array_equal(ndimage.correlate1d(same, [1, 1, 1], mode="constant"), [2, 3, 2])
    x = np.arange(5.0)
    assert_array_equal(run(text, x[::-1]), [7, 9, 6, 3, 1])
    assert_array_equal(ndimage.correlate1d(x[::-1], [1, 1, 1], mode="constant"), [7, 9, 6, 3, 1])


def test_an_integer_mean_rounds_down_once(run: Any) -> None:     # cupy 8401
    text = "kernel mean(x: i32[N]) -> (y: i32[N]) { edge x = reflect  y[i] = (sum(u in -3..3) x[i + u]) // 6 }"
    want = np.zeros(27)
    want[12:16] = 1
    x = np.repeat([0, 1, 0], 9)
    assert_array_equal(run(text, x.astype(np.int32)), want)
    assert_array_equal(ndimage.uniform_filter(x, 6), want)


def test_more_rows_than_a_grid_has_in_y(run: Any) -> None:      # opencv_contrib 4153
    text = "kernel s(x: f32[H, W]) -> (y: f32[H, W]) { edge x = constant(0)  y[i, j] = x[i - 1, j] + x[i, j + 1] }"
    x = np.arange(3 * (65535 * 8 + 1), dtype=np.float32).reshape(-1, 3) % 1024
    assert run(text, x)[-1, 0] == x[-2, 0] + x[-1, 1]


def test_the_parent_of_a_part_of_an_image_is_not_read(run: Any) -> None:    # opencv_contrib 3163, opencv 5263
    text = "kernel s(x: f32[H, W]) -> (y: f32[H, W]) { edge x = constant(0)  y[i, j] = sum(u in -1..=1) x[i, j + u] }"
    part = np.ones((6, 7), np.float32)[2:5, 1:5]
    assert_array_equal(run(text, part), [[2, 3, 3, 2]] * 3)
    assert_array_equal(ndimage.correlate1d(part, [1, 1, 1], mode="constant"), [[2, 3, 3, 2]] * 3)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_an_empty_raster_stays_empty(shape: tuple[int, int], run: Any) -> None:     # xarray-spatial 3225, cupy 10199
    text = "kernel s(x: f32[H, W]) -> (y: f32[H, W]) { edge x = nearest  y[i, j] = x[i - 1, j] - x[i + 1, j] }"
    x = np.zeros(shape, np.float32)
    assert run(text, x).shape == shape
    for one in (ndimage.sobel, ndimage.laplace):
        assert one(x).shape == shape
    for sized in (ndimage.uniform_filter, ndimage.median_filter, ndimage.maximum_filter, ndimage.gaussian_filter):
        assert sized(x, 3).shape == shape


@pytest.mark.parametrize(("extents", "tile"), [((1, 130), (1, 256)), ((100, 100), (16, 16)), ((3, 3), (2, 2))])
def test_images_narrower_than_a_tile_or_no_multiple_of_it(
    extents: tuple[int, int], tile: tuple[int, int], run: Any
) -> None:      # Halide 718, 5777; devito 1896
    text = f"""
    kernel blur(x: i32[H, W]) -> (y: i32[H, W]) {{
        edge x = nearest
        y[i, j] = sum(u in -1..=1, v in -1..=1) x[i + u, j + v]
    }}
    schedule blur {{ tile (i: {tile[0]}, j: {tile[1]})  stage x in shared }}
    """
    run(text, np.arange(np.prod(extents), dtype=np.int32).reshape(extents))


def test_what_lies_outside_is_written_too(device: str) -> None:     # numba 3518
    text = """
    kernel drop(a: f64[H, W]) -> (y: f64[H, W]) {
        edge a = nearest
        y[i, j] = where(i + 1 < H, a[i, j] - a[i + 1, j], 7)
    }
    """
    out = np.full((3, 4), 9.0)
    compile(text).drop(np.ones((3, 4)), out=out, device=device)
    assert_array_equal(out, [[0] * 4, [0] * 4, [7] * 4])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("tile", [1, 3, 5])
def test_a_halo_larger_than_tile_and_array(rule: str, tile: int, run: Any) -> None:     # devito 1331, dask 11934, 7776
    text = f"""
    kernel far(x: i32[H, W]) -> (y: i32[H, W]) {{
        edge x = {rule}
        y[i, j] = sum(u in -8..=3) i32(u + 20) * (x[i + u, j] + 3*x[i, j + u])
    }}
    schedule far {{ tile (i: {tile}, j: {tile})  stage x in shared }}
    """
    for n in (1, 2, 6, 10):
        run(text, np.arange(n * n, dtype=np.int32).reshape(n, n) % 17)


def test_fused_stages_know_the_halo_of_each(run: Any) -> None:      # dawn 54
    text = """
    kernel third(x: i32[N]) -> (y: i32[N - 2]) { let g[i] = x[i + 1]  y[i] = g[i + 1] }
    schedule third { tile (i: 4)  stage x in shared  stage g in shared }
    """
    assert_array_equal(run(text, np.arange(11, dtype=np.int32)), np.arange(2, 11))


@pytest.mark.parametrize("shape", [(7, 7), (17, 23)])
def test_strided_windows_with_padding(shape: tuple[int, int], run: Any) -> None:     # jax 16894, pytorch 176446
    text = """
    kernel conv(x: i32[H, W], w: i32[7, 7]) -> (y: i32[(H - 1)//2 + 1, (W - 1)//2 + 1]) {
        edge x = constant(0)
        y[i, j] = sum(u, v) w[u, v] * x[2*i + u - 3, 2*j + v - 3]
    }
    schedule conv { tile (i: 3, j: 4)  stage x in shared }
    """
    rng = np.random.default_rng(0)
    run(text, rng.integers(-9, 9, shape, dtype=np.int32), rng.integers(-9, 9, (7, 7), dtype=np.int32))


def test_channels_beyond_32_bits(device: str) -> None:      # pytorch 117736
    """Past 2^31 elements where there is a GPU to hold them; else the same on a few."""
    xp, channels, n = numpy_or_cupy(device), 514 if device == "cuda" else 5, 2048 if device == "cuda" else 20
    text = """
    kernel conv(x: f16[C, H, W], w: f16[C, 3, 3]) -> (y: f32[H - 2, W - 2]) {
        require H >= 2, W >= 2
        y[i, j] = sum(c, u, v) f32(w[c, u, v]) * f32(x[c, i + u, j + v])
    }
    """
    x, w = xp.zeros((channels, n, n), np.float16), xp.zeros((channels, 3, 3), np.float16)
    x[0, 0, 0], x[-1, -1, -1], x[-1, -3, -2] = 3, 5, 7
    w[0, 0, 0], w[-1] = 2, xp.arange(9).reshape(3, 3)
    y = compile(text).conv(x, w, device=device)
    assert [float(y[0, 0]), float(y[-1, -1]), float(y[-1, -2])] == [6, 8 * 5 + 1 * 7, 2 * 7]
    assert float(y.sum()) == 6 + (1 + 2 + 4 + 5 + 7 + 8) * 7 + 8 * 5


def test_cubes_beyond_32_bits(device: str) -> None:     # devito 2777
    xp, n = numpy_or_cupy(device), 1295 if device == "cuda" else 13
    text = """
    kernel step(x: f32[D, H, W]) -> (y: f32[D, H, W]) {
        edge x = constant(1)
        y[i, j, k] = x[i - 1, j, k] + 2*x[i, j + 1, k] + 4*x[i, j, k - 1]
    }
    """
    x = xp.zeros((n, n, n), np.float32)
    x[-1, -1, -1], x[-2, -1, -1] = 3, 5
    y = compile(text).step(x, device=device)
    assert [float(y[-1, -1, -1]), float(y[-1, -2, -1]), float(y[0, 0, 0]), float(y[1, 1, 1])] == [5 + 2, 6, 1 + 4, 0]


def test_origins_are_checked_and_go_with_their_axes() -> None:      # scipy 22533, 20652
    x = np.arange(24.0).reshape(2, 3, 4)
    with pytest.raises(ValueError, match="invalid origin"):
        ndimage.minimum_filter(x, footprint=np.ones((1, 2, 2)), origin=(0, -2, -2))
    moved = ndimage.correlate(x, np.ones((2, 2)), axes=(0, 2), origin=(-1, 0))
    whole = ndimage.correlate(x, np.ones((2, 1, 2)), origin=(-1, 0, 0))
    assert_array_equal(moved, whole)
    assert_array_equal(ndimage.correlate(x, np.ones((2, 2)), axes=(2, 0), origin=(0, -1)), whole)


def test_mirrored_padding_of_one_element_repeats_it(run: Any) -> None:      # pytorch 152152
    text = "kernel pad(x: f32[N]) -> (y: f32[N + 2]) { edge x = mirror  y[i] = x[i - 1] }"
    assert_array_equal(run(text, np.array([5], np.float32)), [5, 5, 5])


@pytest.mark.parametrize("cval", [1j, [1, 2], "a"])
def test_what_cannot_stand_outside_is_refused_first(cval: Any) -> None:     # cupy 9374
    for one in (ndimage.uniform_filter, ndimage.median_filter, ndimage.gaussian_filter):
        with pytest.raises(ValueError, match="cval"):
            one(np.ones((3, 3)), 3, mode="constant", cval=cval)


def test_a_shift(run: Any) -> None:      # triton 3954, cutile-python 19
    text = "kernel shift(x: f32[N]) -> (y: f32[N]) { edge x = constant(0)  y[i] = x[i + 1] }"
    assert_array_equal(run(text, np.arange(7, dtype=np.float32)), [1, 2, 3, 4, 5, 6, 0])


def test_wide_gaussians_of_doubles_fit_into_a_block() -> None:      # cucim 408
    x = np.ones((70, 80))
    np.testing.assert_allclose(ndimage.gaussian_filter(x, 30), x, rtol=1e-14)


def test_types_are_part_of_what_a_kernel_is_kept_by() -> None:      # NDSL 445
    for dtype in (np.float32, np.float64, np.int32, np.uint8, np.float32):
        assert ndimage.correlate(np.ones(3, dtype), [1, 1, 1]).dtype == dtype


@pytest.mark.parametrize(
    ("window", "wanted"),
    [
        ("sum(u) w[u] * x[i + u - 2]", [0, 0, 4, 3, 2, 1, 0]),                      # correlate1d
        ("sum(u in 0..4) w[3 - u] * x[i + u - 1]", [0, 1, 2, 3, 4, 0, 0]),                  # convolve1d
        ("sum(v in 0..3) w[2 - v] * x[i + v - 2]", [0, 0, 0, 1, 2, 3, 0]),          # the same of three, origin -1
        ("sum(v in 0..3) w[2 - v] * x[i + v]", [0, 1, 2, 3, 0, 0, 0]),              # origin +1
    ],
)
def test_windows_are_not_flipped_and_lie_where_they_say(window: str, wanted: list[int], run: Any) -> None:
    # massiv 12, scipy 4580, 14745, 23978, 20370
    text = f"kernel w(x: i32[N], w: i32[4]) -> (y: i32[N]) {{ edge x = constant(0)  y[i] = {window} }}"
    impulse: Array = np.zeros(7, np.int32)
    impulse[3] = 1
    assert_array_equal(run(text, impulse, np.array([1, 2, 3, 4], np.int32)), wanted)


def test_correlations_and_convolutions_of_an_impulse() -> None:     # the same, by their names
    impulse = np.zeros(7, np.int32)
    impulse[3] = 1
    assert_array_equal(ndimage.correlate1d(impulse, [1, 2, 3, 4]), [0, 0, 4, 3, 2, 1, 0])
    assert_array_equal(ndimage.convolve1d(impulse, [1, 2, 3, 4]), [0, 1, 2, 3, 4, 0, 0])
    assert_array_equal(ndimage.convolve1d(impulse, [1, 2, 3], origin=1), [0, 1, 2, 3, 0, 0, 0])
    assert_array_equal(ndimage.convolve1d(impulse, [1, 2, 3], origin=-1), [0, 0, 0, 1, 2, 3, 0])
