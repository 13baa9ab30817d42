"""A call made again: recognised by the form of its arrays, launched only where no output shares memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from layoutc import repeated
from layoutc.module import compile
from layoutc.repeated import Ready, Repeated, form_of
from layoutc.workspaces import Rooms


@dataclass
class Memory:
    ptr: int
    device_id: int = 0


class OnGpu:
    """What is asked of an array on a GPU, without one."""

    def __init__(self, at: int, shape: tuple[int, ...], strides: tuple[int, ...], device: int = 0) -> None:
        self.data, self.shape, self.strides, self.dtype, self.itemsize = Memory(at, device), shape, strides, "f4", 4
        self.size = int(np.prod(shape))


X = OnGpu(4096, (8, 8), (32, 4))


@pytest.mark.parametrize("other", [
    OnGpu(4100, (8, 8), (32, 4)), OnGpu(4096, (8, 7), (32, 4)), OnGpu(4096, (8, 8), (64, 4)),
    OnGpu(4096, (8, 8), (32, 4), device=1),
], ids=["alignment", "shape", "strides", "device"])
def test_another_form_is_another_call(other: OnGpu) -> None:
    assert form_of([X]) != form_of([other])


def test_another_address_of_the_same_alignment_is_the_same_call() -> None:
    assert form_of([X]) == form_of([OnGpu(8192 + 4096, (8, 8), (32, 4))])


@pytest.mark.parametrize("value", [np.zeros(3, np.float32), np.zeros(3, ml_dtypes.bfloat16), 2.5, [1, 2], None])
def test_what_is_no_array_on_a_gpu_has_no_form(value: Any) -> None:
    assert form_of([X, value]) is None


@pytest.mark.parametrize(("at", "launched"), [
    (4096, False), (4096 + 4, False), (4096 + 252, False), (4096 - 252, False), (4096 + 256, True), (4096 - 256, True),
])
def test_an_output_that_touches_an_input_is_not_launched(
    at: int, launched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeated, "current_device", lambda: 0)
    seen: list[Any] = []
    launches: Any = (seen.append,)
    call = Repeated.of(Ready(launches, (), Rooms()), [X, OnGpu(65536, (8, 8), (32, 4))], 1)
    assert call.launch([X, OnGpu(at, (8, 8), (32, 4))], None) is launched
    assert len(seen) == launched


def test_reversed_arrays_span_what_lies_before_their_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "current_device", lambda: 0)
    back = (-32, -4)
    call = Repeated.of(Ready((), (), Rooms()), [OnGpu(4096, (8, 8), back), OnGpu(65536, (8, 8), (32, 4))], 1)
    assert not call.launch([OnGpu(4096, (8, 8), back), OnGpu(4096 - 256, (8, 8), (32, 4))], None)
    assert call.launch([OnGpu(4096, (8, 8), back), OnGpu(4096 + 4, (8, 8), (32, 4))], None)


def test_the_same_call_again_gives_the_new_arrays_results(device: str) -> None:
    kernel = compile("kernel k(x: f32[N]) -> (y: f32[N]) { edge x = wrap  y[i] = x[i + 1] - x[i] }").k
    arrays: Any = np
    if device == "cuda":
        import cupy

        arrays = cupy
    for seed in range(4):
        for n in (7, 8):
            x = np.random.default_rng(seed).standard_normal(n).astype(np.float32)
            given, out = arrays.asarray(x), arrays.empty(n, np.float32)
            assert kernel(given, out=out, device=device) is out
            np.testing.assert_array_equal(out if device == "cpu" else out.get(), np.roll(x, -1) - x)
            made = kernel(given, device=device)
            assert made is not out
            np.testing.assert_array_equal(made if device == "cpu" else made.get(), np.roll(x, -1) - x)
    same = arrays.asarray(np.arange(8, dtype=np.float32))
    assert kernel(same, out=same, device=device) is same
    np.testing.assert_array_equal(same if device == "cpu" else same.get(), [1, 1, 1, 1, 1, 1, 1, -7])
