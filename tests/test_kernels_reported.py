"""Kernels on which a run once differed from the meaning, with the right answer from NumPy or by hand."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc.module import compile

TENTH = np.array([0.1, -3.3, 1000], np.float16)


@pytest.mark.parametrize("half", [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)], ids=["f16", "bf16"])
def test_a_cast_to_its_own_half_type_rounds(half: np.dtype[Any], device: str) -> None:
    name = "f16" if half == np.float16 else "bf16"
    text = f"kernel k(x: {name}[N]) -> (y: f32[N]) {{ y[i] = f32({name}(x[i] + x[i] + x[i])) }}"
    x = TENTH.astype(half)
    held = x.astype(np.float32)
    wanted = (held + held + held).astype(half).astype(np.float32)
    np.testing.assert_array_equal(compile(text).k(x, device=device), wanted)


def test_an_integer_becomes_bf16_by_one_rounding(device: str) -> None:
    x = np.array([2**40 + 2**32 + 1, -(2**40 + 2**32 + 1), 257, 2**62], np.int64)
    y = compile("kernel k(x: i64[N]) -> (y: bf16[N]) { y[i] = bf16(x[i]) }").k(x, device=device)
    wanted = np.array([2**40 + 2**33, -(2**40 + 2**33), 256, 2**62], ml_dtypes.bfloat16)
    np.testing.assert_array_equal(y.astype(np.float64), wanted.astype(np.float64))


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_a_let_folds_into_a_domain_that_begins_below_zero(n: int, device: str) -> None:
    text = """
    kernel k(x: i32[N]) -> (y: i32[N]) {
        edge x = wrap
        let g[a in -1..N] = x[a % 3]
        edge g = wrap
        y[i] = g[i - 4]
    }
    """
    x: NDArray[np.int32] = np.arange(10, 10 + n, dtype=np.int32)
    g = [x[(a % 3) % n] for a in range(-1, n)]
    np.testing.assert_array_equal(compile(text).k(x, device=device), [g[(i - 4 + 1) % (n + 1)] for i in range(n)])


def test_a_domain_that_ends_before_it_begins_is_all_outside(device: str) -> None:
    text = """
    kernel k(x: i32[N]) -> (y: i32[N + 3]) {
        edge x = wrap
        let g[a in 2..N+1] = x[a]
        edge g = constant(9)
        y[i] = g[i]
    }
    """
    np.testing.assert_array_equal(compile(text).k(np.zeros(0, np.int32), device=device), [9, 9, 9])
    np.testing.assert_array_equal(compile(text).k(np.array([5, 6, 7], np.int32), device=device), [9, 9, 7, 5, 9, 9])
