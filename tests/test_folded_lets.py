"""Lets that fold at their edges: what they read is staged where folded places stay near, and refused where not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from layoutc import compile
from layoutc.compare import compare
from layoutc.diagnostics import LayoutcError

SCHEDULES = """
schedule k { tile (i: 4, j: 8)  stage x in shared }
schedule k as kept { tile (i: 4, j: 8)  stage x in shared  stage g in shared }
schedule k as held { tile (i: 4, j: 8)  threads 8  stage x in registers }
"""
ONE = """
kernel k(x: i32[H, W]) -> (y: i64[H, W]) {{
    edge x = constant(7)
    let g[i, j] = x[i, j] - 2*x[i + 1, j]
    edge g = {}
    y[i, j] = sum(u in -2..=1, v in 0..=3) (v + 1) * g[i + u, j + v]
}}"""
TWO = """
kernel k(x: i32[H, W]) -> (y: i32[H, W]) {
    edge x = wrap
    let f[i in 0..H, j in 0 - 3..W + 5] = x[i, j]
    edge f = mirror
    let g[i, j] = f[i - 2, j] + 3*f[i, j + 1]
    edge g = reflect
    y[i, j] = g[i - 1, j - 3] - g[i + 2, j]
}"""
SHAPES = ((9, 19), (4, 8), (1, 1), (1, 20), (3, 2), (0, 3))


def agrees(text: str, device: str) -> None:
    kernel = compile(text).k
    for shape in SHAPES:
        x = np.random.default_rng(1).integers(-99, 99, shape).astype(np.int32)
        for schedule in kernel.schedules:
            got = kernel(x, schedule=schedule, device=device)
            assert compare(kernel.meaning, [x], [got]) == [], (shape, schedule)


@pytest.mark.parametrize("rule", ["nearest", "reflect", "mirror", "(reflect, nearest)", "(constant(5), mirror)"])
def test_what_a_folded_let_reads_is_staged(rule: str, device: str) -> None:
    agrees(ONE.format(rule) + SCHEDULES, device)


def refused(text: str) -> None:
    with pytest.raises(LayoutcError, match="cannot-stage"):
        _ = compile(text).k.cuda


def test_folds_within_folds(device: str) -> None:
    agrees(TWO + SCHEDULES, device)


def test_a_fold_of_one_side_reaches_no_farther() -> None:
    """`nearest` stays between the index and its offset; what is mirrored may come back as far on the other side."""
    halos: Any = {rule: compile(ONE.format(rule) + SCHEDULES).k.explain()["halo"]["x"]
                  for rule in ("nearest", "reflect", "constant(0)")}
    assert halos == {
        "nearest": {"i": [2, 2], "j": [0, 3]}, "reflect": {"i": [2, 3], "j": [3, 3]},
        "constant(0)": {"i": [2, 2], "j": [0, 3]}}


@pytest.mark.parametrize("text", [
    ONE.format("wrap"),                                                         # to the other end
    ONE.format("nearest").replace("g[i + u, j + v]", "g[2*i + u, j + v]"),      # far from its index
    ONE.format("nearest").replace("let g[i, j]", "let g[i in 1..H, j in 0..W]"),    # an index outside the domain
], ids=["wrap", "scaled", "outside"])
def test_what_may_be_read_far_away_is_refused(text: str) -> None:
    refused(text + SCHEDULES)
