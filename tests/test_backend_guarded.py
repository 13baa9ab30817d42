"""Guarded copies hold the same values, keep what decides vector widths, and fence every axis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from layoutc.backend import KernelFault, guarded, load_cpu
from layoutc.backend.guarded import ALIGNMENT, FENCE, FORBIDDEN, data_address, element_range
from tests.backend_support import source_of

BASE = np.arange(4000, dtype=np.float32)
FILL = """#include "layoutc.cuh"
KERNEL(32) fill(Out<float> y, int at) {
    if (threadIdx.x == 0) y[at] = 1.0f;
}
KERNEL(32) peek(In<float> x, Out<float> y, int at) {
    if (threadIdx.x == 0) y[0] = x[at];
}
"""


@st.composite
def views(draw: st.DrawFn) -> NDArray[np.float32]:
    """Views of one buffer: any axis order, steps of both signs, stride 0, offsets, extents of 0 and 1."""
    shape = draw(st.lists(st.integers(0, 5), min_size=0, max_size=3))
    steps = [draw(st.sampled_from((1, 2, -1, -2))) for _ in shape]
    offset = draw(st.integers(0, 5))
    whole = tuple(max(n, 1) * abs(step) for n, step in zip(shape, steps, strict=True))
    count = int(np.prod(whole))
    array = BASE[offset : offset + count].reshape(whole)
    cut = tuple(slice(None, None, step) for step in steps)
    array = array[cut][tuple(slice(0, n) for n in shape)]
    array = array.transpose(draw(st.permutations(range(len(shape)))))
    if array.ndim and draw(st.booleans()):
        array = np.broadcast_to(array[..., :1], array.shape) if array.shape[-1] else array
    return array


@given(views(), st.booleans())
def test_a_guarded_copy_is_like_its_array(array: NDArray[np.float32], keep: bool) -> None:
    copy = guarded(array, keep_strides=keep).array
    np.testing.assert_array_equal(copy, array)
    assert copy.dtype == array.dtype
    assert (data_address(copy) - data_address(array)) % ALIGNMENT == 0
    for extent, old, new in zip(array.shape, array.strides, copy.strides, strict=True):
        assert np.sign(old) == np.sign(new)
        assert (abs(old) - abs(new)) % ALIGNMENT == 0 or extent <= 1
        assert new == old or not keep


@given(views())
def test_between_rows_lies_a_fence(array: NDArray[np.float32]) -> None:
    made = guarded(array)
    axes = [(abs(s), n) for s, n in zip(made.array.strides, made.array.shape, strict=True) if n > 1 and s != 0]
    covered = 0
    for stride, extent in sorted(axes):
        assert stride >= covered + FENCE or covered == 0
        covered += stride * (extent - 1) + (0 if covered else array.itemsize)
    distinct = {0} if array.size else set()
    low, high = element_range(made.array.shape, made.array.strides, array.itemsize)
    for stride, extent in zip(made.array.strides, made.array.shape, strict=True):
        distinct = {place + k * stride // array.itemsize for place in distinct for k in range(extent)}
    assert set((np.flatnonzero(made.owner != FORBIDDEN) + low).tolist()) == distinct
    assert made.owner.size == high - low


def test_a_step_off_a_row_is_caught_in_either_direction() -> None:
    module = load_cpu(source_of("fill.cu", FILL))
    made = guarded(np.zeros((4, 5), np.float32))
    pitch = made.array.strides[0] // 4
    for at in (-1, 5, pitch - 1, pitch + 5, 3 * pitch + 5):
        with pytest.raises(KernelFault, match=f"write outside y: element {at}"):
            module.launch("fill", 1, [made, at])
        with pytest.raises(KernelFault, match=f"read outside x: element {at}"):
            module.launch("peek", 1, [made, np.zeros(1, np.float32), at])
    assert not made.written().any()


def test_written_says_which_elements() -> None:
    module = load_cpu(source_of("fill.cu", FILL))
    made = guarded(np.zeros((4, 5), np.float32)[::-1])
    module.launch("fill", 1, [made, 2 * made.array.strides[0] // 4 + 3])
    assert np.argwhere(made.written()).tolist() == [[2, 3]]
    assert made.array[2, 3] == 1
    made.forget()
    assert not made.written().any()


@pytest.mark.parametrize("view", [BASE[:20].reshape(4, 5)[::-1, ::-1], BASE[:40:2].reshape(4, 5).T, BASE[:0]])
def test_range_of_a_plain_array_is_what_it_spans(view: NDArray[np.float32]) -> None:
    module = load_cpu(source_of("fill.cu", FILL))
    low, high = element_range(view.shape, view.strides, 4)
    out = np.zeros(1, np.float32)
    for at in range(low, high):
        module.launch("peek", 1, [view, out, at])
    for at in (low - 1, high):
        with pytest.raises(KernelFault, match=f"read outside x: element {at}"):
            module.launch("peek", 1, [view, out, at])
