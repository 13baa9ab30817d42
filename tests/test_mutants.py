"""Every planted fault is found by a test of the default size, and nothing is found where none is planted."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

import pytest

from layoutc.calling.calls import Caller
from layoutc.cuda_source import CudaSource
from layoutc.module import Kernel, compile
from layoutc.plan.nodes import Plan, Signature, Target
from layoutc.resolve.program import Kernel as Meaning
from layoutc.resolve.program import Program, Schedule
from layoutc.testing import check_kernel
from tests.mutants import KERNELS, MUTANTS, Mutant

SEED = 2


@cache
def kernel_of(name: str) -> Kernel:
    kernel: Kernel = compile(KERNELS[name])[name]
    return kernel


@dataclass(slots=True)
class FaultyCaller(Caller):
    """A kernel whose text is changed before it is compiled."""

    mutant: Mutant | None = None

    def text(
        self, signature: Signature, fused: int | None = None, target: Target | None = None
    ) -> tuple[Plan, CudaSource]:
        plan, cuda = Caller.text(self, signature, fused, target)
        assert self.mutant is not None
        return plan, replace(cuda, text=planted(cuda.text, self.mutant))


def planted(text: str, mutant: Mutant) -> str:
    """The text with the fault wherever whole words say what it changes; ``item_v + 1`` does not say ``v + 1``."""
    return re.sub(rf"(?<!\w){re.escape(mutant.old)}", lambda _: mutant.new, text)


@pytest.mark.parametrize("name", KERNELS)
def test_nothing_is_found_without_a_fault(name: str, device: str) -> None:
    report = check_kernel(kernel_of(name), seed=SEED, device=device, examples=60)
    assert report.ok, report.text()
    assert report.examples == 60


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.kernel}: {m.name}")
def test_fault_is_found(mutant: Mutant) -> None:
    kernel = kernel_of(mutant.kernel)
    assert planted(kernel.cuda, mutant) != kernel.cuda, "the fault is planted nowhere"

    def faulty(program: Program, meaning: Meaning, schedule: Schedule | None, target: Target) -> FaultyCaller:
        return FaultyCaller(program, meaning, schedule, target, mutant)

    report = check_kernel(kernel, seed=SEED, device="cpu", shrink=False, callers=faulty)
    assert report.failure is not None
    assert not report.failure.what.startswith("does-not-compile"), report.text()
