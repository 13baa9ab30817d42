"""What one instruction of one warp moves: the sectors that its lanes touch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from layoutc.explain.case import Case, Column, places
from layoutc.explain.lanes import first_subscripts
from layoutc.explain.taps import Taps, taps_of
from layoutc.plan.kernel.loading import fill_vector, in_whole_vectors
from layoutc.plan.nodes import Storage
from layoutc.plan.reads.footprints import Axis
from layoutc.plan.redistributions.redistributed import DealtAccess
from layoutc.resolve.binding import evaluate_index, tensor_shape
from layoutc.resolve.program import Stage, Tensor

Mask = NDArray[np.bool_]
ANY_EXTENT = 1 << 14        # of an extent that is not known: rows begin at a sector's start


@dataclass(frozen=True, slots=True)
class Access:
    """One instruction of every thread of a block."""

    subscripts: tuple[Column, ...]      # per axis of the tensor, of each thread's first element, [threads]
    active: Mask                        # [threads]
    width: int                          # neighbouring elements a thread moves


def transactions(case: Case, tensor: Tensor, lanes: int, transaction: int) -> tuple[int | None, float | None]:
    """Sectors of ``transaction`` bytes that one instruction of the first full warp touches, and bytes used over moved.

    The instruction is the store of a thread's first output, the first load of its round that fills a staged box, or
    its first read as written. A full warp has ``lanes`` threads, all with an element inside the tensor; where there
    is none, the fullest counts (a block may be smaller than a warp). The tensor begins at a sector's start and is
    contiguous, or has the strides that the kernel insists on; where extents are not known, so does each of its rows.
    None for what comes with the launch (constant memory), for subscripts that are not affine, and for what a product
    brings step by step or counts through several indices.
    """
    held = case.held(tensor.name)
    if any(len(g) > 1 for g in case.one.groups) or (held is not None and case.comes_by_steps(held)):
        return None, None
    extents = case.extents if case.extents is not None else dict.fromkeys(case.kernel.extents, ANY_EXTENT)
    warp = _first_full_warp(_accesses(case, tensor, extents), lanes)
    if warp is None:
        return None, None
    strides = _strides(tensor, extents)
    elements = sum((s * d for s, d in zip(warp.subscripts, strides, strict=True)), np.zeros(1, np.int64))
    first = np.unique(np.broadcast_to(elements, warp.active.shape)[warp.active]) * tensor.type.bytes
    length = warp.width * tensor.type.bytes
    begin, end = first // transaction, (first + length - 1) // transaction
    sectors = np.unique(np.concatenate([np.minimum(begin + k, end) for k in range(int((end - begin).max()) + 1)]))
    return len(sectors), len(first) * length / (len(sectors) * transaction)


def _strides(tensor: Tensor, extents: Mapping[str, int]) -> tuple[int, ...]:
    """In elements: those that the kernel insists on, else row-major."""
    if tensor.strides is not None:
        return tuple(int(evaluate_index(s, extents)) for s in tensor.strides)
    shape = tensor_shape(tensor, extents)
    return tuple(prod(shape[axis + 1:]) for axis in range(len(shape)))


def _first_full_warp(accesses: Iterator[Access], lanes: int) -> Access | None:
    """The first warp whose lanes are all active, else the fullest; None where no thread is."""
    best: Access | None = None
    for access in accesses:
        threads = len(access.active)
        for start in range(0, max(threads - lanes, 0) + 1, lanes):
            part = slice(start, start + lanes)
            warp = Access(tuple(np.broadcast_to(s, (threads,))[part] for s in access.subscripts),
                          access.active[part], access.width)
            if warp.active.all():
                return warp
            if warp.active.any() and (best is None or warp.active.sum() > best.active.sum()):
                best = warp
    return best


# ---- which element each thread takes


def _accesses(case: Case, tensor: Tensor, extents: Mapping[str, int]) -> Iterator[Access]:
    """The instruction in the first blocks and in a middle one, in the order of the grid; of the first chunk."""
    one = case.one
    held = case.held(tensor.name)
    if held is not None and held.where == "constant":
        return
    counts = case.counts(extents)
    candidates = [sorted({b for b in (0, 1, n // 2) if b < n}) for n in case.blocks(extents)]
    first_items = tuple(p[:, 0] for p in places(one))
    taps, let = (None, None) if held is not None or one.lanes else _first_read(case, tensor, extents)
    if one.lanes is None and tensor in case.inputs and held is None and (taps is None or taps.axes is None):
        return
    finder = _Instruction(case, tensor, extents, dict(zip(one.indices, first_items, strict=True)), taps, let)
    ends = dict(zip(one.indices, counts, strict=True))
    chunks = {i: first for i, (first, *_) in case.chunks(extents).items()}
    for block in product(*candidates):
        begin = {i: b * t for i, b, t in zip(one.indices, block, one.tile, strict=True)} | chunks
        access = finder.at(begin, ends, held) if one.lanes is None or tensor in case.outputs else finder.by_lanes(
            begin, ends)
        if access is not None:
            yield access


def _first_read(case: Case, tensor: Tensor, extents: Mapping[str, int]) -> tuple[Taps | None, Stage | None]:
    """The first read of a tensor from memory, by an equation or else by a kept let."""
    kept = frozenset(s.name for s in case.kept)
    for let in (None, *case.kept):
        readers = case.equations if let is None else (let,)
        found = taps_of(case.kernel, readers, kept, extents).get(tensor.name)
        if found:
            return found[0], let
    return None, None


@dataclass(frozen=True, slots=True)
class _Instruction:
    case: Case
    tensor: Tensor
    extents: Mapping[str, int]
    first: Mapping[str, Column]         # per index the place of each thread's first output, [threads]
    taps: Taps | None                   # the read, of a tensor that is not staged
    let: Stage | None                   # the kept let that makes it; None: an equation

    def at(self, begin: Mapping[str, int], ends: Mapping[str, int], held: Storage | None) -> Access:
        """The instruction in the block whose tile begins there."""
        if self.taps is not None:
            return self._read(self.taps, begin, ends)
        if held is None:
            return self._store(begin, ends)
        dealt = self.case.dealt("load", self.tensor.name)
        if dealt is not None:
            first = np.array(dealt.layout.values[:self.case.one.threads])
            return self._inside(_in_box(held.axes or (), dealt.extents, begin, first), 1)
        if held.where == "shared":
            vector = fill_vector(held, self.case.one.origins, self._most(self.tensor.name))
            return self._inside(self._in_box(held, begin, vector), vector)
        return self._inside(tuple(_origin(a, begin, self.first) for a in held.axes or ()), held.vector)

    def by_lanes(self, begin: Mapping[str, int], ends: Mapping[str, int]) -> Access | None:
        """A thread's first read where several make an output together."""
        at, active = self._outputs(begin, ends)
        found = first_subscripts(self.case, self.tensor, self.extents, at)
        if found is None:
            return None
        width = found[1] if self._most(self.tensor.name) >= found[1] else 1
        access = self._inside(found[0], width)
        return Access(access.subscripts, access.active & active, width)

    def _most(self, tensor: str) -> int:
        """Elements that an access of the tensor moves at most."""
        plan = self.case.plan
        return min(self.case.one.access, plan.signature.vectors[plan.signature.of(plan.kernel, tensor)])

    def _outputs(self, begin: Mapping[str, int], ends: Mapping[str, int]) -> tuple[dict[str, Column], Mask]:
        """Each thread's first output, and whether it is valid."""
        one = self.case.one
        active = np.ones(one.threads, bool)
        at = {}
        for i, size in zip(one.indices, one.tile, strict=True):
            place = self.first[i]
            at[i] = begin[i] + place
            active &= (place >= 0) & (place < size) & (at[i] < ends[i])
        return at, active

    def _store(self, begin: Mapping[str, int], ends: Mapping[str, int]) -> Access:
        dealt = self.case.dealt("store", self.tensor.name)
        if dealt is not None:
            return self._dealt_store(dealt, begin, ends)
        at, active = self._outputs(begin, ends)
        if self.case.one.lanes is not None:
            return Access(tuple(at.values()), active & _first_of_team(self.case), 1)
        width = self.case.one.vector if self._most(self.tensor.name) >= self.case.one.vector else 1
        return Access(tuple(at.values()), active, width)

    def _dealt_store(self, dealt: DealtAccess, begin: Mapping[str, int], ends: Mapping[str, int]) -> Access:
        """Each thread's first item of a store that has a layout of its own."""
        first = np.array(dealt.layout.values[:self.case.one.threads])
        active = first < dealt.elements
        subscripts = []
        for number, (index, n) in enumerate(zip(self.case.one.indices, dealt.extents, strict=True)):
            subscripts.append(begin[index] + first // prod(dealt.extents[number + 1:]) % n)
            active &= subscripts[-1] < ends[index]
        return Access(tuple(subscripts), active, 1)

    def _read(self, taps: Taps, begin: Mapping[str, int], ends: Mapping[str, int]) -> Access:
        """The first of the taps, of a thread's first output or of its first place of a kept let."""
        active = np.ones(self.case.one.threads, bool)
        if self.let is None:
            at, active = self._outputs(begin, ends)
        else:
            held = self.case.held(self.let.name)
            assert held is not None
            at = dict(zip(self.let.indices, self._in_box(held, begin, 1), strict=True))
        subscripts = tuple(
            (0 if a.index is None else at[a.index] * a.scale) + np.full(len(active), a.offsets[0][0])
            for a in taps.axes or ())
        return Access(subscripts, self._inside(subscripts, 1).active & active, 1)

    def _in_box(self, held: Storage, begin: Mapping[str, int], vector: int) -> tuple[Column, ...]:
        """Subscripts of the first vector that each thread brings into a shared box."""
        axes, extents = in_whole_vectors(held, vector)
        return _in_box(axes, extents, begin, np.arange(self.case.one.threads) * vector)

    def _inside(self, subscripts: tuple[Column, ...], width: int) -> Access:
        """Active where the whole access lies in the tensor."""
        active = np.ones(self.case.one.threads, bool)
        shape = tensor_shape(self.tensor, self.extents)
        for number, (s, n) in enumerate(zip(subscripts, shape, strict=True)):
            active &= (s >= 0) & (s + (width if number == len(shape) - 1 else 1) <= n)
        return Access(subscripts, active, width)


def _first_of_team(case: Case) -> Mask:
    """The threads that store what their team makes: those of worker 0."""
    one = case.one
    assert one.lanes is not None
    thread = np.arange(one.threads)
    teams = one.threads // one.lanes.threads
    return np.asarray(thread % one.lanes.threads == 0 if one.lanes.together else thread < teams)


def _in_box(
    axes: tuple[Axis, ...], extents: tuple[int, ...], begin: Mapping[str, int], at: Column
) -> tuple[Column, ...]:
    """Subscripts of row-major positions in a box; past the box: before everything."""
    inside = at < prod(extents)
    out = []
    for number, (a, n) in enumerate(zip(axes, extents, strict=True)):
        coordinate = at // prod(extents[number + 1:]) % n
        out.append(np.where(inside, _origin(a, begin) + coordinate, -(1 << 40)))
    return tuple(out)


def _origin(axis: Axis, begin: Mapping[str, int], place: Mapping[str, Column] | None = None) -> Column:
    """The first subscript of a box along an axis; ``place``: of the output in the tile around which it lies."""
    if axis.index is None:
        return np.asarray(axis.low)
    at = np.asarray(begin[axis.index]) + (0 if place is None else place.get(axis.index, 0))
    return np.asarray(at * axis.scale + axis.low)
