"""What a call costs on the host: ``python benchmarks/launch.py`` prints a table; needs a GPU.

Microseconds of host time a call on arrays so small that the GPU waits for the host, against CuPy's RawKernel launched
with the same text's arguments; and the first call of a text compiled anew, and of one found in the cache, each in a
fresh process, layoutc and CuPy imported before the clock starts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import layoutc
from layoutc.backend.cuda import cuda_problem

TEXT = """
kernel blur(x: f32[H, W], w: f32[3, 3]) -> (y: f32[H, W]) {
    edge x = nearest
    y[i, j] = sum(u in 0..3, v in 0..3) w[u, v] * x[i + u - 1, j + v - 1]
}
"""
BARE = r"""
extern "C" __global__ void bare(const float* x, int x_stride, const float* w, int w_stride, float* y, int y_stride,
                                int H, int W) {
    if (threadIdx.x == 0) y[0] = x[0] + w[0];
}
"""
CALLS = 2000
FIRST = """
import time
import cupy, numpy, layoutc
x, w = cupy.ones((64, 64), cupy.float32), cupy.ones((3, 3), cupy.float32)
cupy.cuda.Device().synchronize()
begun = time.perf_counter()
blur = layoutc.compile({text!r}).blur
read = time.perf_counter()
blur(x, w)
cupy.cuda.Device().synchronize()
print(read - begun, time.perf_counter() - read)
"""


def microseconds(call: Callable[[], object]) -> float:
    """Of host time, the least of some rounds."""
    import cupy

    rounds = []
    for _ in range(7):
        cupy.cuda.Device().synchronize()
        begun = time.perf_counter()
        for _ in range(CALLS):
            call()
        rounds.append((time.perf_counter() - begun) / CALLS * 1e6)
        cupy.cuda.Device().synchronize()
    return min(rounds)


def first_result(cache: str) -> tuple[float, float]:
    """Seconds in a fresh process: to read the text, and of the first call."""
    found = subprocess.run([sys.executable, "-c", FIRST.format(text=TEXT)], check=True, capture_output=True, text=True,
                           env={**os.environ, "LAYOUTC_CACHE_DIR": cache})
    read, call = map(float, found.stdout.split())
    return read, call


@dataclass(frozen=True, slots=True)
class Costs:
    """Microseconds of host time a call; seconds in a fresh process."""

    with_out: float
    raw_kernel: float
    allocating: float
    read_anew: float
    first_anew: float
    read_cached: float
    first_cached: float

    def __str__(self) -> str:
        more = self.with_out - self.raw_kernel
        return "\n".join([
            f"a call with out=: {self.with_out:.1f} µs; CuPy's RawKernel: {self.raw_kernel:.1f} µs; "
            f"more by {more:.1f} µs",
            f"a call that allocates its output: {self.allocating:.1f} µs",
            f"fresh process, compiled anew: text read in {self.read_anew:.3f} s, first call {self.first_anew:.3f} s",
            f"fresh process, from the cache: text read in {self.read_cached:.3f} s, first call "
            f"{self.first_cached:.3f} s"])


def costs() -> Costs:
    """All of them, on the current GPU."""
    import cupy
    import numpy as np

    x, w, y = (cupy.ones(shape, np.float32) for shape in ((32, 32), (3, 3), (32, 32)))
    blur = layoutc.compile(TEXT).blur
    bare: Any = cupy.RawKernel(BARE, "bare")
    stride, extent = np.int32(32), np.int32(32)
    arguments = (x, stride, w, np.int32(3), y, stride, extent, extent)
    ours = microseconds(lambda: blur(x, w, out=y))
    theirs = microseconds(lambda: bare((1,), (256,), arguments))
    made = microseconds(lambda: blur(x, w))
    with tempfile.TemporaryDirectory() as cache:
        anew = first_result(cache)
        cached = min((first_result(cache) for _ in range(3)), key=lambda times: times[1])
    return Costs(ours, theirs, made, *anew, *cached)


def main() -> None:
    problem = cuda_problem()
    if problem:
        sys.exit(str(problem))
    print(costs())


if __name__ == "__main__":
    main()
