"""Boxes by the copy engine: what a copy brings, what is told of it, and that each misuse is caught on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc.backend import load_cpu, load_cuda
from layoutc.backend.tensor_maps import Mapped
from layoutc.backend.types import C_TYPES, numpy_dtype
from layoutc.compiler import default_signature, plan_kernel
from layoutc.cuda_source import ArrayParam, CudaSource, Entry, MapParam, Param, ScalarParam
from layoutc.module import Kernel
from layoutc.plan.nodes import MapArgument, Target
from layoutc.testing import assert_matches_numpy
from tests.backend_support import numpy_or_cupy
from tests.test_backend_faults import symptom
from tests.test_backend_kernels import Case
from tests.test_mma import ZERO, compile, layer, product_text, values

HERE = Target()         # sm_90
Array = NDArray[Any]


# ---- what one copy brings


def copied(x: Array, param: MapParam, last: tuple[int, ...], numbers: tuple[int, ...], device: str) -> Array:
    """What the copy puts side by side in shared memory."""
    lines = param.windows or int(np.prod(param.box[:-1]))
    count, names = lines * param.box[-1], [f"k{n}" for n in range(len(numbers))]
    type, call = C_TYPES[param.type], "copy_taps" if param.windows else "copy_box"
    text = f"""#include "layoutc.cuh"
KERNEL(32) one(CONSTANT_PARAM TensorMap x, Out<{type}> y, {", ".join(f"int {n}" for n in names)}) {{
    PANEL_AT({type}, part, 0, {count});
    BARRIERS(full, 1);
    if (threadIdx.x == 0) {{
        barrier_begin(full, 1);
        barrier_expect(full, {count * x.itemsize});
        {call}(part + 0, x, full + 0, {", ".join(names)});
    }}
    __syncthreads();
    barrier_wait(full, 0);
    for (int k = threadIdx.x; k < {count}; k += 32) {{
        y[k] = part[k];
    }}
}}
"""
    params: tuple[Param, ...] = (param, ArrayParam("y", param.type, True), *(ScalarParam(n, "i32") for n in names))
    source = CudaSource("one.cu", text, (Entry("one", 32, params, max(count * x.itemsize, 1024)),))
    xp = numpy_or_cupy(device)
    y = xp.zeros(count, x.dtype)
    module = load_cpu(source) if device == "cpu" else load_cuda(source)
    module.launch("one", 1, [Mapped(xp.asarray(x), last), y, *numbers])
    made: Array = y if device == "cpu" else y.get()
    return made.reshape(lines, param.box[-1])


def at(x: Array, place: tuple[int, ...]) -> Any:
    """An element, or 0 outside."""
    inside = all(0 <= p < n for p, n in zip(place, x.shape, strict=True))
    return x[place] if inside else 0


@pytest.mark.parametrize(("type", "shape", "box", "begin"), [
    ("f32", (9, 20), (3, 8), (-1, 16)), ("u8", (5, 32), (4, 16), (3, -16)), ("f64", (4, 3, 6), (2, 2, 4), (-1, 2, 4)),
    ("f16", (2, 3, 4, 8), (1, 2, 3, 16), (1, -1, 2, -8)), ("i32", (2, 2, 3, 3, 4), (2, 1, 2, 2, 4), (1, 1, -1, 2, 0))],
    ids=str)
def test_a_box_is_a_slice_with_zeros_around(
    type: str, shape: tuple[int, ...], box: tuple[int, ...], begin: tuple[int, ...], device: str
) -> None:
    x = np.arange(1, np.prod(shape) + 1).reshape(shape).astype(numpy_dtype(type))
    got = copied(x, MapParam("x", type, box), (), begin, device)
    wanted = [at(x, tuple(b + k for b, k in zip(begin, step, strict=True))) for step in np.ndindex(*box)]
    np.testing.assert_array_equal(got.reshape(-1), np.array(wanted, x.dtype))


@pytest.mark.parametrize(("shape", "low", "step", "counts", "first", "tap"), [
    ((2, 9, 8), (-2,), (1,), (9,), (0, 5), (3,)),                           # signals: padding 2
    ((3, 5, 7, 8), (-1, -1), (1, 1), (5, 7), (1, 3, 5), (2, 0)),            # from the middle of an image into the next
    ((2, 9, 11, 8), (-1, -2), (2, 3), (5, 4), (0, 3, 1), (2, 4)),           # strides, dilation, past the last image
    ((1, 4, 5, 6, 4), (0, -1, 0), (1, 2, 1), (4, 3, 6), (0, 1, 1, 2), (0, 2, 1))], ids=str)
def test_taps_of_windows_side_by_side(
    shape: tuple[int, ...], low: tuple[int, ...], step: tuple[int, ...], counts: tuple[int, ...],
    first: tuple[int, ...], tap: tuple[int, ...], device: str
) -> None:
    x = np.arange(1, np.prod(shape) + 1).reshape(shape).astype(np.float32)
    windows, begin = 37, np.ravel_multi_index(first, (99, *counts))
    param = MapParam("x", "f32", (1,) * (len(shape) - 1) + (4,), windows, low, step)
    last = tuple(a + s * (n - 1) for a, s, n in zip(low, step, counts, strict=True))
    places = [a + s * k for a, s, k in zip(low, step, first[1:], strict=True)]
    got = copied(x, param, last, (first[0], *places, 0, *tap), device)
    for window in range(windows):
        image, *at_window = np.unravel_index(begin + window, (99, *counts))
        place = [a + s * int(k) + t for a, s, k, t in zip(low, step, at_window, tap, strict=True)]
        wanted = [at(x, (int(image), *place, c)) for c in range(4)]
        np.testing.assert_array_equal(got[window], np.array(wanted, np.float32))


# ---- what the CPU run finds


def without(text: str) -> Callable[[str], str]:
    return changed(text, "")


def changed(*pairs: str) -> Callable[[str], str]:
    """Texts that stand once, each replaced by the next."""
    def change(text: str) -> str:
        for old, new in zip(pairs[::2], pairs[1::2], strict=True):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text
    return change


FAULTS: dict[str, tuple[Callable[[str], str], str]] = {
    "not begun": (without("            barrier_begin(full + buffer, 1);\n"), "full[0] was not begun"),
    "no barrier after": (without("    __syncthreads();\n"), "was not begun|begun by another thread"),
    "half is expected": (changed("expect(full + into, 16384)", "expect(full + into, 8192)"), "in vain|on its way"),
    "arrives and expects nothing": (changed("barrier_expect(full + into, 16384)", "barrier_arrive(full + into)"),
                                    "in vain|on its way"),
    "not copied": (without("        copy_box(b_chunks + into * 4096, b, full + into, tile_columns, k);\n"), "in vain"),
    "copied twice": (changed("        copy_box(b_chunks",
                             "        copy_box(a_chunks + into * 4096, a, full + into, 0, k);\n"
                             "        copy_box(b_chunks"),
                     "on its way"),
    "not waited for": (without("        barrier_wait(full + buffer, chunk / 3 % 2);\n"),
                       "on its way|has not waited|never written|not shown"),
    "another parity": (changed("chunk / 3 % 2", "(chunk / 3 + 1) % 2"), "in vain|on its way|never written"),
    "half the threads wait": (changed("        barrier_wait(full", "        if (thread < 64) barrier_wait(full"),
                              "on its way|has not waited|never written"),
    "empties not waited for": (without("                barrier_wait(empty + left, ((chunk + 2) / 3 + 1) % 2);\n"),
                               "while wgmma reads|on its way|has not waited|wrong|in vain|more threads arrive"),
    "emptied too early": (changed("        wgmma_wait<1>();\n", ""), "while wgmma reads"),
    "never emptied": (without("                barrier_arrive(empty + left);\n"), "in vain"),
    "the buffer in use": (changed("                begin(chunk + 2);", "                begin(chunk + 3);"),
                          "while wgmma reads|on its way|in vain"),
    "between lines": (changed("a_chunks + into * 4096", "a_chunks + (into * 4096 + 8)"), "at a multiple of 1024"),
    "past the end": (changed("b_chunks + into * 4096", "b_chunks + (into + 1) * 4096"), "outside|never written"),
    "a line too far": (changed("tile_rows, k);", "tile_rows + 1, k);"), "wrong: c"),
    "within a vector": (changed("tile_rows, k);", "tile_rows, k + 4);"), "at whole 16 bytes"),
    "a number too many": (changed("tile_rows, k);", "tile_rows, k, 0);"), "takes 2 numbers, not 3"),
}


def boxed_product() -> tuple[CudaSource, Case]:
    """c[64, 64] = a[64, 448] * b[64, 448] by one warpgroup: seven chunks through three buffers."""
    kernel = compile(product_text("f16", "ik", "jk", "schedule f { mma  tile (i: 64, j: 64) }"), target=HERE)
    meaning = kernel.meaning
    plan, source = plan_kernel(kernel.program, meaning, meaning.schedule(None), default_signature(meaning), HERE)
    assert sum(isinstance(a, MapArgument) for a in plan.passes[0].arguments) == 2
    a, b = (np.random.default_rng(n).integers(-3, 4, (64, 448)).astype(np.float16) for n in (1, 2))
    given: dict[str, object] = {"a": Mapped(a), "b": Mapped(b), "c": np.zeros((64, 64), np.float32), "K": 448}
    args = [given.get(p.name, 64) for p in source.entries[0].params]
    return source, Case("f", "f", 1, args, [a.astype(np.float32) @ b.astype(np.float32).T])


@pytest.mark.parametrize("fault", FAULTS)
def test_misuse_is_caught(fault: str) -> None:
    change, expected = FAULTS[fault]
    source, case = boxed_product()
    found = symptom(load_cpu(CudaSource(source.name, change(source.text), source.entries)), case)
    assert any(fragment in found for fragment in expected.split("|")), found


def test_without_checks_too() -> None:
    source, case = boxed_product()
    load_cpu(source, checked=False).launch("f", 1, case.args)
    np.testing.assert_array_equal(np.asarray(case.args[2]), case.wanted[0])


# ---- which factors come so


def has_boxes(kernel: Kernel) -> bool:
    return any(isinstance(a, MapArgument) for a in kernel.plan.passes[0].arguments)


GROUPED = ("kernel f(a: f16[B, G, M, K], b: f16[B, G, N, K]) -> (c: f16[B, G, M, N]) {"
           " c[n, g, i, j] = f16(sum(k) f32(a[n, g, i, k]) * f32(b[n, g, j, k])) }")
LINES = ("kernel f(x: f16[N, W, C], w: f16[M, 3, C]) -> (y: f16[N, W, M]) { edge x = constant(0)"
         " y[n, i, m] = f16(sum(v, c) f32(w[m, v, c]) * f32(x[n, i + 2*v - 2, c])) }")
STRIDED = ("kernel f(x: f16[N, H, W, C], w: f16[M, 3, 3, C]) -> (y: f16[N, (H - 1)//2 + 1, (W - 1)//3 + 1, M]) {"
           " edge x = constant(0)"
           " y[n, i, j, m] = f16(sum(u, v, c) f32(w[m, u, v, c]) * f32(x[n, 2*i + u - 1, 3*j + v - 1, c])) }")
SELF = "kernel f(a: f16[M, K]) -> (c: f32[M, M]) { c[i, j] = sum(k) f32(a[i, k]) * f32(a[j, k]) }"


PRODUCT = compile(product_text("f16", "ik", "jk"), target=HERE)


@pytest.mark.parametrize(("kernel", "boxes"), [
    (PRODUCT, True),
    (layer("bf16", "H + 1", "W + 3", ZERO, "i + u - 3, j + 2*v - 2", target=HERE), True),
    (layer("f16", "H", "W", "edge x[1] = reflect  edge x[2] = constant(0)  require H > 0", "i + u - 1, j + v - 1",
           target=HERE), False),
    (layer("f16", "H//9 + 1", "W", ZERO, "9*i + u - 1, j + v - 1", target=HERE), False),
    (layer("f16", "H + 500", "W", ZERO, "i + u - 499, j + v - 1", target=HERE), False),
    (compile(SELF, target=HERE), False),
], ids=["product", "padding", "reflect", "steps of 9", "far outside", "itself"])
def test_which_maps_know(kernel: Kernel, boxes: bool) -> None:
    assert kernel.plan.passes[0].strategy == "wgmma"
    assert has_boxes(kernel) == boxes


@pytest.mark.parametrize(("text", "shapes"), [
    (GROUPED, [(2, 2, 37, 80), (2, 2, 21, 80)]),
    (LINES, [(3, 11, 48), (37, 3, 48)]),
    (STRIDED, [(2, 7, 11, 48), (37, 3, 3, 48)]),
], ids=["batches", "signals", "strides"])
def test_what_comes_as_boxes_is_right(text: str, shapes: list[tuple[int, ...]], device: str) -> None:
    kernel = compile(text, target=HERE)
    assert has_boxes(kernel)
    assert_matches_numpy(kernel, *(values(n, shape, "f16") for n, shape in enumerate(shapes)), device=device)


@pytest.mark.parametrize(("type", "range", "left", "right", "boxes"), [
    ("f16", "0..40", "128", "128", False), ("f16", "0..65", "K", "K", False), ("f16", "0..40", "40", "128", False),
    ("i8", "0..100", "128", "128", False), ("f16", "16..56", "64", "64", False),
    ("f16", "0..64", "128", "128", True), ("f16", "16..80", "128", "128", True), ("f16", "16..72", "72", "72", True)])
def test_a_sum_takes_no_more_than_its_range(
    type: str, range: str, left: str, right: str, boxes: bool, device: str
) -> None:
    """Wherever it begins and ends in either factor: what lies beyond is neither added nor, if it is no number, seen."""
    wide = "i32" if type == "i8" else "f32"
    need = " require K >= 65" if left == "K" else ""
    kernel = compile(
        f"kernel f(a: {type}[M, {left}], b: {type}[N, {right}]) -> (c: {wide}[M, N]) {{{need}"
        f" c[i, j] = sum(k in {range}) {wide}(a[i, k]) * {wide}(b[j, k]) }}", target=HERE)
    low, high = map(int, range.split(".."))
    a, b = (np.ones((9, 128 if n == "K" else int(n)), numpy_dtype(type)) for n in (left, right))
    for factor in (a, b):
        factor[:, :low] = factor[:, high:] = 77 if type == "i8" else np.nan
    assert has_boxes(kernel) == boxes
    np.testing.assert_array_equal(kernel(a, b, device=device), high - low)


def test_a_layer_of_some_channels(device: str) -> None:
    kernel = compile("kernel f(x: f16[N, H, W, 64], w: f16[M, 3, 3, 64]) -> (y: f32[N, H - 2, W - 2, M]) {"
                     " require H >= 3, W >= 3"
                     " y[n, i, j, m] = sum(u, v, c in 0..40) f32(w[m, u, v, c]) * f32(x[n, i + u, j + v, c]) }",
                     target=HERE)
    x, w = np.ones((1, 4, 5, 64), np.float16), np.ones((8, 3, 3, 64), np.float16)
    x[..., 40:] = np.nan
    np.testing.assert_array_equal(kernel(x, w, device=device), 360)


def test_arrays_that_no_map_knows_are_copied_by_threads(device: str) -> None:
    """Lines that run backwards or stand for many; and nothing at all, and lines with room between, come as boxes."""
    a, b = values(1, (40, 96), "f16"), values(2, (24, 96), "f16")
    for left, right in [(a[::-1], b), (np.broadcast_to(a[:1], a.shape), b), (a[::3, :64], b[:, 32:]), (a[:1], b[:1]),
                        (a[:, :0], b[:, :0])]:
        assert_matches_numpy(PRODUCT, left, right, device=device)
