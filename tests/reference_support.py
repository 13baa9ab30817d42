"""A kernel's first output from its text, and arrays to feed it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.reference import evaluate
from tests.resolve_support import kernel

Array = NDArray[Any]

__all__ = ["Array", "f32", "kernel", "run"]


def run(text: str, *inputs: Array) -> Array:
    """The first output of a kernel."""
    return evaluate(kernel(text), inputs)[0]


def f32(*values: float) -> Array:
    """A row of f32."""
    return np.array(values, np.float32)
