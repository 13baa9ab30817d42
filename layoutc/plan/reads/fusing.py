"""Several steps a launch: how far a tile's box grows with each step, and what keeps steps apart.

Overlapped tiles (temporal blocking): a block computes the box of its tile grown by the halo of the steps to come, one
step after the other, and each step the box is one halo smaller. What lies outside the tensor is computed with it, each
place as its own copy: a place that an edge rule folds is computed where it folds to, whose neighbours must then be in
the box. For `nearest` the box must hold the tile; for `reflect` and `mirror` it must reach as far on one side as on the
other, for then the place folded to is never farther from the tile than the place itself. A place beyond a side that
wraps is computed from its own neighbours, which are copies of those on the other side of the tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from layoutc.diagnostics import LayoutcError
from layoutc.plan.reads.footprints import Axis, Footprint, footprints
from layoutc.plan.refusal import refusal
from layoutc.resolve.program import EdgeRule, Equation, Kernel, Program, Read, Schedule, Sides, Value
from layoutc.resolve.trees import children

MIRRORS = ("reflect", "mirror")


@dataclass(frozen=True, slots=True)
class Fusing:
    """A launch that makes several steps."""

    steps: int
    stepped: tuple[str, ...]                    # inputs that are stepped and read
    edges: tuple[tuple[Sides, ...], ...]        # of each of them, by which places outside the tensor are computed
    halo: tuple[tuple[int, int], ...]           # per index what a step needs around what it makes: low, high
    made: tuple[int, ...] = ()                  # places that every step makes, per index; (): no more than it must

    def box(self, tile: tuple[int, ...], after: int) -> tuple[int, ...]:
        """Extents of what a tile computes in step ``after``, counted from 1."""
        left = self.steps - after
        return self.made or tuple(size + left * (low + high) for size, (low, high) in zip(tile, self.halo, strict=True))

    def evaluations(self, tile: tuple[int, ...]) -> int:
        """Places that a tile computes in all steps, inside the tensor or not."""
        return sum(prod(self.box(tile, after)) for after in range(1, self.steps + 1))

    def grown(self, found: Mapping[str, Footprint], indices: tuple[str, ...]) -> dict[str, Footprint]:
        """The boxes of a launch, from those of one step."""
        edges = dict(zip(self.stepped, self.edges, strict=True))
        halo = dict(zip(indices, self.halo, strict=True))
        return {name: self._grown(f, halo, edges.get(name)) for name, f in found.items()}

    def _grown(
        self, found: Footprint, halo: Mapping[str, tuple[int, int]], edges: tuple[Sides, ...] | None
    ) -> Footprint:
        if found.axes is None:
            return found
        axes: list[Axis] = []
        for number, a in enumerate(found.axes):
            before, after = halo.get(a.index or "", (0, 0))
            low, high = a.low, a.high
            if edges is not None and kinds(edges[number]).count("wrap") == 1:
                low, high = -before, after          # where the other side's rule leads back from the side that wraps
            elif edges is not None:
                low, high = min(low, 0), max(high, 0)
            more = a.scale * (self.steps - 1)
            axes.append(replace(a, low=low - more * before, high=high + more * after))
        return replace(found, axes=tuple(axes))


def fusing_of(
    program: Program, kernel: Kernel, equations: tuple[Equation, ...], schedule: Schedule | None
) -> Fusing | None:
    """How the steps of a launch are joined; None where the schedule asks for one step a launch.

    Raises LayoutcError (``cannot-fuse``) where the steps cannot be joined.
    """
    if schedule is None or schedule.fuse == 1:
        return None

    def refuse(why: str, help: str = "leave `fuse` out: each step is then a launch") -> LayoutcError:
        span = dict(schedule.clause_spans).get("fuse", schedule.span)
        return refusal(program, "cannot-fuse", f"steps of `{kernel.name}` cannot share a launch: {why}", span, help)

    if len(equations) != len(kernel.equations):
        other = next(e.output for e in kernel.equations if e not in equations)
        raise refuse(f"`{equations[0].output}` and `{other}` have different indices",
                     "give all equations the same index names")
    inputs = {u for u, _ in kernel.steps}
    for name in _in_edge_values(kernel):
        if name in inputs:
            raise refuse(f"`{name}` is stepped, and an edge rule has its value")
    found = footprints(kernel, equations)
    stepped = tuple(u for u, _ in kernel.steps if u in found)
    for name in stepped:
        why = _why_not(found[name], equations[0].indices)
        if why:
            raise refuse(why)
    edges = _completed(kernel, stepped)
    for u, name, axis in _lost_copies(kernel, equations, edges):
        raise refuse(f"`{u}` wraps along `{equations[0].indices[axis]}`, and `{name}`, which its next value reads, "
                     "has another edge rule there")
    halo = tuple(_halo(kernel, [found[u] for u in stepped]))
    return Fusing(schedule.fuse, stepped, tuple(edges.values()), halo)


def _why_not(found: Footprint, indices: tuple[str, ...]) -> str:
    """Why what is read of a stepped input around an output is no box around it."""
    if found.axes is None:
        return found.why
    for number, (a, index) in enumerate(zip(found.axes, indices, strict=True)):
        if a.index != index or a.scale != 1:
            return f"axis {number} of `{found.tensor}` is not read along `{index}` itself"
    return ""


def _halo(kernel: Kernel, found: list[Footprint]) -> Iterator[tuple[int, int]]:
    """Per index what a step needs on each side, of all stepped inputs together."""
    edges = {t.name: t.edges for t in kernel.inputs}
    for axis in range(len(kernel.outputs[0].extents)):
        reach = [f.axes[axis] for f in found if f.axes is not None]
        low, high = max([0, *(-a.low for a in reach)]), max([0, *(a.high for a in reach)])
        if any(rule is not None and rule.name in MIRRORS for f in found for rule in edges[f.tensor][axis]):
            low = high = max(low, high)
        yield low, high


def _completed(kernel: Kernel, stepped: tuple[str, ...]) -> dict[str, tuple[Sides, ...]]:
    """The edges of the stepped inputs; one that is never read outside goes along with another that is."""
    own = {t.name: t.edges for t in kernel.inputs if t.name in stepped}

    def completed(sides: Sides, axis: int) -> Sides:
        return sides if any(sides) else next((e[axis] for e in own.values() if any(e[axis])), sides)

    return {u: tuple(completed(sides, axis) for axis, sides in enumerate(own[u])) for u in stepped}


def _lost_copies(
    kernel: Kernel, equations: tuple[Equation, ...], edges: Mapping[str, tuple[Sides, ...]]
) -> Iterator[tuple[str, str, int]]:
    """(u, w, axis): places beyond a side where u wraps read w, of which there is no copy."""
    made = {e.output: e for e in equations}
    for u, v in kernel.steps:
        read = footprints(kernel, (made[v],))
        for name in (w for w in edges if w in read and u in edges):
            for axis, (mine, other) in enumerate(zip(edges[u], edges[name], strict=True)):
                if "wrap" in kinds(mine) and kinds(mine) != kinds(other):
                    yield u, name, axis


def kinds(sides: Sides) -> tuple[str, str]:
    """The names of the rules on both sides of an axis."""
    low, high = ("" if rule is None else rule.name for rule in sides)
    return low, high


def _in_edge_values(kernel: Kernel) -> Iterator[str]:
    """Tensors that a value of an edge rule reads."""
    edges = (*(t.edges for t in kernel.inputs), *(s.edges for s in kernel.stages))
    rules = [rule for of in edges for sides in of for rule in sides]
    waiting: list[Value] = [rule.value for rule in rules if rule is not None and rule.value is not None]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Read):
            yield value.tensor
        waiting += children(value)


def refused_box(kernel: Kernel, fusing: Fusing, found: Footprint) -> str:
    """Why the box of an input that is not stepped cannot hold what all steps read of it; nothing if it can.

    Beyond a side that wraps, places are copies of those on the other side: so must be what they read.
    """
    tensor = next(t for t in kernel.inputs if t.name == found.tensor)
    output = kernel.outputs[0]
    indices = kernel.equations[0].indices
    for number, a in enumerate(found.axes or ()):
        if a.index is None or not (rules := _wrapping(fusing, indices.index(a.index))):
            continue
        low, high = fusing.halo[indices.index(a.index)]
        step = (a.low + a.scale * (fusing.steps - 1) * low, a.high - a.scale * (fusing.steps - 1) * high)
        here = all(rule is not None and rule.name == "wrap" for rule in (*tensor.edges[number], *rules))
        if tensor.extents[number] != output.extents[indices.index(a.index)] or a.scale != 1 or not (
                here or step == (0, 0)):
            return f"`{tensor.name}` is read along `{a.index}`, which wraps, but does not wrap as what is stepped does"
    return ""


def loaded_edges(kernel: Kernel, fusing: Fusing, found: Footprint) -> tuple[Sides, ...]:
    """The edge rules by which the box of a staged input is filled: places outside are copies as at every step."""
    tensor = next(t for t in kernel.inputs if t.name == found.tensor)
    if tensor.name in fusing.stepped:
        edges = fusing.edges[fusing.stepped.index(tensor.name)]
        return tuple(own if any(own) else _folds(sides) for own, sides in zip(tensor.edges, edges, strict=True))
    indices = kernel.equations[0].indices
    wrap = EdgeRule("wrap")
    return tuple((wrap, wrap) if a.index is not None and _wrapping(fusing, indices.index(a.index)) else sides
                 for a, sides in zip(found.axes or (), tensor.edges, strict=True))


def _folds(sides: Sides) -> Sides:
    """The rules without their constants."""
    low, high = (None if rule is None or rule.name == "constant" else rule for rule in sides)
    return low, high


def _wrapping(fusing: Fusing, axis: int) -> list[EdgeRule | None]:
    """The rules on an axis of the stepped inputs that wrap there on some side."""
    return [rule for edges in fusing.edges if "wrap" in kinds(edges[axis]) for rule in edges[axis]]
