"""The costs of the parts of a redistribution, measured on the GPU that is current.

Source of the method: loops of one kind of instruction over a GPU that they fill (``templates/tune/costs.cu``), timed
by device events, the median of several launches; a barrier's cost is what two of them add to an exchange through
shared memory.
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

from layoutc.backend.cuda import CudaModule, cuda_problem, load_cuda
from layoutc.cuda_source import ArrayParam, CudaSource, Entry, ScalarParam
from layoutc.plan.moves.costs import Costs
from layoutc.templates_dir import templates_dir
from layoutc.tuning.timing import median_milliseconds

THREADS = 256
BLOCKS_A_MULTIPROCESSOR = 16        # two waves where all threads of a multiprocessor are taken
ROUNDS = 1024
SELECTS = SHUFFLES = 32             # of a thread, a round
WAVEFRONTS, BARRIERS = 8, 2         # of a warp, a round of an exchange
KERNELS = ("selects", "shuffles", "exchanges", "exchanges_of_warps", "exchanges_of_blocks")


def measure_costs() -> tuple[str, Costs]:
    """The architecture of the GPU and its costs. Raises MissingToolError without CuPy or a GPU."""
    problem = cuda_problem()
    if problem:
        raise problem
    cupy = importlib.import_module("cupy")
    device = cupy.cuda.Device()
    blocks = device.attributes["MultiProcessorCount"] * BLOCKS_A_MULTIPROCESSOR
    module = load_cuda(costs_source())
    out = cupy.arange(8 * THREADS, dtype=cupy.int32)
    times = {name: _picoseconds(module, name, blocks, out) for name in KERNELS}
    bare = times["exchanges"]
    return f"sm_{device.compute_capability}", Costs(
        select=times["selects"] / SELECTS,
        shuffle=times["shuffles"] / SHUFFLES,
        wavefront=bare / WAVEFRONTS,
        warp_barrier=max(times["exchanges_of_warps"] - bare, 0.0) / BARRIERS,
        block_barrier=max(times["exchanges_of_blocks"] - bare, 0.0) / BARRIERS)


def costs_source() -> CudaSource:
    """The kernels that are timed; they compile without a GPU."""
    text = (templates_dir() / "tune" / "costs.cu").read_text(encoding="utf-8")
    params = (ArrayParam("out", "i32", True), ScalarParam("rounds", "i32"))
    return CudaSource("costs.cu", text, tuple(Entry(name, THREADS, params) for name in KERNELS))


def _picoseconds(module: CudaModule, name: str, blocks: int, out: Any) -> float:
    """Of one round of one thread, over the whole GPU."""
    launch = partial(module.launch, name, blocks, (out, ROUNDS))
    return median_milliseconds(launch) * 1e9 / (blocks * THREADS * ROUNDS)
