"""layoutc.ndimage on arrays large enough for texts of their own, against scipy; what it promises beyond scipy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.ndimage as theirs
from numpy.typing import NDArray

from layoutc import ndimage
from layoutc.backend.cuda import compile_ptx
from layoutc.ndimage.gaussian import gaussian_weights
from tests.backend_support import numpy_or_cupy
from tests.test_texts_compile import made

Array = NDArray[Any]
RNG = np.random.default_rng(11)
IMAGE = RNG.standard_normal((67, 71))
VOLUME = RNG.standard_normal((15, 17, 19))


@pytest.fixture(autouse=True)
def _on_device(device: str) -> Iterator[None]:
    with ndimage.on_device(device):
        yield


CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("correlate", (RNG.standard_normal((3, 4)),), {"mode": "reflect", "origin": (1, -1)}),
    ("correlate", (RNG.standard_normal((2, 5)),), {"mode": "constant", "cval": 1.5}),
    ("convolve", (RNG.standard_normal((4, 3)),), {"mode": "mirror", "origin": (0, 1)}),
    ("correlate1d", (RNG.standard_normal(6),), {"mode": "wrap", "axis": 0}),
    ("convolve1d", (RNG.standard_normal(5),), {"mode": "nearest"}),
    ("gaussian_filter", (1.7,), {"mode": ["constant", "wrap"], "cval": -2.0}),
    ("gaussian_filter", (1.2,), {"order": (0, 1), "mode": ["mirror", "constant"], "cval": 3.0}),
    ("gaussian_laplace", (1.0,), {"mode": "nearest"}),
    ("gaussian_gradient_magnitude", (1.0,), {}),
    ("uniform_filter", ((4, 5),), {"mode": "mirror", "origin": (-1, 2)}),
    ("uniform_filter1d", (7,), {"axis": 0, "mode": "constant", "cval": 2.0}),
    ("sobel", (0,), {"mode": "constant", "cval": 1.0}),
    ("prewitt", (), {"mode": "wrap"}),
    ("laplace", (), {"mode": ["constant", "reflect"], "cval": 1.0}),
    ("minimum_filter", ((3, 4),), {"mode": ["constant", "mirror"], "cval": -0.5, "origin": (0, -1)}),
    ("maximum_filter1d", (6,), {"axis": 0, "mode": "wrap"}),
    ("minimum_filter", (), {"footprint": np.tri(3, dtype=bool), "mode": "reflect"}),
    ("median_filter", (3,), {"mode": "mirror"}),
    ("median_filter", ((2, 4),), {"mode": "constant", "cval": 0.25}),
    ("rank_filter", (2,), {"footprint": np.tri(3, dtype=bool), "mode": "nearest", "origin": (1, 0)}),
    ("rank_filter", (-2,), {"size": 3, "mode": "wrap"}),
    ("percentile_filter", (20,), {"size": (3, 4), "mode": "reflect"}),
]


@pytest.mark.parametrize(("name", "arguments", "keywords"), CALLS, ids=[f"{k}-{c[0]}" for k, c in enumerate(CALLS)])
def test_large_arrays_agree_with_scipy(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    ours = getattr(ndimage, name)(IMAGE, *arguments, **keywords)
    wanted = getattr(theirs, name)(IMAGE, *arguments, **keywords)
    assert (ours.dtype, ours.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["gaussian_filter", "uniform_filter", "maximum_filter", "median_filter"])
def test_volumes(name: str) -> None:
    for axes in ((0, 2), None):
        size = 2 if name == "median_filter" else 3
        ours = getattr(ndimage, name)(VOLUME, size, axes=axes, mode="wrap")
        np.testing.assert_allclose(ours, getattr(theirs, name)(VOLUME, size, axes=axes, mode="wrap"), rtol=1e-12,
                                   atol=1e-12)


@pytest.mark.parametrize("name", ["uint8", "int16", "uint64", "float32"])
def test_types_of_large_arrays(name: str) -> None:
    dtype = np.dtype(name)
    x = (np.clip(IMAGE, -3, 3) * 40 + (128 if dtype.kind == "u" else 0)).astype(dtype)
    weights = np.array([[1, -2, 1], [0, 5, 0], [2, 0, -1]])
    for one, arguments in ((ndimage.correlate, (weights,)), (ndimage.sobel, (1,)), (ndimage.laplace, ())):
        wanted = getattr(theirs, one.__name__)(x.astype(np.float64), *arguments)
        held = wanted.astype(np.int64).astype(dtype) if dtype.kind in "iu" else wanted.astype(dtype)
        np.testing.assert_allclose(one(x, *arguments), held, rtol=1e-6)
    np.testing.assert_array_equal(ndimage.minimum_filter(x, 3), theirs.minimum_filter(x, 3))
    np.testing.assert_array_equal(ndimage.median_filter(x, (1, 5)), theirs.median_filter(x, (1, 5)))
    wide = ndimage.correlate(x, weights, output=np.float64)
    np.testing.assert_allclose(wide, theirs.correlate(x.astype(np.float64), weights), rtol=1e-12)


@pytest.mark.parametrize("n", [40, 4500])
@pytest.mark.parametrize("name", ["int8", "int32", "uint16"])
def test_a_mean_of_integers_is_cut_off_once(n: int, name: str) -> None:
    x = (RNG.standard_normal(n) * 100).astype(np.int8).astype(name)
    ends = np.pad(x.astype(np.int64), (3, 3), mode="symmetric")
    sums = np.lib.stride_tricks.sliding_window_view(ends, 7).sum(axis=1)
    wanted = (np.sign(sums) * (np.abs(sums) // 7)).astype(name)
    np.testing.assert_array_equal(ndimage.uniform_filter1d(x, 7), wanted)


def test_separable_filters_round_once() -> None:
    """Through both axes in f64: nearer to the exact sums than rounding to f32 between them."""
    x = (IMAGE * 1000).astype(np.float32)
    exact = theirs.gaussian_filter(x.astype(np.float64), 2.0)
    assert np.array_equal(ndimage.gaussian_filter(x, 2.0), exact.astype(np.float32))
    whole = ndimage.gaussian_filter(np.full((70, 70), 200, np.uint8), 3.0, output=np.int32)
    assert set(np.unique(whole)) <= {199, 200}


@pytest.mark.parametrize("n", [50, 5000])
def test_nan_goes_to_both_sides_alike(n: int) -> None:
    x = RNG.standard_normal(n)
    x[[0, 20]] = np.nan
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, 1, mode="edge"), 3)
    near: Array = np.isnan(windows).max(axis=1)
    for one in (ndimage.minimum_filter1d, ndimage.maximum_filter1d, ndimage.median_filter):
        for row in (x, x[::-1]):
            np.testing.assert_array_equal(np.isnan(one(row, 3)), near if row is x else near[::-1])


def test_weights_of_zero_and_small_ones_count() -> None:
    assert ndimage.correlate1d(np.ones(3), [1e-300, 0, 0])[1] == 1e-300


def test_an_output_may_be_the_input_or_a_part_of_one() -> None:
    wanted = theirs.uniform_filter(IMAGE, 3)
    x = IMAGE.copy()
    assert ndimage.uniform_filter(x, 3, output=x) is x
    np.testing.assert_allclose(x, wanted, rtol=1e-12, atol=1e-14)
    whole = np.zeros((2, *IMAGE.shape))
    ndimage.uniform_filter(IMAGE, 3, output=whole[:, ::-1][1])
    np.testing.assert_allclose(whole[1, ::-1], wanted, rtol=1e-12, atol=1e-14)
    assert not whole[0].any()


def test_what_is_not_filtered_is_copied() -> None:
    for out in (ndimage.uniform_filter(IMAGE, 1), ndimage.minimum_filter(IMAGE, 1), ndimage.gaussian_filter(IMAGE, 0)):
        np.testing.assert_array_equal(out, IMAGE)
        assert not np.shares_memory(out, IMAGE)


@pytest.mark.parametrize("name", ["laplace", "gaussian_laplace", "gaussian_gradient_magnitude"])
@pytest.mark.parametrize("type", [np.float64, np.int16, np.complex128])
def test_along_no_axis_the_array_itself_is_the_result(name: str, type: Any) -> None:
    x = (IMAGE * 100).astype(type)
    sigma = () if name == "laplace" else (1.0,)
    out = getattr(ndimage, name)(x, *sigma, axes=())
    np.testing.assert_array_equal(out, getattr(theirs, name)(x, *sigma, axes=()))
    assert out.dtype == x.dtype
    assert not np.shares_memory(out, x)


def test_results_lie_where_the_input_does(device: str) -> None:
    make = numpy_or_cupy(device).asarray
    x = make(IMAGE.astype(np.float32))
    out = make(np.zeros(IMAGE.shape))
    for result, wanted in (
        (ndimage.gaussian_filter(x, 1.0), theirs.gaussian_filter(IMAGE.astype(np.float32), 1.0)),
        (ndimage.correlate(x + 1j, make(np.ones((3, 3)))), theirs.correlate(IMAGE + 1j, np.ones((3, 3)))),
        (ndimage.rank_filter(x, 2, 3), theirs.rank_filter(IMAGE.astype(np.float32), 2, 3)),
        (ndimage.laplace(x[:9, :9]), theirs.laplace(IMAGE[:9, :9])),
        (ndimage.gaussian_gradient_magnitude(x, 1.0), theirs.gaussian_gradient_magnitude(IMAGE, 1.0)),
        (ndimage.uniform_filter(x * 100, 3, output=np.int16), theirs.uniform_filter(IMAGE * 100, 3).astype(np.int16)),
        (ndimage.maximum_filter(x, 3, output=out), theirs.maximum_filter(IMAGE.astype(np.float32), 3)),
    ):
        assert type(result) is type(x)
        host = result if isinstance(result, np.ndarray) else result.get()
        np.testing.assert_allclose(host, wanted, rtol=1e-4, atol=1e-4)
    assert result is out


def test_bools_and_views_and_lists() -> None:
    mask = IMAGE > 0
    np.testing.assert_array_equal(ndimage.maximum_filter(mask, 3), theirs.maximum_filter(mask, 3))
    np.testing.assert_array_equal(ndimage.median_filter(mask[:9, :9], 3), theirs.median_filter(mask[:9, :9], 3))
    for name, *rest in (("gaussian_filter", 1.0), ("uniform_filter", 3), ("correlate", [[0.25, 0.5], [1, 0.5]])):
        np.testing.assert_array_equal(getattr(ndimage, name)(mask, *rest), getattr(theirs, name)(mask, *rest) != 0)
    cut = ndimage.maximum_filter(np.array([0.5, 0.25, -0.5, 0, 0, 1.5]), 2, output=bool)
    assert cut.tolist() == [False] * 5 + [True]         # cut off, as where integers are asked for
    turned = IMAGE.T[::-1, ::2]
    np.testing.assert_allclose(ndimage.correlate(turned, [[1, 2], [3, 4]]),
                               theirs.correlate(turned, [[1, 2], [3, 4]]), rtol=1e-12)
    np.testing.assert_array_equal(ndimage.correlate1d([2, 8, 0, 4, 1, 9, 9, 0], [1, 3]), [8, 26, 8, 12, 7, 28, 36, 9])


def test_gaussian_weights_are_the_derivatives() -> None:
    for order in range(4):
        at = [gaussian_weights(2.0, order, 400)[400 + k] for k in (-3, 0, 3)]
        assert np.isclose(sum(gaussian_weights(2.0, 0, 400)), 1.0)
        assert np.isclose(at[0], (-1) ** order * at[2])
    x = np.arange(-9, 10.0)
    phi = np.exp(-x**2 / 8) / np.exp(-x**2 / 8).sum()
    np.testing.assert_allclose(gaussian_weights(2.0, 1, 9), -x / 4 * phi, rtol=1e-12)
    np.testing.assert_allclose(gaussian_weights(2.0, 2, 9), (x**2 / 16 - 0.25) * phi, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: ndimage.minimum_filter(IMAGE + 1j, 3), TypeError),
        (lambda: ndimage.minimum_filter(IMAGE), RuntimeError),
        (lambda: ndimage.correlate(IMAGE, np.ones((3, 3)), mode="edge"), RuntimeError),
        (lambda: ndimage.correlate(IMAGE, np.ones((0, 3))), RuntimeError),
        (lambda: ndimage.correlate(IMAGE.astype(np.float16), np.ones((3, 3))), RuntimeError),
        (lambda: ndimage.correlate(IMAGE, np.ones((3, 3)), output=np.zeros((3, 3))), RuntimeError),
        (lambda: ndimage.correlate(IMAGE, np.ones((3, 3)), output=np.float16), RuntimeError),
        (lambda: ndimage.uniform_filter1d(IMAGE, 0), RuntimeError),
        (lambda: ndimage.rank_filter(IMAGE, 9, 3), RuntimeError),
        (lambda: ndimage.percentile_filter(IMAGE, 101, 3), RuntimeError),
        (lambda: ndimage.correlate1d(IMAGE, np.ones(3), axis=2), ValueError),
    ],
)
def test_what_is_refused(call: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        call()


@pytest.mark.parametrize(("size", "texts"), [(9, 2), (99, 1)])
def test_what_is_written(size: int, texts: int) -> None:
    """A large image's two axes are one pass; a small one runs texts that any window shares."""
    x = np.ones((size, size))
    with ndimage.written() as found:
        ndimage.gaussian_filter(x, 2.0)
        assert len(found) == texts
        ndimage.gaussian_filter(x, 1.0)
        assert len(set(found)) == 2
    ndimage.gaussian_filter(x, 2.0)
    assert len(found) == 2 * texts


@pytest.mark.parametrize("name", ["correlate", "sobel", "minimum_filter", "rank_filter"])
def test_nvrtc_takes_the_texts(name: str) -> None:
    arguments, keywords = next((a, k) for n, a, k in CALLS if n == name and ("footprint" in k or "filter" not in name))
    with ndimage.written() as found:
        for x in (IMAGE, IMAGE[:9, :9]):
            getattr(ndimage, name)(x, *arguments, **keywords)
    for text in set(found):
        _, log = compile_ptx(made(text), "sm_90")
        assert not log.strip(), text


@pytest.mark.parametrize("shape", [(9, 8), (70, 71)])
def test_a_result_has_the_byte_order_that_is_asked_for(shape: tuple[int, int], device: str) -> None:
    if device == "cuda":
        return          # CuPy has one byte order
    x = RNG.standard_normal(shape).astype(np.float32)
    for output in (">f4", np.dtype(">f8"), "<f4"):
        ours, wanted = ndimage.sobel(x, output=output), theirs.sobel(x, output=output)
        assert ours.dtype == wanted.dtype
        np.testing.assert_allclose(ours, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("name", "words"), [
    ("gaussian_filter", {"sigma": 1, "axes": 5}), ("correlate1d", {"weights": [1, 2, 1], "axis": -3}),
    ("sobel", {"axis": 2}), ("median_filter", {"size": 3, "axes": (0, 2)}),
])
def test_an_axis_that_is_not_there_is_scipys_error(name: str, words: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="axis") as theirs_error:
        getattr(theirs, name)(IMAGE, **words)
    with pytest.raises(type(theirs_error.value)):
        getattr(ndimage, name)(IMAGE, **words)
