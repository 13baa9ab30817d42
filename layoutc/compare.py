"""Whether a run of a kernel gave what it may give: bit for bit where arithmetic is exact, else within bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.reference.bounded import Bounded
from layoutc.reference.enclosure import Enclosure, between
from layoutc.reference.evaluate import bind_call, values_after
from layoutc.reference.numbers import load, store, stored_dtype
from layoutc.resolve.program import Const, Kernel, Read, Tensor, Value, Where
from layoutc.resolve.types import Type

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Expected:
    """What one output may hold: at each point a number from ``low`` to ``high``, both included, or NaN.

    The arrays have the output's shape; f16 and bf16 are given in f32. NaN in both ends: only NaN is right.
    """

    output: str
    type: Type
    low: Array
    high: Array
    nan: NDArray[np.bool_]      # where NaN is right too
    moved: bool                 # copied without arithmetic: the sign of a zero counts


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One element that no conforming run gives."""

    output: str
    index: tuple[int, ...]
    got: Any
    low: Any
    high: Any
    nan: bool

    @property
    def expected(self) -> Any:
        """The only right value, or the middle of those that are."""
        return self.low if self._single else float(self.low) / 2 + float(self.high) / 2

    @property
    def allowed(self) -> float:
        """How far from ``expected`` a right value may be; 0 where it must agree bit for bit."""
        return 0.0 if self._single else float(self.high) / 2 - float(self.low) / 2

    @property
    def _single(self) -> bool:
        return bool(self.low == self.high or self.low != self.low)

    def __str__(self) -> str:
        place = f"{self.output}[{', '.join(map(str, self.index))}]"
        if self._single:
            right = f"{self.low}"
        elif isfinite(self.allowed):
            right = f"{self.expected} ± {self.allowed:.3g}"
        else:
            right = f"{self.low} to {self.high}"
        also = " or nan" if self.nan and self.low == self.low else ""
        return f"{place} is {self.got}, expected {right}{also}"


def expected(
    kernel: Kernel, inputs: Sequence[Array], *, fused: bool = True, steps: int = 1
) -> tuple[Expected, ...]:
    """What each output of a call may hold, from the same evaluation as ``evaluate`` with enclosures for numbers.

    ``fused``: products of sums over constant ranges are accumulated by fma, as generated code does;
    without, they are multiplied, rounded and added, as NumPy does. Raises LayoutcError as ``evaluate`` does.
    """
    extents = bind_call(kernel, inputs)
    with np.errstate(all="ignore"):
        enclosures = values_after(kernel, extents, inputs, Bounded(fused), steps)
        moved = {e.output: _moves(e.value, kernel) for e in kernel.equations}
        stepped = all(moved[output] for _, output in kernel.steps)
        return tuple(
            _expected(tensor, enclosure, steps == 0 or (moved[tensor.name] and (steps == 1 or stepped)))
            for tensor, enclosure in zip(kernel.outputs, enclosures, strict=True)
        )


def compare(
    kernel: Kernel, inputs: Sequence[Array], got: Sequence[Array], *, limit: int = 16, fused: bool = True,
    steps: int = 1,
) -> list[Mismatch]:
    """The first ``limit`` elements of the outputs ``got`` of ``steps`` that no conforming run gives; none: all is well.

    A NaN equals any NaN, and zeros of both signs are equal unless the output is a mere copy.
    Raises ValueError where an output has another shape or dtype than the kernel's.
    """
    return list(islice(_mismatches(expected(kernel, inputs, fused=fused, steps=steps), got), limit))


def _mismatches(wanted: Sequence[Expected], got: Sequence[Array]) -> Iterator[Mismatch]:
    for want, array in zip(wanted, got, strict=True):
        shape, dtype = want.low.shape, stored_dtype(want.type)
        if array.shape != shape or array.dtype != dtype:
            raise ValueError(f"{want.output} is {array.dtype}{list(array.shape)}, not {dtype}{list(shape)}")
        values = load(array, want.type)
        for place in np.argwhere(~_right(want, values)):
            index = tuple(int(i) for i in place)
            ends = want.low[index], want.high[index]
            yield Mismatch(want.output, index, values[index], *ends, bool(want.nan[index]))


def _right(want: Expected, values: Array) -> NDArray[np.bool_]:
    right = (want.low <= values) & (values <= want.high)
    if want.type.is_float:
        right |= np.isnan(values) & want.nan
    if want.type.is_float and want.moved:
        right &= (values != 0) | (np.signbit(values) == np.signbit(want.low)) | (want.low != want.high)
    return np.asarray(right)


def _expected(tensor: Tensor, enclosure: Enclosure, moved: bool) -> Expected:
    low, high = (load(store(end, tensor.type), tensor.type) for end in (enclosure.low, enclosure.high))
    stored = between(low, high, enclosure.nan)
    nan = stored.may_be_nan
    return Expected(tensor.name, tensor.type, low, high, nan, moved)


def _moves(value: Value, kernel: Kernel) -> bool:
    """Whether a value is only copied from arguments and numbers."""
    match value:
        case Const():
            return True
        case Where(_, yes, no):
            return _moves(yes, kernel) and _moves(no, kernel)
        case Read(name):
            holder = next((s for s in kernel.stages if s.name == name), None)
            return holder is None or _moves(holder.value, kernel)
    return False
