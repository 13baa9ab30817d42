"""Walks in registers: the bits of the direct kernel, whatever the edges, shapes, types and strides."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import layoutc
from layoutc.backend.types import numpy_dtype
from layoutc.calling import arguments
from layoutc.compiler import default_signature
from layoutc.module import Kernel, compile
from layoutc.testing import assert_matches_numpy

RULES = ("constant(3)", "nearest", "reflect", "mirror", "wrap")
SHAPES = [(0, 5), (5, 0), (1, 1), (3, 2), (9, 131), (21, 270)]    # the last has warps that touch no edge

BLUR = """
kernel blur(x: f32[H, W], w: f32[3, 5]) -> (y: f32[H, W]) {
    edge x = nearest
    y[i, j] = sum(u in 0..3, v in 0..5) w[u, v] * x[i + u - 1, j + v - 2]
}
"""


def kernel_of(text: str) -> Kernel:
    """The kernel of a text, with a schedule ``direct`` that reads everything where it lies."""
    name = text.split("kernel ")[1].split("(")[0]
    found = compile(text)[name]
    assert isinstance(found, Kernel)
    stages = " ".join(f"stage {t.name} in global" for t in found.meaning.inputs)
    directly = compile(f"{text}\nschedule {name} as direct {{ {stages} }}")[name]
    assert isinstance(directly, Kernel)
    return directly


def strategies(kernel: Kernel) -> list[str]:
    return [one.strategy for one in kernel.plan.passes]


def arrays(kernel: Kernel, shapes: list[tuple[int, ...]], seed: int = 0) -> list[Any]:
    rng = np.random.default_rng(seed)
    out = []
    for tensor, shape in zip(kernel.meaning.inputs, shapes, strict=True):
        dtype = numpy_dtype(tensor.type.name)
        values: Any = rng.standard_normal(shape) * 3 if tensor.type.is_float else rng.integers(0, 100, shape)
        out.append(np.asarray(values).astype(dtype))
    return out


def check(kernel: Kernel, values: list[Any], device: str) -> None:
    """The bits of the direct kernel, and NumPy's meaning."""
    walked = kernel(*values, device=device)
    direct = kernel(*values, device=device, schedule="direct")
    for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (walked, direct)), strict=True):
        np.testing.assert_array_equal(a, b)
    assert_matches_numpy(kernel, *values, device=device)


@pytest.mark.parametrize("rule", RULES)
def test_edges(rule: str, device: str) -> None:
    kernel = kernel_of(BLUR.replace("nearest", rule) + "schedule blur { march i }")
    assert strategies(kernel) == ["window"]
    for shape in SHAPES:
        check(kernel, arrays(kernel, [shape, (3, 5)]), device)


@pytest.mark.parametrize(("low", "high"), list(zip(RULES, (*RULES[2:], *RULES[:2]), strict=True)))
def test_edges_of_each_side(low: str, high: str, device: str) -> None:
    kernel = kernel_of(f"""
    kernel blur(x: i32[H, W], w: i32[3, 5]) -> (y: i32[H, W]) {{
        edge x[0] = ({low}, {high})
        edge x[1] = ({high}, {low})
        y[i, j] = sum(u in 0..3, v in 0..5) w[u, v] * x[i + u - 1, j + v - 2]
    }}
    schedule blur {{ march i }}""")
    assert strategies(kernel) == ["window"]
    for shape in [(1, 1), (3, 2), (9, 131)]:
        check(kernel, arrays(kernel, [shape, (3, 5)]), device)


@pytest.mark.parametrize("type", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"])
def test_types(type: str, device: str) -> None:
    kernel = kernel_of(f"""
    kernel highest(x: {type}[H, W]) -> (y: {type}[H, W], z: {type}[H, W]) {{
        edge x = mirror
        y[i, j] = max(u in -1..=1, v in -2..=1) x[i + u, j + v]
        z[i, j] = median(p in 0..2, q in 0..2) x[i + p, j - q]
    }}""")
    assert strategies(kernel) == ["window"]
    check(kernel, arrays(kernel, [(19, 530)]), device)


FORMS: dict[str, tuple[str, list[tuple[int, ...]]]] = {
    "truth": ("""
        kernel k(x: bool[H, W]) -> (y: bool[H, W], z: i64[H, W]) {
            edge x = constant(true)
            y[i, j] = any(u in 0..3, v in 0..2) x[i + u, j + v]
            z[i, j] = count(u in 0..3, v in 0..2) (x[i + u, j + v] == x[i, j])
        }""", [(19, 1100)]),
    "laplace": ("""
        kernel k(x: f32[H, W]) -> (y: f32[H, W]) {
            edge x = reflect
            y[i, j] = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1] - 4*x[i, j]
        }""", [(19, 270)]),
    "nothing beyond what is there": ("""
        kernel k(x: f32[H, W]) -> (y: f32[H - 2, W - 3]) {
            require H >= 2, W >= 3
            y[i, j] = sum(u in 0..3, v in 0..4) (x[i + u, j + v] * x[i + u, j + v])
        }""", [(21, 275)]),
    "one side": ("""
        kernel k(x: f64[H, W]) -> (y: f64[H, W]) {
            edge x = wrap
            y[i, j] = prod(u in 1..4, v in 3..6) x[i + u, j - v]
        }""", [(20, 140)]),
    "separable": ("""
        kernel k(x: f32[H, W], a: f32[5], b: f32[4]) -> (y: f32[H, W]) {
            edge x = mirror
            let g[i, j] = sum(v in 0..5) a[v] * x[i, j + v - 2]
            y[i, j] = sum(u in 0..4) b[u] * g[i + u - 2, j]
        }""", [(19, 270), (5,), (4,)]),
    "separable, the other way": ("""
        kernel k(x: f32[H, W], a: f32[3], b: f32[4]) -> (y: f32[H, W]) {
            edge x = mirror
            let g[i, j] = sum(v in 0..3) a[v] * x[i + v - 1, j]
            y[i, j] = sum(u in 0..4) b[u] * g[i, j + u - 2]
        }""", [(19, 270), (3,), (4,)]),
    "stages over stages": ("""
        kernel k(x: f32[H, W]) -> (y: f32[H, W], z: f32[H, W]) {
            edge x = nearest
            let g[i, j] = sum(v in -1..=1) x[i + 1, j + v]
            let h[p, q] = g[p - 1, q] + max(t in 0..3) g[p + t, q + 1]
            y[i, j] = sum(u in -1..=1, r in 0..2) h[i + u, j + r]
            z[i, j] = h[i, j] - x[i - 2, j]
        }""", [(19, 270)]),
    "several reductions of different rows": ("""
        kernel k(x: f32[H, W]) -> (y: f32[H, W]) {
            edge x = constant(1)
            y[i, j] = sum(u in 0..3, v in 0..2) x[i + u, j + v] * (max(r in 0..2) x[i - r, j])
                    + min(t in 0..4) x[i + t, j]
        }""", [(19, 270)]),
    "the index is a number too": ("""
        kernel k(x: i32[H, W]) -> (y: i64[H, W]) {
            edge x = constant(7)
            y[i, j] = sum(u in 0..3) (i64(x[i + u - 1, j]) * (i + u) * (j - 2)) + i * j
        }""", [(19, 270)]),
    "what else is read at the output": ("""
        kernel k(x: f32[H, W], at: i32[H], b: f32[W, H]) -> (y: f32[H, W]) {
            edge x = nearest
            y[i, j] = x[i - 1, j] + x[i, j + 1] + b[j, i] * f32(at[i])
        }""", [(19, 270), (19,), (270, 19)]),
    "two tensors, one apart": ("""
        kernel k(x: f32[H, W], c: f32[H, W], r: f32[W]) -> (y: f32[H, W]) {
            edge x = nearest
            y[i, j] = c[i, j] * (sum(u in -1..=1, v in -1..=1) x[i + u, j + v]) + r[j]
        }""", [(19, 270), (19, 270), (270,)]),
    "a coefficient inside of the sum": ("""
        kernel k(x: f32[H, W], c: f32[H, W]) -> (y: f32[H, W]) {
            edge x = nearest
            y[i, j] = sum(u in -1..=1, v in -1..=1) c[i, j] * x[i + u, j + v]
        }""", [(19, 270), (19, 270)]),
    "every other column": ("""
        kernel k(x: f32[H, V]) -> (y: f32[H, V // 2]) {
            edge x = nearest
            y[i, j] = max(u in 0..2, v in 0..2) x[i + u, 2*j + v]
        }""", [(19, 540)]),
    "a batch": ("""
        kernel k(x: f32[N, C, H, W], w: f32[C, 3, 3]) -> (y: f32[N, C, H, W]) {
            edge x = constant(0)
            y[n, c, i, j] = sum(u in 0..3, v in 0..3) w[c, u, v] * x[n, c, i + u - 1, j + v - 1]
        }""", [(2, 3, 10, 270), (3, 3, 3)]),
    "neighbours in three directions": ("""
        kernel k(x: f32[D, H, W], w: f32[3, 3, 3]) -> (y: f32[D, H, W]) {
            edge x = reflect
            y[i, j, k] = sum(a in 0..3, b in 0..3, c in 0..3) w[a, b, c] * x[i + a - 1, j + b - 1, k + c - 1]
        }""", [(11, 7, 270), (3, 3, 3)]),
    "one direction": ("""
        kernel k(x: f32[N]) -> (y: f32[N]) {
            edge x = wrap
            y[i] = x[i - 1] + 2*x[i] + x[i + 3]
        }""", [(1100,)]),
    "an edge's value is an element": ("""
        kernel k(x: f32[H, W], c: f32[]) -> (y: f32[H, W]) {
            edge x = constant(c[])
            y[i, j] = sum(u in -1..=1, v in -1..=1) x[i + u, j + v]
        }""", [(19, 270), ()]),
    "names of the text": ("""
        kernel k(row: f32[k, part], item: f32[3]) -> (piece: f32[k, part]) {
            edge row = mirror
            piece[interior, element] = sum(u in 0..3, v in 0..3) item[u] * row[interior + u - 1, element + v]
        }""", [(19, 270), (3,)]),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str, device: str) -> None:
    text, shapes = FORMS[form]
    kernel = kernel_of(text)
    assert {"window", "planes", "ringed"} & set(strategies(kernel))
    check(kernel, arrays(kernel, shapes), device)


@pytest.mark.parametrize(("read", "made", "rule", "window"), [
    ("f16", "f16", "nearest", "u in 0..7, v in 0..4"),
    ("f16", "f16", "wrap", "u in 0..9, v in -1..2"),
    ("bf16", "bf16", "reflect", "u in 0..6, v in 0..5"),
    ("u8", "u8", "mirror", "u in 0..7, v in 0..5"),
    ("u8", "i32", "constant(2)", "u in 0..9, v in -4..1"),
    ("f16", "f16", "nearest", "u in 0..7, v in 0..2, t in 0..2"),
])
def test_rows_of_several_lines_are_asked_for_ahead(read: str, made: str, rule: str, window: str, device: str) -> None:
    """A long walk whose row stands in several lines: neighbours along the slower axes too."""
    wide = "f32" if "f" in read else "i32"
    slowest = "z + t" if "t in" in window else "z"
    kernel = kernel_of(f"""
    kernel k(x: {read}[Z, A, B, C]) -> (y: {made}[Z, A, B, C]) {{
        edge x = {rule}
        let X[z, a, b, c] = {wide}(x[z, a, b, c])
        y[z, a, b, c] = {made}(sum({window}) X[{slowest}, a + v, b + u, c])
    }}""")
    assert strategies(kernel) == ["window"]
    ahead, = re.findall(r"((?:.*\n){4}) *prefetch\(", kernel.cuda)
    assert "x_at_a" in ahead                    # else this shows nothing: the row is one line, or not asked for ahead
    for shape in [(2, 5, 6, 7), (2, 5, 47, 270)]:
        check(kernel, arrays(kernel, [shape]), device)


@pytest.mark.parametrize("view", ["rows", "columns", "backwards", "turned", "broadcast", "shifted", "pairs"])
def test_strides(view: str, device: str) -> None:
    kernel = kernel_of(BLUR)
    base, w = arrays(kernel, [(42, 544), (3, 5)])
    x = {
        "rows": base[::2], "columns": base[:21, ::2], "backwards": base[20::-1, 269::-1],
        "turned": np.ascontiguousarray(base[:21, :270].T).T, "broadcast": np.broadcast_to(base[0, :270], (21, 270)),
        "shifted": base[:21, 1:271], "pairs": base[:21, 2:272],
    }[view]
    check(kernel, [x, w], device)
    given = np.full((42, 700), np.nan, np.float32)
    out = given[::2, 3:x.shape[1] + 3][:x.shape[0]]
    kernel(x, w, out=out, device=device)
    np.testing.assert_array_equal(out, kernel(x, w, device=device))


def test_indices_of_64_bits(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arguments, "NARROW", 0)
    kernel = kernel_of(BLUR)
    check(kernel, arrays(kernel, [(21, 270), (3, 5)]), device)
    assert "Index = i64" in kernel.caller().text(
        layoutc.calling.arguments.signature_of(kernel.meaning, [np.zeros((3, 3), np.float32)] * 3))[1].text


def test_nothing_is_walked_where_neighbours_share_nothing() -> None:
    kernel = kernel_of("kernel twice(x: f32[N]) -> (y: f32[N]) { y[i] = 2*x[i] }")
    assert strategies(kernel) == ["tile"]
    (one,) = kernel.plan.passes
    why = {r.strategy: r.why for r in one.rejected}
    assert why["window"] == "neighbouring outputs read nothing in common"
    assert default_signature(kernel.meaning).vectors == (4, 4)
