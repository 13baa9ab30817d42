"""What a thread holds while planes pass: boxes of each tensor around its outputs, as few elements as serve."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from layoutc.plan.machine import ACCESS_BYTES
from layoutc.plan.passing.led import Led, without
from layoutc.plan.passing.widths import in_vectors
from layoutc.plan.reads.accesses import Accesses
from layoutc.plan.reads.footprints import Axis, boxes_around
from layoutc.plan.work import Work
from layoutc.resolve.types import Type

Axes = tuple[Axis, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """The outputs that a thread makes of each plane."""

    beside: str         # the index along which lines of them follow each other
    lined: str          # the index along which the outputs of a line stand side by side
    lines: int
    columns: int

    @property
    def count(self) -> int:
        """All of them."""
        return self.lines * self.columns


@dataclass(frozen=True, slots=True)
class Part:
    """A box of a tensor around the outputs of a thread, in its registers; offsets count from the finished plane.

    What it holds of several planes moves on with every plane; of one plane it is taken anew.
    """

    tensor: str
    type: Type
    axes: Axes          # the last begins and ends at whole pieces
    walked: int         # the axis along which planes follow each other
    items: Items
    piece: int          # elements that one access brings

    @property
    def depth(self) -> int:
        """Planes of which something is held."""
        return self.axes[self.walked].high - self.axes[self.walked].low + 1

    def sooner(self, planes: int) -> Part:
        """The part that takes planes so many turns before they are read."""
        axis = self.axes[self.walked]
        later = replace(axis, high=axis.high + planes)
        return replace(self, axes=tuple(later if a is axis else a for a in self.axes))

    @property
    def newest(self) -> int:
        """The newest plane."""
        return self.axes[self.walked].high

    def extent(self, axis: int) -> int:
        """Elements along an axis, of the walked one a plane's."""
        return 1 if axis == self.walked else extent_of(self.axes[axis], self.items)

    @property
    def plane(self) -> int:
        """Elements of a plane."""
        return prod(map(self.extent, range(len(self.axes))))

    @property
    def held(self) -> int:
        """Elements that a thread holds."""
        return self.depth * self.plane

    @property
    def strides(self) -> tuple[int, ...]:
        """Of the array, per axis."""
        out, step = [], 1
        for axis in reversed(range(len(self.axes))):
            out.append(self.plane if axis == self.walked else step)
            step *= self.extent(axis)
        return tuple(reversed(out))

    @property
    def beside(self) -> int:
        """The axis along which lines follow each other."""
        return next(n for n, a in enumerate(self.axes) if a.index == self.items.beside)

    @property
    def lines(self) -> range:
        """Its lines, counted from the thread's first output."""
        low = self.axes[self.beside].low
        return range(low, low + self.extent(self.beside))

    @property
    def columns(self) -> range:
        """Its columns, counted from the thread's first output."""
        low = self.axes[-1].low
        return range(low, low + self.extent(len(self.axes) - 1))


def extent_of(axis: Axis, items: Items) -> int:
    """Elements along an axis of what all outputs of a thread reach."""
    outputs = items.lines if axis.index == items.beside else items.columns if axis.index == items.lined else 1
    return axis.extent(outputs)


def parts_of(
    work: Work, led: tuple[Led, ...], walked: str, items: Items, types: Mapping[str, Type],
    vectors: Mapping[str, int] | None = None,
) -> tuple[Part, ...]:
    """The boxes of these tensors: those of all accesses, joined wherever one holds no more than two.

    ``vectors``: elements that an access moves where lines need not begin and end at whole pieces, by the tensor.
    """
    reached: dict[str, list[Axes]] = {name: [] for name in types}
    for one in led:
        for tensor, found in one.reads.items():
            if tensor in types:
                reached[tensor].append(found.axes or ())
    accesses = Accesses(work.kernel, outputs=[e.output for e in work.equations])
    for equation in work.equations:
        rest = replace(equation, value=without(equation.value, frozenset(one.reduce for one in led)))
        for access, _ in accesses.of(rest):
            if access.tensor in types:
                axes = boxes_around(work.kernel, [(access, equation.indices, 1)])[access.tensor].axes
                reached[access.tensor].append(axes or ())
    out = []
    for tensor, boxes in reached.items():
        made: list[Part] = []
        piece = min(items.columns, max(ACCESS_BYTES // types[tensor].bytes, 1)) if vectors is None else vectors[tensor]
        for axes in _in_queues(boxes, walked):
            whole = (*axes[:-1], (in_vectors if vectors is None else _nearly)(axes[-1], items.columns, piece))
            made.append(Part(tensor, types[tensor], whole, _number(axes, walked), items, piece))
        out += _joined(made, vectors is not None)
    return tuple(sorted(out, key=lambda part: part.depth == 1))     # in the order in which they are taken


def _in_queues(boxes: Iterable[Axes], walked: str) -> Iterable[Axes]:
    """The boxes, those that differ in their planes alone made one."""
    queues: dict[Axes, Axes] = {}
    for axes in boxes:
        flat = tuple(replace(a, low=0, high=0) if a.index == walked else a for a in axes)
        queues[flat] = union(queues[flat], axes) if flat in queues else axes
    return queues.values()


def _number(axes: Axes, index: str) -> int:
    return next(n for n, a in enumerate(axes) if a.index == index)


def _nearly(axis: Axis, columns: int, vector: int) -> Axis:
    """The axis widened to whole vectors on the sides where more than one element stands beyond them."""
    whole = in_vectors(axis, columns, vector)
    low = axis.low if whole.low + vector - axis.low == 1 else whole.low
    high = axis.high if axis.high - (whole.high - vector) == 1 else whole.high
    return replace(axis, low=low, high=high)


def _joined(parts: list[Part], less: bool) -> list[Part]:
    """The parts, two at a time made one where that takes no more registers than both; ``less``: where it takes less."""
    done = False
    while not done:
        done = True
        for a, b in ((a, b) for n, a in enumerate(parts) for b in parts[n + 1:]):
            both = replace(a, axes=union(a.axes, b.axes))
            if less and both.held > max(a.held, b.held) and (a.depth > 1) != (b.depth > 1):
                continue        # what is of one plane would stay in registers from plane to plane
            if both.held + less <= a.held + b.held:
                parts = [both if p is a else p for p in parts if p is not b]
                done = False
                break
    return parts


def union(a: Axes, b: Axes) -> Axes:
    """The box around two."""
    return tuple(replace(x, low=min(x.low, y.low), high=max(x.high, y.high)) for x, y in zip(a, b, strict=True))


def taken_anew(part: Part, held: Part | None) -> int:
    """Elements of a plane that come from shared memory: all that no other part holds."""
    if held is None:
        return part.plane
    return part.plane - len(shared(part.lines, held.lines)) * len(shared(part.columns, held.columns))


def shared(a: range, b: range) -> range:
    """What both hold."""
    return range(max(a.start, b.start), min(a.stop, b.stop))


def reads(led: Led, part: Part) -> bool:
    """Whether a reduction that follows the planes may find in a part what it reads."""
    found = led.reads.get(part.tensor)
    return found is not None and all(
        max(a.low, b.low) <= min(a.high, b.high) for a, b in zip(part.axes, found.axes or (), strict=True))


def covers(parts: Sequence[Part], one: Part) -> Part | None:
    """The part that moves on and holds some of the plane that another takes: since a turn before, or taken first."""
    for number, part in enumerate(parts):
        axis, plane = part.axes[part.walked], one.newest
        there = axis.low <= plane < axis.high or (plane == axis.high and number < parts.index(one))
        if part is not one and part.tensor == one.tensor and part.depth > 1 and there:
            return part
    return None
