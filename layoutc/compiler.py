"""The whole pipeline: a text is read, planned, printed and loaded.

program = read_program(source)              # parse, then resolve: what it means
plan, cuda = plan_kernel(program, …)        # make_plan, then render: what each thread does, and the text
module = load_module(cuda, device)          # the function
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from layoutc.cuda_source import CudaSource
from layoutc.parse.parser import parse
from layoutc.plan.nodes import Plan, Signature, Target
from layoutc.plan.planner import default_signature, make_plan
from layoutc.resolve.program import Kernel, Program, Schedule
from layoutc.resolve.resolver import resolve
from layoutc.source import Source

if TYPE_CHECKING:
    from layoutc.backend import Module

__all__ = ["Plan", "default_signature", "load_module", "plan_kernel", "read_program", "with_schedule"]


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
    """What each thread does, and the text; what prints it is imported here, so that checking stays quick.

    Raises:
        LayoutcError: the schedule asks for what cannot be done.
    """
    from layoutc.render import render

    plan = make_plan(program, kernel, schedule, signature, target)
    return plan, render(plan)


def load_module(cuda: CudaSource, device: str) -> Module:
    """The function, on ``cpu`` or ``cuda``; what runs a text is imported here, so that making one stays quick."""
    from layoutc.backend import load_cpu, load_cuda

    return load_cuda(cuda) if device == "cuda" else load_cpu(cuda)


def with_schedule(
    program: Program, kernel: Kernel, clauses: str, constants: Mapping[str, int] | None = None
) -> Schedule:
    """What clauses in braces would mean as a schedule of the kernel, under the constants set from outside.

    Raises:
        LayoutcError: they are wrong.
    """
    name = _unused_name(program.source.text)
    text = f"{program.source.text}\nschedule {kernel.name} as {name} {clauses}\n"
    whole = read_program(Source(program.source.name, text), constants)
    found = next(k for k in whole.kernels if k.name == kernel.name).schedule(name)
    assert found is not None
    return found


def _unused_name(text: str) -> str:
    """A name that does not occur in a text."""
    number = 0
    while f"generated_{number}" in text:
        number += 1
    return f"generated_{number}"
