"""Elements and bytes that a launch moves between global memory and the chip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

import numpy as np

from layoutc.explain.case import Case, Column, places
from layoutc.explain.records import Traffic
from layoutc.explain.taps import Bound, Runs, Taps, count_elements, count_reads, taps_of, whole
from layoutc.explain.transactions import transactions
from layoutc.plan.halo import Axis
from layoutc.plan.nodes import Storage
from layoutc.resolve.binding import tensor_shape
from layoutc.resolve.program import Stage, Tensor

Moved = tuple[int | None, int | None, int | None]       # unique bytes, loaded bytes, reads untiled


def traffic(case: Case, lanes: int, transaction: int) -> dict[str, Traffic]:
    """Per tensor of a pass what one launch moves; reads whose subscripts lie outside the tensor are left out.

    ``unique_bytes``: distinct elements. ``loaded_bytes``: of a staged tensor every tile's box, clipped to the
    tensor; of any other every read; 0 of an output. ``reads_untiled``: elements, were every read made from memory
    (an element, or a window, that an output reads twice at the same places counts once). These are None where an
    extent is not known or subscripts are not affine (``x[idx[i]]``, ``i // 2``). The rest is ``transactions``'s.
    """
    reads = _Reads(case) if case.extents is not None else None
    made: dict[str, Traffic] = {}
    for tensor in (*case.inputs, *case.outputs):
        moved: Moved = (None, None, None)
        if reads is not None:
            moved = reads.written(tensor) if tensor in case.outputs else reads.of(tensor)
        sectors, utilization = transactions(case, tensor, lanes, transaction)
        made[tensor.name] = Traffic(*moved, sectors, transaction, utilization)
    return made


class _Reads:
    """Counts for known extents."""

    def __init__(self, case: Case) -> None:
        assert case.extents is not None
        self.case, self.extents = case, case.extents
        self.counts = dict(zip(case.one.indices, case.counts(self.extents), strict=True))
        self.blocks = dict(zip(case.one.indices, case.blocks(self.extents), strict=True))
        self.tiles = dict(zip(case.one.indices, case.one.tile, strict=True))
        self.through = taps_of(case.kernel, case.equations, frozenset(), self.extents)
        self.kept = frozenset(s.name for s in case.kept)
        self.extended = _read_by_extended_lets(case)

    def written(self, tensor: Tensor) -> Moved:
        """An output: every element once."""
        return prod(self.counts.values()) * tensor.type.bytes, 0, 0

    def of(self, tensor: Tensor) -> Moved:
        """An input."""
        if tensor.name in self.extended:
            return None, None, None
        shape = tensor_shape(tensor, self.extents)
        unique = count_elements(self.through.get(tensor.name, []), self.counts, shape)
        loaded = self._loaded(tensor, shape)
        bytes = tensor.type.bytes
        return (None if unique is None else unique * bytes, None if loaded is None else loaded * bytes,
                self._untiled(tensor, shape))

    def _untiled(self, tensor: Tensor, shape: Sequence[int]) -> int | None:
        runs = {i: whole(n) for i, n in self.counts.items()}
        return _total(self._made(tensor, t, runs, shape) for t in self.through.get(tensor.name, []))

    def _loaded(self, tensor: Tensor, shape: Sequence[int]) -> int | None:
        held = self.case.held(tensor.name)
        if held is None:
            return _total(self._made(tensor, t, runs, shape)
                          for t, runs in self._reads_from_memory(tensor.name))
        match held.where:
            case "constant":
                return prod(shape)
            case "registers":
                return self._into_registers(held, shape)
        boxes = self._boxes(held, shape)
        if not held.halo_global:
            return boxes
        beyond = _total(self._beyond(held, t, shape) for t in self.through.get(tensor.name, []))
        return None if beyond is None else boxes + beyond

    def _made(self, tensor: Tensor, taps: Taps, runs: Mapping[str, Runs], shape: Sequence[int]) -> int | None:
        """Reads inside the tensor; without an edge rule all are, whatever the subscripts."""
        if taps.axes is None and taps.times is not None and not any(r for sides in tensor.edges for r in sides):
            return taps.times * prod(r.count for r in runs.values())
        return count_reads(taps, runs, [0] * len(shape), [n - 1 for n in shape])

    def _reads_from_memory(self, tensor: str) -> list[tuple[Taps, dict[str, Runs]]]:
        """Reads of the equations and of the kept lets, each with the places where they are made."""
        outputs = {i: whole(n) for i, n in self.counts.items()}
        found = taps_of(self.case.kernel, self.case.equations, self.kept, self.extents).get(tensor, [])
        made = [(t, outputs) for t in found]
        for let in self.case.kept:
            runs = self._let_runs(let)
            made += [(t, runs) for t in taps_of(self.case.kernel, [let], self.kept, self.extents).get(tensor, [])]
        return made

    def _let_runs(self, let: Stage) -> dict[str, Runs]:
        """The places at which a kept let is made: each tile's box as far as valid outputs need it."""
        held = self.case.held(let.name)
        assert held is not None
        runs: dict[str, Runs] = {}
        for name, a, extent in zip(let.indices, held.axes or (), held.extents, strict=True):
            first = self._origins(a)
            needed = a.high + (0 if a.index is None else a.scale * (self.counts[a.index] - 1))
            runs[name] = Runs(first, np.minimum(first + extent - 1, needed))
        moved = {a.index for a in held.axes or ()}
        runs |= {f"{i} of the tile": whole(n) for i, n in self.blocks.items() if i not in moved}
        return runs

    def _origins(self, axis: Axis, place: int = 0) -> Column:
        """Where each block's box begins along an axis; ``place``: of the output in the tile around which it lies."""
        if axis.index is None:
            return np.array([axis.low])
        return axis.scale * (np.arange(self.blocks[axis.index]) * self.tiles[axis.index] + place) + axis.low

    def _boxes(self, held: Storage, shape: Sequence[int]) -> int:
        """Elements of every tile's box inside the tensor."""
        axes = held.axes or ()
        along = [_inside(self._origins(a), extent, n) for a, extent, n in zip(axes, held.extents, shape, strict=True)]
        return prod(along) * self._still(axes)

    def _still(self, axes: Sequence[Axis]) -> int:
        """Blocks along the indices that do not move a box: each loads it anew."""
        moved = {a.index for a in axes}
        return prod(n for i, n in self.blocks.items() if i not in moved)

    def _into_registers(self, held: Storage, shape: Sequence[int]) -> int:
        """Elements of every thread's box inside the tensor."""
        axes = held.axes or ()
        first = dict(zip(self.case.one.indices, (p[:, 0] for p in places(self.case.one)), strict=True))
        each = np.ones(self.case.one.threads, np.int64)
        for a, extent, n in zip(axes, held.extents, shape, strict=True):
            own = np.zeros(1, np.int64) if a.index is None else first[a.index]
            distinct, which = np.unique(own, return_inverse=True)
            each = each * np.array([_inside(self._origins(a, int(p)), extent, n) for p in distinct])[which]
        return int(each.sum()) * self._still(axes)

    def _beyond(self, held: Storage, taps: Taps, shape: Sequence[int]) -> int | None:
        """Reads that land inside the tensor but outside of their tile's staged core."""
        runs, low, high = {}, [], []
        for i, n in self.counts.items():
            begin = np.arange(self.blocks[i]) * self.tiles[i]
            runs[i] = Runs(begin, np.minimum(begin + self.tiles[i], n) - 1)
        for a, extent, n in zip(held.axes or (), held.extents, shape, strict=True):
            at: Bound = self._origins(a)
            low.append(np.maximum(at, 0))
            high.append(np.minimum(at + extent, n) - 1)
        inside = count_reads(taps, runs, low, high)
        everywhere = count_reads(taps, runs, [0] * len(shape), [n - 1 for n in shape])
        return None if inside is None or everywhere is None else everywhere - inside


def _total(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


def _inside(first: Column, extent: int, n: int) -> int:
    """Elements of boxes [first, first + extent) that lie in 0..n-1."""
    return int(np.maximum(np.minimum(first + extent, n) - np.maximum(first, 0), 0).sum())


def _read_by_extended_lets(case: Case) -> frozenset[str]:
    """Tensors that a let with edges reads: not at the places that its subscripts name."""
    readers = [s for s in case.kernel.stages if s.edges and any(r for sides in s.edges for r in sides)]
    return frozenset(taps_of(case.kernel, readers, frozenset(), case.extents)) if readers else frozenset()
