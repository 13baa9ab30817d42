"""Convolution layers: any shape of them, whole or chunk by chunk, is the sum that defines it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc.diagnostics import LayoutcError
from layoutc.module import Kernel, compile
from layoutc.plan.nodes import Target
from layoutc.testing import assert_matches_numpy

Array = NDArray[Any]

SCHEDULES = """
    schedule layer as whole  {{ tile (m: 2, i: 3, j: 4)  threads 8 }}
    schedule layer as single {{ tile (m: 2, i: 3, j: 4, c: 2)  stage x in shared  stage w in shared }}
    schedule layer as double {{ tile (m: 2, i: 3, j: 4, c: 2)  stage x in shared double  stage w in shared double }}
    schedule layer as mixed  {{ tile (m: 2, i: 2, j: 8, c: 3)  threads 8  stage x in shared double  stage w in shared }}
    schedule layer as held   {{ tile (m: 3, i: 2, j: 4, c: 2)  threads (4, 6):(1, 4)  stage x in registers
                                stage w in shared double }}
    schedule layer as core   {{ tile (m: 2, i: 3, j: 4, c: 2)  threads 5  stage x in shared halo global double }}
    schedule layer as bare   {{ tile (m: 2, i: 3, j: 4, c: 2)  stage x in global  stage w in global }}
    schedule layer as steps  {{ tile (m: 1, i: 2, j: 4, c: 2, u: 1)  stage x in shared double  stage w in shared }}
"""


@dataclass(frozen=True)
class Layer:
    """What a layer is: strides, dilations, and padding (before, after) along rows and columns."""

    stride: tuple[int, int] = (1, 1)
    dilation: tuple[int, int] = (1, 1)
    rows: tuple[int, int] = (1, 1)
    columns: tuple[int, int] = (1, 1)
    types: tuple[str, str] = ("i8", "i32")      # of x and w, of b and y

    def kernel(self) -> Kernel:
        """By one equation; an asymmetric padding is an offset on one side and more outputs on the other."""
        (s, t), (d, e) = self.stride, self.dilation
        height, width = (f"({n} + {sum(pad) - step * 2 - 1})//{by} + 1" for n, pad, step, by in (
            ("H", self.rows, d, s), ("W", self.columns, e, t)))
        narrow, wide = self.types
        cast = wide if narrow[0] == "i" else ""
        made: Kernel = compile(f"""
        kernel layer(x: {narrow}[C, H, W], w: {narrow}[M, C, 3, 3], b: {wide}[M])
            -> (y: {wide}[M, {height}, {width}]) {{
            edge x[1] = constant(0)
            edge x[2] = constant(0)
            y[m, i, j] = b[m] + sum(c, u, v) {cast}(w[m, c, u, v])
                * {cast}(x[c, {s}*i + {d}*u - {self.rows[0]}, {t}*j + {e}*v - {self.columns[0]}])
        }} {SCHEDULES.format()}""").layer
        return made

    def by_numpy(self, x: Array, w: Array, b: Array) -> Array:
        """The layer by padding, slicing and a sum of products, in 64 bits."""
        padded = np.pad(x.astype(np.int64), ((0, 0), self.rows, self.columns))
        sizes = [(padded.shape[1 + a] - 2 * self.dilation[a] - 1) // self.stride[a] + 1 for a in (0, 1)]
        y = np.broadcast_to(b.astype(np.int64)[:, None, None], (len(b), *sizes)).copy()
        for u, v in product(range(3), repeat=2):
            at = [slice(k * step, k * step + (n - 1) * by + 1, by) if n else slice(0, 0) for k, step, n, by in
                  zip((u, v), self.dilation, sizes, self.stride, strict=True)]
            y += np.einsum("mc,cij->mij", w[:, :, u, v].astype(np.int64), padded[:, at[0], at[1]])
        return y


LAYERS = [
    Layer(), Layer(stride=(2, 2)), Layer(dilation=(2, 2), rows=(2, 2), columns=(2, 2)),
    Layer(rows=(0, 2), columns=(2, 0)),
    Layer(stride=(3, 2), dilation=(1, 3), rows=(2, 1), columns=(4, 3)),
]
SHAPES = [(3, 7, 9, 5), (1, 5, 5, 1), (4, 8, 8, 2), (0, 5, 6, 3), (5, 3, 4, 7)]       # C, H, W, M


def arrays(shape: tuple[int, int, int, int], types: tuple[str, str] = ("i8", "i32")) -> tuple[Array, Array, Array]:
    channels, height, width, made = shape
    random = np.random.default_rng(sum(shape))
    narrow, wide = ({"i8": np.int8, "i32": np.int32, "f16": np.float16, "f32": np.float32}[t] for t in types)
    shapes = ((channels, height, width), (made, channels, 3, 3), (made,))
    x, weights, bias = (random.integers(-128, 128, s).astype(t)
                        for s, t in zip(shapes, (narrow, narrow, wide), strict=True))
    return x, weights, bias


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_a_layer_is_the_sum_that_defines_it(layer: Layer, device: str) -> None:
    kernel = layer.kernel()
    schedules = kernel.schedules[LAYERS.index(layer) % 3::3]       # in turns: each with some layers
    for shape in SHAPES:
        x, w, b = arrays(shape)
        wanted = layer.by_numpy(x, w, b)
        for schedule in schedules:
            y = kernel(x, w, b, schedule=schedule, device=device)
            np.testing.assert_array_equal(y, wanted, f"{schedule} {shape}")


@pytest.mark.parametrize(("height", "width"), [(0, 4), (4, 0), (1, 1), (1, 6), (0, 0)])
def test_images_of_nothing_or_one_row(height: int, width: int, device: str) -> None:
    layer = Layer(rows=(1, 1), columns=(1, 1))
    kernel = layer.kernel()
    x, w, b = arrays((3, height, width, 3))
    wanted = np.asarray(kernel.reference(x, w, b))
    assert wanted.shape == (3, height, width)
    if wanted.size:
        np.testing.assert_array_equal(wanted, layer.by_numpy(x, w, b))
    for schedule in kernel.schedules:
        np.testing.assert_array_equal(kernel(x, w, b, schedule=schedule, device=device), wanted)


def test_nothing_to_sum_leaves_the_bias(device: str) -> None:
    kernel = Layer().kernel()
    x, w, b = arrays((0, 4, 5, 3))
    for schedule in kernel.schedules:
        y = kernel(x, w, b, schedule=schedule, device=device)
        np.testing.assert_array_equal(y, np.broadcast_to(b[:, None, None], (3, 4, 5)))


def test_sums_wrap_as_integers_do_and_are_rounded_to_nothing_on_the_way(device: str) -> None:
    """Chunks of 8 bits would saturate or wrap at once; in 32 bits 2 * 9 * 128 * 128 is kept."""
    kernel = Layer().kernel()
    x, w = np.full((2, 5, 5), -128, np.int8), np.full((1, 2, 3, 3), -128, np.int8)
    for schedule in kernel.schedules:
        y = kernel(x, w, np.array([2**31 - 1], np.int32), schedule=schedule, device=device)
        assert y[0, 2, 2] == (2**31 - 1 + 2 * 9 * 128 * 128) - 2**32


@pytest.mark.parametrize("types", [("f16", "f32"), ("f32", "f32"), ("f16", "f16")], ids=str)
def test_floats_are_within_the_bounds_of_their_sums(types: tuple[str, str], device: str) -> None:
    narrow, wide = types
    cast = wide if narrow != wide else ""
    kernel = compile(f"""
    kernel layer(x: {narrow}[C, H, W], w: {narrow}[M, C, 3, 3], b: {wide}[M]) -> (y: {wide}[M, H, W]) {{
        edge x[1] = nearest
        edge x[2] = (mirror, constant(2))
        require H > 0, W > 0
        y[m, i, j] = max(b[m] + sum(c, u, v) {cast}(w[m, c, u, v]) * {cast}(x[c, i + u - 1, j + v - 1]), 0)
    }} {SCHEDULES.format()}""").layer
    for shape in [(3, 7, 9, 5), (1, 1, 1, 1), (4, 6, 8, 2)]:
        x, w, b = (a / np.asarray(8, a.dtype) for a in arrays(shape, types))
        for schedule in kernel.schedules:
            assert_matches_numpy(kernel, x, w, b, schedule=schedule, device=device)


def test_groups_batches_and_filters_of_one_channel(device: str) -> None:
    kernel = compile("""
    kernel grouped(x: f32[N, G, C, H, W], w: f32[G, K, C, 3, 3]) -> (y: f32[N, G, K, H, W]) {
        edge x[3] = constant(0)
        edge x[4] = constant(0)
        y[n, g, k, i, j] = sum(c, u, v) w[g, k, c, u, v] * x[n, g, c, i + u - 1, j + v - 1]
    }
    schedule grouped as blocks { tile (n: 2, k: 2, i: 4, j: 4, c: 2)  stage x in shared double
                                 stage w in shared double }
    schedule grouped as single { tile (g: 2, k: 2, i: 4, j: 4, c: 2)  threads 8  stage x in shared  stage w in shared }
    """).grouped
    random = np.random.default_rng(1)
    for groups, channels, outputs in [(2, 3, 2), (3, 1, 1), (1, 4, 3)]:
        x = random.integers(-4, 5, (2, groups, channels, 5, 6)).astype(np.float32)
        w = random.integers(-4, 5, (groups, outputs, channels, 3, 3)).astype(np.float32)
        padded = np.pad(x, ((0, 0), (0, 0), (0, 0), (1, 1), (1, 1)))
        wanted = sum(np.einsum("gkc,ngcij->ngkij", w[..., u, v], padded[..., u:u + 5, v:v + 6])
                     for u, v in product(range(3), repeat=2))
        for schedule in kernel.schedules:
            np.testing.assert_array_equal(kernel(x, w, schedule=schedule, device=device), wanted)


def test_a_group_by_division_is_read_point_by_point(device: str) -> None:
    """`(m // 2) * 2 + c` moves with no index alone: x has no box, it is read from memory, and staging it is refused."""
    text = """
    kernel f(x: i16[4, W], w: i16[4, 2, 3]) -> (y: i32[4, W]) {
        edge x[1] = constant(0)
        y[m, j] = sum(c, v) i32(w[m, c, v]) * i32(x[(m // 2) * 2 + c, j + v - 1])
    }
    schedule f { tile (m: 3, j: 4, c: 1)  stage w in shared double }"""
    kernel = compile(text).f
    x, w = np.arange(4 * 9, dtype=np.int16).reshape(4, 9), np.arange(24, dtype=np.int16).reshape(4, 2, 3)
    padded = np.pad(x.astype(int), ((0, 0), (1, 1)))
    wanted = [sum(w[m, c, v] * padded[m // 2 * 2 + c, v:v + 9] for c in (0, 1) for v in range(3)) for m in range(4)]
    np.testing.assert_array_equal(kernel(x, w, device=device), wanted)
    with pytest.raises(LayoutcError, match="`x` has no box"):
        compile(text.replace("stage w", "stage x in shared  stage w")).f.cuda  # noqa: B018


# ---- other reductions in chunks


def test_every_reduction_goes_chunk_by_chunk(device: str) -> None:
    """Several of them share one loop; the first greatest place is the first of all chunks; NaN is kept."""
    kernel = compile("""
    kernel f(x: f32[H, W], k: i32[H, W]) -> (a: f32[H], b: i64[H], c: bool[H], d: i64[H], e: i32[H], f: i32[H]) {
        require W > 0
        a[i] = max(j) x[i, j]
        b[i] = argmin(j) k[i, j]
        c[i] = all(j) (k[i, j] > 0)
        d[i] = count(j) (k[i, j] > 0)
        e[i] = prod(j) k[i, j]
        f[i] = sum(j) k[i, j] - min(j) k[i, j]
    }
    schedule f as blocks { tile (i: 3, j: 4)  stage x in shared double  stage k in shared }
    schedule f as items  { tile (i: 8, j: 3)  threads 2  stage x in registers  stage k in shared double }
    """).f
    random = np.random.default_rng(3)
    for shape in [(7, 9), (4, 1), (3, 12)]:
        x = random.standard_normal(shape).astype(np.float32)
        x[0, -1] = np.nan
        k = random.integers(-2, 3, shape).astype(np.int32)
        wanted = (x.max(axis=1), k.argmin(axis=1), (k > 0).all(axis=1), (k > 0).sum(axis=1),
                  k.prod(axis=1, dtype=np.int32), k.sum(axis=1, dtype=np.int32) - k.min(axis=1))
        for schedule in kernel.schedules:
            for got, want in zip(kernel(x, k, schedule=schedule, device=device), wanted, strict=True):
                np.testing.assert_array_equal(got, want)


def test_a_sum_in_a_let_is_read_at_several_places(device: str) -> None:
    """Two places around an output need two accumulators, an equal one none of its own."""
    kernel = compile("""
    kernel f(x: i32[C, W], w: i32[C]) -> (y: i32[W], z: i32[W]) {
        edge x[1] = wrap
        require W > 0
        let s[i] = sum(c) w[c] * x[c, i]
        y[i] = s[i - 1] + s[i + 1] * s[i - 1]
        z[i] = s[i] - s[i + 1]
    }
    schedule f { tile (i: 8, c: 2)  threads 4  stage x in shared double  stage w in shared }
    """).f
    assert kernel.cuda.count("[item] = 0;") == 3
    x, w = np.arange(3 * 11, dtype=np.int32).reshape(3, 11), np.array([2, -1, 3], np.int32)
    s = (w[:, None] * x).sum(axis=0)
    y, z = kernel(x, w, device=device)
    np.testing.assert_array_equal(y, np.roll(s, 1) + np.roll(s, -1) * np.roll(s, 1))
    np.testing.assert_array_equal(z, s - np.roll(s, -1))


def test_a_let_waits_chunk_by_chunk(device: str) -> None:
    kernel = compile("""
    kernel f(x: i32[C, W], w: i32[C, 3]) -> (y: i32[W]) {
        edge x[1] = nearest
        require W > 0, C > 0
        let g[c, i] = max(x[c, i], x[c, i + 1])
        y[i] = sum(c, v) w[c, v] * g[c, i + v]
    }
    schedule f as one { tile (i: 4, c: 2)  stage g in shared  stage w in shared }
    schedule f as two { tile (i: 4, c: 2)  stage x in shared double  stage g in shared  stage w in constant }
    """.replace("stage w in constant", "stage w in shared double")).f
    x, w = np.arange(5 * 9, dtype=np.int32).reshape(5, 9)[:, ::-1] % 7, np.arange(15, dtype=np.int32).reshape(5, 3)
    for schedule in kernel.schedules:
        np.testing.assert_array_equal(kernel(x, w, schedule=schedule, device=device), kernel.reference(x, w))


# ---- order of arithmetic


def test_constant_ranges_give_the_same_bits_in_chunks(device: str) -> None:
    """The chunked index is the first, so chunk after chunk is the order of the indices."""
    kernel = compile("""
    kernel f(x: f32[7, W], w: f32[7, 3]) -> (y: f32[W]) {
        edge x[1] = wrap
        require W > 0
        y[i] = sum(c, v) w[c, v] * x[c, i + v]
    }
    schedule f as two    { tile (i: 8, c: 2)  stage x in shared  stage w in shared }
    schedule f as double { tile (i: 8, c: 3)  threads 2  stage x in shared double  vector 4 }
    schedule f as single { tile (i: 4, c: 1, v: 2)  stage x in shared double }
    """).f
    random = np.random.default_rng(5)
    x, w = random.standard_normal((7, 50)).astype(np.float32), random.standard_normal((7, 3)).astype(np.float32)
    plain = kernel(x, w, device=device)
    for schedule in kernel.schedules:
        np.testing.assert_array_equal(kernel(x, w, schedule=schedule, device=device), plain)


REFUSED = [
    ("sum(v in 0..3, c in 0..4) w[c] * x[c, i + v]", "tile (i: 4, c: 2)", "order of its indices"),
    ("sum(c in 0..4, v in 0..3) w[c] * x[c, i + v]", "tile (i: 4, c: 2, v: 2)", "order of its indices"),
    ("f32(argmax(v in 0..3, c in 0..4) x[c, i + v])", "tile (i: 4, c: 2)", "first place"),
    ("median(c in 0..4) x[c, i]", "tile (i: 4, c: 2)", "sorts all"),
    ("sum(c in 0..4) w[c] * max(v in 0..3) x[c, i + v]", "tile (i: 4, v: 2)", "inside another reduction, `sum`"),
    ("max(c in 0..4) x[c, i] + max(v in 0..3) x[0, i + v]", "tile (i: 4, c: 2, v: 2)", "does not run over"),
    ("max(c in 0..4) x[c, i]", "tile (i: 2000, c: 2)  threads 4", "500 partial results of 4 bytes"),
]


@pytest.mark.parametrize(("value", "clauses", "why"), REFUSED)
def test_what_cannot_go_in_chunks_says_why(value: str, clauses: str, why: str) -> None:
    text = f"""kernel f(x: f32[4, W], w: f32[4]) -> (y: f32[W]) {{
        edge x[1] = constant(0)
        y[i] = {value}
    }}
    schedule f {{ {clauses} }}"""
    with pytest.raises(LayoutcError, match=why) as caught:
        compile(text).f.cuda    # noqa: B018
    assert [d.slug for d in caught.value.diagnostics] == ["cannot-chunk"]


@pytest.mark.parametrize(("lets", "clauses", "slug", "why"), [
    ("let s[i] = sum(c) x[c, i]  edge s = constant(0)  y[i] = s[i + 1]", "tile (i: 4, c: 2)", "cannot-chunk", "edges"),
    ("let s[i] = sum(c) x[c, i]  y[i] = s[i]", "tile (i: 4, c: 2)  stage s in shared", "cannot-chunk", "waits in"),
    ("let s[i] = sum(c) x[c, i]  y[i] = s[k[i]]", "tile (i: 4, c: 2)", "cannot-chunk", "data decide"),
    ("y[i] = sum(c) x[c, i]", "tile (i: 4)  stage x in shared double", "cannot-stage", "has no box"),
    ("y[i] = sum(c in 0..2) x[0, i + c]", "tile (i: 4)  stage x in shared double", "cannot-stage", "no reduction"),
    ("y[i] = sum(c) x[c, i] + x[0, i]", "tile (i: 4, c: 2)  stage x in shared", "cannot-stage", "different indices"),
    ("y[i] = k[i] + sum(c) x[c, i]", "tile (i: 4, c: 2)  stage k in shared double", "cannot-stage", "not move with"),
])
def test_what_cannot_be_buffered_or_staged_says_why(lets: str, clauses: str, slug: str, why: str) -> None:
    text = f"""kernel f(x: i32[C, W], k: i32[W]) -> (y: i32[W]) {{
        edge x = constant(0)
        edge k = nearest
        require C > 0, W > 0
        {lets}
    }}
    schedule f {{ {clauses} }}"""
    with pytest.raises(LayoutcError, match=why) as caught:
        compile(text).f.cuda    # noqa: B018
    assert [d.slug for d in caught.value.diagnostics] == [slug]


# ---- budgets


BLUR = """
    kernel f(x: f32[C, H, W], w: f32[M, C, 5]) -> (y: f32[M, H, W]) {{
        edge x[2] = nearest
        require W > 0
        y[m, i, j] = sum(c, v) w[m, c, v] * x[c, i, j + v - 2]
    }}
    schedule f {{ tile ({tile})  stage x in shared {double}  stage w in shared {double}  budget shared {budget} }}"""


@pytest.mark.parametrize(("tile", "double", "budget", "nearest"), [
    ("m: 4, i: 4, j: 28, c: 8", "double", 4096, "m: 4, i: 4, j: 28, c: 3"),        # 2 * 4 * c * (4 * 32 + 4 * 5)
    ("m: 4, i: 4, j: 28, c: 8", "", 4096, "m: 4, i: 4, j: 28, c: 6"),
    ("m: 1, i: 1, j: 64, c: 1", "", 200, "m: 1, i: 1, j: 40, c: 1"),               # 4 * (44 + 5) = 196; 48 would be 228
])
def test_over_budget_names_both_numbers_and_the_nearest_tile(tile: str, double: str, budget: int, nearest: str) -> None:
    sizes = {k: int(v) for k, v in (item.split(": ") for item in tile.split(", "))}

    def bytes_of(t: dict[str, int]) -> int:
        return (2 if double else 1) * 4 * t["c"] * (t["i"] * (t["j"] + 4) + t["m"] * 5)

    with pytest.raises(LayoutcError) as caught:
        compile(BLUR.format(tile=tile, double=double, budget=budget)).f.cuda  # noqa: B018
    diagnostic, = caught.value.diagnostics
    assert diagnostic.slug == "over-budget"
    assert f"needs {bytes_of(sizes)} bytes" in diagnostic.message
    assert f"is {budget}" in diagnostic.message
    wanted = {k: int(v) for k, v in (item.split(": ") for item in nearest.split(", "))}
    assert f"`tile ({nearest})`, with {bytes_of(wanted)} bytes" in diagnostic.help
    fits = compile(BLUR.format(tile=nearest, double=double, budget=budget)).f
    assert fits.plan.passes[0].shared_bytes == bytes_of(wanted) <= budget


def test_a_budget_that_nothing_fits_says_so() -> None:
    with pytest.raises(LayoutcError, match="needs") as caught:
        compile(BLUR.format(tile="m: 1, i: 1, j: 2, c: 1", double="", budget=8)).f.cuda  # noqa: B018
    assert "nearest" not in caught.value.diagnostics[0].help


# ---- what the text does


COPIED = """
    kernel f(x: {type}[C, W], w: {type}[C]) -> (y: {type}[W]) {{
        edge x[1] = {rule}
        require W > 0
        y[i] = max(c) max(x[c, i - 1], w[c])
    }}
    schedule f {{ tile (i: 8, c: 2)  stage x in shared double  {vector} }}"""


@pytest.mark.parametrize(("arch", "type", "rule", "vector", "copy"), [
    ("sm_75", "f32", "constant(0)", "", None), ("sm_80", "f32", "constant(0)", "", "copy_async4"),
    ("sm_90", "f32", "mirror", "", "copy_async4"), ("sm_90", "f64", "constant(0)", "", "copy_async8"),
    ("sm_90", "f32", "constant(1)", "vector 4", "copy_async16"), ("sm_90", "f16", "wrap", "vector 8", "copy_async16"),
    ("sm_90", "i8", "constant(0)", "vector 4", "copy_async4"), ("sm_90", "i8", "constant(0)", "", None),
    ("sm_120", "i64", "nearest", "vector 2", "copy_async16"), ("sm_75", "f16", "wrap", "vector 8", None),
])
def test_copies_in_the_background_where_the_target_and_the_type_have_them(
    arch: str, type: str, rule: str, vector: str, copy: str | None, device: str
) -> None:
    """Anywhere else elements wait in registers while the present chunk is computed with."""
    kernel = compile(COPIED.format(type=type, rule=rule, vector=vector)).f
    kernel = Kernel(kernel.program, kernel.meaning, Target(arch))
    text = kernel.cuda
    assert ("copy_async_wait<0>();" in text) == (copy is not None)
    assert ("x_next[" in text) == (copy is None)
    assert copy is None or f"{copy}(x_tile" in text
    dtype = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i64": np.int64}[type]
    x, w = (np.random.default_rng(7).integers(-9, 9, s).astype(dtype) for s in ((5, 24), (5,)))
    np.testing.assert_array_equal(kernel(x, w, device=device), kernel.reference(x, w))


def test_what_is_held_from_chunk_to_chunk_is_the_sum_alone() -> None:
    """The bias is read once, behind the loop; accumulators are of the accumulation's type, one an output."""
    kernel = Layer().kernel()
    text = kernel.with_schedule(kernel.meaning.schedule("mixed")).cuda
    loop, behind = text[text.index("for (Index chunk"):].split("\n    }\n", 1)
    assert "b[m]" not in loop
    assert behind.count("b[m]") == 1
    assert "int sum[4];" in text
