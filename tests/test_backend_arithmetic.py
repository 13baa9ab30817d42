"""The vocabulary of arithmetic.h is NumPy's, made total: bit for bit on edge values of every type."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from layoutc.backend import CpuModule, CudaModule
from layoutc.backend.types import numpy_dtype
from tests.backend_support import Array, entry_of, launch, load, source_of
from tests.backend_vocabulary import (
    ENDS,
    EXACT,
    FOLDS,
    FUNCTIONS,
    MATH,
    ROUND,
    SHAPES,
    TO_HALF,
    UNITS,
    Function,
    edge_values,
    nearest_half,
)

Loaded = CpuModule | CudaModule


@pytest.fixture(scope="module")
def vocabulary(device: str) -> Loaded:
    text = '#include "layoutc.cuh"\n' + ENDS + "\n".join(function.text for function in FUNCTIONS)
    return load(device, source_of("vocabulary.cu", text))


def evaluate(module: Loaded, device: str, name: str, inputs: list[Array], gives: str) -> Array:
    n = inputs[0].size
    out = np.zeros(n, numpy_dtype(gives))
    launch(module, device, entry_of(module.source, name), -(-n // (128 * ROUND)), [*inputs, out, n])
    return out


def pairs(types: tuple[str, ...]) -> list[Array]:
    """All combinations of edge values, one array an argument."""
    grids = np.meshgrid(*[edge_values(type) for type in types], indexing="ij")
    return [np.ascontiguousarray(grid.ravel()) for grid in grids]


def bits(a: Array) -> Array:
    """The bits, of floats with all NaNs alike."""
    if a.dtype.kind in "iub":
        return a
    unsigned = a.view(f"u{a.dtype.itemsize}").astype(np.uint64)
    return np.where(np.isnan(a), np.uint64(1) << np.uint64(63), unsigned)


def assert_same_bits(got: Array, wanted: Array, inputs: list[Array]) -> None:
    wrong = np.flatnonzero(bits(got) != bits(wanted))
    shown = [(*(a[k] for a in inputs), "gives", got[k], "not", wanted[k]) for k in wrong[:5]]
    assert not shown, shown


@pytest.mark.parametrize("function", EXACT, ids=lambda function: function.name)
def test_same_bits_as_numpy(function: Function, vocabulary: Loaded, device: str) -> None:
    inputs = pairs(function.takes)
    with np.errstate(all="ignore"):
        wanted = function.wanted(*inputs)
    assert wanted.dtype == numpy_dtype(function.gives)
    assert_same_bits(evaluate(vocabulary, device, function.name, inputs, function.gives), wanted, inputs)


@pytest.mark.parametrize("function", FOLDS, ids=lambda function: function.name)
def test_folds_are_the_languages_at_any_distance(function: Function, vocabulary: Loaded, device: str) -> None:
    ends = [np.iinfo(numpy_dtype(type)) for type in function.takes]
    near = list(itertools.product(range(-40, 41), range(1, 10)))
    extremes = (ends[0].min, ends[0].min + 1, -7, 0, 7, ends[0].max)
    far = list(itertools.product(extremes, (1, 2, 3, ends[1].max - 1, ends[1].max)))
    columns = np.array(near + far, dtype=object).T
    inputs = [column.astype(numpy_dtype(type)) for column, type in zip(columns, function.takes, strict=True)]
    got = evaluate(vocabulary, device, function.name, inputs, function.gives)
    assert_same_bits(got, function.wanted(*inputs), inputs)


@pytest.mark.parametrize("function", MATH, ids=lambda function: function.name)
def test_math_is_near(function: Function, vocabulary: Loaded, device: str) -> None:
    """f32 against NumPy's f64; f64 against NumPy's own, which may be as far off on the other side."""
    random = np.random.default_rng(5)
    spread = [np.exp2(random.uniform(-20, 6, 4000)) * random.choice([-1, 1], 4000) for _ in function.takes]
    edges = [grid.astype(np.float64) for grid in pairs(("f32",) * len(function.takes))]
    inputs = [np.concatenate(two).astype(numpy_dtype(function.gives)) for two in zip(spread, edges, strict=True)]
    got = evaluate(vocabulary, device, function.name, inputs, function.gives)
    with np.errstate(all="ignore"):
        exact = function.wanted(*[a.astype(np.float64) for a in inputs])
        wanted = exact.astype(got.dtype)
        unit = np.spacing(np.abs(wanted)).astype(np.float64)
        units = np.abs(got.astype(np.float64) - exact) / unit
    close = (got == wanted) | (np.isnan(got) & np.isnan(wanted)) | (units <= UNITS[function.name.split("_")[0]] + 2)
    assert close.all(), [(*(a[k] for a in inputs), got[k], wanted[k]) for k in np.flatnonzero(~close)[:5]]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", TO_HALF, ids=lambda function: function.name)
def test_halves_round_to_nearest_even(function: Function, vocabulary: Loaded, device: str) -> None:
    """Every half, every middle between two, and their neighbours on both sides: all places where rounding changes."""
    half = numpy_dtype(function.gives)
    patterns = np.arange(1 << 16, dtype=np.uint16)
    values = patterns.view(half).astype(np.float64)
    nexts = (patterns + np.uint16(1)).view(half).astype(np.float64)
    middles = (values + nexts) / 2
    greatest = SHAPES[function.gives][2]
    beyond = 2.0 ** math.ceil(math.log2(greatest))
    middles = np.concatenate([middles[np.isfinite(middles)], [(greatest + beyond) / 2, -(greatest + beyond) / 2]])
    points = np.concatenate([values, middles]).astype(numpy_dtype(function.takes[0]))
    up, down = (np.nextafter(points, points.dtype.type(end)) for end in (np.inf, -np.inf))
    a = np.concatenate([points, up, down])
    got = evaluate(vocabulary, device, function.name, [a], function.gives)
    assert_same_bits(got, nearest_half(a.astype(np.float64), half, function.gives), [a])


def test_extremes_of_indices(device: str) -> None:
    """Plain min and max, as CUDA has them, on int and i64."""
    function = [
        Function(f"{name}_{type}", f"{name}(a[i], b[i])", (type, type), type, meaning)
        for type in ("i32", "i64", "u32", "u64")
        for name, meaning in (("min", np.minimum), ("max", np.maximum))
    ]
    source = source_of("extremes.cu", '#include "layoutc.cuh"\n' + "\n".join(f.text for f in function))
    module = load(device, source)
    for f in function:
        inputs = pairs(f.takes)
        assert_same_bits(evaluate(module, device, f.name, inputs, f.gives), f.wanted(*inputs), inputs)
