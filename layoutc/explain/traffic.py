"""Elements and bytes that a launch moves between global memory and the chip."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from layoutc.explain.blocks import clipped, touching
from layoutc.explain.case import Case, places
from layoutc.explain.records import Traffic
from layoutc.explain.taps import AxisTaps, Runs, Taps, count_along, count_elements, taps_of
from layoutc.explain.transactions import transactions
from layoutc.plan.nodes import Storage
from layoutc.plan.reads.footprints import Axis
from layoutc.resolve.binding import tensor_shape
from layoutc.resolve.program import Stage, Tensor

Shape = tuple[int, ...]
Moved = tuple[int | None, int | None, int | None]       # unique bytes, loaded bytes, reads untiled


def traffic(case: Case, lanes: int, transaction: int) -> dict[str, Traffic]:
    """Per tensor of a pass what one launch moves; reads whose subscripts lie outside the tensor are left out.

    ``unique_bytes``: distinct elements. ``loaded_bytes``: of a staged tensor every tile's box, clipped to the
    tensor (in registers every thread's; of rows that come by way of shared memory, that of all threads that share
    them, as in the interior); of any other every read; 0 of an output. ``reads_untiled``: elements, were every read
    made from memory (an element, or a window, that an output reads twice at the same places counts once). These are
    None where an extent is not known, where subscripts are not affine (``x[idx[i]]``, ``i // 2``), for what a let
    with an edge rule reads, whose places are folded, and for what several steps a launch read from memory. The rest is
    ``transactions``'s.
    """
    reads = _Reads(case) if case.extents is not None else None
    made: dict[str, Traffic] = {}
    for tensor in (*case.inputs, *case.outputs):
        moved: Moved = (None, None, None)
        if reads is not None:
            moved = reads.written(tensor) if tensor in case.outputs else reads.of(tensor)
        sectors, utilization = transactions(case, tensor, lanes, transaction)
        made[tensor.name] = Traffic(*moved, sectors, transaction, utilization)
    for argument in case.workspaces:
        space = argument.workspace
        bytes = None if case.extents is None else space.count.at(case.extents) * space.type.bytes
        made[space.name] = Traffic(bytes, bytes, None if bytes is None else bytes // space.type.bytes, None,
                                   transaction, None)
    return made


class _Reads:
    """Counts for known extents."""

    def __init__(self, case: Case) -> None:
        assert case.extents is not None
        self.case, self.extents = case, case.extents
        self.counts = case.lengths(self.extents)
        self.blocks = dict(zip(case.one.indices, case.blocks(self.extents), strict=True))
        self.tiles = case.one.sizes
        chunks = case.chunks(self.extents)
        self.begins = {i: first for i, (first, _, _) in chunks.items()}
        self.lengths = self.counts | {i: length for i, (_, length, _) in chunks.items()}
        self.blocks |= {i: n for i, (*_, n) in chunks.items()}
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

    def _untiled(self, tensor: Tensor, shape: Shape) -> int | None:
        found = _total(self._by_outputs(tensor, taps, shape) for taps in self.through.get(tensor.name, []))
        fusing = self.case.one.fusing
        return found if found is None or fusing is None else found * fusing.steps

    def _loaded(self, tensor: Tensor, shape: Shape) -> int | None:
        held = self.case.held(tensor.name) or next((s for s in self.case.streamed if s.tensor == tensor.name), None)
        if held is None:
            return self._from_memory(tensor, shape) if self.case.one.fusing is None else None
        if self.case.comes_by_steps(held):
            return self._by_steps(tensor, shape)
        match held.where:
            case "constant":
                return prod(shape)
            case "registers":
                return self._into_registers(held, shape)
        boxes = prod(self._clipped(a, extent, n) for a, extent, n in self._lines(held, shape)) * self._still(held.axes)
        if not held.halo_global:
            return boxes
        beyond = _total(self._beyond(tensor, held, taps, shape) for taps in self.through.get(tensor.name, []))
        return None if beyond is None else boxes + beyond

    def _by_steps(self, tensor: Tensor, shape: Shape) -> int | None:
        """Reads of a product: each block makes those of its own side, once for all outputs of the other."""
        untiled = self._untiled(tensor, shape)
        moved = {a.index for taps in self.through.get(tensor.name, []) for a in taps.axes or ()}
        others = [(g, name) for g, name in zip(self.case.one.groups, self.case.one.indices, strict=True)
                  if moved.isdisjoint(g)]
        made = prod(self.counts[i] for g, _ in others for i in g)
        return None if untiled is None else untiled // max(made, 1) * prod(self.blocks[name] for _, name in others)

    # ---- reads from memory

    def _from_memory(self, tensor: Tensor, shape: Shape) -> int | None:
        """Reads of the equations and of the kept lets."""
        reads = taps_of(self.case.kernel, self.case.equations, self.kept, self.extents).get(tensor.name, [])
        made = [self._by_outputs(tensor, taps, shape) for taps in reads]
        for let in self.case.kept:
            reads = taps_of(self.case.kernel, [let], self.kept, self.extents).get(tensor.name, [])
            made += [self._by_let(tensor, taps, let, shape) for taps in reads]
        return _total(made)

    def _by_outputs(self, tensor: Tensor, taps: Taps, shape: Shape) -> int | None:
        """Reads that all outputs make; without an edge rule every read is inside, whatever its subscript."""
        if taps.times is None or (taps.axes is None and _has_edges(tensor)):
            return None
        used = {a.index for a in taps.axes or ()}
        total = taps.times * prod(n for i, n in self.counts.items() if i not in used)
        for a, n in zip(taps.axes or (), shape, strict=taps.axes is not None):
            total *= count_along(a, Runs.of(0, self.counts[a.index] - 1 if a.index is not None else 0), 0, n - 1)
        return total

    def _by_let(self, tensor: Tensor, taps: Taps, let: Stage, shape: Shape) -> int | None:
        """Reads that a kept let makes, at the places of each tile's box that valid outputs need."""
        held = self.case.held(let.name)
        if held is None or held.axes is None or taps.times is None or (taps.axes is None and _has_edges(tensor)):
            return None
        lines = dict(zip(let.indices, zip(self._axes(held), held.extents, strict=True), strict=True))
        used = {a.index for a in taps.axes or ()}
        total = taps.times * self._still(held.axes)
        for name, (axis, extent) in lines.items():
            if name not in used:
                total *= self._places(axis, extent)
        for a, n in zip(taps.axes or (), shape, strict=taps.axes is not None):
            runs = Runs.of(0, 0) if a.index is None else self._let_runs(a, *lines[a.index], n)
            total *= count_along(a, runs, 0, n - 1)
        return total

    def _places(self, axis: Axis, extent: int) -> int:
        """Places of a kept let along an axis, over all blocks; only the last block may need fewer."""
        if axis.index is None:
            return extent
        blocks, tile = self.blocks[axis.index], self.tiles[axis.index]
        missing = blocks * tile - self.lengths[axis.index]
        return blocks * extent - axis.scale * missing if blocks else 0

    def _let_runs(self, taps: AxisTaps, axis: Axis, extent: int, n: int) -> Runs:
        """The places of a kept let along an axis, block by block, as far as their reads meet the tensor."""
        if axis.index is None:
            return Runs.of(axis.low, axis.low + extent - 1)
        step = axis.scale * self.tiles[axis.index]
        ends = [taps.scale * place + o for place in (axis.low, axis.low + extent - 1)
                for offsets in taps.offsets for o in (offsets[0], offsets[-1])]
        b, weight = touching(self.blocks[axis.index], taps.scale * step, min(ends), max(ends), n)
        first = step * b + axis.low
        needed = axis.scale * (self.lengths[axis.index] - 1) + axis.high
        return Runs(first, np.minimum(first + extent - 1, needed), weight)

    def _beyond(self, tensor: Tensor, held: Storage, taps: Taps, shape: Shape) -> int | None:
        """Reads that land inside the tensor but outside of their tile's staged core."""
        everywhere = self._by_outputs(tensor, taps, shape)
        if everywhere is None or taps.axes is None or taps.times is None:
            return None
        within = taps.times * prod(n for i, n in self.counts.items() if i not in {a.index for a in taps.axes})
        for line, (axis, extent, n) in zip(taps.axes, self._lines(held, shape), strict=True):
            if axis.index in self.begins:
                if axis.low != axis.high:
                    return None     # which chunk reads an element decides where it is found
                within *= count_along(line, Runs.of(0, 0), 0, n - 1)
                continue
            if line.index is None or axis.index is None:
                within *= count_along(line, Runs.of(0, 0), max(axis.low, 0), min(axis.low + extent, n) - 1)
                continue
            tile, count = self.tiles[line.index], self.counts[line.index]
            b, weight = touching(self.blocks[line.index], axis.scale * tile, axis.low, axis.low + extent - 1, n)
            core = axis.scale * tile * b + axis.low
            runs = Runs(tile * b, np.minimum(tile * b + tile, count) - 1, weight)
            within *= count_along(line, runs, np.maximum(core, 0), np.minimum(core + extent, n) - 1)
        return everywhere - within

    # ---- boxes

    def _clipped(self, axis: Axis, extent: int, n: int, place: int = 0) -> int:
        """Elements along an axis of every block's box in the tensor; ``place``: of the output around which it lies."""
        if axis.index is None:
            return clipped(1, 1, axis.low, extent, n)
        step = axis.scale * self.tiles[axis.index]
        return clipped(self.blocks[axis.index], step, axis.scale * place + axis.low, extent, n)

    def _still(self, axes: Sequence[Axis] | None) -> int:
        """Blocks along the indices that do not move a box, and chunks if some do: each loads it anew."""
        moved = {a.index for a in axes or ()}
        if moved.isdisjoint(self.begins):
            moved |= self.begins.keys()
        return prod(n for i, n in self.blocks.items() if i not in moved)

    def _into_registers(self, held: Storage, shape: Shape) -> int:
        """Elements inside the tensor of the boxes of all threads, or of all groups of threads that share a ring."""
        threads = self.case.one.threads
        readers, box = (threads, held.loaded) if held.ring is None else (held.ring.groups, held.ring.passing)
        alone = slice(None, None, threads // readers)
        first = dict(zip(self.case.one.indices, (p[alone, 0] for p in places(self.case.one)), strict=True))
        each = np.ones(readers, object)                     # Python's integers: products may be large
        for a, extent, n in zip(self._axes(held), box, shape, strict=True):
            own = first[a.index] if a.index in first else np.zeros(readers, np.int64)
            distinct, which = np.unique(own, return_inverse=True)
            each = each * np.array([self._clipped(a, extent, n, int(p)) for p in distinct], object)[which]
        return int(each.sum()) * self._still(held.axes)

    def _axes(self, held: Storage) -> list[Axis]:
        """How a box lies along each axis, where the first tile or chunk of its index begins at 0."""
        return [replace(a, low=a.low + a.scale * self.begins[a.index], high=a.high + a.scale * self.begins[a.index])
                if a.index in self.begins else a for a in held.axes or ()]

    def _lines(self, held: Storage, shape: Shape) -> list[tuple[Axis, int, int]]:
        """Per axis of a box: how it lies, its extent, and the tensor's."""
        return list(zip(self._axes(held), held.loaded, shape, strict=True))


def _has_edges(tensor: Tensor) -> bool:
    return any(rule is not None for sides in tensor.edges for rule in sides)


def _total(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


def _read_by_extended_lets(case: Case) -> frozenset[str]:
    """Tensors that a let with edges reads: not at the places that its subscripts name."""
    readers = [s for s in case.kernel.stages if any(rule is not None for sides in s.edges for rule in sides)]
    return frozenset(taps_of(case.kernel, readers, frozenset(), case.extents)) if readers else frozenset()
