"""Sums of products on tensor cores: chosen where they can be, exact of integers, within bounds of floats."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc.compare import expected
from layoutc.diagnostics import LayoutcError
from layoutc.module import Kernel
from layoutc.module import compile as compile_text
from layoutc.plan.matrix.tiling import Panel
from layoutc.plan.nodes import Target
from layoutc.resolve.types import F16, I8, Type
from layoutc.testing import assert_matches_numpy

Array = NDArray[Any]
OLDER = Target("sm_80")     # which has mma.sync, and no wgmma

DTYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "u8": np.uint8}
SUMS = {"f16": "f32", "bf16": "f32", "i8": "i32", "u8": "i32"}
SHAPES = [(8, 24, 8), (136, 48, 72), (64, 16, 200), (8, 0, 8), (0, 16, 8)]     # of texts for whole vectors


def values(seed: int, shape: tuple[int, ...], type: str) -> Array:
    """All of the integers; of the floats numbers whose sums round."""
    random = np.random.default_rng(seed)
    if type in ("i8", "u8"):
        info = np.iinfo(DTYPES[type])
        return random.integers(info.min, info.max + 1, shape).astype(DTYPES[type])
    return random.standard_normal(shape).astype(DTYPES[type])


def compile(text: str, name: str = "f", target: Target = OLDER) -> Kernel:
    """A kernel of a text, planned for a target."""
    kernel = compile_text(text)[name]
    return Kernel(kernel.program, kernel.meaning, target)


def strategy_of(kernel: Kernel) -> str:
    return kernel.plan.passes[0].strategy


def product_text(type: str, a: str, b: str, schedule: str = "") -> str:
    """A matrix product; ``a`` and ``b`` are the indices of the factors in the order of their axes."""
    extents, wide = {"i": "M", "j": "N", "k": "K"}, SUMS[type]
    shapes = [", ".join(extents[i] for i in f) for f in (a, b)]
    return (f"kernel f(a: {type}[{shapes[0]}], b: {type}[{shapes[1]}]) -> (c: {wide}[M, N]) {{\n"
            f"c[i, j] = sum(k) {wide}(a[{', '.join(a)}]) * {wide}(b[{', '.join(b)}]) }}\n{schedule}")


# ---- matrix products


@pytest.mark.parametrize(("type", "a", "b"), [
    ("f16", "ik", "kj"), ("f16", "ki", "kj"), ("f16", "ki", "jk"), ("bf16", "ik", "jk"), ("i8", "ik", "jk")])
def test_matrix_products(type: str, a: str, b: str, device: str) -> None:
    """Either factor may lie along the sum or along the outputs; ragged in all three."""
    kernel = compile(product_text(type, a, b))
    assert strategy_of(kernel) == "mma"
    for m, k, n in [*SHAPES, (5, 24, 9)] if (a, b) == ("ik", "jk") else SHAPES:
        extents = {"i": m, "j": n, "k": k}
        factors = [values(s, tuple(extents[i] for i in f), type) for s, f in enumerate((a, b))]
        if type == "i8":
            left, right = (f.astype(np.int64) for f in factors)
            np.testing.assert_array_equal(kernel(*factors, device=device), left @ right.T)
        assert_matches_numpy(kernel, *factors, device=device)


def test_sums_in_lets_under_other_names(device: str) -> None:
    """A let stands where its indices say, whatever they are called there and in whatever order."""
    kernel = compile("""kernel f(a: f16[M, K], b: f16[N, K]) -> (c: f32[M, N], d: f32[M, N]) {
        let s[q, p] = sum(k) f32(a[p, k]) * f32(b[q, k])
        let twice[p, q] = 2.0 * s[q, p]
        c[i, j] = s[j, i] + 1.0
        d[i, j] = twice[i, j]
    }""")
    assert strategy_of(kernel) == "mma"
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((37, 50), (29, 50)))
    c, d = kernel(a, b, device=device)
    wanted = a.astype(np.float32) @ b.astype(np.float32).T      # of whole numbers: exact
    np.testing.assert_array_equal(c, wanted + 1)
    np.testing.assert_array_equal(d, 2 * wanted)


def test_bytes_of_both_signs(device: str) -> None:
    """Products are exact, and sums wrap."""
    kernel = compile(
        "kernel f(a: u8[M, K], b: i8[N, K]) -> (c: i32[M, N], d: i32[M, N]) {"
        " let s[i, j] = sum(k) i32(a[i, k]) * i32(b[j, k])  c[i, j] = s[i, j]  d[i, j] = s[i, j] * 65536 + i32(j) }")
    assert strategy_of(kernel) == "mma"
    a, b = values(1, (20, 48), "u8"), values(2, (33, 48), "i8")
    c, d = kernel(a, b, device=device)
    wanted = a.astype(np.int64) @ b.astype(np.int64).T
    np.testing.assert_array_equal(c, wanted)
    np.testing.assert_array_equal(d, (wanted * 65536 + np.arange(33)).astype(np.int32))


def test_batches_and_groups_are_one_a_block(device: str) -> None:
    kernel = compile(
        "kernel f(a: f16[B, G, M, K], b: f16[B, G, K, N], p: f32[N]) -> (c: f16[B, G, M, N]) {"
        " c[n, g, i, j] = f16(max(p[j] + f32(n) + sum(k) f32(a[n, g, i, k]) * f32(b[n, g, k, j]), 0)) }")
    assert kernel.plan.passes[0].tile == (1, 1, 128, 128)
    a, b = values(1, (2, 3, 9, 24), "f16"), values(2, (2, 3, 24, 16), "f16")
    assert_matches_numpy(kernel, a, b, np.arange(16, dtype=np.float32), device=device)


def test_what_is_not_finite(device: str) -> None:
    """Rows and columns that are made up past the last one, and zeros past the last product, are never seen."""
    kernel = compile(product_text("f16", "ik", "jk"))
    a, b = values(1, (17, 24), "f16"), values(2, (20, 24), "f16")
    a[16, 3], a[4, 5], b[19, 7], a[2, 23] = np.inf, np.nan, -np.inf, 65504
    assert_matches_numpy(kernel, a, b, device=device)


@pytest.mark.parametrize("type", ["f16", "i8"])
def test_rows_that_no_vector_reads(type: str, device: str) -> None:
    """Views with odd strides, reversed, transposed or unaligned are made as they come, chosen or insisted on."""
    kernel = compile(product_text(type, "ik", "jk", "schedule f as cores { mma }"))
    a, b = values(1, (40, 60), type), values(2, (36, 60), type)
    views = [(a[:, 1:32], b[:, 3:34]), (a[::-1, ::2], b[:, ::-2]), (a[:30, :40].T, b[:, :30]), (a[:, :4], b[:, 8:12])]
    for (left, right), schedule in [(views[0], None), *((v, "cores") for v in views)]:
        got = kernel(left, right, device=device, schedule=schedule)
        if type == "i8":
            np.testing.assert_array_equal(got, left.astype(int) @ right.astype(int).T)
        else:
            np.testing.assert_allclose(got, left.astype(float) @ right.astype(float).T, rtol=0, atol=1e-4)


@pytest.mark.parametrize(("type", "target"), [
    ("f16", OLDER), ("f16", Target()), ("f32", Target()), ("i8", Target())], ids=lambda v: getattr(v, "arch", v))
def test_outputs_leave_in_whole_vectors(type: str, target: Target, device: str) -> None:
    """16 bytes at once where lines are whole vectors, whether rows are or end within one; nothing else is stored."""
    kernel = compile(
        f"kernel f(a: f16[M, K], b: f16[N, K], p: f32[N]) -> (c: {type}[M, N], d: {type}[M, N]) {{"
        f" c[i, j] = {type}(sum(k) f32(a[i, k]) * f32(b[j, k]))"
        f" d[i, j] = {type}(p[j] + sum(k) f32(a[i, k]) * f32(b[j, k])) }}", target=target)
    assert strategy_of(kernel) == ("wgmma" if target.has_warpgroup_products else "mma")
    random, dtype = np.random.default_rng(3), np.dtype({"f16": "f2", "f32": "f4", "i8": "i1"}[type])
    for m, n, pitch in [(9, 24, 24), (70, 67, 80), (3, 131, 141)]:
        a, b = (random.integers(-2, 3, (count, 16)).astype(np.float16) for count in (m, n))
        p = random.integers(-9, 9, n).astype(np.float32)
        c, d = np.full((m, pitch), 77, dtype), np.full((m, pitch), 77, dtype)
        kernel(a, b, p, out=(c[:, :n], d[:, :n]), device=device)
        np.testing.assert_array_equal(c[:, :n], a.astype(float) @ b.T.astype(float))
        np.testing.assert_array_equal(d[:, :n], p + a.astype(float) @ b.T.astype(float))
        assert all((beyond[:, n:] == 77).all() for beyond in (c, d))


def cut(value: float, unit: float) -> float:
    return math.trunc(value / unit) * unit


def tensor_core_sum(terms: Array, at_once: int) -> float:
    """As tensor cores add: some terms and the sum so far, each cut at the largest's last place, then the result."""
    total = 0.0
    for first in range(0, len(terms), at_once):
        together = [total, *map(float, terms[first:first + at_once])]
        largest = max(map(abs, together))
        unit = 2.0 ** (math.frexp(largest)[1] - 24) if largest else 1.0
        total = sum(cut(term, unit) for term in together)
        total = cut(total, 2.0 ** (math.frexp(total)[1] - 24)) if total else 0.0
    return total


@pytest.mark.parametrize("at_once", [8, 16])
def test_the_bound_holds_what_tensor_cores_add(at_once: int) -> None:
    """Terms of one sign lose most: every cut is towards zero."""
    kernel = compile(product_text("f16", "ik", "jk"))
    for seed, k in enumerate((8, 40, 500)):
        a, b = np.abs(values(seed, (6, k), "f16")), np.abs(values(seed + 9, (5, k), "f16"))
        a[0] *= np.where(np.arange(k) % 2, -1, 1)
        a[1, :3] = 1000
        want, = expected(kernel.meaning, (a, b))
        terms = a[:, None].astype(np.float64) * b[None].astype(np.float64)
        for i, j in product(range(6), range(5)):
            assert want.low[i, j] <= tensor_core_sum(terms[i, j], at_once) <= want.high[i, j]


# ---- convolution layers


def layer(
    type: str, height: str, width: str, edge: str, at: str, schedule: str = "", target: Target = OLDER
) -> Kernel:
    """Channels last; ``at`` are the subscripts of rows and columns, with u and v in 0..3."""
    wide = SUMS[type]
    return compile(f"""
    kernel layer(x: {type}[N, H, W, C], w: {type}[M, 3, 3, C], b: {wide}[M]) -> (y: {wide}[N, {height}, {width}, M]) {{
        {edge}
        y[n, i, j, m] = b[m] + sum(u, v, c) {wide}(w[m, u, v, c]) * {wide}(x[n, {at}, c])
    }}
    {schedule}""", "layer", target)


ZERO = "edge x[1] = constant(0)  edge x[2] = constant(0)"
LAYERS = [
    ("i8", "H", "W", ZERO, "i + u - 1, j + v - 1"),
    ("i8", "(H - 1)//2 + 1", "(W - 1)//3 + 1", "edge x = constant(0)", "2*i + u - 1, 3*j + v - 1"),
    ("i8", "H + 1", "W + 3", ZERO, "i + u - 3, j + 2*v - 2"),
    ("f16", "H", "W", "edge x[1] = reflect  edge x[2] = (nearest, constant(0))  require H > 0, W > 0",
     "i + u - 2, j + 2*v - 1"),
    ("bf16", "H", "W", "edge x[1] = mirror  edge x[2] = wrap  require H > 0, W > 0", "i + 3*u - 1, j + v - 2"),
    ("f16", "H - 2", "W - 2", "require H >= 3, W >= 3", "i + u, j + v"),
]


@pytest.mark.parametrize("text", LAYERS, ids=str)
def test_a_layer(text: tuple[str, str, str, str, str], device: str) -> None:
    """Strides, dilations, paddings that differ from side to side, and every edge: rows run on from line to line."""
    kernel = layer(*text)
    assert strategy_of(kernel) == "mma"
    for n, h, w, c, m in [(2, 5, 7, 16, 24), (1, 3, 3, 48, 8), *([(3, 4, 11, 20, 33)] if "reflect" in text[3] else [])]:
        x, weights = values(1, (n, h, w, c), text[0]), values(2, (m, 3, 3, c), text[0])
        b = np.arange(m).astype(np.int32 if text[0] == "i8" else np.float32)
        assert_matches_numpy(kernel, x, weights, b, device=device)


def test_rows_and_columns_in_any_order(device: str) -> None:
    """Columns that run on over several indices are stored one by one: neighbours may lie on two lines."""
    kernel = compile(
        "kernel f(a: f16[M, K], x: f16[N, J, K]) -> (y: f16[N, M, J]) {"
        " y[n, m, j] = f16(sum(k) f32(a[m, k]) * f32(x[n, j, k])) }")
    assert kernel.plan.passes[0].groups == (("n", "j"), ("m",))
    for n, m, j, k in [(3, 10, 5, 16), (4, 6, 2, 32), (2, 4, 1, 8)]:
        assert_matches_numpy(kernel, values(1, (m, k), "f16"), values(2, (n, j, k), "f16"), device=device)


def test_explained(device: str) -> None:
    """Launch and traffic of a tile whose rows run on over lines, counted by hand."""
    kernel = layer("f16", "H", "W", ZERO, "i + u - 1, j + v - 1")
    facts: Any = kernel.explain(N=2, H=5, W=7, C=32, M=24)
    assert facts["strategy"]["name"] == "mma"
    assert facts["launch"]["blocks"] == 1
    assert facts["same_bits"]["y"] == {"schedules": False, "devices": False}
    inside = 2 * (3 * 5 - 2) * (3 * 7 - 2) * 32         # of each axis a window of 3, less the two beyond its ends
    assert facts["traffic"]["x"]["loaded_bytes"] == 2 * inside
    assert facts["traffic"]["w"]["loaded_bytes"] == 2 * 24 * 9 * 32


# ---- schedules


@pytest.mark.parametrize("clauses", [
    "mma", "mma  tile (j: 16, m: 16, c: 32)", "mma  tile (j: 48, m: 32)  threads 64", "mma  tile (m: 96)  threads 96",
    "mma  tile (j: 32, m: 16, c: 64)  budget shared 20 KiB"])
def test_schedules(clauses: str, device: str) -> None:
    """Any tile of whole fragments gives the same integers."""
    kernel = layer("i8", "H", "W", ZERO, "i + u - 1, j + v - 1", f"schedule layer {{ {clauses} }}")
    assert strategy_of(kernel) == "mma"
    x, w = values(1, (2, 5, 7, 36), "i8"), values(2, (40, 3, 3, 36), "i8")
    assert_matches_numpy(kernel, x, w, np.arange(40, dtype=np.int32), device=device)


PRODUCT = product_text("f16", "ik", "jk")


@pytest.mark.parametrize(("text", "slug", "why"), [
    (PRODUCT + "schedule f { mma  stage a in shared }", "bad-mma", "no `stage`"),
    (PRODUCT + "schedule f { mma  vector 4  unroll k }", "bad-mma", "no `vector`"),
    (PRODUCT + "schedule f { mma  threads (32, 4):(4, 1) }", "bad-mma", "fragments of `mma.sync`"),
    (PRODUCT + "schedule f { mma  mma }", "duplicate-clause", "`mma` twice"),
    (PRODUCT + "schedule f { mma  tile (i: 24) }", "cannot-mma", "24 of `i` are no whole fragments"),
    (PRODUCT + "schedule f { mma  tile (k: 8) }", "cannot-mma", "8 of `k` are no whole"),
    (PRODUCT + "schedule f { mma  tile (k: 48) }", "cannot-mma", "48 of `k` are no power of two"),
    (PRODUCT + "schedule f { mma  threads 48 }", "cannot-mma", "48 threads"),
    (PRODUCT + "schedule f { mma  tile (i: 256, j: 256)  threads 128 }", "cannot-mma", "128 threads"),
    (PRODUCT + "schedule f { mma  budget shared 16 KiB }", "cannot-mma", "two buffers"),
    (PRODUCT.replace("f16", "f32") + "schedule f { mma }", "cannot-mma", "f16, bf16"),
    (product_text("i8", "ik", "kj") + "schedule f { mma }", "cannot-mma", "bytes along the outputs"),
])
def test_what_a_schedule_cannot_have(text: str, slug: str, why: str) -> None:
    with pytest.raises(LayoutcError) as caught:
        assert compile(text).plan
    assert caught.value.diagnostics[0].slug == slug
    assert why in str(caught.value)
    assert caught.value.diagnostics[0].help or slug != "cannot-mma"


@pytest.mark.parametrize(("text", "why"), [
    ("kernel f(a: f16[M, K], b: f16[N, K]) -> (c: f32[M, N]) { c[i, j] = prod(k) f32(a[i, k]) * f32(b[j, k]) }",
     "no sum of products"),
    ("kernel f(a: f16[M, K], b: bf16[N, K]) -> (c: f32[M, N]) { c[i, j] = sum(k) f32(a[i, k]) * f32(b[j, k]) }",
     "multiply f16, bf16"),
    ("kernel f(a: f16[M, K], b: f16[K]) -> (c: f32[M]) { c[i] = sum(k) f32(a[i, k]) * f32(b[k]) }", "every index"),
    ("kernel f(a: f16[M, K], b: f16[2, K]) -> (c: f32[M, 2]) { c[i, j] = sum(k) f32(a[i, k]) * f32(b[j, k]) }",
     "too few"),
    ("kernel f(a: f16[M, K], b: f16[N, K]) -> (c: f32[M, N]) { edge b = constant(1)"
     " c[i, j] = sum(k) f32(a[i, k]) * f32(b[j + 1, k]) }", "other than 0"),
    ("kernel f(x: f16[C, W], w: f16[M, C, 3]) -> (y: f32[M, W]) { edge x = constant(0)"
     " y[m, i] = sum(c, v) f32(w[m, c, v]) * f32(x[c, i + v]) }", "in a way that matrices are loaded"),
    ("kernel f(a: f16[M, K], b: f16[K, N]) -> (c: f32[M, N]) { edge b = constant(0)"
     " c[i, j] = sum(k) f32(a[i, k]) * f32(b[k + 1, j]) }", "lies along the outputs, and has an edge"),
    ("kernel f(a: f16[M, K], b: f16[N, L]) -> (c: f32[M, N]) { edge b = constant(0)"
     " c[i, j] = sum(k in 0..K) f32(a[i, k]) * f32(b[j, k]) }", "past the end of `b`"),
])
def test_what_is_made_otherwise(text: str, why: str) -> None:
    one = compile(text).plan.passes[0]
    assert one.strategy != "mma"
    assert why in next(r.why for r in one.rejected if r.strategy == "mma")


def test_targets_without_tensor_cores_make_it_otherwise() -> None:
    kernel = compile(PRODUCT)
    old = Kernel(kernel.program, kernel.meaning, Target("sm_75"))
    assert (strategy_of(kernel), strategy_of(old)) == ("mma", "contraction")


# ---- shared memory


@pytest.mark.parametrize(("type", "lines", "length"), [
    (F16, 128, 16), (F16, 128, 32), (F16, 128, 64), (F16, 32, 128), (F16, 16, 32), (F16, 32, 48), (I8, 64, 64)],
    ids=str)
def test_matrices_are_loaded_without_conflicts(type: Type, lines: int, length: int) -> None:
    """Eight neighbouring lines that name one vector meet no bank twice; vectors stay in their line, each once."""
    panel = Panel(type, lines, length)
    places = np.array([[line * panel.vectors + (v ^ line // panel.period % panel.permuted)
                        for v in range(panel.vectors)] for line in range(lines)])
    assert [sorted(row) for row in places] == [[*range(n, n + panel.vectors)] for n in places.min(axis=1)]
    if panel.vectors & (panel.vectors - 1) == 0:
        for first, vector in product(range(0, lines, 8), range(panel.vectors)):
            assert len(set(places[first:first + 8, vector] % 8)) == 8
