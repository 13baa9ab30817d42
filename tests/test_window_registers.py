"""Registers that edges do not take from the interior, and long walks of narrow types."""

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
    """Many rows a thread, where they are not aligned: their start, their end and whole warps inside."""
    kernel: Kernel = compile(box(size, size, rule, "f16")).k
    rng = np.random.default_rng(3)
    for shape in [(1, 9), (150, 531)]:
        values: list[Any] = [rng.uniform(0.0, 1.0, n).astype(np.float16) for n in (shape, (size, size))]
        assert_matches_numpy(kernel, values[0], values[1] / np.float16(size * size), device=device)
