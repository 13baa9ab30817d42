"""Products: a layout repeated."""

from __future__ import annotations

from typing import overload

from layoutc.layout.compose import Operand, Tiler, as_layout, compose_layouts, plain_layout
from layoutc.layout.composed import AnyLayout, ComposedLayout
from layoutc.layout.divide import by_mode, flat, gathered, tiled, zipped
from layoutc.layout.gaps import gaps_of
from layoutc.layout.layout import Layout, from_modes


@overload
def logical_product(block: int | Layout, tiler: Tiler) -> Layout: ...
@overload
def logical_product(block: ComposedLayout, tiler: Tiler) -> AnyLayout: ...
def logical_product(block: Operand, tiler: Tiler) -> AnyLayout:
    """``(A, composition(A*, B))`` with A* the complement of A without end: copy b of A starts at ``A*(B(b))``.

    For B whose image begins at 0, A* is ``complement(A, size(A)*cosize(B))`` as in CuTe, with its last mode
    continued where A's own gaps make that too short. Copies never overlap. B is a layout, or an integer for
    ``n:1``; a tuple multiplies mode by mode, None and modes past its end stay.
    Raises LayoutError where A takes a value twice, or the composition is no layout.
    """
    whole = as_layout(block)
    if isinstance(whole, ComposedLayout):
        return ComposedLayout(whole.outer, by_mode(whole.inner, tiler, multiply))
    return by_mode(whole, tiler, multiply)


def multiply(block: Layout, tiler: Layout) -> tuple[Layout, Layout]:
    """A block and where its copies begin."""
    gaps = gaps_of(block)
    free = from_modes([*((n, d) for n, d in gaps.modes if n > 1), (1, gaps.period)])
    return block, compose_layouts(free, tiler)


@overload
def zipped_product(block: int | Layout, tiler: Tiler) -> Layout: ...
@overload
def zipped_product(block: ComposedLayout, tiler: Tiler) -> AnyLayout: ...
def zipped_product(block: Operand, tiler: Tiler) -> AnyLayout:
    """As logical_product, gathered to ``((block0, block1, …), (copies0, copies1, …))``."""
    return gathered(block, tiler, multiply, zipped)


@overload
def tiled_product(block: int | Layout, tiler: Tiler) -> Layout: ...
@overload
def tiled_product(block: ComposedLayout, tiler: Tiler) -> AnyLayout: ...
def tiled_product(block: Operand, tiler: Tiler) -> AnyLayout:
    """As logical_product, gathered to ``((block0, block1, …), copies0, copies1, …)``."""
    return gathered(block, tiler, multiply, tiled)


@overload
def flat_product(block: int | Layout, tiler: Tiler) -> Layout: ...
@overload
def flat_product(block: ComposedLayout, tiler: Tiler) -> AnyLayout: ...
def flat_product(block: Operand, tiler: Tiler) -> AnyLayout:
    """As logical_product, gathered to ``(block0, block1, …, copies0, copies1, …)``."""
    return gathered(block, tiler, multiply, flat)


@overload
def blocked_product(block: int | Layout, tiler: int | Layout) -> Layout: ...
@overload
def blocked_product(block: ComposedLayout, tiler: int | Layout) -> AnyLayout: ...
def blocked_product(block: Operand, tiler: int | Layout) -> AnyLayout:
    """Copies of a block laid out by a tiler, mode by mode: ``((block0, tiler0), (block1, tiler1), …)``.

    The shorter operand counts as having further modes ``1:0``; mode k runs through the block, then to the next.
    """
    return by_rank(block, tiler, block_first=True)


@overload
def raked_product(block: int | Layout, tiler: int | Layout) -> Layout: ...
@overload
def raked_product(block: ComposedLayout, tiler: int | Layout) -> AnyLayout: ...
def raked_product(block: Operand, tiler: int | Layout) -> AnyLayout:
    """As blocked_product with the blocks interleaved: ``((tiler0, block0), (tiler1, block1), …)``."""
    return by_rank(block, tiler, block_first=False)


def by_rank(block: Operand, tiler: int | Layout, block_first: bool) -> AnyLayout:
    """Block and copies zipped mode by mode."""
    whole, copies = as_layout(block), plain_layout(tiler, "tiler")
    if isinstance(whole, ComposedLayout):
        inner = by_rank(whole.inner, copies, block_first)
        assert isinstance(inner, Layout)
        return ComposedLayout(whole.outer, inner)
    modes = max(whole.rank, copies.rank)
    own, repeated = multiply(padded(whole, modes), padded(copies, modes))
    first, second = (own, repeated) if block_first else (repeated, own)
    if modes == 1:
        return Layout.of([first, second])
    return Layout.of([Layout.of(pair) for pair in zip(first, second, strict=True)])


def padded(layout: Layout, modes: int) -> Layout:
    """The layout with modes ``1:0`` appended up to a number of modes."""
    return Layout.of([*layout.modes, *[Layout(1, 0)] * (modes - layout.rank)])
