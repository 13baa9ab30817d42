"""Weights in lines of shared memory, and registers that edges do not take from the interior: NumPy's answers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from layoutc.backend.cuda import compile_ptx
from layoutc.compiler import default_signature
from layoutc.edges import EDGES
from layoutc.module import Kernel, compile
from layoutc.plan.nodes import Target
from layoutc.testing import assert_matches_numpy
from tests.test_window import arrays, check, kernel_of, strategies

RULES = ("constant(3)", "nearest", "reflect", "mirror", "wrap")


def box(rows: int, columns: int, edge: str, type: str = "f32") -> str:
    """A correlation whose weights are given at the call."""
    return f"""kernel k(x: {type}[H, W], w: {type}[{rows}, {columns}]) -> (y: {type}[H, W]) {{
    edge x = {edge}
    y[i, j] = sum(u in 0..{rows}, v in 0..{columns}) w[u, v] * x[i + u - {rows // 2}, j + v - {columns // 2}]
}}"""


def bound(text: str) -> int | None:
    """Blocks of a multiprocessor that a text's kernel makes room for."""
    found = re.search(r"^KERNEL\(\d+(?:, (\d+))?\)", text, re.M)
    assert found is not None
    return int(found[1]) if found[1] else None


@pytest.mark.parametrize(("rows", "columns", "type"), [
    (5, 15, "f32"), (15, 5, "f32"), (9, 8, "f64"), (8, 9, "f16"), (3, 23, "bf16"), (5, 13, "i32"), (3, 33, "i8")])
def test_lines_of_any_length_and_type(rows: int, columns: int, type: str, device: str) -> None:
    """The bits of one load a tap; what follows a line's last weight is in no sum."""
    rule = RULES[(rows + columns) % len(RULES)]
    value = "1" if type.startswith("i") else "0.5"
    text = box(rows, columns, rule.replace("3", value), type)
    if type == "i8":
        text = text.replace("(y: i8", "(y: i32").replace(" w[u, v] * x", " i32(w[u, v]) * x")
    kernel = kernel_of(text)
    assert strategies(kernel) == ["window"]
    assert "load_line" in kernel.cuda
    check(kernel, arrays(kernel, [(21, 270), (rows, columns)]), device)


@pytest.mark.parametrize("rule", RULES)
def test_lines_under_every_edge_rule(rule: str, device: str) -> None:
    kernel = compile(box(9, 9, rule)).k
    for shape in [(1, 1), (3, 2), (40, 530)]:
        assert_matches_numpy(kernel, *arrays(kernel, [shape, (9, 9)]), device=device)


@pytest.mark.parametrize(("text", "shape"), [
    ("""kernel k(x: f32[H, W], w: f32[A, B]) -> (y: f32[H, W]) {
        require A >= 12, B >= 11
        edge x = wrap
        y[i, j] = sum(u in 1..=9, v in 0..=8) w[u + 2, 10 - v] * x[i + u, j + v]
    }""", (12, 11)),
    ("""kernel k(x: f32[H, W], w: f32[9, 9]) -> (y: f32[H, W], z: f32[H, W]) {
        edge x = nearest
        y[i, j] = sum(u in 0..9, v in 0..9) w[u, v] * x[i + u - 4, j + v - 4] + w[0, 0]
        z[i, j] = sum(u in 0..9, v in 0..9) w[v, u] * x[i + u - 4, j + v - 4]
    }""", (9, 9)),
    ("""kernel k(x: f32[H, W], w: f32[7, 2, 7]) -> (y: f32[H, W]) {
        edge x = reflect
        y[i, j] = sum(u in 0..7, t in 0..2, v in 0..7) w[u, t, v] * x[i + u - 3, j + v + t - 3]
    }""", (7, 2, 7)),
    ("""kernel k(x: f32[H, W], w: f32[9, 9]) -> (y: f32[H, W]) {
        edge x = mirror
        y[i, j] = max(u in 0..9, v in 0..9) (w[u, v] * x[i + u - 4, j + v - 4])
    }""", (9, 9)),
], ids=["part of an array", "two sums", "three axes", "greatest product"])
def test_what_a_line_is_read_for(text: str, shape: tuple[int, ...], device: str) -> None:
    kernel = compile(text).k
    assert_matches_numpy(kernel, *arrays(kernel, [(25, 270), shape]), device=device)


def test_weights_of_any_strides(device: str) -> None:
    kernel = compile(box(9, 9, "mirror")).k
    x, w = arrays(kernel, [(20, 140), (18, 27)])
    for view in (w[::2, ::3], w[:9, :9].T, w[8::-1, 26:17:-1]):
        assert_matches_numpy(kernel, x, view, device=device)


@pytest.mark.parametrize(("size", "type"), [(3, "f32"), (5, "f32"), (5, "f64"), (3, "f16")])
def test_edges_take_no_blocks_from_the_interior(size: int, type: str) -> None:
    """Every rule whose fold divides is held to the same registers; NVRTC takes the bound without a word."""
    bounds = {rule: bound(compile(box(size, size, rule.replace("3", "0"), type)).k.cuda) for rule in RULES}
    dividing = {bounds[rule] for rule in RULES if EDGES[rule.split("(")[0]].divides}
    assert len(dividing) == 1
    least = dividing.pop()
    assert least is not None
    assert 4 <= least <= 8
    kernel = compile(box(size, size, "mirror", type)).k
    for arch in ("sm_75", "sm_90"):
        _, source = kernel.caller().text(default_signature(kernel.meaning), target=Target(arch=arch))
        assert compile_ptx(source, arch)[1].strip("\0 \n") == ""


@pytest.mark.parametrize(("size", "rule"), [(5, "mirror"), (5, "constant(3)"), (7, "wrap")])
def test_long_walks_of_narrow_types(size: int, rule: str, device: str) -> None:
    """Many rows a thread: their start, their end and whole warps inside."""
    kernel: Kernel = compile(box(size, size, rule, "f16")).k
    assert kernel.plan.passes[0].tile[0] > 32
    rng = np.random.default_rng(3)
    for shape in [(1, 9), (150, 531)]:
        values: list[Any] = [rng.uniform(0.0, 1.0, n).astype(np.float16) for n in (shape, (size, size))]
        assert_matches_numpy(kernel, values[0], values[1] / np.float16(size * size), device=device)
