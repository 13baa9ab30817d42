"""A person's kernel around a redistribution's header, and NVRTC as anyone calls it."""

from __future__ import annotations

import importlib

from layoutc.plan.emission.functions import ranks_of
from layoutc.plan.moves.by_rank import Ranked
from layoutc.plan.redistributions.redistribution import RedistributionPlan, header_of

HALF = "unsigned short"     # a type of 2 bytes, where a header leaves it open


def item_type(plan: RedistributionPlan) -> str:
    """The type of the header's items in C."""
    parameter = header_of(plan).functions[0].parameters[0]
    type = parameter.removeprefix("const ").split(" (&")[0]
    return HALF if type == "T" else type


def caller_of(plan: RedistributionPlan) -> str:
    """A kernel that calls the function twice in a row, on what threads hold of ``x``; ranks are ints."""
    type, name = item_type(plan), header_of(plan).functions[0].name
    before, after = plan.exchange.items_before, plan.exchange.items_after
    ranked = isinstance(plan.move, Ranked)
    ranks = ranks_of(plan.exchange, plan.move) if isinstance(plan.move, Ranked) else 0
    load = f"""    int rank[{ranks}];
    for (int i = 0; i < {ranks}; ++i) rank[i] = ranks[thread * {ranks} + i];
""" * ranked
    return f"""
extern "C" __global__ void {name}_caller(const {type}* x, {"const int* ranks, " * ranked}{type}* y) {{
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    {type} mine[{before}], got[{after}];
    for (int i = 0; i < {before}; ++i) mine[i] = x[thread * {before} + i];
{load}    {name}(mine, {"rank, " * ranked}got);
    {name}(mine, {"rank, " * ranked}got);
    for (int i = 0; i < {after}; ++i) y[thread * {after} + i] = got[i];
}}
"""


def compile_alone(text: str, arch: str) -> str:
    """What NVRTC says to a text by itself, with no options but the architecture. Raises where it refuses."""
    nvrtc = importlib.import_module("cupy_backends.cuda.libs.nvrtc")
    program = nvrtc.createProgram(text, "user.cu", (), ())
    try:
        nvrtc.compileProgram(program, [f"-arch={arch}"])
        return str(nvrtc.getProgramLog(program))
    except nvrtc.NVRTCError:
        raise AssertionError(nvrtc.getProgramLog(program)) from None
    finally:
        nvrtc.destroyProgram(program)
