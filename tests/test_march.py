"""Marches and turned blocks: what a schedule or the compiler walks gives NumPy's answers, or is refused by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from layoutc.backend.types import numpy_dtype
from layoutc.diagnostics import LayoutcError
from layoutc.module import Kernel, compile
from layoutc.testing import assert_matches_numpy

BLUR = """
kernel blur(x: f32[H, W], w: f32[3, 3]) -> (y: f32[H, W]) {
    edge x = mirror
    y[i, j] = sum(u in 0..3, v in 0..3) w[u, v] * x[i + u - 1, j + v - 1]
}
"""
CUBE = """
kernel cube(x: f64[D, H, W], w: f64[3, 3, 3]) -> (y: f64[D, H, W]) {
    edge x = reflect
    y[i, j, k] = sum(a in 0..3, b in 0..3, c in 0..3) w[a, b, c] * x[i + a - 1, j + b - 1, k + c - 1]
}
"""
POOL = """
kernel pool(x: f32[N, C, D, H, W]) -> (y: f32[N, C, D - 1, H - 1, W - 1]) {
    require D >= 1, H >= 1, W >= 1
    y[n, c, i, j, l] = max(a in 0..2, b in 0..2, d in 0..2) x[n, c, i + a, j + b, l + d]
}
"""
LINE = "kernel line(x: i16[N]) -> (y: i32[N]) { edge x = wrap  y[i] = i32(x[i - 1]) + i32(x[i]) * i32(x[i + 2]) }"

MARCHES: list[tuple[str, str, list[Any]]] = [
    (BLUR, "tile (i: 64, j: 128)  march i  stage x in registers  unroll v", [(70, 300), (3, 3)]),
    (BLUR, "tile (i: 24, j: 128)  march i  stage x in shared", [(70, 300), (3, 3)]),
    (BLUR, "tile (i: 24, j: 128)  march i  stage x in shared", [(70, 301), (3, 3)]),
    (BLUR, "tile (i: 32, j: 64)  march j", [(70, 90), (3, 3)]),
    (BLUR, "march i  vector 2", [(40, 70), (3, 3)]),
    (BLUR, "tile (i: 16, j: 128)  march i  threads (32, 4):(4, 1)", [(40, 270), (3, 3)]),
    (BLUR, "tile (i: 16, j: 64)  march i  threads 64", [(40, 130), (3, 3)]),
    (CUBE, "tile (i: 12, j: 4, k: 64)  march i  stage x in shared", [(20, 9, 130), (3, 3, 3)]),
    (CUBE, "tile (i: 2, j: 8, k: 64)  march j", [(5, 20, 130), (3, 3, 3)]),
    (BLUR, "tile (i: 4, j: 4)  march i", [(13, 9), (3, 3)]),         # a block of one thread
    (BLUR, "tile (i: 64)  march i", [(70, 5), (3, 3)]),
    (BLUR, "tile (i: 4, j: 32)  march j", [(9, 70), (3, 3)]),
    (POOL, "", [(2, 3, 9, 11, 70)]),
    (LINE, "march i", [(5000,)]),
    (LINE, "tile (i: 64)  march i  threads 4", [(131,)]),
]


def arrays(kernel: Kernel, shapes: list[Any]) -> list[Any]:
    rng = np.random.default_rng(0)
    return [np.asarray(rng.standard_normal(shape) * 9).astype(numpy_dtype(t.type.name))
            for t, shape in zip(kernel.meaning.inputs, shapes, strict=True)]


def kernel_of(text: str, clauses: str = "") -> Kernel:
    name = text.split("kernel ")[1].split("(")[0]
    found = compile(f"{text}\nschedule {name} {{ {clauses} }}" if clauses else text)[name]
    assert isinstance(found, Kernel)
    return found


@pytest.mark.parametrize(("text", "clauses", "shapes"), MARCHES, ids=[f"{c}, {s[0]}" for _, c, s in MARCHES])
def test_a_march_gives_what_numpy_gives(text: str, clauses: str, shapes: list[Any], device: str) -> None:
    kernel = kernel_of(text, clauses)
    assert kernel.plan.passes[0].strategy in ("window", "planes", "ringed")
    tile = {k.strip(): int(v) for k, v in (p.split(":") for p in clauses.split("(")[1].split(")")[0].split(","))} if (
        clauses.startswith("tile")) else {}
    assert tile.items() <= kernel.plan.passes[0].sizes.items()
    assert_matches_numpy(kernel, *arrays(kernel, shapes), device=device)
    assert_matches_numpy(kernel, *arrays(kernel, [(1,) * len(shapes[0]), *shapes[1:]]), device=device)


@pytest.mark.parametrize(("clauses", "slug"), [
    ("march u", "unknown-name"), ("march i  march i", "duplicate-clause"),
    ("tile (i: 8, j: 128)  march i  threads 100", "threads-layout"),
    ("tile (i: 8, j: 128)  march i  threads (32, 4):(1, 32)", "threads-layout"),
    ("tile (i: 8, j: 128)  march i  stage w in global", "cannot-stage"),
    ("tile (i: 8, j: 128)  march i  stage x in shared  budget shared 64", "over-budget"),
    ("march i  threads over x", "threads-over"),
    ("march i  load x as striped(128, 4)  threads 128", "bad-access"),
])
def test_a_march_that_cannot_be_is_refused(clauses: str, slug: str) -> None:
    with pytest.raises(LayoutcError) as error:
        kernel_of(BLUR, clauses).plan  # noqa: B018
    assert [d.slug for d in error.value.diagnostics] == [slug]
    assert all(d.span is not None for d in error.value.diagnostics)


TURNED: dict[str, tuple[str, list[Any]]] = {
    "transpose": ("kernel k(x: f32[W, H]) -> (y: f32[H, W]) { y[i, j] = x[j, i] }", [(70, 150)]),
    "transpose, ragged": ("kernel k(x: f32[W, H]) -> (y: f32[H, W]) { y[i, j] = x[j, i] }", [(71, 67)]),
    "transpose of bytes": ("kernel k(x: u8[W, H]) -> (y: u8[H, W]) { y[i, j] = x[j, i] }", [(140, 150)]),
    "three records": ("kernel k(x: f32[N, 3]) -> (y: f32[3, N]) { y[c, i] = x[i, c] }", [(1100, 3)]),
    "eight records": ("kernel k(x: f64[N, 8]) -> (y: f64[8, N]) { y[c, i] = x[i, c] }", [(600, 8)]),
    "planes": ("kernel k(x: f16[B, A, C]) -> (y: f16[A, C, B]) { y[i, j, k] = x[k, i, j] }", [(70, 3, 90)]),
    "added to what lies straight": (
        "kernel k(x: f32[W, H], z: f32[H, W]) -> (y: f32[H, W]) { y[i, j] = x[j, i] - z[i, j] }",
        [(70, 150), (150, 70)]),
}


@pytest.mark.parametrize("form", TURNED)
def test_what_lies_across_is_turned(form: str, device: str) -> None:
    text, shapes = TURNED[form]
    kernel = kernel_of(text)
    assert [one.strategy for one in kernel.plan.passes] == ["turned"]
    values = arrays(kernel, shapes)
    assert_matches_numpy(kernel, *values, device=device)
    assert_matches_numpy(kernel, *(a[::-1] for a in values), device=device)
