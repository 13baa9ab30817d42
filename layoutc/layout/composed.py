"""Layouts behind further maps: what a swizzle makes of a layout, kept exact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from layoutc.layout.errors import DECIDABLE, LayoutError, refusal, too_large
from layoutc.layout.layout import (
    Layout,
    endless,
    first_values,
    mode_number,
    values_at,
)
from layoutc.layout.swizzles import Swizzle
from layoutc.layout.tuples import IntTuple, coordinate_of, leaves

Map: TypeAlias = "Swizzle | Layout"


@dataclass(frozen=True, slots=True, eq=False)
class ComposedLayout:
    """Coordinate ``c`` goes to ``outer[0](outer[1](…(inner(c))))``; the coordinates are those of ``inner``.

    The outer maps are swizzles and layouts, a layout taking its argument as an integer coordinate. It is called,
    indexed, composed and compared like a Layout: ``==`` means one shape and the same value at every coordinate.
    """

    outer: tuple[Map, ...]
    inner: Layout

    @property
    def shape(self) -> IntTuple:
        """The extents, those of ``inner``."""
        return self.inner.shape

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.inner.size

    @property
    def rank(self) -> int:
        """Number of top-level modes."""
        return self.inner.rank

    @property
    def depth(self) -> int:
        """Levels of nesting of the shape."""
        return self.inner.depth

    @property
    def cosize(self) -> int:
        """The span of the image, largest - smallest + 1; refused where it is too large to decide."""
        columns = bit_columns(self)
        if columns is not None:
            return span_of_bits(columns) + 1
        values = self.values
        return max(values) - min(values) + 1

    @property
    def values(self) -> tuple[int, ...]:
        """The value at every coordinate, colexicographically; refused beyond 2^20 of them."""
        if self.size > DECIDABLE:
            raise too_large(f"the list of the values of `{self}`", self.size)
        return tuple(composed_values(self, self.size))

    @property
    def image(self) -> tuple[int, ...]:
        """The distinct values in increasing order; refused beyond 2^20 coordinates."""
        return tuple(sorted(set(self.values)))

    @property
    def modes(self) -> tuple[ComposedLayout, ...]:
        """The top-level modes, the other coordinates being 0."""
        return tuple(ComposedLayout(self.outer, mode) for mode in self.inner.modes)

    def __call__(self, *coordinate: object) -> int:
        """The value at a coordinate, as of a Layout."""
        value = self.inner(*coordinate)
        for outer in reversed(self.outer):
            value = outer(value)
        return value

    def __getitem__(self, k: int) -> ComposedLayout:
        """Mode k."""
        return self.modes[mode_number(self.inner, k)]

    def __iter__(self) -> Iterator[ComposedLayout]:
        """The top-level modes."""
        return iter(self.modes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (Layout, ComposedLayout)):
            return NotImplemented
        if self.shape != other.shape or self.unit_values() != other.unit_values():
            return False
        return same_values(self, other)

    def __hash__(self) -> int:
        return hash((self.shape, self.unit_values()))

    def unit_values(self) -> tuple[int, ...]:
        """The value one step along every leaf, 0 where a leaf has no step."""
        steps, step = [], 1
        for extent in leaves(self.shape):
            steps.append(self(coordinate_of(step, self.shape)) if extent > 1 else 0)
            step *= extent
        return tuple(steps)

    def __str__(self) -> str:
        text = str(self.inner)
        for outer in reversed(self.outer):
            text = f"composition({outer}, {text})"
        return text


AnyLayout: TypeAlias = "Layout | ComposedLayout"


def outer_of(layout: AnyLayout) -> tuple[Map, ...]:
    """The maps behind a layout, none of a plain one."""
    return layout.outer if isinstance(layout, ComposedLayout) else ()


def inner_of(layout: AnyLayout) -> Layout:
    """The layout that the coordinates enter."""
    return layout.inner if isinstance(layout, ComposedLayout) else layout


def composed_values(layout: ComposedLayout, count: int) -> list[int]:
    """The first ``count`` values (at most the size) in colexicographic order.

    Raises LayoutError with the coordinate at which an outer layout is asked below 0.
    """
    values = first_values(layout.inner.leaves, count)
    for outer in reversed(layout.outer):
        if isinstance(outer, Swizzle):
            values = [outer(value) for value in values]
            continue
        modes = endless(outer)
        if len(modes) > 1 and min(values) < 0:
            index = next(k for k, value in enumerate(values) if value < 0)
            raise below_zero(outer, values[index], coordinate_of(index, layout.shape))
        values = values_at(modes, values)
    return values


def below_zero(outer: Layout, value: int, coordinate: IntTuple) -> LayoutError:
    """The refusal to ask a layout of several modes below 0."""
    return refusal(
        "layout-composition",
        f"`{outer}` is asked at {value}, and below 0 it is not defined",
        witness=coordinate,
        help="only a layout that coalesces to one mode goes on below 0",
    )


def first_of(layout: AnyLayout, count: int) -> list[int]:
    """The first ``count`` values of any layout, at most its size."""
    if isinstance(layout, Layout):
        return first_values(layout.leaves, count)
    return composed_values(layout, count)


def same_values(a: AnyLayout, b: AnyLayout) -> bool:
    """Whether two layouts of one shape agree at every coordinate. Raises LayoutError where it is undecided."""
    if outer_of(a) == outer_of(b) and inner_of(a) == inner_of(b):
        return True
    bits_of_a, bits_of_b = bit_columns(a), bit_columns(b)
    if bits_of_a is not None and bits_of_b is not None:
        return bits_of_a == bits_of_b
    count = min(a.size, DECIDABLE)
    if first_of(a, count) != first_of(b, count):
        return False
    if count < a.size:
        raise too_large(f"whether `{a}` equals `{b}`", a.size)
    return True


def bit_columns(layout: AnyLayout) -> list[int] | None:
    """The value at every coordinate that is a power of two, where all values are exclusive sums of these.

    That holds where the extents are powers of two, no two steps share a bit of the value and only swizzles
    follow; None where it is not evident.
    """
    columns: list[int] = []
    for extent, stride in inner_of(layout).leaves:
        if extent & (extent - 1) or stride < 0:
            return None
        columns += [stride << bit for bit in range(extent.bit_length() - 1)]
    bits = 0
    for column in columns:
        if bits & column:
            return None
        bits |= column
    for swizzle in reversed(outer_of(layout)):
        if not isinstance(swizzle, Swizzle):
            return None
        columns = [swizzle(column) for column in columns]
    return columns


def reduced_bits(columns: Sequence[int]) -> list[int]:
    """A basis of the exclusive sums of the columns, leading bits distinct and in falling order."""
    basis: list[int] = []
    for column in columns:
        for vector in basis:
            column = min(column, column ^ vector)
        if column:
            basis = sorted([*basis, column], reverse=True)
    return basis


def span_of_bits(columns: Sequence[int]) -> int:
    """The largest exclusive sum of the columns; the smallest is 0."""
    largest = 0
    for vector in reduced_bits(columns):
        largest = max(largest, largest ^ vector)
    return largest
