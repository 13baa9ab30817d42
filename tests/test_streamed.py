"""Steps whose rows pass through registers: the bits of one step after the other."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from layoutc.backend.cuda import architectures, compile_ptx
from layoutc.compiler import default_signature
from layoutc.module import Kernel, compile
from tests.fused_texts import StreamedText
from tests.test_fuse import check, random, same_bits

SEEDS = (1, 4, 6, 9, 12, 13, 14, 18, 21, 24, 36, 54)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_kernels(seed: int, device: str) -> None:
    text = StreamedText(seed)
    kernel: Kernel = compile(text.text()).k
    assert kernel.plan.passes[0].strategy == "streamed"
    r = Random(seed)
    for _ in range(3):
        extents = {e: r.choice((1, 2, 3, 4, 7, 9)) for e in kernel.meaning.extents}
        extents[text.extents[-1]] = r.choice((1, 3, 17, 40, 70))
        for steps in (text.steps, 2 * text.steps + 1):
            check(kernel, random(kernel, extents, seed), steps, device)


HEAT = """
kernel heat(u: f32[H, W], c: f32[]) -> (v: f32[H, W]) {{
    edge u = {}
    v[i, j] = u[i, j] + c[] * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4*u[i, j])
    step u = v
}}
schedule heat as one {{ tile (i: 8, j: 32) }}
schedule heat as small {{ tile (i: 6, j: 58)  fuse 3 }}
schedule heat as shared {{ tile (i: 6, j: 32)  fuse 3  stage u in shared }}
schedule heat as free {{ fuse 5 }}
"""


@pytest.mark.parametrize("rule", ["constant(0)", "wrap"])
def test_floats_have_the_same_bits(rule: str, device: str) -> None:
    module = compile(HEAT.format(rule))
    u = np.random.default_rng(0).normal(size=(21, 100)).astype(np.float32)
    u[3, 5], u[20, 0], u[0, 99] = np.nan, np.inf, -0.0
    single = module.heat(u, 0.1, steps=7, schedule="one", device=device)
    for schedule in (None, "small", "shared", "free"):
        got = module.heat(u, 0.1, steps=7, schedule=schedule, device=device)
        same_bits(got, single)


def strategy(rule: str, schedule: str | None) -> str:
    kernel = compile(HEAT.format(rule)).heat
    caller = kernel.caller(schedule)
    plan, _ = caller.text(default_signature(kernel.meaning), max(caller.usual, 2))
    return str(plan.passes[0].strategy)


@pytest.mark.parametrize(("rule", "schedule", "wanted"), [
    ("constant(0)", None, "streamed"), ("wrap", "free", "streamed"), ("constant(0)", "small", "streamed"),
    ("constant(0)", "shared", "fused"), ("nearest", "free", "fused"), ("(wrap, constant(0))", "free", "fused"),
])
def test_the_cheapest_way_that_can_be_right_is_taken(rule: str, schedule: str | None, wanted: str) -> None:
    assert strategy(rule, schedule) == wanted


def test_without_a_schedule_one_step_is_a_launch_where_registers_do_not_help() -> None:
    assert compile(HEAT.format("nearest")).heat.caller().usual == 1
    assert compile(HEAT.format("wrap")).heat.caller("one").usual == 1
    assert compile(HEAT.format("wrap")).heat.caller().usual == 8


def test_nothing_is_shared_and_nobody_waits() -> None:
    plan = compile(HEAT.format("wrap").replace("as free", "")).heat
    assert plan.plan.passes[0].shared_bytes == 0
    assert "__syncthreads" not in plan.cuda
    assert "float u_rows[64];" in plan.cuda       # 5 steps of 3 rows of 4 columns, and a row on its way


def test_explain_counts_boxes_and_all_that_warps_make() -> None:
    facts = compile(HEAT.format("wrap").replace("as free", "")).heat.explain(H=192, W=448)
    width, tall = 4 * (128 - 16), 96        # whole lanes are lost at either side
    assert facts["tile"] == {"i": tall, "j": width}
    assert facts["fuse"]["evaluations"] == 5 * (tall + 5 * 3 + 1) * 4 * 128     # a step is 2 rows behind the one before
    assert facts["footprint"]["u"] == [tall + 10, width + 10]
    assert facts["traffic"]["u"]["unique_bytes"] == 192 * 448 * 4
    assert facts["traffic"]["u"]["loaded_bytes"] == 2 * (tall + 5) * 448 * 4


@pytest.mark.parametrize("body", ["u[i - 1, j] + u[i, j + 1]", "u[i, j + 1] * i32(i)", "u[i, j + 1] * i32(j)"])
@pytest.mark.parametrize("rule", ["constant(2)", "wrap"])
def test_nothing_superfluous_is_declared(rule: str, body: str) -> None:
    kernel = compile(f"""
        kernel k(u: i32[H, W]) -> (v: i32[H, W]) {{ edge u = {rule}  v[i, j] = {body}  step u = v }}
        schedule k {{ fuse 3 }}
    """).k
    _, said = compile_ptx(kernel.caller().text(default_signature(kernel.meaning))[1], architectures()[1])
    assert said.strip("\0\n ") == ""


# ---- three dimensions: warps take each other's rows


DEEP = """
kernel deep(u: f32[D, H, W], c: f32[]) -> (v: f32[D, H, W]) {{
    edge u = {}
    v[i, j, l] = {}
    step u = v
}}
schedule deep as one {{ tile (i: 4, j: 4, l: 32) }}
schedule deep as four {{ tile (i: 12, j: 12, l: 60)  threads 128  fuse 2 }}
schedule deep as lone {{ tile (i: 16, j: 12, l: 28)  threads 32  fuse 2 }}
schedule deep as many {{ tile (i: 16, j: 18, l: 58)  threads 192  fuse 3 }}
"""
STAR = """u[i, j, l] + c[] * (u[i-1, j, l] + u[i+1, j, l] + u[i, j-1, l] + u[i, j+1, l] + u[i, j, l-1]
        + u[i, j, l+1] - 6*u[i, j, l])"""
BENT = "max(u[i+1, j-1, l], u[i-1, j+1, l+1]) * u[i, j, l-1] / (abs(u[i, j+1, l]) + c[])"
UPWIND = "u[i, j+1, l] + c[] * (u[i, j-1, l-1] - u[i-1, j-1, l+1])"


@pytest.mark.parametrize("body", [STAR, BENT, UPWIND], ids=["star", "bent", "upwind"])
@pytest.mark.parametrize("rule", ["constant(0)", "wrap"])
def test_warps_take_the_rows_beside_them(rule: str, body: str, device: str) -> None:
    module = compile(DEEP.format(rule, body))
    u = np.random.default_rng(1).normal(size=(34, 28, 125)).astype(np.float32)       # a block lies inside
    u[3, 5, 7], u[20, 27, 0], u[0, 0, 99] = np.nan, np.inf, -0.0
    single = module.deep(u, 0.1, steps=5, schedule="one", device=device)
    for schedule, warps in (("four", 4), ("lone", 1), ("many", 6)):
        plan, _ = module.deep.caller(schedule).text(default_signature(module.deep.meaning))
        assert plan.passes[0].strategy == "streamed"
        assert plan.passes[0].threads == 32 * warps
        assert (plan.passes[0].shared_bytes > 0) == (warps > 1)
        same_bits(module.deep(u, 0.1, steps=5, schedule=schedule, device=device), single)


@pytest.mark.parametrize("reach", [2, 3, 4, 5, 6, 7])
@pytest.mark.parametrize("rule", ["constant(3)", "wrap"])
def test_rows_farther_than_the_next_warp(rule: str, reach: int, device: str) -> None:
    kernel = compile(f"""kernel k(x: i32[A, B, C]) -> (y: i32[A, B, C]) {{
        edge x = {rule}
        y[a, b, c] = x[a, b - {reach}, c] + 2*x[a, b + {reach}, c]
        step x = y
    }}
    schedule k as two {{ fuse 2 }}
    schedule k as told {{ tile (a: 4, b: 8, c: 28)  fuse 2 }}""").k
    for extents in ((1, 20, 1), (2, 67, 3)):
        arrays = random(kernel, dict(zip("ABC", extents, strict=True)), reach)
        for schedule in (None, "two", "told"):
            check(kernel, arrays, 3, device, schedule)


def test_a_budget_of_shared_memory_is_kept() -> None:
    tight = "schedule deep as tight { tile (i: 16, j: 12, l: 28)  fuse 2  budget shared 1 KiB }"
    deep = compile(DEEP.format("constant(0)", STAR) + tight).deep
    plan, _ = deep.caller("tight").text(default_signature(deep.meaning))
    assert plan.passes[0].strategy == "streamed"
    assert plan.passes[0].threads == 32
    assert plan.passes[0].shared_bytes == 0
