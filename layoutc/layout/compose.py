"""Composition of layouts and swizzles, exact or refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, overload

from layoutc.layout.composed import AnyLayout, ComposedLayout, Map, below_zero, first_of, inner_of, outer_of
from layoutc.layout.errors import DECIDABLE, LayoutError, refusal, too_large
from layoutc.layout.fit import Misfit, fit
from layoutc.layout.layout import (
    Layout,
    Mode,
    as_integer,
    endless,
    first_values,
    merged,
    values_at,
)
from layoutc.layout.swizzles import Swizzle
from layoutc.layout.tuples import collapse, coordinate_of, leaves, regroup, show

Operand: TypeAlias = "int | Layout | ComposedLayout"
Tiler: TypeAlias = "Operand | tuple[Tiler, ...] | None"

GLANCE = 2**10          # values that settle nearly every fit


def as_layout(value: object, what: str = "operand") -> AnyLayout:
    """A layout as it is, an integer ``n`` as ``n:1``. Raises LayoutError for anything else."""
    if isinstance(value, (Layout, ComposedLayout)):
        return value
    number = as_integer(value)
    if number is not None:
        return Layout(number, 1)
    if isinstance(value, Swizzle):
        raise refusal(
            "layout-argument",
            f"the {what} must be a layout, and `{value}` is a map without a size",
            help="give it a domain, such as `composition(swizzle(3,0,3), 64:1)`",
        )
    raise refusal("layout-argument", f"the {what} must be a layout or an integer, not {type(value).__name__}")


def plain_layout(value: object, what: str) -> Layout:
    """As ``as_layout``, for operations that need shape and stride."""
    layout = as_layout(value, what)
    if isinstance(layout, ComposedLayout):
        raise refusal("layout-argument", f"the {what} must be a plain layout, not `{layout}`")
    return layout


@overload
def composition(left: int | Layout, right: int | Layout | tuple[Tiler, ...]) -> Layout: ...
@overload
def composition(left: Swizzle, right: Swizzle) -> Swizzle: ...
@overload
def composition(left: Operand, right: Operand | Swizzle) -> AnyLayout: ...
@overload
def composition(left: Swizzle, right: Operand) -> AnyLayout: ...
def composition(left: Operand | Swizzle, right: Operand | Swizzle | tuple[Tiler, ...]) -> AnyLayout | Swizzle:
    """``R`` with ``R(c) == left(right(c))`` at every coordinate c of ``right``; R's modes refine ``right``'s.

    For two layouts R is a Layout in CuTe's form: every extent of ``right`` is replaced by the fewest modes that
    have the values. Where none have, LayoutError with the first coordinate of ``right`` that none can fit; every
    representable result is found up to a size of 2^20. ``left`` continues along its last mode past its size, and
    below 0 where it coalesces to one mode. A tuple composes mode by mode and needs as many entries as ``left``
    has modes. Two swizzles give a swizzle; a swizzle and a layout give the layout that has the values, else a
    ComposedLayout. A layout before a swizzle has the domain ``size(left):1``.
    """
    if isinstance(left, Swizzle) and isinstance(right, Swizzle):
        return Swizzle(cancelled(left.factors + right.factors))
    if isinstance(right, tuple):
        return composition_by_mode(left, right)
    if isinstance(left, Swizzle):
        return apply_swizzle(left, as_layout(right, "right operand"))
    left = as_layout(left, "left operand")
    if isinstance(right, Swizzle):
        return behind((*outer_of(left), inner_of(left), right), Layout(left.size, 1))
    return compose(left, as_layout(right, "right operand"))


def cancelled(factors: Sequence[tuple[int, int, int]]) -> tuple[tuple[int, int, int], ...]:
    """The factors without neighbours that undo each other and without those that take no bits."""
    result: list[tuple[int, int, int]] = []
    for factor in factors:
        if result and result[-1] == factor:
            result.pop()
        elif factor[0]:
            result.append(factor)
    return tuple(result)


def composition_by_mode(left: Operand | Swizzle, right: tuple[Tiler, ...]) -> Layout:
    """Every mode of ``left`` composed with its entry; None leaves a mode as it is."""
    layout = plain_layout(left, "left operand of a composition by mode")
    if len(right) != layout.rank:
        raise refusal(
            "layout-composition",
            f"a tuple of {len(right)} entries does not match the {layout.rank} modes of `{layout}`",
            help="to compose with a layout, write its strides, such as `(4,3):(1,4)`",
        )
    parts = []
    for mode, entry in zip(layout.modes, right, strict=True):
        if isinstance(entry, tuple):
            parts.append(composition_by_mode(mode, entry))
        else:
            parts.append(mode if entry is None else compose_layouts(mode, plain_layout(entry, "entry of a tuple")))
    return Layout.of(parts)


def apply_swizzle(swizzle: Swizzle, layout: AnyLayout) -> AnyLayout:
    """A swizzle after a layout."""
    return behind((swizzle, *outer_of(layout)), inner_of(layout))


def compose(left: AnyLayout, right: AnyLayout) -> AnyLayout:
    """Composition of two layouts of any kind."""
    if isinstance(left, Layout) and isinstance(right, Layout):
        return compose_layouts(left, right)
    if isinstance(left, ComposedLayout) and isinstance(right, Layout):
        try:
            return behind(left.outer, compose_layouts(left.inner, right))
        except LayoutError:
            pass        # kept as a chain instead, which is exact as well
    return behind((*outer_of(left), inner_of(left), *outer_of(right)), inner_of(right))


def behind(outer: Sequence[Map], inner: Layout) -> AnyLayout:
    """The given maps after a layout: the plain layout that has the values where there is one, else composed."""
    maps: list[Map] = []
    for item in outer:
        if isinstance(item, Swizzle) and maps and isinstance(last := maps[-1], Swizzle):
            item = Swizzle(cancelled(last.factors + item.factors))
            maps.pop()
        if not is_identity(item):
            maps.append(item)
    if not maps:
        return inner
    composed = ComposedLayout(tuple(maps), inner)
    check_domains(composed)
    return refitted(composed) or composed


def is_identity(item: Map) -> bool:
    """Whether a map leaves every integer where it is."""
    if isinstance(item, Swizzle):
        return not item.columns
    (_, stride), *rest = endless(item)
    return stride == 1 and not rest


def check_domains(composed: ComposedLayout) -> None:
    """Refuse a chain that asks a layout below 0, at the first coordinate at which it does."""
    layouts = [item for item in composed.outer if isinstance(item, Layout)]
    rising = all(stride >= 0 for layout in layouts for _, stride in endless(layout))
    if not layouts or (rising and composed.inner.least >= 0):
        return
    first_of(composed, min(composed.size, DECIDABLE))
    if composed.size > DECIDABLE:
        raise too_large(f"the domain of `{composed}`", composed.size)


def refitted(composed: ComposedLayout) -> Layout | None:
    """The plain layout with the composed one's values, its modes refining the same shape, if there is one."""
    if composed.size > DECIDABLE:
        return None
    extents = leaves(composed.shape)
    if isinstance(fit(first_of(composed, min(GLANCE, composed.size)), extents), Misfit):
        return None
    refined = fit(first_of(composed, composed.size), extents)
    return None if isinstance(refined, Misfit) else refined_layout(composed.inner, refined)


def compose_layouts(left: Layout, right: Layout) -> Layout:
    """Composition of two plain layouts: by structure where no digit carries, else by evaluation and refit."""
    places = endless(left)
    pieces = without_carry(places, right.leaves)
    if pieces is None:
        pieces = by_evaluation(left, right, places)
    return refined_layout(right, pieces)


def refined_layout(coarse: Layout, refined: Sequence[Sequence[Mode]]) -> Layout:
    """The layout whose leaves are those of ``coarse``, each replaced by its modes."""
    modes = [merged(piece) or [(1, 0)] for piece in refined]
    shape = regroup(coarse.shape, iter([collapse(extent for extent, _ in mode) for mode in modes]))
    stride = regroup(coarse.shape, iter([collapse(stride for _, stride in mode) for mode in modes]))
    return Layout(shape, stride)


def without_carry(places: Sequence[Mode], leaves: Sequence[Mode]) -> list[list[Mode]] | None:
    """The modes of the composition, or None where its digits may carry.

    In the mixed radix of the left layout's extents a position ``c*d`` has the digits of d times c as long as no
    digit reaches its extent. A leaf of the right layout is cut where its own multiples would carry; then, if the
    greatest digits of all pieces together stay below the extents, the digits of every sum are the sums of the
    digits and the composition is exact whatever the size.
    """
    if len(places) == 1:
        return [[(extent, stride * places[0][1])] for extent, stride in leaves]
    most_of = room = [extent - 1 for extent, _ in places[:-1]]
    result = []
    for extent, stride in leaves:
        pieces: list[Mode] = []
        if stride < 0 and extent > 1:
            return None
        while extent > 1:
            digits = digits_of(stride, places)
            runs = [most // digit + 1 for most, digit in zip(most_of, digits, strict=False) if digit]
            run = min([extent, *runs])
            if extent % run:
                return None
            pieces.append((run, sum(digit * d for digit, (_, d) in zip(digits, places, strict=True))))
            room = [free - (run - 1) * digit for free, digit in zip(room, digits, strict=False)]
            extent, stride = extent // run, stride * run
        result.append(pieces)
    return None if min(room) < 0 else result


def digits_of(position: int, places: Sequence[Mode]) -> list[int]:
    """The digits of a position in the mixed radix of the places, the last without bound."""
    digits = []
    for extent, _ in places[:-1]:
        position, digit = divmod(position, extent)
        digits.append(digit)
    return [*digits, position]


def by_evaluation(left: Layout, right: Layout, places: Sequence[Mode]) -> list[list[Mode]]:
    """The modes of the composition from its values. Raises LayoutError with the first coordinate that none fit."""
    refined: list[list[Mode]] = []
    for count in (min(right.size, GLANCE), min(right.size, DECIDABLE)):
        positions = first_values(right.leaves, count)
        below = next((k for k, position in enumerate(positions) if position < 0), None)
        outcome = fit(values_at(places, positions[:below]), leaves(right.shape))
        if isinstance(outcome, Misfit):
            raise no_layout(left, right, outcome)
        if below is not None:
            raise below_zero(left, positions[below], coordinate_of(below, right.shape))
        refined = outcome
    if right.size > DECIDABLE:
        raise too_large(f"`composition({left}, {right})`", right.size)
    return refined


def no_layout(left: Layout, right: Layout, misfit: Misfit) -> LayoutError:
    """The refusal of a composition whose values no layout has."""
    witness = coordinate_of(misfit.index, right.shape)
    return refusal(
        "layout-composition",
        f"no layout has the values of `composition({left}, {right})`",
        witness=witness,
        notes=(
            f"at coordinate {show(witness)} the value is {misfit.found}, "
            f"and the values before it leave only {misfit.expected}",
        ),
        help="choose extents and strides on the right that divide the extents on the left",
    )
