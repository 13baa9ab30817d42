"""The fewest modes of a layout, and its measures as functions."""

from __future__ import annotations

from typing import overload

from layoutc.layout.compose import Operand, as_layout
from layoutc.layout.composed import AnyLayout, ComposedLayout
from layoutc.layout.layout import Layout, from_modes, merged


@overload
def coalesce(layout: int | Layout) -> Layout: ...
@overload
def coalesce(layout: ComposedLayout) -> AnyLayout: ...
def coalesce(layout: Operand) -> AnyLayout:
    """The flat layout of fewest modes that is the same function of an integer coordinate below the size.

    Modes of extent 1 vanish and neighbours ``(n0, n1):(d0, n0*d0)`` join, as in CuTe; ``1:0`` where none is left.
    """
    whole = as_layout(layout)
    if isinstance(whole, ComposedLayout):
        return ComposedLayout(whole.outer, coalesce(whole.inner))
    return from_modes(merged(whole.leaves))


def size(layout: Operand) -> int:
    """Number of coordinates."""
    return as_layout(layout).size


def cosize(layout: Operand) -> int:
    """The span of the image, largest - smallest + 1, as CuTe's C++ has it, also for negative strides."""
    return as_layout(layout).cosize


def rank(layout: Operand) -> int:
    """Number of top-level modes, 1 for a layout of one extent."""
    return as_layout(layout).rank


def depth(layout: Operand) -> int:
    """Levels of nesting: 0 for one extent, 1 for a flat tuple."""
    return as_layout(layout).depth
