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

SEEDS = (3, 4, 7, 8, 12, 15, 17, 18, 20, 21)


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
    assert compile(HEAT.format("wrap")).heat.caller().usual == 6


def test_nothing_is_shared_and_nobody_waits() -> None:
    plan = compile(HEAT.format("wrap").replace("as free", "")).heat
    assert plan.plan.passes[0].shared_bytes == 0
    assert "__syncthreads" not in plan.cuda
    assert "float u_rows[30];" in plan.cuda       # 5 steps of 3 rows of 2 columns


def test_explain_counts_boxes_and_all_that_warps_make() -> None:
    facts = compile(HEAT.format("wrap").replace("as free", "")).heat.explain(H=256, W=216)
    width, tall = 4 * (64 - 10), 128
    assert facts["tile"] == {"i": tall, "j": width}
    assert facts["fuse"]["evaluations"] == sum((tall + 2 * left) * 4 * 64 for left in range(5))
    assert facts["footprint"]["u"] == [tall + 10, width + 10]
    assert facts["traffic"]["u"]["unique_bytes"] == 256 * 216 * 4
    assert facts["traffic"]["u"]["loaded_bytes"] == 2 * (tall + 5) * 216 * 4


@pytest.mark.parametrize("body", ["u[i - 1, j] + u[i, j + 1]", "u[i, j + 1] * i32(i)", "u[i, j + 1] * i32(j)"])
@pytest.mark.parametrize("rule", ["constant(2)", "wrap"])
def test_nothing_superfluous_is_declared(rule: str, body: str) -> None:
    kernel = compile(f"""
        kernel k(u: i32[H, W]) -> (v: i32[H, W]) {{ edge u = {rule}  v[i, j] = {body}  step u = v }}
        schedule k {{ fuse 3 }}
    """).k
    _, said = compile_ptx(kernel.caller().text(default_signature(kernel.meaning))[1], architectures()[1])
    assert said.strip("\0\n ") == ""
