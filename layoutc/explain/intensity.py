"""Arithmetic over the bytes that a tile loads."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from itertools import count
from math import prod

from layoutc.explain.case import Case
from layoutc.explain.records import Intensity
from layoutc.explain.taps import Runs, Taps, count_along, taps_of
from layoutc.index import Expr, Int, Name
from layoutc.plan.nodes import Storage
from layoutc.plan.reads.chunks import Chunk
from layoutc.plan.reads.footprints import Axis
from layoutc.plan.reads.subscripts import as_index
from layoutc.resolve.program import Binary, Call, Equation, Read, Reduce, Stage, Unary, Value
from layoutc.resolve.trees import children

Env = Mapping[str, Expr]


class _UnknownError(Exception):
    """A range over an extent that is not known."""


def intensity(case: Case) -> Intensity:
    """Operations of one full tile over the bytes of its staged inputs' boxes, and the same of an infinite tile.

    An operation is an arithmetic operator, a function or one element taken into a reduction; a fused multiply-add
    is two; subscripts, casts, comparisons and choices are none. Where no input is staged, bytes are those of every
    read from memory. Stores are left out. Of several steps a launch all are counted, also what tiles compute more
    than once. There is no bound where the bytes an output vanish in an infinite tile.
    """
    fusing = case.one.fusing
    try:
        per_output, per_let = _operations(case)
        per_step = _operations(case, {v for _, v in case.kernel.steps})[0] if fusing is not None else 0
    except _UnknownError:
        return Intensity()
    boxes = {s.name: case.held(s.name) for s in case.kept}
    ops = per_output * prod(case.one.tile) + sum(n * prod(b.extents) for n, b in _with(per_let, boxes))
    if fusing is not None:
        ops += per_step * (fusing.evaluations(case.one.tile) - prod(case.one.tile))
    loaded = _loaded(case)
    if loaded is None:
        return Intensity(ops)
    bytes, bytes_in_limit = loaded
    ops_in_limit = per_output + sum(n * _per_output(b.axes or (), case) for n, b in _with(per_let, boxes))
    ops_in_limit += 0 if fusing is None else (fusing.steps - 1) * per_step
    return Intensity(ops, bytes, _ratio(ops, bytes), _ratio(ops_in_limit, bytes_in_limit))


def _ratio(ops: int, bytes: int) -> float | None:
    return float(Fraction(ops, bytes)) if bytes else None


def _with(per_let: Mapping[str, int], boxes: Mapping[str, Storage | None]) -> list[tuple[int, Storage]]:
    return [(per_let[name], box) for name, box in boxes.items() if box is not None]


# ---- bytes


def _loaded(case: Case) -> tuple[int, int] | None:
    """Bytes that a full tile loads, and bytes an output in an infinite tile."""
    inputs = {t.name for t in case.inputs}
    staged = [s for s in case.one.storage if s.where in ("shared", "registers") and s.tensor in inputs]
    staged += case.streamed
    if not staged:
        return _read(case)
    bytes = 0
    for s in staged:
        if s.ring is not None:
            bytes += s.type.bytes * prod(s.ring.passing) * s.ring.groups
            continue
        chunks = _over_chunks(case, s)
        if chunks is None:
            return None
        bytes += s.type.bytes * chunks * (case.one.threads if s.where == "registers" else 1)
        if s.halo_global:
            beyond = _beyond_core(case, s)
            if beyond is None:
                return None
            bytes += beyond
    return bytes, sum(_per_output(s.axes or (), case) * s.type.bytes for s in staged)


def _per_output(axes: Sequence[Axis], case: Case) -> int:
    """Elements of a box for each output, in an infinite tile: 0 where an index does not move the box."""
    moved = {a.index for a in axes}
    if not moved >= set(case.one.indices):
        return 0
    return prod(a.scale for a in axes if a.index in case.one.indices) * (_lengths(case, axes) or 0)


def _lengths(case: Case, axes: Sequence[Axis]) -> int | None:
    """Elements of a box along the axes that chunks move, all chunks together; None where extents are not known."""
    length = 1
    chunks = {c.index: c for c in case.one.chunks}
    for a in axes:
        if a.index in chunks:
            known = _range(case, chunks[a.index])
            if known is None:
                return None
            single = a.scale == 1 and a.low == a.high
            length *= known if single else -(-known // chunks[a.index].size) * a.extent(chunks[a.index].size)
    return length


def _range(case: Case, c: Chunk) -> int | None:
    if c.range is not None:
        return max(c.range[1] - c.range[0], 0)
    return None if case.extents is None else case.chunks(case.extents)[c.index][1]


def _over_chunks(case: Case, s: Storage) -> int | None:
    """Elements of a box, all chunks together."""
    if case.comes_by_steps(s):
        ranges = [_range(case, c) for c in case.one.chunks]
        chunks = prod(-(-n // c.size) for n, c in zip(ranges, case.one.chunks, strict=True) if n is not None)
        return None if None in ranges else chunks * prod(s.extents)
    lengths = _lengths(case, s.axes or ())
    if lengths is None:
        return None
    axes = s.axes or (None,) * len(s.extents)
    chunked = case.one.chunked
    return lengths * prod(n for a, n in zip(axes, s.loaded, strict=True) if a is None or a.index not in chunked)


def _read(case: Case) -> tuple[int, int] | None:
    """Bytes of every read from global memory; what kept lets read is read for their whole box."""
    kept = frozenset(s.name for s in case.kept)
    readers: list[tuple[Equation | Stage, int, int]] = [(e, prod(case.one.tile), 1) for e in case.equations]
    for let in case.kept:
        box = case.held(let.name)
        assert box is not None
        readers.append((let, prod(box.extents), _per_output(box.axes or (), case)))
    tile = limit = 0
    types = {t.name: t.type for t in case.inputs if case.held(t.name) is None}
    seen: set[tuple[str, Taps]] = set()
    for reader, evaluations, per_output in readers:
        group = "" if isinstance(reader, Equation) else reader.name
        for tensor, found in taps_of(case.kernel, [reader], kept, case.extents).items():
            for taps in found if tensor in types else ():
                if (group, taps) in seen:
                    continue
                seen.add((group, taps))
                if taps.count is None:
                    return None
                tile += taps.count * evaluations * types[tensor].bytes
                limit += taps.count * per_output * types[tensor].bytes
    return tile, limit


def _beyond_core(case: Case, s: Storage) -> int | None:
    """Bytes that a full tile away from the edges reads past the staged core."""
    sizes = case.one.sizes
    bytes = 0
    for taps in taps_of(case.kernel, case.equations, frozenset(), case.extents).get(s.tensor, []):
        if taps.axes is None or taps.times is None or taps.count is None:
            return None
        inside = taps.times * prod(n for i, n in sizes.items() if i not in {a.index for a in taps.axes})
        for along, a, extent in zip(taps.axes, s.axes or (), s.extents, strict=True):
            run = Runs.of(0, sizes[along.index] - 1 if along.index is not None else 0)
            inside *= count_along(along, run, a.low, a.low + extent - 1)
        bytes += (taps.count * prod(case.one.tile) - inside) * s.type.bytes
    return bytes


# ---- arithmetic


def _operations(case: Case, outputs: Collection[str] | None = None) -> tuple[int, dict[str, int]]:
    """Operations an output of all equations (or of those of some outputs), and of each kept let at a place.

    A let's value is made once a place.
    """
    work = _Work(case)
    seen: set[object] = set()
    per_output = sum(work.of(e.value, work.start(e.indices), seen) for e in case.equations
                     if outputs is None or e.output in outputs)
    return per_output, {s.name: work.of(s.value, work.start(s.indices), set()) for s in case.kept}


class _Work:
    """Counts the operations of values."""

    def __init__(self, case: Case) -> None:
        kept = {s.name for s in case.kept}
        self._expanded = {s.name: s for s in case.kernel.stages if s.name not in kept}
        self._extents: dict[str, Expr] = {e: Name(e, 0) for e in case.kernel.extents}
        self._extents |= {e: Int(n) for e, n in (case.extents or {}).items()}
        self._fresh = count()

    def start(self, indices: Sequence[str]) -> Env:
        """What stands for names outside of every reduction."""
        return {**self._extents, **{i: Name(i) for i in indices}}

    def of(self, value: Value, env: Env, seen: set[object]) -> int:
        """Operations of one evaluation."""
        match value:
            case Read(tensor, indices):
                stage = self._expanded.get(tensor)
                return 0 if stage is None else self._let(stage, [as_index(i, env) for i in indices], seen)
            case Reduce(_, binders, body):
                inner, points = dict(env), 1
                for b in binders:
                    low, high = as_index(b.low, env), as_index(b.high, env)
                    if not isinstance(low, Int) or not isinstance(high, Int):
                        raise _UnknownError
                    points *= max(high.value - low.value, 0)
                    inner[b.name] = Name(f"{b.name}#{next(self._fresh)}")
                return points * (1 + self.of(body, inner, set(seen)))
        own = {Binary: 1, Unary: 1, Call: 1}.get(type(value), 0)
        if isinstance(value, Call) and value.function == "fma":
            own = 2
        return own + sum(self.of(child, env, seen) for child in children(value))

    def _let(self, stage: Stage, at: Sequence[Expr | None], seen: set[object]) -> int:
        key = (stage.name, *at)
        if key in seen and None not in at:
            return 0
        seen.add(key)
        env = {**self._extents, **{i: e if e is not None else Name(f"{i}#{next(self._fresh)}")
                                   for i, e in zip(stage.indices, at, strict=True)}}
        return self.of(stage.value, env, seen)
