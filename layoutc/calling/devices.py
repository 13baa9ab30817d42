"""Where a call runs: on the GPU, in a stream, or on this machine's processor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import index
from typing import Any

import numpy as np

from layoutc.backend import Run, distinct, problem_with
from layoutc.calling.arguments import Array, is_on_gpu, refuse


def choose_device(device: str, arrays: Sequence[object]) -> str:
    """``auto``: where the arrays are; NumPy's go to the GPU where there is a usable one.

    Raises MissingToolError where the device cannot be used.
    """
    on_gpu = any(is_on_gpu(a) for a in arrays)
    if device == "auto":
        device = "cuda" if on_gpu or gpu_is_usable() else "cpu"
    elif device == "cpu" and on_gpu:
        raise refuse("argument-device", "an array on a GPU was given to a run on the CPU", "use device='cuda'")
    problem = problem_with(device)
    if problem is not None:
        raise problem
    return device


@cache
def gpu_is_usable() -> bool:
    """Whether ``auto`` means the GPU."""
    return problem_with("cuda") is None


def to_gpu(array: np.ndarray[Any, Any]) -> Array:
    """A copy on the GPU; strides of 0 stay."""
    import cupy

    return cupy.broadcast_to(cupy.asarray(distinct(array)), array.shape)


def check_launch(stream: object, run: object) -> None:
    """A wrong word is wrong on every device, also where it is of no effect."""
    known = stream is None or any(hasattr(stream, name) for name in ("__cuda_stream__", "cuda_stream", "ptr"))
    if not known and not _is_address(stream):
        raise refuse("bad-stream", f"no CUDA stream is {stream!r:.40}",
                     "pass a stream of CuPy or PyTorch, its address, or nothing for the current one")
    if run is not None and not isinstance(run, Run):
        raise refuse("bad-run", f"how the CPU runs threads is said by a Run, not by {run!r:.40}",
                     "leave it out, or pass layoutc.backend.Run(…)")


def _is_address(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and index(value) >= 0
    except TypeError:
        return False


def stream_of(stream: object) -> Any:
    """A CuPy stream to work in; None is the current one."""
    import cupy

    from layoutc.backend.cuda import as_stream

    return cupy.cuda.get_current_stream() if stream is None else as_stream(stream)
