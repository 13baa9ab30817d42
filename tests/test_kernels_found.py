"""What random kernels found once: the smallest text of each, with its answer by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from layoutc.backend.types import numpy_dtype
from layoutc.module import compile

FOUND: dict[str, tuple[str, list[Any], list[Any]]] = {
    "one thread is not a variable": (
        """
        kernel double_it(x: i32[N]) -> (y: i32[N]) { y[i] = 2*x[i] }
        schedule double_it { tile (i: 2)  threads (1, 2):(1, 1) }
        """,
        [[1, 2, 3]], [[2, 4, 6]],
    ),
    "one output of several threads": (
        """
        kernel pick(x: f32[N]) -> (s: f32[]) { edge x = nearest  s[] = x[1] }
        schedule pick { threads 33  stage x in shared }
        """,
        [[5, 6, 7]], [6],
    ),
    "names that the text has for itself": (
        """
        kernel item(thread: f32[block]) -> (element: f32[block]) { edge thread = wrap  element[at] = thread[at - 1] }
        schedule item { tile (at: 2)  stage thread in shared }
        """,
        [[1, 2, 3]], [[3, 1, 2]],
    ),
    "an index called thread": (
        """
        kernel main(x: f32[N]) -> (y: f32[N]) { edge x = constant(0)  y[thread] = x[thread + 1] }
        schedule main { tile (thread: 2)  stage x in shared }
        """,
        [[1, 2, 3]], [[2, 3, 0]],
    ),
    "a scalar in shared memory": (
        """
        kernel scale(x: f32[N], c: f32[]) -> (y: f32[N]) { y[i] = c[] * x[i] }
        schedule scale { tile (i: 2)  stage c in shared }
        """,
        [[1, 2, 3], 2], [[2, 4, 6]],
    ),
    "the median of one": (
        "kernel same(x: i8[N]) -> (y: i8[N]) { y[i] = median(u in 1..2) x[i] }",
        [[3, -1, 2]], [[3, -1, 2]],
    ),
    "subscripts from data wrap, through lets too": (
        """
        kernel far(x: f32[N], at: i64[N]) -> (y: f32[N]) {
            edge x = (constant(-1), constant(-2))
            let g[k] = x[2*k]
            y[i] = g[at[i]]
        }
        """,
        [[1, 2, 3, 4], [1, 2**62, 2**63 - 1, -2**62]], [[3, -1, -1, -1]],
    ),
    "a let whose box would fill shared memory": (
        """
        kernel wide(x: f32[H, W]) -> (y: f32[H, W]) {
            edge x = wrap
            let g[i, j] = sum(t in -1..=1) x[i, j + t]
            y[i, j] = sum(u in 0..200, v in 0..200) g[i + 9*u, j + 9*v]
        }
        """,
        [[[1, 2, 3]]], [[[240000, 240000, 240000]]],
    ),
    "a box of what no output reads": (
        """
        kernel pick(e: u8[D, d, S], f: f32[d]) -> (y: f32[S]) {
            edge e = wrap
            y[i] = sum(k in 1..d) f32(e[2, 1, i + 1]) + sum(m in 3..d) f[2]
        }
        schedule pick { tile (i: 4)  stage e in shared  stage f in shared }
        schedule pick as held { tile (i: 4)  stage e in registers  stage f in registers }
        """,
        [np.zeros((0, 1, 2)), [5]], [[0, 0]],
    ),
    "a box through a let that its edges guard": (
        """
        kernel far(s: i64[N], c: i16[M]) -> (y: i64[M]) {
            let g[k in 0..N, a in 0..M] = s[k]
            edge g = constant(7)
            y[i] = sum(j in -9..=8) g[j, i + 3]
        }
        schedule far { tile (i: 4)  stage s in shared }
        schedule far as kept { tile (i: 4)  stage s in shared  stage g in shared }
        """,
        [[1, 2, 3], [0, 0, 0, 0, 0]], [[111, 111, 126, 126, 126]],
    ),
    "a fold into nothing behind a let's edges": (
        """
        kernel far(s: i64[N], c: i16[M]) -> (y: i64[M]) {
            let g[k in 0..N] = s[k + 1]
            edge s = reflect
            edge g = constant(7)
            y[i] = g[2]
        }
        schedule far { tile (i: 4)  stage s in shared }
        """,
        [[], [0, 0]], [[7, 7]],
    ),
    "a kept let read over a range that holds something wherever there are outputs": (
        """
        kernel times(x: f32[N], w: f32[N, K]) -> (y: f32[N]) {
            require K >= 2
            let f[i] = 2*x[i]
            let g[i] = f[i] + sum(u in 0..N, v in 1..K) f[i]
            y[i] = sum(u in 0..N) g[i]
        }
        schedule times { tile (i: 2)  stage f in shared  stage g in shared  stage x in shared }
        """,
        [[1, 2, 3], [[0, 0], [0, 0], [0, 0]]], [[24, 48, 72]],
    ),
    "the same where there is no output": (
        """
        kernel times(x: f32[N]) -> (y: f32[N]) { let g[i] = 2*x[i]  y[i] = sum(u in 0..N) g[i] }
        schedule times { stage g in shared  stage x in shared }
        """,
        [[]], [[]],
    ),
    "staged in the pass that can": (
        """
        kernel k(x: i32[H, W]) -> (y: i32[H, W], t: i32[W, H], s: i32[H]) {
            edge x = nearest
            let g[i, j] = x[i, j - 1] + x[i, j + 1]
            y[i, j] = g[i, j]
            t[j, i] = x[H - 1 - i, j]
            s[i] = sum(k in 0..W) g[i, k]
        }
        schedule k { tile (i: 2, j: 4)  stage x in shared  stage g in shared }
        schedule k as loaded { tile (i: 4, j: 8)  threads 32  load x as striped(32, 3) }
        schedule k as held { tile (i: 2, j: 4)  stage x in registers }
        """,
        [[[1, 2, 4], [3, 5, 7]]], [[[3, 5, 6], [8, 10, 12]], [[3, 1], [5, 2], [7, 4]], [14, 30]],
    ),
    "reductions over nothing": (
        """
        kernel none(x: f32[N]) -> (y: f32[N]) {
            edge x = nearest
            y[i] = x[i] + sum(u in 2..2) x[i + 3*u] + sum(u in 2..2) x[i + 3*u]
        }
        schedule none { tile (i: 4)  stage x in shared }
        """,
        [[1, 2, 3]], [[1, 2, 3]],
    ),
    "a box of nothing": (
        """
        kernel none(x: f32[N]) -> (y: f32[N]) { edge x = nearest  y[i] = sum(u in 2..2) x[i + 3*u] }
        schedule none { tile (i: 4)  stage x in shared }
        schedule none as held { tile (i: 4)  stage x in registers }
        """,
        [[1, 2, 3]], [[0, 0, 0]],
    ),
    "a remainder does not grow with its dividend": (
        """
        kernel turn(x: i8[1, N]) -> (y: i64[2, N]) { edge x = constant(0)  y[i, j] = i64(x[(i + 5) % 3, j]) }
        schedule turn { tile (i: 16)  threads (16, 1):(1, 1) }
        """,
        [[[1, 2, 3]]], [[[0, 0, 0], [1, 2, 3]]],
    ),
    "places from data in a domain that begins elsewhere": (
        """
        kernel far(x: f32[N], at: i64[N]) -> (y: f32[N]) {
            let g[k in 1..N] = x[k]
            edge g = (constant(-1), constant(-2))
            y[i] = g[at[i]]
        }
        """,
        [[1, 2, 3, 4], [1, 0, 2**63 - 1, 3]], [[2, -1, -2, 4]],
    ),
    "a reduction that keeps its axis with an extent of 1": (
        "kernel squares(x: f32[A, B, C]) -> (s: f32[A, 1, C]) { s[a, one, c] = sum(b) x[a, b, c]**2 }",
        [[[[1, 2], [3, 4]]]], [[[[10, 20]]]],
    ),
    "a sum over an extent of what is staged in chunks": (
        """
        kernel total(x: f32[H, W]) -> (s: f32[H], at: i64[H]) {
            require W >= 1
            s[i] = sum(j) x[i, j]
            at[i] = argmax(j) x[i, j]
        }
        schedule total { tile (i: 2, j: 2)  stage x in shared }
        """,
        [[[1, 2, 4], [9, 8, 7], [0, 0, 1]]], [[7, 24, 1], [2, 0, 2]],
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_found(name: str, device: str) -> None:
    text, given, wanted = FOUND[name]
    module = compile(text)
    (kernel,) = (module[name] for name in module)
    tensors = zip(kernel.meaning.inputs, given, strict=True)
    arrays = [np.asarray(numbers, numpy_dtype(t.type.name)) for t, numbers in tensors]
    for schedule in kernel.schedules:
        got = kernel(*arrays, schedule=schedule, device=device)
        for output, want in zip(got if isinstance(got, tuple) else (got,), wanted, strict=True):
            assert output.tolist() == want
