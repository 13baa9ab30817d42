"""The whole pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from layoutc.cuda_source import CudaSource
from layoutc.parse.parser import parse
from layoutc.plan.nodes import Plan, Signature, Target
from layoutc.plan.planner import default_signature, make_plan
from layoutc.render import render
from layoutc.resolve.program import Kernel, Program, Schedule
from layoutc.resolve.resolver import resolve
from layoutc.source import Source

if TYPE_CHECKING:
    from layoutc.backend import Module

__all__ = ["Plan", "default_signature", "load_module", "plan_kernel", "read_program", "render"]


def read_program(source: Source, constants: Mapping[str, int] | None = None) -> Program:
    """What a text means.

    Raises:
        LayoutcError: the text is wrong; every independent error is in it.
    """
    spec = parse(source)                                    # what was written
    return resolve(spec, source, constants or {})           # what it means


def plan_kernel(
    program: Program, kernel: Kernel, schedule: Schedule | None, signature: Signature, target: Target
) -> tuple[Plan, CudaSource]:
    """What each thread does, and the text.

    Raises:
        LayoutcError: the schedule asks for what cannot be done.
    """
    plan = make_plan(program, kernel, schedule, signature, target)
    return plan, render(plan)


def load_module(cuda: CudaSource, device: str) -> Module:
    """The function, on ``cpu`` or ``cuda``; what runs a text is imported here, so that making one stays quick."""
    from layoutc.backend import load_cpu, load_cuda

    return load_cuda(cuda) if device == "cuda" else load_cpu(cuda)
