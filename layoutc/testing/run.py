"""One case run and compared with the NumPy meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.backend import MissingToolError, Run
from layoutc.compare import Mismatch, compare
from layoutc.diagnostics import LayoutcError
from layoutc.testing.cases import Arguments, Case, arguments_of
from layoutc.testing.memory import Placed
from layoutc.testing.ways import Way

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Failure:
    """A case in which a kernel is not what NumPy says."""

    way: Way
    case: Case
    what: str                               # one line
    mismatches: tuple[Mismatch, ...] = ()
    details: str = ""                       # a rendered diagnostic
    inputs: tuple[Array, ...] = ()


def run_case(way: Way, case: Case, device: str) -> Failure | None:
    """Run a case; None if all is well. ``device`` is auto, cpu or cuda.

    Raises MissingToolError where the device cannot be used.
    """
    made = arguments_of(way.kernel, case)
    inputs = tuple(p.view().copy() for p in made.inputs)
    around = [p.surroundings() for p in made.outputs or ()]
    try:
        got = _call(way, made, case, device)
    except MissingToolError:
        raise
    except LayoutcError as error:
        first = error.diagnostics[0]
        return Failure(way, case, f"{first.slug}: {first.message}", details=str(error), inputs=inputs)
    found = compare(way.kernel, inputs, got, steps=case.steps)
    if found:
        what = f"{way.kernel.name} differs from its NumPy meaning"
        return Failure(way, case, what, tuple(found), inputs=inputs)
    wrong = _touched(way, made, inputs, around, case)
    return Failure(way, case, wrong, inputs=inputs) if wrong else None


def _call(way: Way, made: Arguments, case: Case, device: str) -> list[Array]:
    if device == "cuda":
        return _call_on_gpu(way, made, case.steps)
    out = None if made.outputs is None else [p.view() for p in made.outputs]
    run = Run(case.seed, case.order)
    return list(way.caller([p.view() for p in made.inputs], out, None, device, run, case.steps))


def _call_on_gpu(way: Way, made: Arguments, steps: int) -> list[Array]:
    """The same memory on the GPU, brought back after the call."""
    import cupy

    buffers = {id(p.buffer): cupy.asarray(p.buffer.view(np.uint8)) for p in (*made.inputs, *(made.outputs or ()))}

    def sent(placed: Placed) -> Any:
        size = placed.buffer.itemsize
        pointer = buffers[id(placed.buffer)].data + placed.first * size
        return cupy.ndarray(placed.shape, placed.buffer.dtype, pointer, [s * size for s in placed.strides])

    out = None if made.outputs is None else [sent(p) for p in made.outputs]
    got = way.caller([sent(p) for p in made.inputs], out, None, "cuda", None, steps)
    for placed in (*made.inputs, *(made.outputs or ())):
        placed.buffer.view(np.uint8)[...] = cupy.asnumpy(buffers[id(placed.buffer)])
    return [cupy.asnumpy(g) for g in got]


def _touched(way: Way, made: Arguments, inputs: Sequence[Array], around: Sequence[bytes], case: Case) -> str:
    """What was written that is none of the outputs' elements."""
    kernel = way.kernel
    for tensor, placed, before in zip(kernel.inputs, made.inputs, inputs, strict=True):
        if tensor.name != case.out.over and placed.view().tobytes() != before.tobytes():
            return f"the input {tensor.name} was changed"
    if case.out.over is not None:
        return ""
    for tensor, placed, bytes in zip(kernel.outputs, made.outputs or (), around, strict=False):
        if placed.surroundings() != bytes:
            return f"something was written beside the elements of {tensor.name}"
    return ""


def arrays_text(failure: Failure, most: int = 64) -> list[str]:
    """One line an input: its elements where they are few, else how they were made."""
    out = []
    for tensor, array, fill in zip(failure.way.kernel.inputs, failure.inputs, failure.case.fills, strict=True):
        if array.size <= most:
            text = np.array2string(array.astype(np.float64) if tensor.type.is_float else array, separator=", ",
                                   threshold=most + 1, max_line_width=10**6).replace("\n", "")
        else:
            text = f"filled by {fill}"
        out.append(f"{tensor.name}: {tensor.type}{list(array.shape)} = {text}")
    return out
