"""Boxes through lets that are kept in memory: what a kept let reads is its own box grown by its halo."""

from __future__ import annotations

from dataclasses import replace

from layoutc.plan.reads.accesses import Accesses
from layoutc.plan.reads.folding import Offsets, folded, is_folded
from layoutc.plan.reads.footprints import Axis, Footprint, footprints
from layoutc.resolve.program import Equation, Kernel, Stage


def grown(
    kernel: Kernel, equations: tuple[Equation, ...], kept: frozenset[str], chunked: tuple[str, ...] = (),
    near: bool = False,
) -> dict[str, Footprint]:
    """The box of every tensor and kept let that the equations reach, per output and step of ``chunked`` indices.

    ``near``: boxes hold what edges of lets fold to, where that stays near.
    """
    found = footprints(kernel, equations, kept, chunked=chunked, near=near)
    for stage in reversed(kernel.stages):
        if stage.name not in kept or stage.name not in found:
            continue
        outputs = [e.output for e in equations]
        outer = _folded(kernel, found[stage.name], stage, equations[0], near)
        for name, inner in footprints(kernel, (stage,), kept, outputs=outputs, near=near).items():
            composed = compose(outer, inner, stage)
            found[name] = composed if name not in found else union(found[name], composed)
    return found


def _folded(kernel: Kernel, outer: Footprint, stage: Stage, equation: Equation, is_near: bool) -> Footprint:
    """The places at which a let's formula is computed for its box: near it, where its edges fold."""
    if outer.axes is None or not any(map(is_folded, stage.edges)):
        return outer
    accesses = Accesses(kernel)
    ranges, axes = accesses.ranges_of(equation), []
    for a, sides, domain in zip(outer.axes, stage.edges, accesses.domain_of(stage), strict=True):
        near: Offsets | None = (a.low, a.high)
        if is_folded(sides):
            known = is_near and a.index in ranges and a.scale == 1
            near = folded(sides, (a.low, a.high), ranges[a.index], domain) if known and a.index is not None else None
        if near is None:
            return replace(outer, axes=None, why=f"`{stage.name}` folds at its edges")
        axes.append(replace(a, low=near[0], high=near[1]))
    return replace(outer, axes=tuple(axes))


def compose(outer: Footprint, inner: Footprint, stage: Stage) -> Footprint:
    """What the readers of a let reach of a tensor through it."""
    if outer.axes is None or inner.axes is None:
        return Footprint(inner.tensor, None, inner.reads, outer.why or inner.why)
    axes = axes_through(stage, outer.axes, inner.axes)
    certain = outer.certain and inner.certain
    return Footprint(inner.tensor, axes, inner.reads * max(outer.reads, 1), certain=certain)


def axes_through(stage: Stage, outer: tuple[Axis, ...], inner: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """The box of what a let reads, seen from those who read this box of the let."""
    by_index = dict(zip(stage.indices, outer, strict=True))
    axes = []
    for a in inner:
        if a.index is None:
            axes.append(a)
            continue
        o = by_index[a.index]
        axes.append(Axis(o.index, a.scale * o.scale, a.scale * o.low + a.low, a.scale * o.high + a.high))
    return tuple(axes)


def union(a: Footprint, b: Footprint) -> Footprint:
    """The box around two boxes of one tensor."""
    if a.axes is None or b.axes is None:
        return a if a.axes is None else b
    axes = []
    for x, y in zip(a.axes, b.axes, strict=True):
        if (x.index, x.scale) != (y.index, y.scale):
            return Footprint(a.tensor, None, a.reads + b.reads, f"`{a.tensor}` is read along different indices")
        axes.append(Axis(x.index, x.scale, min(x.low, y.low), max(x.high, y.high)))
    return Footprint(a.tensor, tuple(axes), a.reads + b.reads, certain=a.certain or b.certain)


def reached(kernel: Kernel, stage: Stage) -> frozenset[str]:
    """Every tensor that a let reads, through other lets too."""
    return frozenset(footprints(kernel, (stage,)))


def groups(kernel: Kernel) -> list[tuple[Equation, ...]]:
    """Equations that share their index space, one pass each."""
    found: dict[tuple[str, ...], list[Equation]] = {}
    for equation in kernel.equations:
        found.setdefault(equation.indices, []).append(equation)
    return [tuple(g) for g in found.values()]
