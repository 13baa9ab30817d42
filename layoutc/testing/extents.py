"""Extents worth testing: nothing, one, and what lies just below, at and above a tile, a box, a halo."""

from __future__ import annotations

from itertools import product
from math import prod
from random import Random

from layoutc.diagnostics import LayoutcError
from layoutc.plan.nodes import Pass, Plan
from layoutc.reference.boxes import binder_ranges
from layoutc.resolve.binding import check_call, tensor_shape
from layoutc.resolve.program import Const, Extent, Kernel, Reduce, Value
from layoutc.resolve.trees import children, parts

SMALL = (0, 1, 2, 3, 4, 5, 7)
MOST_TRIED = 150            # combinations looked at
MOST_WORK = 200_000         # values that one example may compute
WIDE = 40                   # extents tried where `require` admits none of the others, and past its numbers
MOST_NAMED = 4096           # numbers of `require` that extents are tried around


def extents_worth_testing(kernel: Kernel, plan: Plan, random: Random) -> list[dict[str, int]]:
    """Extents that the kernel accepts, by name, the least work first.

    Raises LayoutcError, the kernel's own refusal, where none was found that it accepts.
    """
    names = kernel.extents
    named = _named(kernel)
    candidates = {name: sorted({*SMALL, *_near(sizes_along(name, kernel, plan) | named)}) for name in names}
    tried = _combinations(candidates, random)
    found = _by_work(kernel, tried, MOST_WORK)
    if not found:
        widest = WIDE + 2 * max(named, default=0)
        wide = [{name: random.randrange(widest) for name in names} for _ in range(10 * MOST_TRIED)]
        found = _by_work(kernel, wide, 100 * MOST_WORK)[:MOST_TRIED]
    if not found:
        check_call(kernel, tried[-1])
    return found


def _by_work(kernel: Kernel, tried: list[dict[str, int]], most: int) -> list[dict[str, int]]:
    """Those that the kernel accepts, the least work first."""
    found: dict[tuple[tuple[str, int], ...], int] = {}
    for extents in tried:
        if tuple(extents.items()) not in found and accepts(kernel, extents):
            found[tuple(extents.items())] = work(kernel, extents)
    return [dict(items) for items in sorted(found, key=lambda i: (found[i], i)) if found[items] <= most]


def accepts(kernel: Kernel, extents: dict[str, int]) -> bool:
    """Whether a call with these extents is meant at all."""
    try:
        if any(n < 0 for t in (*kernel.inputs, *kernel.outputs) for n in tensor_shape(t, extents)):
            return False
        check_call(kernel, extents)
    except (LayoutcError, ZeroDivisionError):
        return False
    return True


def _combinations(candidates: dict[str, list[int]], random: Random) -> list[dict[str, int]]:
    """All, if they are few; else some of them, with the alike among them."""
    if prod(map(len, candidates.values())) <= MOST_TRIED:
        return [dict(zip(candidates, values, strict=True)) for values in product(*candidates.values())]
    common = sorted(set.intersection(*map(set, candidates.values())))
    alike = [dict.fromkeys(candidates, n) for n in common]
    return alike + [{name: random.choice(values) for name, values in candidates.items()} for _ in range(MOST_TRIED)]


def _near(sizes: set[int]) -> set[int]:
    return {size + by for size in sizes for by in (-1, 0, 1)} | {2 * size + 1 for size in sizes}


def sizes_along(extent: str, kernel: Kernel, plan: Plan) -> set[int]:
    """Tile, box and halo sizes along the axes that an extent measures."""
    return {size for one in plan.passes for size in _of_pass(extent, kernel, one) if size >= 1}


def _named(kernel: Kernel) -> set[int]:
    """The numbers that requirements speak of: extents are admitted from there on, or up to there."""
    values = [v.value for check in kernel.checks for v in parts(check.condition) if isinstance(v, Const)]
    return {int(value) for value in values if not isinstance(value, bool) and 1 < value <= MOST_NAMED}


def _of_pass(extent: str, kernel: Kernel, one: Pass) -> set[int]:
    output = next(t for t in kernel.outputs if t.name == one.outputs[0])
    indices = next(e.indices for e in kernel.equations if e.output == output.name)
    lengths = dict(zip(indices, output.extents, strict=True))
    found = {round(size ** (1 / len(group))) for group, size in zip(one.groups, one.tile, strict=True)
             for i in group if extent in extents_in(lengths[i])}
    measured = {t.name: t.extents for t in kernel.inputs}
    found |= {c.size for c in one.chunks if extent in extents_in(c.high) | extents_in(c.low)}
    sizes = one.sizes
    for footprint in one.footprints:
        for number, axis in enumerate(footprint.axes or ()):
            if footprint.tensor in measured and extent in extents_in(measured[footprint.tensor][number]):
                box = axis.extent(sizes.get(axis.index, 1)) if axis.index is not None else 1
                found |= {-axis.low, axis.high, axis.high - axis.low + 1, box}
    if one.lanes is not None and any(extent in extents_in(end) for end in _ends(kernel)):
        found |= {one.lanes.vector, one.lanes.threads * one.lanes.vector, one.lanes.share}
    return found


def _ends(kernel: Kernel) -> list[Value]:
    """Where the ranges of reductions begin and end."""
    roots = [*(e.value for e in kernel.equations), *(s.value for s in kernel.stages)]
    values = [v for root in roots for v in parts(root)]
    return [end for v in values if isinstance(v, Reduce) for b in v.binders for end in (b.low, b.high)]


def extents_in(value: Value) -> set[str]:
    """The extents that a value mentions."""
    own = {value.name} if isinstance(value, Extent) else set()
    return own.union(*(extents_in(child) for child in children(value)))


def work(kernel: Kernel, extents: dict[str, int]) -> int:
    """About how many values a call computes."""
    inputs = sum(prod(tensor_shape(t, extents)) for t in kernel.inputs)
    lets = sum(_work(s.value, extents) for s in kernel.stages)
    outputs = zip(kernel.outputs, kernel.equations, strict=True)
    return inputs + sum(prod(tensor_shape(t, extents)) * (_work(e.value, extents) + lets) for t, e in outputs)


def _work(value: Value, extents: dict[str, int]) -> int:
    inner = 1 + sum(_work(child, extents) for child in children(value))
    if isinstance(value, Reduce):
        return inner * prod(max(high - low, 1) for low, high in binder_ranges(value, extents))
    return inner
