"""What can be asked of a text, from the cheapest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from layoutc.compiler import default_signature, plan_kernel, read_program
from layoutc.cuda_source import CudaSource
from layoutc.diagnostics import LayoutcError
from layoutc.parse.formatter import format_text
from layoutc.parse.parser import parse
from layoutc.parse.printer import print_spec
from layoutc.plan.nodes import Signature, Target
from layoutc.resolve.program import Kernel
from layoutc.source import Source


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a text that has a meaning."""

    sources: tuple[CudaSource, ...] = ()            # each once
    refusals: tuple[LayoutcError, ...] = ()         # of schedules that cannot be honoured


Check = Callable[[str], Answer]
"""Raises LayoutcError for a text that is refused, and nothing else."""


def parse_only(text: str) -> Answer:
    """It parses."""
    parse(Source("<text>", text))
    return Answer()


def print_too(text: str) -> Answer:
    """It parses, prints and formats to the same tree."""
    spec = parse(Source("<text>", text))
    assert repr(parse(Source("<printed>", print_spec(spec)))) == repr(spec)
    formatted = format_text(Source("<text>", text))
    assert repr(parse(Source("<formatted>", formatted))) == repr(spec)
    assert format_text(Source("<formatted>", formatted)) == formatted
    return Answer()


def resolve_too(text: str) -> Answer:
    """It parses and has a meaning."""
    read_program(Source("<text>", text))
    return Answer()


def plan_too(text: str) -> Answer:
    """Every kernel becomes CUDA, or is refused, under every schedule, for plain tensors and for odd ones."""
    program = read_program(Source("<text>", text))
    sources: dict[CudaSource, None] = {}
    refusals = []
    for kernel in program.kernels:
        for schedule in dict.fromkeys((None, *kernel.schedules)):
            for signature in (default_signature(kernel), odd_signature(kernel)):
                try:
                    sources[plan_kernel(program, kernel, schedule, signature, Target())[1]] = None
                except LayoutcError as error:
                    refusals.append(error)
                    break
    return Answer(tuple(sources), tuple(refusals))


def odd_signature(kernel: Kernel) -> Signature:
    """Tensors of more than 2**31 bytes, each with a stride in its last axis and aligned to no more than an element."""
    count = len(kernel.inputs) + len(kernel.outputs)
    return Signature(True, (False,) * count, (1,) * count)


CHECKS: dict[str, Check] = {
    "parse": parse_only, "print": print_too, "resolve": resolve_too, "plan": plan_too, "compile": plan_too}
"""By name; what ``compile`` adds, the runner does for many texts at once."""
