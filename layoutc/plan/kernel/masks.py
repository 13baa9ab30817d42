"""The tests that keep every access inside its tensor, as facts about a plan."""

from __future__ import annotations

from collections.abc import Iterator

from layoutc.index import TRUE, Expr, Int, Name, compare
from layoutc.plan.nodes import Mask, Storage
from layoutc.plan.reads.chunks import Chunk
from layoutc.plan.reads.footprints import Axis, Footprint
from layoutc.plan.reads.subscripts import as_index
from layoutc.resolve.program import Equation, Kernel, Sides


def masks_of(
    kernel: Kernel,
    equations: tuple[Equation, ...],
    extents: tuple[Expr, ...],
    tile: tuple[int, ...],
    found: tuple[Footprint, ...],
    storage: tuple[Storage, ...],
    chunks: tuple[Chunk, ...] = (),
) -> tuple[Mask, ...]:
    """Ragged ends of outputs and of staged loads, and the sides on which an edge rule answers; in the spec's names.

    The test is that of the farthest element of an output; a load past the end that no output needs is not made, or
    answered by the edge rule that there is.
    """
    masks: list[Mask] = []
    for equation in equations:
        for axis, (index, n, size) in enumerate(zip(equation.indices, extents, tile, strict=True)):
            if not (isinstance(n, Int) and n.value % size == 0) and size > 0:
                masks.append(Mask(equation.output, axis, "high", "ragged", compare("<", Name(index, 0), n)))
    edges = {t.name: t.edges for t in kernel.inputs} | {s.name: s.edges for s in kernel.stages}
    counts = dict(zip(equations[0].indices, extents, strict=True))
    ragged = {index for index, size in zip(equations[0].indices, tile, strict=True)
              if not (isinstance(n := counts[index], Int) and n.value % size == 0)}
    env = {e: Name(e, 0) for e in kernel.extents}
    counts |= {c.index: c.last(env) for c in chunks}
    ragged |= {c.index for c in chunks if not c.whole}
    staged = {s.tensor for s in storage if s.where in ("shared", "registers")} & {t.name for t in kernel.inputs}
    for footprint in found:
        for number, a in enumerate(footprint.axes or ()):
            sides = edges[footprint.tensor][number] if edges[footprint.tensor] else (None, None)
            past = footprint.tensor in staged and a.index in ragged     # the box of the last tile goes on past the end
            last = counts[a.index] - 1 if a.index is not None else None
            masks += _sides(kernel, footprint.tensor, number, a, sides, last, past)
    return tuple(masks)


def _sides(
    kernel: Kernel, tensor: str, axis: int, a: Axis, sides: Sides, last: Expr | None, past: bool
) -> Iterator[Mask]:
    """The masks of one axis of an input or a let; ``last``: the greatest index that it is read for, if known."""
    low, high = sides
    at = Name(a.index, 0) * a.scale if a.index else Int(0)
    below = compare(">=", at + a.low, Int(0))
    if low is not None and below != TRUE:
        yield Mask(tensor, axis, "low", "edge", below)
    if high is None and not past:
        return
    extent = _extent(kernel, tensor, axis)
    above = compare("<", at + a.high, extent)
    needs_rule = high is not None and (last is None or compare("<", last * a.scale + a.high, extent) != TRUE)
    if above != TRUE and (past or needs_rule):
        yield Mask(tensor, axis, "high", "edge" if needs_rule else "ragged", above)


def _extent(kernel: Kernel, tensor: str, axis: int) -> Expr:
    names = {e: Name(e, 0) for e in kernel.extents}
    for t in kernel.inputs:
        if t.name == tensor:
            return as_index(t.extents[axis], names) or Int(0)
    stage = next(s for s in kernel.stages if s.name == tensor)
    assert stage.domain is not None
    return as_index(stage.domain[axis][1], names) or Int(0)
