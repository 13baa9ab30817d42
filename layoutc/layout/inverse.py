"""Right and left inverses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import overload

from layoutc.layout.compose import Operand, as_layout, behind
from layoutc.layout.composed import AnyLayout, ComposedLayout
from layoutc.layout.errors import DECIDABLE, LayoutError, refusal, too_large
from layoutc.layout.gaps import not_injective
from layoutc.layout.injective import first_repeat
from layoutc.layout.layout import Layout, Mode, from_modes, merged, prefix_products
from layoutc.layout.search import ExhaustedError, search_layout
from layoutc.layout.swizzles import Swizzle
from layoutc.layout.tuples import coordinate_of, show


@overload
def right_inverse(layout: int | Layout) -> Layout: ...
@overload
def right_inverse(layout: ComposedLayout) -> AnyLayout: ...
def right_inverse(layout: Operand) -> AnyLayout:
    """The layout R with ``L(R(i)) == i`` for every i below ``size(R)``.

    R is made of the modes of ``coalesce(L)`` whose strides are 1, n1, n1*n2, …, as many as there are; for an
    injective L without negative strides no longer R exists. ``1:0`` where no mode has stride 1. Behind swizzles,
    R undoes them first.
    """
    whole = as_layout(layout)
    if isinstance(whole, ComposedLayout):
        return right_inverse_of_composed(whole)
    modes = merged(whole.leaves)
    weights = prefix_products(extent for extent, _ in modes)
    steps = [(stride, extent, weight) for (extent, stride), weight in zip(modes, weights, strict=True)]
    return from_modes(merged(longest_chain(steps, 1)))


def longest_chain(steps: Sequence[tuple[int, int, int]], current: int) -> list[Mode]:
    """The modes of the inverse from stride ``current`` on, such that the last reaches furthest."""
    chains = [
        [(extent, weight), *longest_chain(steps, stride * extent)]
        for stride, extent, weight in steps
        if stride == current
    ]
    return max(chains, key=size_of, default=[])


def size_of(modes: Sequence[Mode]) -> int:
    """The number of coordinates of the given modes."""
    return math.prod(extent for extent, _ in modes)


def right_inverse_of_composed(layout: ComposedLayout) -> AnyLayout:
    """``right_inverse(inner)`` after the swizzle that undoes the outer one, as far as that stays inside."""
    swizzle = only_swizzle(layout, "right")
    plain = right_inverse(layout.inner)
    reach = plain.size
    block = swizzle.block
    if reach % block:
        whole = reach // block * block      # blocks are permuted each in itself
        if block > DECIDABLE:
            raise too_large(f"the right inverse of `{layout}`", layout.size)
        inside = (swizzle.inverse(whole + k) < reach for k in range(reach - whole))
        reach = whole + next((k for k, fits in enumerate(inside) if not fits), reach - whole)
    return behind((plain, swizzle.inverse), Layout(reach, 1))


def only_swizzle(layout: ComposedLayout, which: str) -> Swizzle:
    """The one map behind a layout, where it is a swizzle."""
    match layout.outer:
        case (Swizzle() as swizzle,):
            return swizzle
    raise refusal("layout-inverse", f"the {which} inverse of `{layout}` is known only for a swizzle of a layout")


@overload
def left_inverse(layout: int | Layout) -> Layout: ...
@overload
def left_inverse(layout: ComposedLayout) -> AnyLayout: ...
def left_inverse(layout: Operand) -> AnyLayout:
    """A layout R with ``R(L(i)) == i`` for every i below ``size(L)``, and ``size(R) >= cosize(L)``.

    Exists only for an injective L. Where the strides of L, by size, divide one another and each passes the mode
    below it, R is CuTe's: one extent from each stride to the next, ``left_inverse((4,3):(1,5)) == (5,3):(1,4)``.
    Else a search over all layouts finds one if there is one. R's values outside the image of L are free.
    Raises LayoutError with the first coordinate of L that no R can lead back.
    """
    whole = as_layout(layout)
    if isinstance(whole, ComposedLayout):
        swizzle = only_swizzle(whole, "left")
        return behind((left_inverse(whole.inner), swizzle.inverse), Layout(whole.cosize, 1))
    repeat = first_repeat(whole)
    if repeat is not None:
        raise not_injective("left inverse", "layout-inverse", whole, repeat)
    modes = merged(whole.leaves)
    if not modes:
        return Layout(1, 0)
    return divided_inverse(modes) or searched_inverse(whole)


def divided_inverse(modes: Sequence[Mode]) -> Layout | None:
    """CuTe's left inverse where every stride divides the next and reaches past the mode below it."""
    weights = prefix_products(extent for extent, _ in modes)
    steps = sorted((stride, extent, weight) for (extent, stride), weight in zip(modes, weights, strict=True))
    result: list[Mode] = []
    below, taken, weight_below = 1, 1, 0        # stride, extent and weight of the mode below
    for stride, extent, weight in steps:
        if stride <= 0 or stride % below or stride < below * taken:
            return None
        result.append((stride // below, weight_below))
        below, taken, weight_below = stride, extent, weight
    return from_modes(merged([*result, (taken, weight_below)]))


def searched_inverse(layout: Layout) -> Layout:
    """A left inverse found among all layouts. Raises LayoutError where there is none, or too many to try."""
    if layout.size > DECIDABLE:
        raise too_large(f"the left inverse of `{layout}`", layout.size)
    try:
        found = search_layout(layout.values)
    except ExhaustedError:
        raise too_large(f"the left inverse of `{layout}`", layout.size) from None
    if isinstance(found, int):
        raise no_left_inverse(layout, found)
    return from_modes(found)


def no_left_inverse(layout: Layout, index: int) -> LayoutError:
    """The refusal of a layout that no layout leads back."""
    witness = coordinate_of(index, layout.shape)
    return refusal(
        "layout-inverse",
        f"no layout is a left inverse of `{layout}`",
        witness=witness,
        notes=(f"none takes the values up to coordinate {show(witness)} back to their coordinates",),
    )
