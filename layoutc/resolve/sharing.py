"""Whether the terms of a reduction belong to one output each: the sums whose order is bounded pairwise."""

from __future__ import annotations

from collections.abc import Iterator

from layoutc.resolve.program import Index, Read, Reduce, Value
from layoutc.resolve.same_bits import has_constant_ranges
from layoutc.resolve.trees import children


def over_extents(reduce: Reduce) -> bool:
    """Whether some range is known only at the call: then the order of the terms is the compiler's."""
    return not has_constant_ranges(reduce)


def shares_terms(reduce: Reduce) -> bool:
    """Whether several values of the reduction read the same elements: matrix products, convolutions, windows.

    A read that moves with the reduction belongs to one value of it where every index from outside stands in a
    subscript of its own, without an index of the reduction.
    """
    outer = free_indices(reduce)
    for names in _moving_reads(reduce):
        alone = [n & outer for n in names if len(n & outer) == 1]
        if frozenset().union(*alone) != outer:
            return True
    return slides(reduce)


def slides(reduce: Reduce) -> bool:
    """Whether a subscript moves with the reduction and with an index from outside, as in ``x[i + u]``."""
    own, outer = {b.name for b in reduce.binders}, free_indices(reduce)
    return any(n & own and n & outer for names in _moving_reads(reduce) for n in names)


def _moving_reads(reduce: Reduce) -> Iterator[list[frozenset[str]]]:
    """Of each read that moves with the reduction, the indices in each of its subscripts."""
    own = {b.name for b in reduce.binders}
    for read in _reads(reduce.body):
        names = [frozenset(indices_in(s)) for s in read.indices]
        if any(n & own for n in names):
            yield names


def free_indices(value: Value) -> frozenset[str]:
    """Names of the indices that a value depends on, those that its own reductions bind aside."""
    if isinstance(value, Index):
        return frozenset({value.name})
    found: frozenset[str] = frozenset().union(*map(free_indices, children(value)))
    return found - {b.name for b in value.binders} if isinstance(value, Reduce) else found


def indices_in(value: Value) -> Iterator[str]:
    """The name of every index in a value, as often as it stands there."""
    if isinstance(value, Index):
        yield value.name
    for child in children(value):
        yield from indices_in(child)


def _reads(value: Value) -> Iterator[Read]:
    if isinstance(value, Read):
        yield value
    for child in children(value):
        yield from _reads(child)
