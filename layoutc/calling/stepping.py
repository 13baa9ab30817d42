"""A kernel applied several times: what each launch reads and writes, and the arrays between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any, TypeVar

import numpy as np

from layoutc.backend import Guarded
from layoutc.calling.arguments import Array, address, byte_range, overlap
from layoutc.resolve.program import Kernel

T = TypeVar("T")
POISON = 0xFF       # a byte of what a launch on the CPU finds where no launch before has written


@dataclass(frozen=True, slots=True)
class Launches:
    """How many steps each launch makes: ``fused`` each, the rest in the last one."""

    steps: int
    fused: int

    def __len__(self) -> int:
        return -(-self.steps // self.fused)

    def __iter__(self) -> Iterator[int]:
        whole, rest = divmod(self.steps, self.fused)
        return chain(repeat(self.fused, whole), (rest,) * (rest > 0))


@dataclass(frozen=True, slots=True)
class Turns:
    """Two places for every output that is stepped, written in turn; the last launch writes to the first of them."""

    inputs: dict[int, int]          # stepped input -> the output that it is after a launch, as positions
    count: int                      # launches

    @classmethod
    def of(cls, kernel: Kernel, count: int) -> Turns:
        """Of a kernel that is launched ``count`` times."""
        inputs, outputs = ([t.name for t in tensors] for tensors in (kernel.inputs, kernel.outputs))
        return cls({inputs.index(u): outputs.index(v) for u, v in kernel.steps}, count)

    def is_second(self, launch: int) -> bool:
        """Whether a launch writes to the second places."""
        return (self.count - 1 - launch) % 2 == 1

    def kind(self, launch: int) -> tuple[bool, bool]:
        """Launches of one kind read and write at the same places: the first one, and whether it writes the second."""
        return launch == 0, self.is_second(launch)

    def targets(self, launch: int, first: Sequence[T], second: Sequence[T]) -> list[T]:
        """Where a launch writes; an output that is not stepped has one place."""
        stepped = set(self.inputs.values()) if self.is_second(launch) else set()
        return [b if number in stepped else a for number, (a, b) in enumerate(zip(first, second, strict=True))]

    def sources(self, launch: int, given: Sequence[T], first: Sequence[T], second: Sequence[T]) -> list[T]:
        """What a launch reads."""
        if launch == 0:
            return list(given)
        before = self.targets(launch - 1, first, second)
        return [before[self.inputs[k]] if k in self.inputs else array for k, array in enumerate(given)]

    def alive(self, output: int, given: Sequence[T]) -> list[T]:
        """The inputs that some launch reads no earlier than an output is first written at its first place."""
        late = output in self.inputs.values() and self.count > 0 and self.is_second(0)
        return [array for k, array in enumerate(given) if not (late and k in self.inputs)]


@dataclass(slots=True)
class Spare:
    """The second places of the last call on a GPU, for the next one; whoever uses them has them alone."""

    _held: list[tuple[tuple[object, ...], list[Array]]] = field(default_factory=list)

    def take(self, key: tuple[object, ...], arrays: Sequence[Array]) -> list[Array]:
        """Arrays like those given. ``key`` names device and stream, in whose order they are used."""
        key = (*key, *((a.shape, a.strides, a.dtype) for a in arrays))
        try:
            known, held = self._held.pop()
        except IndexError:
            return [twin(a) for a in arrays]
        return held if known == key else [twin(a) for a in arrays]

    def keep(self, key: tuple[object, ...], arrays: Sequence[Array]) -> None:
        """Keep them for the next call; those of one call are enough."""
        if not self._held:
            self._held.append(((*key, *((a.shape, a.strides, a.dtype) for a in arrays)), list(arrays)))


def twin(array: Array) -> Array:
    """A new array like one that does not overlap itself: with its strides, unless they leave most of it free."""
    low, high = byte_range(array)
    first, strides = address(array) - low, array.strides
    if high - low > 2 * array.nbytes:
        low, high, first, strides = 0, int(array.nbytes), 0, None
    if isinstance(array, np.ndarray):
        buffer = np.full(max(high - low, 1), POISON, np.uint8)
        return np.ndarray(array.shape, array.dtype, buffer.data, first, strides)
    import cupy

    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.alloc(max(high - low, 1)) + first, strides)


def readable(array: Any) -> Any:
    """What was written, as it is read: any byte but 0 is true."""
    if isinstance(array, Guarded):
        return Guarded(readable(array.array), array.owner)
    return array.view(np.uint8) if array.dtype == np.bool_ else array


def plain(array: Any) -> Array:
    """The array itself."""
    return array.array if isinstance(array, Guarded) else array


def copy_steps(kernel: Kernel, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    """No step at all: every output is a copy of the input whose next it would be."""
    sources = {v: next(a for t, a in zip(kernel.inputs, inputs, strict=True) if t.name == u) for u, v in kernel.steps}
    pairs = [(o, sources[t.name]) for t, o in zip(kernel.outputs, outputs, strict=True)]
    shared = any(overlap(output, source) for output in outputs for _, source in pairs)
    for output, source in [(o, a.copy() if shared else a) for o, a in pairs]:
        if isinstance(output, np.ndarray):
            output[...] = source if isinstance(source, np.ndarray) else source.get()
        else:
            import cupy

            output[...] = cupy.asarray(source)
