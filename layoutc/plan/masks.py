"""The tests that keep every access inside its tensor, as facts about a plan."""

from __future__ import annotations

from layoutc.index import TRUE, Expr, Int, Name, compare
from layoutc.plan.halo import Footprint, as_index
from layoutc.plan.nodes import Mask
from layoutc.resolve.program import Equation, Kernel


def masks_of(
    kernel: Kernel,
    equation: Equation,
    extents: tuple[Expr, ...],
    tile: tuple[int, ...],
    found: tuple[Footprint, ...],
) -> tuple[Mask, ...]:
    """Ragged ends of the outputs, and the sides on which an edge rule answers; in the spec's names."""
    masks: list[Mask] = []
    for axis, (index, n, size) in enumerate(zip(equation.indices, extents, tile, strict=True)):
        if not (isinstance(n, Int) and n.value % size == 0) and size > 0:
            masks.append(Mask(equation.output, axis, "high", "ragged", compare("<", Name(index, 0), n)))
    edges = {t.name: t.edges for t in kernel.inputs} | {s.name: s.edges for s in kernel.stages}
    for footprint in found:
        axes = footprint.axes if footprint.axes is not None and edges[footprint.tensor] else ()
        for number, a in enumerate(axes):
            sides = edges[footprint.tensor][number]
            at = Name(a.index, 0) * a.scale if a.index else Int(0)
            tests = (compare(">=", at + a.low, Int(0)),
                     compare("<", at + a.high, _extent(kernel, footprint.tensor, number)))
            for side, rule, test in zip(("low", "high"), sides, tests, strict=True):
                if rule is not None and test != TRUE:
                    masks.append(Mask(footprint.tensor, number, side, "edge", test))
    return tuple(masks)


def _extent(kernel: Kernel, tensor: str, axis: int) -> Expr:
    names = {e: Name(e, 0) for e in kernel.extents}
    for t in kernel.inputs:
        if t.name == tensor:
            return as_index(t.extents[axis], names) or Int(0)
    stage = next(s for s in kernel.stages if s.name == tensor)
    assert stage.domain is not None
    return as_index(stage.domain[axis][1], names) or Int(0)
