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


def main() -> None:
    problem = cuda_problem()
    if problem:
        sys.exit(str(problem))
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
    print(f"a call with out=: {ours:.1f} µs; CuPy's RawKernel: {theirs:.1f} µs; more by {ours - theirs:.1f} µs")
    print(f"a call that allocates its output: {made:.1f} µs")
    with tempfile.TemporaryDirectory() as cache:
        for title, times in (("compiled anew", [first_result(cache)]),
                             ("from the cache", [first_result(cache) for _ in range(3)])):
            read, call = min(times, key=sum)
            print(f"fresh process, {title}: text read in {read:.3f} s, first call {call:.3f} s")


if __name__ == "__main__":
    main()
