"""What a user's own test asserts."""

from __future__ import annotations

from typing import Any

import numpy as np

from layoutc.backend import Run
from layoutc.backend.types import numpy_dtype
from layoutc.compare import compare
from layoutc.module import Kernel


def assert_matches_numpy(
    kernel: Kernel, *arrays: Any, schedule: str | None = None, device: str = "auto", seed: int = 0, steps: int = 1
) -> None:
    """Call a kernel and compare: bit for bit where the arithmetic is exact, else within stated bounds.

    Args:
        kernel: a kernel of a module.
        arrays: its inputs, in order: NumPy arrays of its element types, or numbers and lists for small ones.
        schedule: the name of a schedule; None is the default.
        device: ``auto``, ``cpu`` or ``cuda``.
        seed: draws the order of threads on the CPU.
        steps: of a kernel with ``step``, how often it is applied.

    Raises:
        AssertionError: an output differs; the message names elements, what they are and what they may be.
        LayoutcError: the call is refused, or the run on the CPU found a fault (a race, an access outside an array).
    """
    inputs = [
        a if isinstance(a, np.ndarray) else np.asarray(a, numpy_dtype(t.type.name))
        for t, a in zip(kernel.meaning.inputs, arrays, strict=True)]
    got = kernel(*inputs, schedule=schedule, device=device, run=Run(seed), steps=steps)
    wrong = compare(kernel.meaning, inputs, got if isinstance(got, tuple) else (got,), steps=steps)
    if wrong:
        lines = "\n".join(f"  {w}" for w in wrong)
        raise AssertionError(f"{kernel.meaning.name} differs from its NumPy meaning:\n{lines}")
