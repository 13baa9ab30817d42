"""Reductions that many threads make together, against NumPy's own: every operation, axis and kind of number."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc import LayoutcError, compile, load
from layoutc.backend import Run, load_cpu
from layoutc.calling import arguments
from layoutc.calling.launches import block_count
from layoutc.compare import compare
from layoutc.compiler import default_signature
from layoutc.module import Kernel, Module
from layoutc.plan.reductions import passes
from layoutc.testing import check_kernel

Array = NDArray[Any]
EXAMPLES = Path(__file__).parent.parent / "examples"

NUMBERS = """
    s{o} = sum({b}) x[{x}]
    p{o} = prod({b}) x[{x}]
    low{o} = min({r}) x[{x}]
    high{o} = max({r}) x[{x}]
    some{o} = any({b}) (x[{x}] > 0)
    every{o} = all({b}) (x[{x}] > 0)
    many{o} = count({b}) (x[{x}] > 0)
    first{o} = argmin({b}) x[{x}]
    last{o} = argmax({b}) x[{x}]
"""
AXES = {     # outputs, binders, binders with a first range, subscripts; a schedule of small blocks
    "rows": ("[i]", "j", "j in 0..W", "i, j", "tile (i: 2)  threads 16  vector 2"),
    "columns": ("[j]", "i", "i in 0..H", "i, j", "tile (j: 4)  threads 8  vector 2"),
    "all": ("[]", "i, j", "i in 0..H, j", "i, j", "threads 4  vector 2"),
    "planes": ("[i]", "k, j", "k in 0..D, j", "k, i, j", "tile (i: 1)  threads 64  vector 2"),
}
SUMS = {"f32": "f32", "f64": "f64", "f16": "f16", "bf16": "bf16", "i8": "i32", "i64": "i64", "u16": "i32", "u32": "u32"}


@cache
def module(axes: str, type: str) -> Module:
    """Kernel `k` under the compiler's own choice and under `small`."""
    outputs, binders, ranged, at, small = AXES[axes]
    extents = {"[i]": "[H]", "[j]": "[W]", "[]": "[]"}[outputs]
    shape = "[D, H, W]" if axes == "planes" else "[H, W]"
    tensors = [f"s: {SUMS[type]}", f"p: {SUMS[type]}", f"low: {type}", f"high: {type}", "some: bool", "every: bool",
               "many: i64", "first: i64", "last: i64"]
    return compile(
        f"kernel k(x: {type}{shape}) -> ({', '.join(t + extents for t in tensors)}) {{"
        f" {NUMBERS.format(o=outputs, b=binders, r=ranged, x=at)} }}\nschedule k as small {{ {small} }}")


@cache
def few(axes: str) -> Kernel:
    """Two reductions, one of floats whose order shows and one of places; quicker to compile than all."""
    outputs, binders, _, at, small = AXES[axes]
    extents = {"[i]": "[H]", "[j]": "[W]", "[]": "[]"}[outputs]
    kernel: Kernel = compile(
        f"kernel k(x: f32[H, W]) -> (s: f32{extents}, at: i64{extents}) {{ s{outputs} = sum({binders}) x[{at}]"
        f" at{outputs} = argmax({binders}) x[{at}] }}\nschedule k as small {{ {small} }}").k
    return kernel


def bound(terms: Array, axis: Any, type: Any) -> Array:
    """How far a sum may be from the true one: that of pairs of blocks of 128 terms."""
    count = terms.size // max(np.asarray(terms.sum(axis=axis)).size, 1)
    depth = count if count <= 128 else 128 + int(np.ceil(np.log2(count / 128)))
    unit = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24, "f64": 2.0**-53}[type]
    summed = 2.0**-53 if type == "f64" else 2.0**-24
    total = np.abs(terms).sum(axis=axis)
    return np.asarray((depth * summed + unit) * 1.01 * total + 1e-45)


def numbers(shape: tuple[int, ...], type: str, seed: int) -> Array:
    """Values near 1 for floats, so that products stay in range; all of an integer type."""
    from layoutc.backend.types import numpy_dtype

    rng = np.random.default_rng(seed)
    dtype = numpy_dtype(type)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    return np.asarray((1 + 0.01 * rng.standard_normal(shape)).astype(dtype) * rng.choice([-1, 1], shape).astype(dtype))


def check(axes: str, type: str, x: Array, schedule: str | None, device: str) -> None:
    axis = {"rows": 1, "columns": 0, "all": None, "planes": (0, 2)}[axes]
    s, p, low, high, some, every, many, first, last = module(axes, type).k(x, schedule=schedule, device=device)
    wide = x.astype(np.float64) if x.dtype.kind not in "iu" else x
    if x.dtype.kind in "iu":
        np.testing.assert_array_equal(s, np.sum(wide, axis=axis, dtype=np.asarray(s).dtype))
        np.testing.assert_array_equal(p, np.prod(wide, axis=axis, dtype=np.asarray(p).dtype))
    else:
        assert (np.abs(np.asarray(s, np.float64) - wide.sum(axis=axis)) <= bound(wide, axis, type)).all()
        np.testing.assert_allclose(np.asarray(p, np.float64), np.prod(wide, axis=axis), rtol=0.02)
    np.testing.assert_array_equal(np.asarray(low, np.float64), np.asarray(wide.min(axis=axis), np.float64))
    np.testing.assert_array_equal(np.asarray(high, np.float64), np.asarray(wide.max(axis=axis), np.float64))
    np.testing.assert_array_equal(some, (wide > 0).any(axis=axis))
    np.testing.assert_array_equal(every, (wide > 0).all(axis=axis))
    np.testing.assert_array_equal(many, np.count_nonzero(wide > 0, axis=axis))
    moved = wide.transpose(1, 0, 2).reshape(wide.shape[1], -1) if axes == "planes" else wide
    along: Any = 1 if axes == "planes" else axis
    np.testing.assert_array_equal(first, np.argmin(moved, axis=along))
    np.testing.assert_array_equal(last, np.argmax(moved, axis=along))


SHAPES = [(1, 1), (1, 31), (31, 3), (2, 33), (33, 1), (5, 257), (257, 5), (1, 2503), (1000, 1), (67, 61)]
WHOLE = [(1, 4), (3, 32), (32, 12), (5, 260), (1000, 4), (2, 2500)]     # rows are whole vectors


@pytest.mark.parametrize("schedule", [None, "small"])
@pytest.mark.parametrize("axes", ["rows", "columns", "all"])
def test_every_operation(axes: str, schedule: str | None, device: str) -> None:
    """At extents around a warp, a block and several blocks, as vectors and one by one."""
    for number, shape in enumerate([*SHAPES, *WHOLE]):
        check(axes, "f32", numbers(shape, "f32", number), schedule, device)


@pytest.mark.parametrize(("axes", "type"), [
    ("rows", "f16"), ("all", "i8"), ("columns", "i64"), ("planes", "f64"), ("rows", "u32"), ("columns", "bf16"),
])
def test_every_type(axes: str, type: str, device: str) -> None:
    for number, shape in enumerate(SHAPES):
        check(axes, type, numbers((2, *shape) if axes == "planes" else shape, type, number), "small", device)


@pytest.mark.parametrize("axes", ["rows", "columns", "all"])
def test_views(axes: str, device: str) -> None:
    """Strided, reversed, repeated and unaligned arrays give what their copies give, to the last bit."""
    base = numbers((70, 140), "f32", 5)
    kernel = few(axes)
    flat = numbers((40 * 70 + 1,), "f32", 6)[1:].reshape(40, 70)
    for x in (base[::2, ::2], base[::-1, ::-1], base[:, 3:], base.T, np.broadcast_to(base[:1], (9, 140)), flat):
        for schedule in (None, "small"):
            got = kernel(x, schedule=schedule, device=device)
            same = kernel(np.ascontiguousarray(x), schedule=schedule, device=device)
            for a, b in zip(got, same, strict=True):
                assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


SPECIAL: list[list[float]] = [
    [np.nan, 1, -np.inf], [np.inf, -np.inf], [-np.inf, -1], [np.inf, 2, np.inf], [-0.0, 0.0], [0.0, -0.0], [-0.0],
    [3, 1, 1, 3], [1, np.nan, 0, np.nan], [np.inf], [3e38, 3e38, -3e38], [1e-45, -1e-45, 1e-45],
]


@pytest.mark.parametrize("schedule", [None, "small"])
def test_special_numbers(schedule: str | None, device: str) -> None:
    """NaN where NumPy has one, the first of equal places, zeros of both signs, infinities; wherever they stand."""
    kernel = module("rows", "f32").k
    for values in SPECIAL:
        for before in (0, 1, 40, 300, 2100):
            x = np.concatenate([np.full(before, values[-1]), values, np.full(7, values[0])]).astype(np.float32)[None]
            s, _, low, high, some, every, many, first, last = kernel(x, schedule=schedule, device=device)
            with np.errstate(invalid="ignore", over="ignore"):
                total = x.astype(np.float64).sum()
                if not np.isfinite(total):
                    np.testing.assert_array_equal(s[0], np.float32(total))
                elif np.abs(x).sum(dtype=np.float64) <= np.finfo(np.float32).max:   # else partial sums may be infinite
                    assert abs(float(s[0]) - total) <= bound(x.astype(np.float64), None, "f32")
                np.testing.assert_array_equal(low[0], x.min())
                np.testing.assert_array_equal(high[0], x.max())
                assert (some[0], every[0], many[0]) == ((x > 0).any(), (x > 0).all(), np.count_nonzero(x > 0))
                assert (first[0], last[0]) == (x.argmin(), x.argmax())


@pytest.mark.parametrize("axes", ["rows", "columns", "all"])
def test_nothing(axes: str, device: str) -> None:
    """The identity where there is one; an error at the call where there is none; no output at all."""
    outputs, binders, _, at, small = AXES[axes]
    extents = {"[i]": "[H]", "[j]": "[W]", "[]": "[]"}[outputs]
    kernel = compile(
        f"kernel k(x: i32[H, W]) -> (s: i32{extents}, p: i32{extents}, a: bool{extents}, e: bool{extents},"
        f" c: i64{extents}) {{ s{outputs} = sum({binders}) x[{at}]  p{outputs} = prod({binders}) x[{at}]"
        f" a{outputs} = any({binders}) (x[{at}] > 0)  e{outputs} = all({binders}) (x[{at}] > 0)"
        f" c{outputs} = count({binders}) (x[{at}] > 0) }}\nschedule k as small {{ {small} }}").k
    for shape in ((0, 5), (5, 0), (0, 0)):
        x = np.zeros(shape, np.int32)
        axis = {"rows": 1, "columns": 0, "all": None}[axes]
        wanted = [f(x > 0 if f in (np.any, np.all) else x, axis=axis) for f in (np.sum, np.prod, np.any, np.all)]
        for schedule in (None, "small"):
            got = kernel(x, schedule=schedule, device=device)
            for a, b in zip(got, [*wanted, np.count_nonzero(x, axis=axis)], strict=True):
                np.testing.assert_array_equal(a, b)
    shape = (5, 0) if axes == "rows" else (0, 5)
    with pytest.raises(LayoutcError) as error:
        module(axes, "f32").k(np.zeros(shape, np.float32), device=device)
    assert error.value.diagnostics[0].slug == "empty-reduction"


def test_every_run_gives_the_same_bits(device: str) -> None:
    """Threads and blocks in any order."""
    x = numbers((3, 3000), "f32", 9) * np.float32(1e3)
    for axes in ("rows", "columns", "all"):
        kernel = few(axes)
        for schedule in (None, "small"):
            runs = [Run(seed, order) for seed in range(3) for order in ("random", "descending")]
            seen = {b"".join(np.asarray(a).tobytes() for a in kernel(
                x, schedule=schedule, device=device, run=run if device == "cpu" else None)) for run in runs}
            assert len(seen) == 1


def test_workspaces_are_as_large_as_a_call_needs(device: str) -> None:
    """Calls into given arrays, longer and shorter ones in turn, the same ones again."""
    total = compile("kernel total(x: i32[N]) -> (s: i32[], m: i32[]) { s[] = sum(i) x[i]  m[] = max(i) x[i] }"
                    " schedule total { threads 8  vector 1 }").total
    arrays: Any = np
    if device == "cuda":
        import cupy

        arrays = cupy
    s, m = arrays.empty((), np.int32), arrays.empty((), np.int32)
    for n in (100, 3000, 900, 3000, 1, 5000, 100):
        x = numbers((n,), "i32", n)
        total(arrays.asarray(x), out=(s, m), device=device)
        assert (int(s), int(m)) == (x.sum(dtype=np.int32), x.max())


@pytest.mark.parametrize("axes", ["rows", "columns", "all"])
def test_indices_of_64_bits(axes: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The text for large arrays, on small ones."""
    monkeypatch.setattr(arguments, "NARROW", 0)
    kernel = few(axes)
    axis = {"rows": 1, "columns": 0, "all": None}[axes]
    for shape in ((3, 301), (301, 3), (41, 81)):
        x = np.random.default_rng(1).integers(-99, 99, shape).astype(np.float32)    # whole numbers add up exactly
        for schedule in (None, "small"):
            s, where = kernel(x, schedule=schedule, device=device)
            np.testing.assert_array_equal(s, x.sum(axis=axis))
            np.testing.assert_array_equal(where, x.argmax(axis=axis))
    assert any(signature.wide for signature, *_ in kernel.caller("small")._texts)


def test_sums_are_as_accurate_as_pairs(device: str) -> None:
    """Terms whose sum one after another loses several digits; `compare` finds that and not ours."""
    total = compile("kernel total(x: f32[N]) -> (s: f32[]) { s[] = sum(i) x[i] }"
                    " schedule total as one { threads 1 } schedule total as odd { threads 31 }").total
    for x in (np.full(2**20 + 7, 0.1, np.float32), np.array([1.0] + [2.0**-25] * 2**20, np.float32)):
        serial = np.cumsum(x, dtype=np.float32)[-1:].reshape(())
        assert compare(total.meaning, [x], [serial])
        for schedule in (None, "odd"):
            assert not compare(total.meaning, [x], [total(x, schedule=schedule, device=device)])
        assert not compare(total.meaning, [x], [np.asarray(x.sum())])


def test_rows_that_need_a_value_of_the_whole_row(device: str) -> None:
    """One reduction after another in one pass, here a variance; and what is beside them."""
    kernel = compile("""
        kernel moments(x: f32[H, W], b: f32[H]) -> (mean: f32[H], variance: f32[H], plus: f32[H]) {
            let m[i] = sum(j) x[i, j] / f32(W)
            mean[i] = m[i]
            variance[i] = sum(j) (x[i, j] - m[i]) ** 2 / f32(W)
            plus[i] = b[i] + max(j) (x[i, j] - m[i])
        }
        schedule moments as small { tile (i: 2)  threads 64 }
    """).moments
    x, b = numbers((5, 700), "f32", 3), numbers((5,), "f32", 4)
    for schedule in (None, "small"):
        mean, variance, plus = kernel(x, b, schedule=schedule, device=device)
        np.testing.assert_allclose(mean, x.mean(axis=1, dtype=np.float64), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(variance, x.var(axis=1, dtype=np.float64), rtol=1e-5)
        np.testing.assert_allclose(plus, b + (x - mean[:, None]).max(axis=1), rtol=1e-5)


def test_reductions_that_a_row_shares(device: str) -> None:
    """A softmax by rows, in teams of a block and of a warp; a mean by columns; a layer's normalisation in f16."""
    module = load(EXAMPLES / "41_normalised.layout")
    for shape in ((1, 1), (3, 7), (5, 300), (33, 40), (2, 2101), (0, 4), (4, 0)):
        x = numbers(shape, "f32", 3) * np.float32(3)
        wide = x.astype(np.float64)
        e = np.exp(wide - wide.max(axis=1, keepdims=True)) if x.size else wide
        for schedule in (None, "four"):
            got = module.softmax(x, schedule=schedule, device=device)
            np.testing.assert_allclose(got, e / e.sum(axis=1, keepdims=True), rtol=1e-5)
        if x.size:
            centred = module.centred_columns(wide, device=device)
            np.testing.assert_allclose(centred, wide - wide.mean(axis=0), atol=1e-12)
            scale, shift = numbers(shape[1:], "f32", 5), numbers(shape[1:], "f32", 6)
            half = x.astype(np.float16)
            wide = half.astype(np.float64)
            moved = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
            np.testing.assert_allclose(module.layer_norm(half, scale, shift, device=device),
                                       moved * scale + shift, rtol=2e-3, atol=2e-3)
    facts: Any = module.softmax.explain({"H": 100, "W": 5000})
    assert facts["strategy"]["name"] == "rows"
    assert facts["launch"]["blocks"] == 100
    assert facts["traffic"]["y"]["unique_bytes"] == 4 * 100 * 5000


def test_bodies(device: str) -> None:
    """Edges, shifted and broken ranges, choices, casts, index values, several tensors, ranges of constants inside."""
    kernel = compile("""
        kernel bodies(x: i32[H, W], w: i32[W], q: i32[H, W, 3]) -> (
            a: i64[H], b: i32[H], c: i32[H], d: i64[H], e: i64[H], f: i32[H]
        ) {
            require W >= 2
            edge x[1] = wrap
            a[i] = sum(j) where(x[i, j] > 0, j, -j)
            b[i] = sum(l in 1..W) (x[i, l] * w[l] + x[i, l - 1])
            c[i] = max(n in -3..W + 2) x[i, n]
            d[i] = argmax(j, k) q[i, j, k]
            e[i] = count(j, k) (q[i, j, k] > x[i, j]) + i
            f[i] = sum(m in 0..W) i32(u8(x[i, W - 1 - m]))
        }
        schedule bodies as small { tile (i: 4)  threads 32  vector 2 }
    """).bodies
    for shape in ((3, 2), (4, 37), (1, 130)):
        rng = np.random.default_rng(1)
        x, w = rng.integers(-99, 99, shape, np.int32), rng.integers(-9, 9, shape[1], np.int32)
        q = rng.integers(-9, 9, (*shape, 3), np.int32)
        j = np.arange(shape[1])
        wanted = [
            np.where(x > 0, j, -j).sum(axis=1), (x[:, 1:] * w[1:] + x[:, :-1]).sum(axis=1), x.max(axis=1),
            q.reshape(shape[0], -1).argmax(axis=1),
            np.count_nonzero(q > x[..., None], axis=(1, 2)) + np.arange(shape[0]),
            x.astype(np.uint8).astype(np.int32).sum(axis=1)]
        for schedule in (None, "small"):
            for got, want in zip(kernel(x, w, q, schedule=schedule, device=device), wanted, strict=True):
                np.testing.assert_array_equal(got, want)


def test_random_schedules_find_nothing(device: str) -> None:
    for axes in ("rows", "columns", "all"):
        report = check_kernel(few(axes), examples=40, seed=4, device=device)
        assert report.ok, report.text()


class TestPlans:
    """What is chosen, and what `explain` says of it."""

    TEXT = """
        kernel total(x: f32[N]) -> (s: f32[]) { s[] = sum(i) x[i] }
        kernel columns(x: f32[H, W]) -> (s: f32[W]) { s[j] = sum(i) x[i, j] }
        kernel rows(x: f32[H, W]) -> (s: f32[H]) { s[i] = sum(j) x[i, j] }
        kernel product(a: f32[M, K], b: f32[K, N]) -> (c: f32[M, N]) { c[i, j] = sum(k) a[i, k] * b[k, j] }
        kernel window(x: f32[N], w: f32[K]) -> (y: f32[N - K + 1]) { require N >= K  y[i] = sum(u) w[u] * x[i + u] }
    """

    KERNELS = ("total", "rows", "columns", "product", "window")

    def facts(self, kernel: str, **extents: int) -> Any:
        return compile(self.TEXT)[kernel].explain(extents)

    def test_strategies(self) -> None:
        chosen = {name: self.facts(name)["strategy"]["name"] for name in self.KERNELS}
        assert [chosen[name] for name in ("total", "rows", "columns")] == ["rows", "rows", "columns"]
        assert {chosen["product"], chosen["window"]}.isdisjoint({"rows", "columns"})
        refused = {r["strategy"]: r["why"] for r in self.facts("product")["strategy"]["rejected"]}
        assert refused["rows"] == refused["columns"] == "outputs share what they read"

    def test_parts_of_several_blocks_are_explained(self) -> None:
        facts = self.facts("total", N=10**6)
        assert "passes" not in facts
        blocks = -(-10**6 // (1024 * 4 * 4))
        assert facts["launch"]["blocks"] == blocks
        traffic = facts["traffic"]
        assert traffic["x"]["loaded_bytes"] == traffic["x"]["unique_bytes"] == 4 * 10**6
        assert traffic["x"]["utilization"] == 1.0
        assert traffic["total_sum"]["loaded_bytes"] == traffic["total_sum"]["unique_bytes"] == 4 * blocks
        assert traffic["s"]["unique_bytes"] == traffic["total_arrived"]["unique_bytes"] == 4
        assert facts["launch"]["idle_threads"] == 0
        assert facts["storage"]["shared_bytes"] == 32 * 4 + 1

    def test_one_block_has_no_parts(self) -> None:
        facts = self.facts("total", N=1000)
        assert "passes" not in facts
        assert facts["launch"]["blocks"] == 1
        assert facts["traffic"]["s"]["unique_bytes"] == 4


def test_eight_lanes_in_three_rounds(device: str) -> None:
    """1..8: after the round over 4 lanes the first four hold 6 8 10 12, over 2 lanes 16 20, over 1 lane 36."""
    total = load(EXAMPLES / "40_reductions.layout").total
    x = np.arange(1, 9, dtype=np.float32)
    assert total(x, schedule="eight", device=device) == 36
    text = total.caller("eight").text(default_signature(total.meaning))[1].text
    held, rounds = x, []
    for distance in (4, 2, 1):
        held = held + held[np.arange(8) ^ distance]
        rounds.append(held[:distance].tolist())
    assert rounds == [[6, 8, 10, 12], [16, 20], [36]]
    assert (held == 36).all()
    assert "for (int distance = 4; distance > 0; distance /= 2)" in text


PAIRS = (
    ("sum(j, k) x[i, j, k]", "sum(k, j) x[i, j, k]"),
    ("sum(k, j) x[i, j, k]", "max(k in 0..C, j) x[i, j, k]"),
    ("argmax(j, k) x[i, j, k]", "argmax(k, j) x[i, j, k]"),
    ("argmin(k, j) x[i, j, k]", "sum(j, k) x[i, j, k]"),
    ("sum(j, k) x[i, j, k] * k", "sum(k, j) x[i, j, k] * j"),
)


@pytest.mark.parametrize("pair", PAIRS, ids=" beside ".join)
@pytest.mark.parametrize("row", [False, True])
def test_reductions_over_the_same_indices_in_any_order(pair: tuple[str, str], row: bool, device: str) -> None:
    """Each binds its own indices, whatever stands beside it."""
    texts = [text.replace("x[i, ", "x[" if not row else "x[i, ") for text in pair]
    axes, at = ("A, B, C", "i") if row else ("B, C", "")
    kernel = compile(f"""kernel k(x: i64[{axes}]) -> (a: i64[{"A" if row else ""}], b: i64[{"A" if row else ""}]) {{
        require B > 0, C > 0
        a[{at}] = {texts[0]}
        b[{at}] = {texts[1]}
    }}""").k
    for shape in ((3, 2), (2, 3), (1, 70), (70, 1), (8, 520)):
        x = np.random.default_rng(shape[1]).integers(-50, 50, (2, *shape) if row else shape)
        for got, wanted in zip(kernel(x, device=device), kernel.reference(x), strict=True):
            np.testing.assert_array_equal(got, wanted)


SHARED = """
    kernel k(x: f32[H, W]) -> (s: f32[{0}]) {{ s[{1}] = sum({2}) x[i, j] }}
    schedule k as many {{ {3} }}
"""


@pytest.mark.parametrize(("text", "shape"), [
    (SHARED.format("", "", "i, j", "threads 64"), (3, 4000)),
    (SHARED.format("H", "i", "j", "tile (i: 2)  threads 64"), (5, 9000)),
    (SHARED.format("W", "j", "i", "tile (j: 8)  threads 16"), (700, 21)),
], ids=["all", "rows", "columns"])
def test_whichever_block_comes_last_the_bits_are_the_same(text: str, shape: tuple[int, ...]) -> None:
    kernel = compile(text).k
    one = kernel.caller("many").text(default_signature(kernel.meaning))[0].passes[0]
    named = dict(zip("HW", shape, strict=True))
    assert block_count(one, named) > np.prod([n.at(named) for n in one.blocks])
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    results = [kernel(x, schedule="many", device="cpu", run=Run(seed=seed, order=order))
               for order in ("ascending", "descending", "random") for seed in range(2)]
    for result in results:
        np.testing.assert_array_equal(result, results[0])
    np.testing.assert_allclose(results[0], kernel.reference(x), rtol=1e-5, atol=1e-4)


def test_counts_begin_anew_with_every_launch() -> None:
    kernel = compile(SHARED.format("W", "j", "i", "tile (j: 8)  threads 16")).k
    plan, cuda = kernel.caller("many").text(default_signature(kernel.meaning))
    module = load_cpu(cuda)
    x = np.random.default_rng(0).standard_normal((700, 24)).astype(np.float32)
    arrived = np.zeros(3, np.uint32)
    parts = block_count(plan.passes[0], {"H": 700, "W": 24}) // 3      # blocks that share each of 3 tiles
    assert parts > 1
    sums = []
    for _ in range(2):
        s, left = np.empty(24, np.float32), np.empty(parts * 24, np.float32)
        module.launch(cuda.entries[0].name, 3 * parts, [x, 24, s, 700, 24, left, arrived])
        assert not arrived.any()
        sums.append(s)
    np.testing.assert_array_equal(sums[0], sums[1])


COLUMNS = "kernel k(x: i32[H, W]) -> (y: i32[W]) { y[j] = sum(i) x[i, j] }"
ALL = "kernel k(x: i32[H, W]) -> (y: i32[]) { y[] = sum(i, j) x[i, j] }"


@pytest.mark.parametrize("shape", [(1024, 128), (1025, 3), (2049, 129), (3100, 1)])
@pytest.mark.parametrize("text", [COLUMNS, ALL])
def test_each_term_counts_once_however_many_blocks_share_an_output(
    text: str, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    """Stretches end where the terms do: the last blocks may have few of them, or none."""
    x = np.arange(shape[0] * shape[1], dtype=np.int32).reshape(shape)
    counts = []
    for multiprocessors in (1, 3, 1000):
        monkeypatch.setattr(passes, "MULTIPROCESSORS", multiprocessors)
        kernel = compile(text).k
        one = kernel.caller().text(default_signature(kernel.meaning))[0].passes[0]
        counts.append(block_count(one, dict(zip("HW", shape, strict=True))))
        np.testing.assert_array_equal(kernel(x, device=device), x.sum(0 if text == COLUMNS else None, dtype=np.int32))
    assert counts == sorted(counts)


@pytest.mark.parametrize("text", [COLUMNS, ALL])
def test_blocks_fill_the_gpu_wherever_there_is_work_for_them(text: str) -> None:
    """From where each of its threads has 64 vectors on: tall, wide or square; what is less leaves each thread some."""
    kernel = compile(text).k
    one = kernel.caller().text(default_signature(kernel.meaning))[0].passes[0]
    whole = passes.MULTIPROCESSORS * 1024 * 64 * 4
    for rows in (2**9, 2**12, 2**14, 2**17, 2**20):
        blocks = block_count(one, {"H": rows, "W": -(-whole // rows)})
        assert blocks * one.threads >= passes.MULTIPROCESSORS * 512, rows
    for rows, columns in ((1, 128), (64, 128), (20, 20)):
        assert block_count(one, {"H": rows, "W": columns}) == 1


@pytest.mark.parametrize(("text", "far"), [
    ("kernel k(x: f32[H, W]) -> (s: f32[]) { s[] = sum(i, j) x[i, j] }", False),
    ("kernel k(x: f32[H], y: f32[W]) -> (s: f32[]) { s[] = sum(i, j) x[i] * y[j] }", True),
    ("kernel k(x: f32[H]) -> (s: f32[]) { s[] = sum(i, j in 0..H) x[i] }", True),
    ("kernel k(x: f32[H, W]) -> (s: f32[]) { edge x = wrap  s[] = sum(i in 0..H, j in 0..2*W) x[i, j] }", True),
])
def test_points_are_counted_in_32_bits_where_a_tensor_has_an_element_for_each(text: str, far: bool) -> None:
    """An index counts the elements of any tensor that is not wide, and no more."""
    assert ("i64 runs = " in compile(text).k.cuda) == far


def test_many_elements_at_one_place_are_wide() -> None:
    kernel = compile(ALL).k
    for shape, wide in (((2**12, 2**12), False), ((2**16, 2**16), True)):
        x = np.broadcast_to(np.zeros((1, 1), np.int32), shape)
        assert arguments.signature_of(kernel.meaning, [x, np.zeros((), np.int32)]).wide == wide
