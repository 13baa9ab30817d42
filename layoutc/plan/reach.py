"""Boxes through lets that are kept in memory: what a kept let reads is its own box grown by its halo."""

from __future__ import annotations

from layoutc.plan.halo import Axis, Footprint, footprints
from layoutc.resolve.program import Equation, Kernel, Stage


def grown(
    kernel: Kernel, equations: tuple[Equation, ...], kept: frozenset[str], chunked: tuple[str, ...] = ()
) -> dict[str, Footprint]:
    """The box of every tensor and kept let that the equations reach, per output and step of ``chunked`` indices."""
    found = footprints(kernel, equations, kept, chunked=chunked)
    for stage in reversed(kernel.stages):
        if stage.name not in kept or stage.name not in found:
            continue
        outer = found[stage.name]
        outputs = [e.output for e in equations]
        for name, inner in footprints(kernel, (stage,), kept, outputs=outputs).items():
            composed = compose(outer, inner, stage)
            found[name] = composed if name not in found else union(found[name], composed)
    return found


def compose(outer: Footprint, inner: Footprint, stage: Stage) -> Footprint:
    """What the readers of a let reach of a tensor through it."""
    if outer.axes is None or inner.axes is None:
        return Footprint(inner.tensor, None, inner.reads, outer.why or inner.why)
    if any(r is not None and r.name != "constant" for sides in stage.edges for r in sides):
        return Footprint(inner.tensor, None, inner.reads, f"`{stage.name}` folds at its edges")
    by_index = dict(zip(stage.indices, outer.axes, strict=True))
    axes = []
    for a in inner.axes:
        if a.index is None:
            axes.append(a)
            continue
        o = by_index[a.index]
        axes.append(Axis(o.index, a.scale * o.scale, a.scale * o.low + a.low, a.scale * o.high + a.high))
    certain = outer.certain and inner.certain
    return Footprint(inner.tensor, tuple(axes), inner.reads * max(outer.reads, 1), certain=certain)


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
