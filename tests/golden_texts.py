"""Every text that the examples give: one for each kernel and schedule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from layoutc.compiler import default_signature, plan_kernel, read_program
from layoutc.cuda_source import CudaSource
from layoutc.parse.reading import read_source
from layoutc.plan.nodes import Target

EXAMPLES = Path(__file__).parent.parent / "examples"
GOLDEN = Path(__file__).parent / "golden"


@dataclass(frozen=True, slots=True)
class GoldenText:
    """A text and the file that holds it."""

    path: Path
    cuda: CudaSource


@cache
def golden_texts(example: Path) -> list[GoldenText]:
    """The texts of one example under its schedules; without any, under the compiler's own."""
    program = read_program(read_source(str(example)))
    found = []
    for kernel in program.kernels:
        for schedule in kernel.schedules or (None,):
            _, cuda = plan_kernel(program, kernel, schedule, default_signature(kernel), Target())
            suffix = f".{schedule.name}" if schedule is not None and schedule.name else ""
            found.append(GoldenText(GOLDEN / f"{example.stem}.{cuda.entries[0].name}{suffix}.cu", cuda))
    return found


def examples() -> list[Path]:
    """The example files, in order."""
    return sorted(EXAMPLES.glob("*.layout"))
