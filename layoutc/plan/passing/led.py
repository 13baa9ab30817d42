"""Reductions that follow the rows: each row, when it comes, is taken into every output that it belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from layoutc.index import Name
from layoutc.plan.reads.accesses import Accesses
from layoutc.plan.reads.footprints import Axis, Footprint, boxes_around
from layoutc.resolve.program import Binder, Const, Equation, Index, Kernel, Reduce, Value
from layoutc.resolve.trees import children, replaced

FOLLOWING = ("sum", "prod", "min", "max", "any", "all", "count")


@dataclass(frozen=True, slots=True)
class Led:
    """A reduction whose first index counts rows: the partial results of as many output rows wait."""

    reduce: Reduce
    low: int                            # of the first index
    high: int                           # of the first index, exclusive
    newest: int                         # the row that is read, counted from the finished output row
    reads: Mapping[str, Footprint]      # of bands at the newest row, and of what no index moves

    @property
    def binder(self) -> Binder:
        """The index that counts rows."""
        return self.reduce.binders[0]

    @property
    def rows(self) -> int:
        """Output rows whose partial results wait at once."""
        return self.high - self.low


def led_reductions(
    kernel: Kernel, equation: Equation, kept: frozenset[str], bands: frozenset[str], walked: str
) -> tuple[Led, ...]:
    """The reductions of an equation that read the bands one row a turn."""
    found = (_led(kernel, equation, r, kept, bands, walked) for r in dict.fromkeys(_outermost(equation.value)))
    return tuple(one for one in found if one is not None)


def _outermost(value: Value) -> Iterator[Reduce]:
    if isinstance(value, Reduce):
        yield value
        return
    for child in children(value):
        yield from _outermost(child)


def _led(
    kernel: Kernel, equation: Equation, reduce: Reduce, kept: frozenset[str], bands: frozenset[str], walked: str
) -> Led | None:
    """Where output row o reads row o + u + shift for every u, the row o + shift is read once o - u stands for o."""
    first, *others = reduce.binders
    if reduce.op not in FOLLOWING or not isinstance(first.low, Const) or not isinstance(first.high, Const):
        return None
    low, high = int(first.low.value), int(first.high.value)
    if high - low < 2 or any(first.name in _names(v) for b in others for v in (b.low, b.high)):
        return None
    u = Name(f"{first.name}#", low, high - 1)
    env = {**{i: Name(i) for i in equation.indices}, walked: Name(walked) - u, first.name: u}
    inner = replace(reduce, binders=tuple(others)) if others else reduce.body
    reads = boxes_around(kernel, ((access, equation.indices, times) for access, times
                                  in Accesses(kernel, kept, None, (equation.output,)).within(inner, env)))
    shifts = {a.low if a.low == a.high else None for t, f in reads.items() if t in bands
              for a in f.axes or () if a.index == walked}
    moved = any(t not in bands and (f.axes is None or any(a.index is not None for a in f.axes))
                for t, f in reads.items())
    shift = next(iter(shifts)) if len(shifts) == 1 else None
    if shift is None or moved or any(f.axes is None for f in reads.values()):
        return None
    newest = shift + high - 1
    return Led(reduce, low, high, newest, {t: _at(f, walked, newest) for t, f in reads.items()})


def _names(value: Value) -> set[str]:
    own = {value.name} if isinstance(value, Index) else set()
    return own.union(*(_names(child) for child in children(value)))


def _at(found: Footprint, walked: str, row: int) -> Footprint:
    axes = tuple(Axis(a.index, a.scale, row, row) if a.index == walked else a for a in found.axes or ())
    return replace(found, axes=axes)


def without(value: Value, gone: frozenset[Reduce]) -> Value:
    """The value with numbers in place of some of its reductions."""
    return replaced(value, lambda r: Const(0, r.type) if r in gone else None)
