"""Windows by the compiler's own choice: one pass over the data, what neighbours share held on the chip."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import ndimage as nd

from layoutc.module import compile, load

EXAMPLES = Path(__file__).parent.parent / "examples"


TILES = "schedule {name} {{ tile (i: 16, j: 64) }}"      # what is staged stays the compiler's choice


def held(facts: dict[str, Any], *places: str) -> set[str]:
    """What waits in shared memory or in registers."""
    return {i["name"] for i in facts["storage"]["items"] if i["where"] in (places or ("shared", "registers"))}


@pytest.mark.parametrize("reach", [1, 2, 8])
def test_a_separable_filter_takes_one_pass_unasked(reach: int, device: str) -> None:
    gaussian = load(EXAMPLES / "56_separable.layout", R=reach).gaussian
    assert held(gaussian.explain()) >= {"x", "g"}
    assert len(gaussian.plan.passes) == 1
    v, w = np.random.default_rng(0).standard_normal((2, 2 * reach + 1)).astype(np.float32)
    x = np.random.default_rng(1).standard_normal((37, 70)).astype(np.float32)
    wanted = nd.correlate1d(nd.correlate1d(x.astype(np.float64), v, 0), w, 1)
    np.testing.assert_allclose(gaussian(x, v, w, device=device), wanted, rtol=1e-4, atol=1e-4)


def test_a_separable_filter_computes_each_sum_about_once() -> None:
    """Of 9 by 9 taps the text holds two loops of 9: not one within the other."""
    example = (EXAMPLES / "56_separable.layout").read_text(encoding="utf-8")
    gaussian = compile(example + TILES.format(name="gaussian")).gaussian
    assert held(gaussian.explain(), "shared") == {"x", "g"}
    text = gaussian.cuda
    loops = [line for line in text.splitlines() if "< 9; ++" in line]
    depths = [len(line) - len(line.lstrip()) for line in loops]
    assert len(loops) == 2
    assert depths == [12, 12]


def test_several_outputs_read_the_image_once(device: str) -> None:
    gradient = load(EXAMPLES / "57_gradient.layout").gradient
    assert held(gradient.explain(), "shared") == {"x"}
    assert len(gradient.plan.passes) == 1
    x = np.random.default_rng(2).integers(0, 256, (33, 130), np.uint8)
    gx, gy, length = gradient(x, device=device)
    wide = x.astype(np.float64)
    np.testing.assert_array_equal(gx, nd.sobel(wide, 1, mode="nearest"))
    np.testing.assert_array_equal(gy, nd.sobel(wide, 0, mode="nearest"))
    np.testing.assert_allclose(length, np.hypot(gx.astype(np.float64), gy), rtol=1e-6)


@pytest.mark.parametrize("op", ["min", "max", "median"])
@pytest.mark.parametrize("rows", [3, 5])
def test_extremes_and_medians_read_one_tile(op: str, rows: int, device: str) -> None:
    window = compile(f"""
        const K = {rows}
        kernel window(x: i16[H, W]) -> (y: i16[H, W]) {{
            edge x = reflect
            y[i, j] = {op}(u in 0..K, v in 0..5) x[i + u - K//2, j + v - 2]
        }}""").window
    assert "x" in held(window.explain())
    x = np.random.default_rng(3).integers(-999, 999, (21, 77), np.int16)
    theirs = {"min": nd.minimum_filter, "max": nd.maximum_filter, "median": nd.median_filter}[op]
    np.testing.assert_array_equal(window(x, device=device), theirs(x, (rows, 5)))


def test_extremes_along_one_axis_and_then_the_other(device: str) -> None:
    dilate = compile("""
        kernel dilate(x: f32[H, W]) -> (y: f32[H, W]) {
            edge x = nearest
            let g[i, j] = max(u in -4..=4) x[i + u, j]
            y[i, j] = max(v in -4..=4) g[i, j + v]
        }""").dilate
    assert held(dilate.explain()) >= {"x", "g"}
    x = np.random.default_rng(4).standard_normal((40, 90)).astype(np.float32)
    np.testing.assert_array_equal(dilate(x, device=device), nd.maximum_filter(x, 9, mode="nearest"))


@pytest.mark.parametrize(
    ("let", "reach", "kept"),
    [
        ("exp(x[i, j])", 2, {"e"}),                                 # 25 times otherwise; x is read once for each
        ("f32(x[i, j]) + 1", 0, set()),                             # read where it stands
        ("x[i, j] - x[i, j + 1]", 0, set()),
        ("median(a in -1..=1, b in -1..=1) x[i + a, j + b]", 1, {"x", "e"}),
        ("sum(a in 0..9) x[i + a, j]", 4, {"x", "e"}),
    ],
)
def test_a_let_waits_where_that_takes_fewer_operations(let: str, reach: int, kept: set[str], device: str) -> None:
    module = compile(f"""
        const R = {reach}
        kernel k(x: f32[H, W]) -> (y: f32[H, W]) {{
            edge x = mirror
            let e[i, j] = {let}
            y[i, j] = sum(u in -R..=R, v in -R..=R) e[i + u, j + v]
        }}""" + TILES.format(name="k"))
    assert held(module.k.explain(), "shared") == kept
    x = np.random.default_rng(5).standard_normal((19, 66)).astype(np.float32)
    np.testing.assert_allclose(module.k(x, device=device), module.k.reference(x), rtol=1e-4, atol=1e-4)
