"""Rows of a let made in shared memory, and outputs that change hands there: NumPy's answers, at every edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from layoutc.backend.types import numpy_dtype
from layoutc.module import Kernel, compile
from layoutc.testing import assert_matches_numpy

BITS = {"f32": np.uint32, "f64": np.uint64}


def separable(taps: int, edge: str = "constant(0)", type: str = "f32", left: int | None = None, rest: str = "") -> str:
    """Two passes of weights in one kernel; ``left``: taps before the output's own place."""
    r = taps // 2 if left is None else left
    return f"""kernel k(x: {type}[H, W], w: {type}[{taps}]) -> (y: {type}[H, W]) {{
    edge x = {edge}
    let g[i, j] = sum(v in 0..{taps}) w[v] * x[i, j + v - {r}]
    y[i, j] = sum(u in 0..{taps}) w[u] * g[i + u - {r}, j]{rest}
}}"""


def drawn(kernel: Kernel, *shapes: tuple[int, ...]) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(7)
    types = (numpy_dtype(t.type.name) for t in kernel.meaning.inputs)
    return [rng.uniform(0.5, 1.5, shape).astype(type) for shape, type in zip(shapes, types, strict=True)]


def strategies(kernel: Kernel) -> list[str]:
    return [one.strategy for one in kernel.plan.passes]


@pytest.mark.parametrize(("text", "shape"), [
    (separable(15), (147, 517)),
    (separable(15, "reflect"), (64, 128)),
    (separable(15, "wrap"), (1, 132)),
    (separable(11, "mirror"), (70, 260)),
    (separable(13, "nearest", "f64"), (130, 70)),
    (separable(12, "(reflect, constant(2))", left=9), (90, 300)),
    (separable(15, rest=" - 1"), (5, 4)),
    (separable(13).replace("sum(u", "max(u"), (80, 140)),
    (separable(7, "reflect"), (70, 400)),
    (separable(9, "constant(1)", "f64"), (67, 130)),
], ids=["constant", "whole", "one row", "mirror", "f64", "sides", "small", "max", "seven", "nine"])
def test_rows_of_a_let_are_made_in_shared_memory(text: str, shape: tuple[int, int], device: str) -> None:
    kernel = compile(text).k
    assert strategies(kernel) == ["staged"]
    taps = int(kernel.meaning.inputs[1].extents[0].value)
    x, w = drawn(kernel, shape, (taps,))
    assert_matches_numpy(kernel, x, w, device=device)


def test_rows_of_a_let_that_need_more_than_a_kernel_has_unasked(device: str) -> None:
    """Shared memory that the launch asks for, as much as four blocks of a multiprocessor may have."""
    kernel = compile(separable(19, "reflect")).k
    one, = kernel.plan.passes
    assert one.strategy == "staged"
    assert 48 * 1024 < one.dynamic_bytes == one.shared_bytes <= 56 * 1024
    assert_matches_numpy(kernel, *drawn(kernel, (150, 200), (19,)), device=device)


def test_images_of_a_batch_are_filtered_apart(device: str) -> None:
    text = separable(15, "mirror").replace("[H, W]", "[N, H, W]").replace("[i", "[n, i")
    kernel = compile(text).k
    assert strategies(kernel) == ["staged"]
    assert_matches_numpy(kernel, *drawn(kernel, (3, 66, 130), (15,)), device=device)


@pytest.mark.parametrize("type", ["f32", "f64"])
def test_the_bits_are_those_of_the_written_order(type: str, device: str) -> None:
    text = separable(15, "reflect", type)
    plain = compile(text + "\nschedule k { stage x in global  stage w in global  threads 64 }").k
    kernel = compile(text).k
    x, w = drawn(kernel, (75, 200), (15,))
    kind = BITS[type]
    np.testing.assert_array_equal(kernel(x, w, device=device).view(kind), plain(x, w, device=device).view(kind))


@pytest.mark.parametrize(("text", "strategy"), [
    (separable(3), "ringed"),                                               # short windows
    (separable(15, rest=" + x[i, j]"), "tile"),                           # x is read once more
    (separable(15, type="f16"), "ringed"),                                  # rows of floats are wider than rows of x
    (separable(15, type="f64"), "ringed"),                                  # warps would read much beside their rows
], ids=["short", "read again", "narrow", "wide"])
def test_where_rows_have_no_place_the_walk_makes_them(text: str, strategy: str, device: str) -> None:
    kernel = compile(text).k
    assert strategies(kernel) == [strategy]
    x, w = drawn(kernel, (70, 140), tuple(int(n.value) for n in kernel.meaning.inputs[1].extents))
    assert_matches_numpy(kernel, x, w, device=device)


@pytest.mark.parametrize(("taps", "edge"), [(7, "mirror"), (9, "wrap"), (15, "nearest")])
def test_large_windows_of_weights(taps: int, edge: str, device: str) -> None:
    """Rows that come in groups, weights in lines; where rows are not aligned turns around a loop, or common weights."""
    r = taps // 2
    kernel = compile(f"""kernel k(x: f32[H, W], w: f32[{taps}, {taps}]) -> (y: f32[H, W]) {{
    edge x = {edge}
    y[i, j] = sum(u in 0..{taps}, v in 0..{taps}) w[u, v] * x[i + u - {r}, j + v - {r}]
}}""").k
    assert strategies(kernel) == ["ringed"]
    x, w = drawn(kernel, (45, 560), (taps, taps))
    assert_matches_numpy(kernel, x, w, device=device)
    assert_matches_numpy(kernel, x[:, 1:], w, device=device)


def test_unaligned_rows_are_walked(device: str) -> None:
    kernel = compile(separable(15)).k
    x, w = drawn(kernel, (70, 141), (15,))
    assert_matches_numpy(kernel, x[:, 1:], w, device=device)
    assert_matches_numpy(kernel, x[::-1, ::2], w, device=device)


@pytest.mark.parametrize("form", [
    "kernel k(x: f32[W, H]) -> (y: f32[H, W], z: f32[H, W]) { y[i, j] = x[j, i]  z[i, j] = 1 - x[j, i] }",
    "kernel k(x: f64[W, H]) -> (y: f32[H, W]) { y[i, j] = f32(x[j, i]) }",
    "kernel k(x: u8[W, H]) -> (y: i32[H, W]) { y[i, j] = i32(x[j, i]) * 3 }",
    "kernel k(x: f32[W, H]) -> (y: f32[H, W]) { edge x = wrap  y[i, j] = x[j - 1, i + 1] }",
], ids=["two outputs", "to narrower", "to wider", "shifted"])
@pytest.mark.parametrize("shape", [(64, 128), (67, 133), (1, 260)])
def test_outputs_change_hands(form: str, shape: tuple[int, int], device: str) -> None:
    kernel = compile(form).k
    x, = drawn(kernel, shape)
    assert_matches_numpy(kernel, x, device=device)
    assert_matches_numpy(kernel, x[::-1], device=device)
    assert_matches_numpy(kernel, np.asfortranarray(x), device=device)
