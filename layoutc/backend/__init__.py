"""From a text to a function that runs: on this machine's processor, or on its GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from layoutc.backend.compilers import find_compiler
from layoutc.backend.cpu import CpuModule, Run, load_cpu
from layoutc.backend.cuda import CudaModule, cuda_problem, load_cuda
from layoutc.backend.errors import BuildError, KernelFault, MissingToolError
from layoutc.backend.guarded import Guarded, distinct, guarded

__all__ = [
    "BuildError",
    "CpuModule",
    "CudaModule",
    "Guarded",
    "KernelFault",
    "MissingToolError",
    "Module",
    "Run",
    "distinct",
    "guarded",
    "load_cpu",
    "load_cuda",
    "problem_with",
]


class Module(Protocol):
    """A compiled text."""

    def launch(self, entry: str, blocks: int, args: Sequence[object], *, stream: object = None) -> None:
        """Run an entry on ``blocks`` blocks.

        Arrays (NumPy's on the CPU, CuPy's on a GPU) pass the address of their element (0, 0, …), whatever their
        strides; constants are NumPy arrays; scalars are ints.
        """
        ...


def problem_with(device: str) -> MissingToolError | None:
    """Why kernels cannot run on ``cpu`` or ``cuda`` here, or None if they can."""
    if device == "cuda":
        return cuda_problem()
    try:
        find_compiler()
    except MissingToolError as error:
        return error
    return None
