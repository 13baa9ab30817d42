"""The elements that outputs read, as sets that can be counted axis by axis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import lcm, prod

import numpy as np
from numpy.typing import NDArray

from layoutc.index import Expr, Int, Name, terms
from layoutc.plan.reads.accesses import Accesses
from layoutc.resolve.program import Equation, Kernel, Stage

Column = NDArray[np.int64]
Bound = int | Column

MOST_RANGES = 1 << 16       # ranges of one axis, and values of a binder that stands on several axes


@dataclass(frozen=True, slots=True)
class AxisTaps:
    """Along one axis: ``scale * index + o`` for every o in the offsets."""

    index: str | None               # None: the axis does not follow an index
    scale: int
    offsets: tuple[range, ...]      # elements; a value that stands in several is read several times


@dataclass(frozen=True, slots=True)
class Taps:
    """The reads that one place of the text makes for an output: every point of the axes, ``times`` each."""

    tensor: str
    axes: tuple[AxisTaps, ...] | None   # None: not affine, or several indices on an axis
    times: int | None                   # None: over an extent that is not known

    @property
    def count(self) -> int | None:
        """Reads an output makes, inside its tensor or not."""
        if self.times is None or self.axes is None:
            return self.times
        return self.times * prod(sum(map(len, a.offsets)) for a in self.axes)


@dataclass(frozen=True, slots=True)
class Runs:
    """The values that an index takes: inclusive runs, each as often as its weight says."""

    first: Column
    last: Column
    weight: Column

    @classmethod
    def of(cls, first: int, last: int) -> Runs:
        """The values of one run."""
        return cls(np.array([first]), np.array([last]), np.array([1]))


def taps_of(
    kernel: Kernel, readers: Sequence[Equation | Stage], kept: frozenset[str], extents: Mapping[str, int] | None
) -> dict[str, list[Taps]]:
    """Per tensor (and kept let) the reads of the readers; two that run over the same places count once.

    ``kept`` are the lets that are read from memory instead of being expanded.
    """
    known = None if extents is None else {name: Int(n) for name, n in extents.items()}
    accesses = Accesses(kernel, kept, known)
    found: dict[str, dict[Taps, None]] = {}
    for reader in readers:
        for access, times in accesses.of(reader):
            if times == 0 and extents is not None:
                continue        # a reduction over nothing
            for taps in _taps(access.tensor, access.indices, times or None, reader.indices):
                found.setdefault(access.tensor, {})[taps] = None
    return {tensor: list(made) for tensor, made in found.items()}


def _taps(
    tensor: str, subscripts: tuple[Expr | None, ...], times: int | None, indices: tuple[str, ...]
) -> Iterator[Taps]:
    given = [s for s in subscripts if s is not None]
    if times is None or len(given) != len(subscripts):
        yield Taps(tensor, None, times)
        return
    binders = [{f for f, _ in terms(s) if isinstance(f, Name) and f.id not in indices} for s in given]
    if any(b.low is None or b.high is None for names in binders for b in names):
        yield Taps(tensor, None, times)
        return
    shared = sorted({b for n, names in enumerate(binders) for b in names if any(b in o for o in binders[n + 1:])},
                    key=lambda name: name.id)
    if prod(_length(b) for b in shared) > MOST_RANGES:
        yield Taps(tensor, None, times)
        return
    for point in _points(shared):
        axes = [_axis(s.over(point), indices) for s in given]
        known = tuple(a for a in axes if a is not None)
        used = [a.index for a in known if a.index is not None]
        if len(known) != len(axes) or len(set(used)) != len(used):
            yield Taps(tensor, None, times)
            return
        rest = times // prod(_length(b) for b in set().union(*binders))
        yield Taps(tensor, known, rest)


def _length(binder: Name) -> int:
    assert binder.low is not None
    assert binder.high is not None
    return binder.high - binder.low + 1


def _points(binders: Sequence[Name]) -> Iterator[dict[str, Expr]]:
    if not binders:
        yield {}
        return
    first, *rest = binders
    for point in _points(rest):
        for value in range(first.low or 0, (first.low or 0) + _length(first)):
            yield {**point, first.id: Int(value)}


def _axis(subscript: Expr, indices: tuple[str, ...]) -> AxisTaps | None:
    """One axis, or None where it is not affine or follows several indices."""
    index, scale, start = None, 1, 0
    steps: list[range] = []
    for factor, coefficient in terms(subscript):
        match factor:
            case Int(value):
                start += value * coefficient
            case Name(id) if id in indices:
                if index is not None:
                    return None
                index, scale = id, coefficient
            case Name(_, int(low), int(high)):
                steps.append(_ascending(range(low * coefficient, (high + 1) * coefficient, coefficient)))
            case _:
                return None
    steps.sort(key=len)
    if prod(len(s) for s in steps[:-1]) > MOST_RANGES:
        return None
    offsets = [steps[-1] if steps else range(1)]
    for step in steps[:-1]:
        offsets = [range(o.start + s, o.stop + s, o.step) for s in step for o in offsets]
    return AxisTaps(index, scale, tuple(range(o.start + start, o.stop + start, o.step) for o in offsets))


def _ascending(values: range) -> range:
    return values if values.step > 0 else values[::-1]


# ---- how many reads


def count_along(axis: AxisTaps, runs: Runs, low: Bound, high: Bound) -> int:
    """Pairs of an index of the runs and an offset that land in ``low..high`` (inclusive; an array: one bound a run)."""
    if axis.index is None:
        return sum(_in_range(o, low, high, runs.weight) for o in axis.offsets)
    return sum(_moved(axis.scale, o, runs, low, high) for o in axis.offsets)


def _in_range(offsets: range, low: Bound, high: Bound, weight: Column) -> int:
    first = np.maximum(-((offsets.start - low) // offsets.step), 0)
    last = np.minimum((high - offsets.start) // offsets.step, len(offsets) - 1)
    return int((np.maximum(last - first + 1, 0) * weight).sum())


def _moved(scale: int, offsets: range, runs: Runs, low: Bound, high: Bound) -> int:
    first, last = (runs.first, runs.last) if scale > 0 else (-runs.last, -runs.first)
    scale = abs(scale)
    chunk = max(1, (1 << 20) // max(len(first), 1))
    total = 0
    for start in range(0, len(offsets), chunk):
        part = offsets[start:start + chunk]
        o = np.arange(part.start, part.stop, part.step, dtype=np.int64)[:, None]
        begin = np.maximum(first, -((o - low) // scale))
        end = np.minimum(last, (high - o) // scale)
        total += int((np.maximum(end - begin + 1, 0) * runs.weight).sum())
    return total


# ---- how many elements


def count_elements(found: Sequence[Taps], counts: Mapping[str, int], shape: Sequence[int]) -> int | None:
    """Distinct elements inside the tensor that outputs with these index counts read; None: cannot be counted."""
    if any(t.axes is None or t.times is None for t in found):
        return None
    live = [t for t in found if all(n > 0 for n in counts.values())]
    patterns: Counter[int] = Counter({(1 << len(live)) - 1: 1})
    for number, extent in enumerate(shape):
        along = _patterns([t.axes[number] for t in live if t.axes is not None], counts, extent)
        crossed: Counter[int] = Counter()
        for readers, elements in patterns.items():
            for others, more in along.items():
                if readers & others:
                    crossed[readers & others] += elements * more
        patterns = crossed
    return sum(n for readers, n in patterns.items() if readers)


def _patterns(axes: Sequence[AxisTaps], counts: Mapping[str, int], extent: int) -> Counter[int]:
    """How many positions of an axis are read by which taps (a bit each)."""
    progressions = [(number, p) for number, axis in enumerate(axes) for p in _progressions(axis, counts)]
    modulus = lcm(*(p.step for _, p in progressions))
    ends: dict[int, list[tuple[int, int, int]]] = {}        # residue -> (place, +1 or -1, taps)
    for number, p in progressions:
        for start in range(p.start, min(p.start + modulus, p.stop), p.step):
            residue = start % modulus
            first = max(start // modulus, 0)
            last = min((p[-1] - (p[-1] - start) % modulus) // modulus, (extent - 1 - residue) // modulus)
            if first <= last:
                ends.setdefault(residue, []).extend([(first, 1, number), (last + 1, -1, number)])
    out: Counter[int] = Counter()
    for events in ends.values():
        _sweep(sorted(events), out)
    return out


def _sweep(events: list[tuple[int, int, int]], out: Counter[int]) -> None:
    depth: Counter[int] = Counter()
    readers, before = 0, events[0][0]
    for place, change, number in events:
        if readers and place > before:
            out[readers] += place - before
        before = place
        depth[number] += change
        readers = readers | 1 << number if depth[number] else readers & ~(1 << number)


def _progressions(axis: AxisTaps, counts: Mapping[str, int]) -> Iterator[range]:
    """The positions, inside the tensor or not, as ascending ranges."""
    if axis.index is None:
        yield from axis.offsets
        return
    n, scale = counts[axis.index], axis.scale
    for offsets in axis.offsets:
        if scale % offsets.step == 0 and len(offsets) * offsets.step >= abs(scale):     # windows touch: one range
            low = offsets.start + min(0, scale * (n - 1))
            yield range(low, offsets[-1] + max(0, scale * (n - 1)) + 1, offsets.step)
            continue
        for o in offsets:
            yield _ascending(range(o, o + scale * n, scale))
