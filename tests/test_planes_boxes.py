"""Planes that come as boxes by the copy engine: where they may, what is asked for, and that NumPy gives the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from layoutc.compiler import plan_kernel, read_program
from layoutc.module import Kernel
from layoutc.plan.nodes import Target
from layoutc.plan.planes import told
from layoutc.plan.planes.shape import Knobs
from layoutc.plan.planner import default_signature
from layoutc.source import Source
from layoutc.testing import assert_matches_numpy
from tests.test_planes import WAVE, arrays, box, kernel_of, star

SHARED = "march i  stage x in shared"
BOXED: dict[str, Any] = {"columns": 4, "lines": 2, "warps": 2, "planes": 7, "ahead": 3, "resident": 0, "boxes": True}


def chosen(monkeypatch: pytest.MonkeyPatch, text: str, clauses: str = SHARED, **sizes: Any) -> Kernel:
    """The kernel as it is where these sizes are the compiler's choice; by copies where no engine knows the array."""
    knobs = Knobs(**BOXED | sizes)
    monkeypatch.setattr(told, "chosen_ways", lambda work: (knobs, replace(knobs, boxes=False)))
    kernel = kernel_of(text, clauses)
    assert "copy_box" in kernel.cuda
    assert "copy_async" not in kernel.cuda
    return kernel


@pytest.mark.parametrize(("sizes", "type", "r"), [
    ({}, "f32", 4), ({"columns": 2, "warps": 3}, "f64", 2), ({"columns": 4, "turns": 3}, "i32", 3),
    ({"pace": 2, "ahead": 4, "turns": 2}, "f32", 2), ({"ahead": 6}, "f32", 1)])
def test_every_size(
    sizes: dict[str, Any], type: str, r: int, monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    """Among them walks that end before as many planes have been asked for as may be on their way."""
    kernel = chosen(monkeypatch, star("edge x = constant(0)", type, r), **sizes)
    for shape in ((9, 11, 136), (1, 3, 8), (20, 2, 264)):
        assert_matches_numpy(kernel, *arrays(kernel, shape, (r + 1,)), device=device)


def test_sums_that_planes_lead(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    kernel = chosen(monkeypatch, box("edge x = constant(0)"), lines=4)
    for shape in ((16, 9, 136), (1, 1, 4)):
        assert_matches_numpy(kernel, *arrays(kernel, shape), device=device)


def test_planes_of_a_view(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    """Lines apart in memory, and lines that end amid a vector."""
    kernel = chosen(monkeypatch, star("edge x = constant(0)", r=2))
    x, w = arrays(kernel, (18, 14, 144), (3,))
    for view in (x[::2, 1:, 4:], x[:, ::3, :139], x[3:4]):
        assert_matches_numpy(kernel, view, w, device=device)


def test_several_tensors_and_outputs(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    kernel = chosen(monkeypatch, WAVE.replace("nearest", "constant(0)"), "march i  stage u in shared")
    shape = (9, 18, 140)
    assert_matches_numpy(kernel, *arrays(kernel, shape, shape, shape[1:], ()), device=device)


def test_where_boxes_cannot_come_threads_copy_and_the_bits_are_the_same() -> None:
    """What is no whole vector, folds, holds something else outside, or is planned for an older GPU."""
    text = star("edge x = constant(0)", r=4)
    kernel = kernel_of(text, "")
    assert "copy_box" in kernel.cuda
    x, w = arrays(kernel, (9, 20, 133), (5,))
    padded = np.zeros((9, 20, 136), x.dtype)
    padded[..., :133] = x
    assert np.array_equal(kernel(x, w, device="cpu"), kernel(padded[..., :133], w, device="cpu"))
    for edges in ("edge x = nearest", "edge x = constant(1)"):
        assert "copy_async" in kernel_of(star(edges, r=4), "").cuda
    meaning, signature = kernel.meaning, default_signature(kernel.meaning)
    for target, known in ((Target(arch="sm_80"), signature), (Target(), replace(signature, boxes=()))):
        made, = plan_kernel(read_program(Source("star.layout", text)), meaning, None, known, target)[0].passes
        assert made.dynamic_bytes
