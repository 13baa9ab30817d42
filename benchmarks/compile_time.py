"""How long the compiler itself takes: ``python benchmarks/compile_time.py`` prints a table.

``check``: the whole process, from the shell; the other column: parse, resolve, plan and render in a warm process.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from layoutc.compiler import default_signature, plan_kernel, read_program
from layoutc.parse.reading import read_source
from layoutc.plan.nodes import Target

EXAMPLES = Path(__file__).parent.parent / "examples"
REPEATS = 5


def median_seconds(work: Callable[[], object]) -> float:
    """The median of some runs after one that does not count."""
    work()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def check(path: Path) -> None:
    subprocess.run([sys.executable, "-m", "layoutc", "check", str(path)], check=True, capture_output=True)


def pipeline(path: Path) -> None:
    program = read_program(read_source(str(path)))
    for kernel in program.kernels:
        for schedule in kernel.schedules or (None,):
            plan_kernel(program, kernel, schedule, default_signature(kernel), Target())


def main() -> None:
    print(f"{'example':32} {'bytes':>6} {'check, s':>9} {'parse + plan + render, ms':>26}")
    for path in sorted(EXAMPLES.glob("*.layout"), key=lambda p: p.stat().st_size):
        whole, inner = median_seconds(partial(check, path)), median_seconds(partial(pipeline, path))
        print(f"{path.name:32} {path.stat().st_size:6} {whole:9.3f} {1000 * inner:26.1f}")


if __name__ == "__main__":
    main()
