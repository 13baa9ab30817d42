"""A layout: a function from coordinates to integers, written as shape and stride."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import SupportsIndex, TypeAlias

from layoutc.layout.errors import DECIDABLE, LayoutError, refusal, too_large
from layoutc.layout.text import read_literal
from layoutc.layout.tuples import (
    DEEPEST,
    GREATEST,
    LEAST,
    IntTuple,
    collapse,
    congruent,
    depth_of,
    leaves,
    regroup,
    show,
)
from layoutc.source import Source, Span

Mode: TypeAlias = "tuple[int, int]"     # extent, stride


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Layout:
    """CuTe's ``shape:stride``, both nested alike: coordinate ``(c0, c1, …)`` goes to ``c0*d0 + c1*d1 + …``.

    Extents are at least 1, strides any integers; entries, size and values fit in 64 bits. Without a stride the
    layout is compact with the first mode fastest, as in CuTe. A tuple of one item is that item.

    ``L(i)`` takes an integer colexicographically (the first mode runs fastest), also in place of any nested
    coordinate, as in ``L(i, j)``; past the size it continues along the last mode. Below 0 only a layout that
    coalesces to one mode is defined. ``L[k]`` is mode k. ``==`` compares shapes and strides, the strides of
    extents of 1 aside: equal layouts are those of one shape that agree at every coordinate.
    """

    shape: IntTuple
    stride: IntTuple
    leaves: tuple[Mode, ...]        # extent and stride of every leaf, from left to right

    def __init__(self, shape: IntTuple, stride: IntTuple | None = None) -> None:
        shape = checked(shape, "shape")
        if stride is None:
            stride = regroup(shape, iter(prefix_products(leaves(shape))))
        stride = checked(stride, "stride")
        if not congruent(shape, stride):
            raise refusal(
                "layout-shape",
                f"shape {show(shape)} and stride {show(stride)} are not nested alike",
                help="give every extent its stride, such as `(4,3):(3,1)`",
            )
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "stride", stride)
        object.__setattr__(self, "leaves", tuple(zip(leaves(shape), leaves(stride), strict=True)))
        check_range(self)

    @staticmethod
    def parse(text: str) -> Layout:
        """The layout that a literal of the language names, such as ``((2,2),3):((1,4),2)`` or ``8``.

        Raises LayoutError, located in the text, where it is no literal of integers.
        """
        shape, stride = read_literal(text)
        try:
            return Layout(shape, stride)
        except LayoutError as error:
            source, span = Source("<text>", text), Span(0, len(text))
            raise LayoutError(replace(error.diagnostics[0], source=source, span=span)) from None

    @staticmethod
    def of(modes: Sequence[Layout]) -> Layout:
        """The layout whose modes are the given ones, as CuTe's make_layout."""
        return Layout(collapse(mode.shape for mode in modes), collapse(mode.stride for mode in modes))

    @property
    def modes(self) -> tuple[Layout, ...]:
        """The top-level modes; a layout of one extent is its own only mode."""
        if isinstance(self.shape, int) or isinstance(self.stride, int):
            return (self,)
        return tuple(Layout(n, d) for n, d in zip(self.shape, self.stride, strict=True))

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return math.prod(extent for extent, _ in self.leaves)

    @property
    def least(self) -> int:
        """The smallest value."""
        return sum((extent - 1) * stride for extent, stride in self.leaves if stride < 0)

    @property
    def greatest(self) -> int:
        """The largest value."""
        return sum((extent - 1) * stride for extent, stride in self.leaves if stride > 0)

    @property
    def cosize(self) -> int:
        """The span of the image, largest - smallest + 1, also for negative strides (``4:-1`` has 4)."""
        return self.greatest - self.least + 1

    @property
    def rank(self) -> int:
        """Number of top-level modes."""
        return 1 if isinstance(self.shape, int) else len(self.shape)

    @property
    def depth(self) -> int:
        """Levels of nesting: 0 for one extent, 1 for a flat tuple."""
        return depth_of(self.shape)

    @property
    def values(self) -> tuple[int, ...]:
        """The value at every coordinate, colexicographically; refused beyond 2^20 of them."""
        if self.size > DECIDABLE:
            raise too_large(f"the list of the values of `{self}`", self.size)
        return tuple(first_values(self.leaves, self.size))

    @property
    def image(self) -> tuple[int, ...]:
        """The distinct values in increasing order; refused beyond 2^20 coordinates."""
        return tuple(sorted(set(self.values)))

    def __call__(self, *coordinate: object) -> int:
        """The value at a coordinate: an integer, or nested like the shape with integers for any part of it."""
        return value_at(self.shape, self.stride, coordinate)

    def __getitem__(self, k: int) -> Layout:
        """Mode k."""
        return self.modes[mode_number(self, k)]

    def __iter__(self) -> Iterator[Layout]:
        """The top-level modes."""
        return iter(self.modes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self.shape == other.shape and self.unit_values() == other.unit_values()

    def __hash__(self) -> int:
        return hash((self.shape, self.unit_values()))

    def unit_values(self) -> tuple[int, ...]:
        """The value one step along every leaf, 0 where a leaf has no step: all that ``==`` looks at."""
        return tuple(stride if extent > 1 else 0 for extent, stride in self.leaves)

    def __str__(self) -> str:
        return f"{show(self.shape)}:{show(self.stride)}"

    def __repr__(self) -> str:
        return f"Layout({self.shape}, {self.stride})"


def checked(value: object, what: str, level: int = 0) -> IntTuple:
    """A nested tuple of plain 64-bit integers; tuples of one item become the item. Raises LayoutError."""
    if level > DEEPEST:
        raise refusal("layout-shape", f"a {what} is nested too deeply", notes=(f"{DEEPEST} levels are the limit",))
    if isinstance(value, (tuple, list)):
        if not value:
            raise refusal("layout-shape", f"a {what} cannot be empty", help="a single element is `1:0`")
        return collapse(checked(item, what, level + 1) for item in value)
    number = as_integer(value)
    if number is None:
        raise refusal("layout-shape", f"a {what} is made of integers, not {type(value).__name__}")
    if not LEAST <= number <= GREATEST:
        raise refusal("layout-overflow", f"{number} in a {what} does not fit in 64 bits")
    return number


def as_integer(value: object) -> int | None:
    """The value as a plain integer (NumPy's integers too, truth values not), or None."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    try:
        return operator.index(value)
    except TypeError:       # of an array with more than one element
        return None


def check_range(layout: Layout) -> None:
    """Refuse extents below 1, and sizes and values beyond 64 bits."""
    for extent, _ in layout.leaves:
        if extent < 1:
            raise refusal("layout-shape", f"extent {extent} in shape {show(layout.shape)} is below 1")
    if layout.size > GREATEST:
        raise refusal("layout-overflow", f"the size of `{layout}` does not fit in 64 bits")
    if layout.least < LEAST or layout.greatest > GREATEST:
        raise refusal("layout-overflow", f"values of `{layout}` do not fit in 64 bits")


def prefix_products(extents: Iterable[int]) -> list[int]:
    """For every extent the product of those before it."""
    products, so_far = [], 1
    for extent in extents:
        products.append(so_far)
        so_far *= extent
    return products


def merged(modes: Iterable[Mode]) -> list[Mode]:
    """The same function of an index below the size in the fewest modes: none of extent 1, neighbours joined."""
    result: list[Mode] = []
    for extent, stride in modes:
        if extent == 1:
            continue
        if result and stride == result[-1][0] * result[-1][1]:
            result[-1] = (result[-1][0] * extent, result[-1][1])
        else:
            result.append((extent, stride))
    return result


def endless(layout: Layout) -> list[Mode]:
    """The same function of every index, also past the size, in the fewest modes; the last runs without end."""
    *front, (extent, stride) = layout.leaves
    modes = merged(front)
    if modes and stride == modes[-1][0] * modes[-1][1]:
        return [*modes[:-1], (modes[-1][0] * extent, modes[-1][1])]
    return [*modes, (extent, stride)]


def from_modes(modes: Sequence[Mode]) -> Layout:
    """A flat layout of the given leaves, ``1:0`` of none."""
    if not modes:
        return Layout(1, 0)
    return Layout(collapse(extent for extent, _ in modes), collapse(stride for _, stride in modes))


def first_values(modes: Sequence[Mode], count: int) -> list[int]:
    """The first ``count`` values (at most the size) in colexicographic order."""
    values = [0]
    for extent, stride in modes:
        steps = min(extent, -(-count // len(values)))
        values = [value + step * stride for step in range(steps) for value in values]
    return values[:count]


def values_at(modes: Sequence[Mode], indices: Sequence[int]) -> list[int]:
    """The values at many indices, the last mode running without end."""
    totals = [0] * len(indices)
    for extent, stride in modes[:-1]:
        totals = [total + index % extent * stride for total, index in zip(totals, indices, strict=True)]
        indices = [index // extent for index in indices]
    stride = modes[-1][1]
    return [total + index * stride for total, index in zip(totals, indices, strict=True)]


def value_at(shape: IntTuple, stride: IntTuple, coordinate: object) -> int:
    """The value of ``shape:stride`` at a coordinate that is weakly congruent with the shape. Raises LayoutError."""
    while isinstance(coordinate, (tuple, list)) and len(coordinate) == 1:
        coordinate = coordinate[0]
    if isinstance(coordinate, (tuple, list)):
        if isinstance(shape, int) or isinstance(stride, int) or len(coordinate) != len(shape):
            raise coordinate_error(f"coordinate {tuple(coordinate)} does not fit the shape {show(shape)}")
        return sum(map(value_at, shape, stride, coordinate))
    index = index_of(coordinate)
    if isinstance(stride, int):
        return index * stride
    if index < 0 and len(endless(Layout(shape, stride))) > 1:
        raise coordinate_error(f"coordinate {index} of `{show(shape)}:{show(stride)}` is below 0")
    value, extents, strides = 0, leaves(shape), leaves(stride)
    for extent, step in zip(extents[:-1], strides[:-1], strict=True):
        index, digit = divmod(index, extent)
        value += digit * step
    return value + index * strides[-1]


def index_of(coordinate: object) -> int:
    """A coordinate, or a part of one, that is an integer. Raises LayoutError."""
    index = as_integer(coordinate)
    if index is None:
        raise coordinate_error(f"a coordinate is made of integers, not {type(coordinate).__name__}")
    return index


def coordinate_error(message: str) -> LayoutError:
    """A call with something that is no coordinate of the layout."""
    return refusal("layout-coordinate", message)


def mode_number(layout: Layout, k: int) -> int:
    """The number of a mode, counted from the end where negative. Raises LayoutError."""
    number = as_integer(k)
    if number is None or not -layout.rank <= number < layout.rank:
        raise refusal("layout-mode", f"`{layout}` has {layout.rank} modes, and none is number {k}")
    return number % layout.rank
