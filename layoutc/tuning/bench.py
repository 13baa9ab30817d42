"""How fast a kernel is on the GPU that is current, beside a copy of as many bytes that it takes turns with."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from layoutc.backend.cuda import cuda_problem
from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.module import Kernel
from layoutc.resolve.binding import check_call, tensor_shape
from layoutc.tuning.arrays import empty_outputs, random_inputs
from layoutc.tuning.timing import LAUNCHES, copy_of, emptied_cache, medians_in_turn

SMALLEST_COPY = 256 << 20   # bytes: what is less lies in the cache while it is written
LARGEST_COPY = 4 << 30      # what is more is no faster, and takes the room of the arrays


@dataclass(frozen=True, slots=True)
class Figure:
    """A kernel under one schedule, for arrays of some extents."""

    kernel: str
    schedule: str | None
    device: str
    extents: dict[str, int]
    steps: int
    milliseconds: float         # median of one call
    bytes: int                  # compulsory: each element of an input that is read, once; of an output, once; a step
    gigabytes_per_second: float
    copy_gigabytes_per_second: float
    of_copy: float              # the fraction


class Bench:
    """Arrays of one shape for a kernel, and the copy that it is compared with."""

    def __init__(
        self, kernel: Kernel, extents: Mapping[str, int], steps: int = 1, seed: int = 0,
        given: Mapping[str, Any] | None = None, launches: int = LAUNCHES,
    ) -> None:
        """Make the arrays; ``given`` are NumPy's for some inputs, by name; ``launches`` are timed for a figure.

        Raises MissingToolError without CuPy or a GPU; LayoutcError where the kernel refuses these extents or the
        arrays do not fit.
        """
        meaning = kernel.meaning
        self.kernel, self.extents, self.steps, self.launches = kernel, dict(extents), steps, launches
        self.bytes = compulsory_bytes(kernel, extents) * steps
        problem = cuda_problem()
        if problem:
            raise problem
        self.inputs, self.outputs = random_inputs(meaning, extents, seed, given or {}), empty_outputs(meaning, extents)
        self._before = emptied_cache()
        self._copied = min(max(self.bytes, SMALLEST_COPY), LARGEST_COPY)
        self._copy = copy_of(self._copied)

    def measure(self, kernel: Kernel | None = None, schedule: str | None = None) -> Figure:
        """The kernel, or the same one under other schedules, under a schedule of its own; None is the default one."""
        subject = kernel or self.kernel
        words: dict[str, Any] = {} if self.steps == 1 else {"steps": self.steps}

        def call() -> None:
            subject(*self.inputs, out=tuple(self.outputs), schedule=schedule, device="cuda", **words)

        milliseconds, copy = medians_in_turn((call, self._copy), self._before, self.launches)
        rate, copy_rate = self.bytes / milliseconds / 1e6, self._copied / copy / 1e6
        return Figure(subject.meaning.name, schedule, device_name(), self.extents, self.steps, milliseconds,
                      self.bytes, rate, copy_rate, rate / copy_rate)


def compulsory_bytes(kernel: Kernel, extents: Mapping[str, int]) -> int:
    """Bytes that a call cannot do without: each element that is read, once, and each that is written.

    Raises LayoutcError where a call with these extents would be refused, or where nothing is written.
    """
    meaning = kernel.meaning
    check_call(meaning, dict(extents))
    told = kernel.explain(extents)["traffic"]
    assert isinstance(told, dict)
    sizes = {t.name: prod(tensor_shape(t, extents)) * t.type.bytes for t in (*meaning.inputs, *meaning.outputs)}
    total = 0
    for name, size in sizes.items():
        unique = told[name]["unique_bytes"] if name in told else 0
        total += size if unique is None else int(unique)
    if not any(sizes[t.name] for t in meaning.outputs):
        raise LayoutcError([Diagnostic("nothing-to-time", f"`{meaning.name}` writes nothing for these extents",
                                       help="give extents above 0 in --shape")])
    return total


def device_name() -> str:
    """Of the GPU that is current."""
    cupy: Any = importlib.import_module("cupy")
    return str(cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode())
