"""Planes that threads read through the first cache: every edge rule, type, stride and extent gives what NumPy gives."""

from __future__ import annotations

import re

import numpy as np
import pytest

from layoutc.module import Kernel
from layoutc.testing import assert_matches_numpy
from tests.test_planes import INNER, RULES, WAVE, arrays, box, kernel_of, star

CLAUSES = "march i  stage x in registers"


def near(text: str, clauses: str = CLAUSES) -> Kernel:
    kernel = kernel_of(text, clauses)
    made, = kernel.plan.passes
    assert not any(word in kernel.cuda for word in ("copy_async", "__syncthreads", "SHARED"))
    assert {s.where for s in made.storage} == {"registers"}
    return kernel


@pytest.mark.parametrize("rule", RULES)
def test_every_rule(rule: str, device: str) -> None:
    kernel = near(star(f"edge x = {rule}", r=1))
    for shape in ((5, 19, 133), (2, 1, 3), (44, 3, 5)):      # the last is longer than a block's walk
        assert_matches_numpy(kernel, *arrays(kernel, shape, (2,)), device=device)


@pytest.mark.parametrize("r", [2, 3, 4, 5])
def test_every_reach_to_the_sides(r: int, device: str) -> None:
    """One element beyond whole vectors comes alone, several come as a vector."""
    kernel = near(star("edge x = wrap", r=r))
    assert_matches_numpy(kernel, *arrays(kernel, (4, 10, 137), (r + 1,)), device=device)


@pytest.mark.parametrize("edges", [
    "edge x[0] = (wrap, constant(2))  edge x[1] = nearest  edge x[2] = (reflect, mirror)",
    "edge x[0] = (nearest, reflect)  edge x[1] = (constant(0), wrap)  edge x[2] = (wrap, constant(-1))"])
def test_sums_that_planes_lead_under_every_rule_beside_another(edges: str, device: str) -> None:
    kernel = near(box(edges), "")
    for shape in ((4, 18, 133), (1, 1, 1), (43, 2, 3)):
        assert_matches_numpy(kernel, *arrays(kernel, shape), device=device)


@pytest.mark.parametrize(("type", "reduction", "rule"), [
    ("f64", "sum", "mirror"), ("f16", "max", "constant(0)"), ("bf16", "sum", "wrap"), ("u8", "max", "constant(7)"),
    ("i64", "min", "constant(0)")])
def test_every_width(type: str, reduction: str, rule: str, device: str) -> None:
    kernel = near(box(f"edge x = {rule}", type, reduction))
    assert_matches_numpy(kernel, *arrays(kernel, (3, 17, 150)), device=device)
    assert_matches_numpy(kernel, *(a[::2, ::-1, 1:] for a in arrays(kernel, (5, 3, 130))), device=device)


def test_several_tensors_and_outputs(device: str) -> None:
    kernel = near(WAVE, "march i  stage u in registers")
    shape = (7, 18, 140)
    assert_matches_numpy(kernel, *arrays(kernel, shape, shape, shape[1:], ()), device=device)


@pytest.mark.parametrize("shape", [(2, 4, 20, 140), (1, 150, 3, 4)])
def test_without_a_rule_nothing_outside_is_read(shape: tuple[int, ...], device: str) -> None:
    kernel = near(INNER)
    assert_matches_numpy(kernel, *arrays(kernel, shape), device=device)


def test_columns_that_are_no_neighbours_in_memory(device: str) -> None:
    kernel = near(star("edge x = reflect"))
    x, w = arrays(kernel, (6, 20, 2 * 70), (3,))
    for view in (x[:3, :, ::-2], x.transpose(2, 0, 1)[:4], np.broadcast_to(x[:1], (3, *x.shape[1:]))):
        assert_matches_numpy(kernel, view, w, device=device)


def test_a_schedule_says_the_tile(device: str) -> None:
    kernel = near(star("edge x = mirror", r=1), f"tile (i: 3, j: 8, l: 64)  threads 128  {CLAUSES}")
    assert kernel.plan.passes[0].sizes == {"i": 3, "j": 8, "l": 64}
    assert_matches_numpy(kernel, *arrays(kernel, (8, 19, 70), (2,)), device=device)


def test_the_bits_are_those_of_planes_in_shared_memory() -> None:
    """The order of arithmetic is the language's, whichever way planes come."""
    text = star("edge x = nearest", r=2)
    x, w = arrays(near(text), (9, 21, 140), (3,))
    found = [kernel_of(text, f"march i  stage x in {where}")(x, w, device="cpu") for where in ("registers", "shared")]
    assert found[0].tobytes() == found[1].tobytes()


def test_what_is_read_little_goes_through_the_cache_what_is_read_much_does_not() -> None:
    for r, where in ((1, "registers"), (4, "shared")):
        made, = kernel_of(star("edge x = constant(0)", r=r), "").plan.passes
        assert {s.where for s in made.storage if s.tensor == "x"} == {where}


def test_warps_inside_fold_only_what_stands_beside_vectors() -> None:
    text = near(star("edge x = nearest", r=1), "").cuda
    straight = re.findall(r"if \(x_inside && \w+ >= 0 && \w+ < D\) \{(.*?)\} else \{", text, re.DOTALL)
    assert straight
    assert not any("nearest(i" in body or "nearest(j" in body for body in straight)
    assert any("nearest(l - 1, W)" in body for body in straight)


def test_where_one_value_stands_outside_only_lines_that_end_amid_a_vector_are_read_by_elements() -> None:
    text = star("edge x = constant(0)", r=1)
    whole, ragged = near(text, "").cuda.split("\n    } else {\n")
    assert "l + element" not in whole
    assert "l + element" in ragged
    assert "l + element" not in near(text.replace("[D, H, W]", "[8, 8, 640]"), "").cuda


def test_lines_of_a_view_that_end_amid_a_vector(device: str) -> None:
    kernel = near(star("edge x = constant(0)", r=1))
    x, w = arrays(kernel, (5, 19, 136), (2,))
    for columns in (133, 131, 130, 128, 5, 2):
        assert_matches_numpy(kernel, x[:, :, :columns], w, device=device)


@pytest.mark.parametrize(("type", "value"), [("f16", "0"), ("bf16", "0"), ("f16", "1.5")])
def test_lines_of_narrow_types_that_end_with_whole_vectors(type: str, value: str, device: str) -> None:
    kernel = near(star(f"edge x = constant({value})", type, r=1))
    assert ("load_or_zero<8>" in kernel.cuda) == (value == "0")
    for shape in ((5, 19, 136), (27, 2, 8), (2, 17, 264)):
        assert_matches_numpy(kernel, *arrays(kernel, shape, (2,)), device=device)


@pytest.mark.parametrize(("type", "lines", "width", "threads"), [
    ("f16", 16, 128, "threads 128"), ("f16", 16, 256, "threads 128"), ("f32", 16, 64, "threads 64"),
    ("f16", 16, 64, "threads 32"), ("f16", 6, 128, ""), ("f16", 5, 128, "")])
def test_a_block_has_lines_as_wide_as_the_schedule_says(
    type: str, lines: int, width: int, threads: str, device: str,
) -> None:
    """However many lanes and columns that takes."""
    kernel = near(star("edge x = nearest", type, r=1), f"tile (i: 3, j: {lines}, l: {width})  {threads}  {CLAUSES}")
    assert kernel.plan.passes[0].sizes == {"i": 3, "j": lines, "l": width}
    assert_matches_numpy(kernel, *arrays(kernel, (4, 19, 300), (2,)), device=device)
