"""What a layout leaves free: its complement."""

from __future__ import annotations

import math
from dataclasses import dataclass

from layoutc.layout.compose import plain_layout
from layoutc.layout.errors import LayoutError, refusal
from layoutc.layout.injective import first_repeat
from layoutc.layout.layout import Layout, Mode, as_integer, from_modes, merged
from layoutc.layout.tuples import coordinate_of, show


@dataclass(frozen=True, slots=True)
class Gaps:
    """The complement without an end: modes that fill the gaps of a layout, then copies a period apart."""

    modes: tuple[Mode, ...]     # by rising stride
    period: int
    hole: int | None            # the first position in a period that stays free; None too where modes interlock
    interlocked: bool           # the layout is repeated as one block


def complement(layout: int | Layout, n: int = 1) -> Layout:
    """The layout R of the positions at which copies of ``layout`` lie side by side, up to n of its positions.

    For an injective layout A, R has these properties, in which CuTe defines it:
    its strides are positive and its values rise, ``R(i-1) < R(i)``;
    no position is reached twice: ``A(a) + R(r)`` differs for every pair (a, r);
    every position below n lies in the period of a copy, and no period begins at n or beyond.
    Where each stride of A is a multiple of the period below it (extent times stride of the next smaller one),
    every position below n is reached. Where it only is no smaller, R fills the gap with as many copies as fit.
    Where modes interlock (a stride below that period), A is repeated as one block, the gaps between multiples of
    the strides' common divisor filled. Modes of stride 0 are left aside and negative strides count by their
    size, as a mirrored mode leaves the same gaps.
    Raises LayoutError with the first coordinate whose value A has taken before.
    """
    whole = plain_layout(layout, "operand of `complement`")
    bound = as_integer(n)
    if bound is None or bound < 1:
        raise refusal("layout-complement", f"a complement reaches up to an integer of at least 1, not {n}")
    gaps = gaps_of(whole)
    return from_modes(merged([*gaps.modes, (-(-bound // gaps.period), gaps.period)]))


def gaps_of(layout: Layout) -> Gaps:
    """The gaps of a layout, its modes of stride 0 left aside. Raises LayoutError where it is not injective."""
    moving = from_modes([mode for mode in layout.leaves if mode[1]])
    repeat = first_repeat(moving)
    if repeat is not None:
        raise not_injective("complement", "layout-complement", layout, index_with_zeros(layout, repeat))
    filled: list[Mode] = []
    period, hole = 1, None
    for stride, extent in sorted((abs(stride), extent) for extent, stride in merged(moving.leaves)):
        if stride < period:
            common = math.gcd(*(stride for _, stride in moving.leaves))
            return Gaps(((common, 1),), moving.cosize - 1 + common, None, True)
        copies, rest = divmod(stride, period)
        filled.append((copies, period))
        if rest and hole is None:
            hole = copies * period
        period = stride * extent
    return Gaps(tuple(filled), period, hole, False)


def first_hole(layout: Layout) -> int | None:
    """The first position from 0 on that neither the layout nor its copies reach. Strides are not negative."""
    gaps = gaps_of(layout)
    if not gaps.interlocked:
        return gaps.hole
    reached = set(layout.values)
    common = gaps.modes[0][0]
    return next((start for start in range(0, gaps.period, common) if start not in reached), None)


def index_with_zeros(layout: Layout, index: int) -> int:
    """The index in a layout of an index among its leaves of nonzero stride."""
    whole, step = 0, 1
    for extent, stride in layout.leaves:
        if stride:
            index, digit = divmod(index, extent)
            whole += digit * step
        step *= extent
    return whole


def not_injective(name: str, slug: str, layout: Layout, index: int) -> LayoutError:
    """The refusal of a layout that takes a value twice."""
    witness = coordinate_of(index, layout.shape)
    return refusal(
        slug,
        f"`{layout}` has no {name}: it takes a value twice",
        witness=witness,
        notes=(f"at coordinate {show(witness)} it is {layout(witness)}, as at an earlier one",),
    )
