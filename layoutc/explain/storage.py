"""What a tile keeps on the chip, and how large it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from layoutc.explain.case import Case
from layoutc.explain.records import Item, Stored
from layoutc.plan.reads.footprints import Footprint
from layoutc.resolve.program import Equation, Read, Reduce, Value
from layoutc.resolve.trees import children
from layoutc.resolve.types import arithmetic_type, compute_type


def storage(case: Case, footprints: Mapping[str, Footprint]) -> Stored:
    """Staged boxes, operands beside a reduction, partial results: bytes of one tile's data, without padding.

    Of a tensor that comes chunk by chunk it is one chunk's box, twice where two buffers take turns.
    A box in registers is one thread's, with as many copies as there are threads; what goes through shared memory on its
    way to or from registers is an item more. An input that stands beside a reduction (a bias) waits in registers until
    the sum is made; so do the partial results of every output, in the type in which they are accumulated.
    """
    one = case.one
    items = [Item(s.tensor, s.where, s.bytes, one.threads if s.where == "registers" else s.copies)
             for s in one.storage]
    items += [Item(tensor, "shared", bytes) for tensor, bytes in one.by_way]
    beside = _beside_reductions(case)
    for tensor in case.inputs:
        box = box_of(footprints.get(tensor.name), case)
        if tensor.name in beside and case.held(tensor.name) is None and box is not None:
            items.append(Item(tensor.name, "registers", prod(box) * tensor.type.bytes))
    for equation in case.equations:
        items.append(Item(equation.output, "registers", prod(one.tile) * _accumulator_bytes(case, equation)))
    return Stored(tuple(items))


def box_of(footprint: Footprint | None, case: Case) -> tuple[int, ...] | None:
    """The extents of the box that a tile reads."""
    if footprint is None or footprint.axes is None:
        return None
    sizes = case.one.sizes
    if any(a.index is not None and a.index not in sizes for a in footprint.axes):
        return None         # outputs that are counted through several indices lie in no box
    return tuple(a.extent(sizes[a.index] if a.index is not None else 1) for a in footprint.axes)


def _beside_reductions(case: Case) -> frozenset[str]:
    """Inputs that the reducing equations read, but only outside of their reductions."""
    inside: set[str] = set()
    outside: set[str] = set()
    for equation in case.equations:
        found = list(_walk(case, equation.value))
        if any(isinstance(v, Reduce) for v, _ in found):
            inside |= {v.tensor for v, within in found if isinstance(v, Read) and within}
            outside |= {v.tensor for v, within in found if isinstance(v, Read) and not within}
    return frozenset(outside - inside)


def _accumulator_bytes(case: Case, equation: Equation) -> int:
    """Bytes of one partial result: of the widest reduction, or of the output's own arithmetic."""
    output = next(t for t in case.outputs if t.name == equation.output)
    sums = [v.type for v, _ in _walk(case, equation.value) if isinstance(v, Reduce)]
    return max(compute_type(type).bytes for type in sums or [arithmetic_type(output.type)])


def _walk(case: Case, value: Value) -> Iterator[tuple[Value, bool]]:
    """Every value below, and whether a reduction is around it; lets that are not kept are entered, once each way."""
    entered = {(s.name, within) for s in case.kept for within in (False, True)}
    stages = {s.name: s for s in case.kernel.stages}
    rest = [(value, False)]
    while rest:
        value, within = rest.pop()
        yield value, within
        rest += [(child, within or isinstance(value, Reduce)) for child in children(value)]
        if isinstance(value, Read) and value.tensor in stages and (value.tensor, within) not in entered:
            entered.add((value.tensor, within))
            rest.append((stages[value.tensor].value, within))
