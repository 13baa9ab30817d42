"""What is refused at a call or by the planner is shown in the file, and a schedule's error says what would mend it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from layoutc.diagnostics import LayoutcError
from layoutc.module import Module, compile

# ---- calls: slug, text, shapes of the inputs, what is underlined

CALLS: dict[str, tuple[str, str, tuple[tuple[int, ...], ...], str]] = {
    "rank": ("rank-mismatch", "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }", ((2, 2),), "x: f32[N]"),
    "agree": ("extent-mismatch", "kernel k(x: f32[N], z: f32[N]) -> (y: f32[N]) { y[i] = x[i] + z[i] }", ((2,), (3,)),
              "z: f32[N]"),
    "length": ("extent-mismatch", "kernel k(x: f32[N], z: f32[2*N]) -> (y: f32[N]) { y[i] = x[i] + z[i] }",
               ((2,), (3,)), "z: f32[2*N]"),
    "negative": ("extent-mismatch", "kernel k(x: f32[N]) -> (y: f32[N - 3]) { y[i] = x[i] }", ((2,),), "y: f32[N - 3]"),
    "memory": ("extent-mismatch", "kernel k(x: f32[N]) -> (y: f32[N, N * 2**45]) { y[i, j] = x[i] }", ((2,),),
               "y: f32[N, N * 2**45]"),
    "requirement": ("requirement", "kernel k(x: f32[N]) -> (y: f32[N]) { require N >= 4  y[i] = x[i] }", ((2,),),
                    "N >= 4"),
    "fold": ("empty-fold", "kernel k(x: f32[N], z: f32[M]) -> (y: f32[M]) { edge x = wrap  y[i] = x[i] + z[i] }",
             ((0,), (3,)), "x: f32[N]"),
    "nothing": ("empty-reduction", "kernel k(x: f32[H, W]) -> (y: f32[H]) { y[i] = 2 * max(j) x[i, j] }", ((3, 0),),
                "max(j) x[i, j]"),
    "subscript": ("subscript-overflow",
                  "kernel k(x: f32[N]) -> (y: f32[N]) { edge x = wrap  y[i] = x[i] + x[2**62 * i + 1] }", ((7,),),
                  "2**62 * i"),
    "range": ("subscript-overflow",
              "kernel k(x: f32[N]) -> (y: f32[N]) { edge x = wrap  y[i] = sum(u in 0..N*N*N*N*N) x[i + u] }",
              ((10**5,),), "N*N*N*N"),
}


def by_call(k: Any, shapes: tuple[tuple[int, ...], ...]) -> object:
    return k(*(np.zeros(shape, np.float32) for shape in shapes))


def by_reference(k: Any, shapes: tuple[tuple[int, ...], ...]) -> object:
    return k.reference(*(np.zeros(shape, np.float32) for shape in shapes))


@pytest.mark.parametrize("way", [by_call, by_reference])
@pytest.mark.parametrize("case", CALLS)
def test_a_call_that_is_refused_is_shown_in_the_file(case: str, way: Callable[..., object]) -> None:
    slug, text, shapes, underlined = CALLS[case]
    with pytest.raises(LayoutcError) as caught:
        way(compile(text, name="k.layout").k, shapes)
    (found,) = caught.value.diagnostics
    assert found.slug == slug
    assert found.source is not None
    assert found.span is not None
    assert text[found.span.start:found.span.end] == underlined
    assert "--> k.layout:1:" in str(caught.value)


@pytest.mark.parametrize("case", ["negative", "requirement", "nothing"])
def test_explain_shows_it_too(case: str) -> None:
    _, text, (shape, *_), underlined = CALLS[case]
    module = compile(text)
    names = module.k.meaning.extents
    with pytest.raises(LayoutcError) as caught:
        module.k.explain(dict(zip(names, shape, strict=True)))
    span = caught.value.diagnostics[0].span
    assert span is not None
    assert text[span.start:span.end] == underlined


# ---- schedules

KERNELS = """
const K = 5
kernel blur(x: f32[H, W], w: f32[K, K]) -> (y: f32[H, W]) {
    edge x = nearest
    y[i, j] = sum(u in 0..K, v in 0..K) w[u, v] * x[i + u - 2, j + v - 2]
}
kernel far(x: f64[H, W]) -> (y: f64[H, W]) { edge x = nearest  y[i, j] = x[i + 100, j] + x[i, j] }
kernel apart(x: f32[H, W]) -> (y: f32[H, W]) { edge x = nearest  y[i, j] = x[i + 3, j] + x[i + 2, j + 1] }
kernel picked(x: f32[N], at: i32[M]) -> (y: f32[M]) { edge x = wrap  y[i] = x[at[i]] }
kernel turned(x: f32[H, W]) -> (y: f32[W, H]) { y[i, j] = x[j, i] }
kernel heat(u: f64[H, W]) -> (v: f64[H, W]) {
    edge u = nearest
    v[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
    step u = v
}
kernel layer(x: f32[C, H, W], w: f32[M, C, 3, 3]) -> (y: f32[M, H, W]) {
    edge x = constant(0)
    y[m, i, j] = sum(c, u, v) w[m, c, u, v] * x[c, i + u - 1, j + v - 1]
}
"""

SCHEDULES = [
    "far { stage x in shared }",
    "far { threads 64  stage x in shared }",
    "far { tile (i: 16, j: 64)  stage x in shared }",
    "far { tile (i: 16, j: 64)  stage x in shared  budget shared 1 KiB }",
    "heat { fuse 64 }",
    "heat { tile (i: 2, j: 2)  fuse 64 }",
    "heat { tile (i: 2, j: 2)  threads over u  fuse 2 }",
    "blur { march i  tile (i: 64, j: 128)  stage x in shared  budget shared 64 }",
    "blur { threads over x }",
    "blur { threads over x  stage x in shared  tile (i: 32, j: 32) }",
    "blur { march i  threads over x }",
    "apart { threads over x  stage x in shared  tile (i: 4, j: 4) }",
    "picked { threads over x  stage x in shared }",
    "turned { threads over x  stage x in shared  tile (i: 4, j: 4) }",
    "picked { stage x in shared }",
    "layer { stage x in shared }",
    "layer { tile (m: 2, i: 4, j: 4)  stage x in shared double }",
    "layer { tile (m: 64, i: 64, j: 16, c: 4)  stage x in shared  stage w in shared }",
    "blur { stage w in shared double }",
    "blur { tile (i: 4, j: 4)  load x as striped(16, 1)  stage x in shared }",
    "blur { tile (i: 4, j: 4)  load x as striped(16, 4)  stage x in global }",
    "blur { march i  tile (i: 4, j: 32)  threads striped(8, 4) }",
    "blur { tile (i: 4, j: 4)  threads composition(swizzle(2, 0, 2), (16, 1):(1, 0)) }",
]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_schedule_that_cannot_be_honoured_is_told_which_clause_and_what_would_mend_it(schedule: str) -> None:
    text = f"{KERNELS}schedule {schedule}"
    module: Module = compile(text)
    with pytest.raises(LayoutcError) as caught:
        _ = module[schedule.split()[0]].plan
    for found in caught.value.diagnostics:
        assert found.help
        assert found.span is not None
        clause = text[found.span.start:found.span.end]
        assert clause
        assert not clause.startswith("schedule")
