"""Layouts by name: compact ones, and thread/value layouts of a tile counted row-major."""

from __future__ import annotations

from layoutc.layout.errors import refusal
from layoutc.layout.layout import Layout, as_integer, checked, prefix_products
from layoutc.layout.tuples import IntTuple, leaves, regroup


def col_major(*shape: IntTuple) -> Layout:
    """The compact layout with the first index fastest: ``col_major(4, 3) == (4,3):(1,4)``."""
    return Layout(shape_of("col_major", shape))


def row_major(*shape: IntTuple) -> Layout:
    """The compact layout with the last index fastest: ``row_major(4, 3) == (4,3):(3,1)``."""
    whole = shape_of("row_major", shape)
    strides = prefix_products(reversed(leaves(checked(whole, "shape"))))
    return Layout(whole, regroup(checked(whole, "shape"), iter(strides[::-1])))


def shape_of(name: str, shape: tuple[IntTuple, ...]) -> IntTuple:
    """The extents given one by one, or as one tuple."""
    if not shape:
        raise refusal("layout-argument", f"`{name}` takes at least one extent", help=f"such as `{name}(4, 3)`")
    return shape


def blocked(T: int, I: int) -> Layout:  # noqa: E741  # T threads and I items are the field's names
    """``(T, I):(I, 1)``: thread t holds positions ``t*I`` to ``t*I + I - 1``."""
    T, I = counts("blocked", T=T, I=I)  # noqa: E741
    return Layout((T, I), (I, 1))


def striped(T: int, I: int) -> Layout:  # noqa: E741
    """``(T, I):(1, T)``: item r of thread t is position ``t + r*T``."""
    T, I = counts("striped", T=T, I=I)  # noqa: E741
    return Layout((T, I), (1, T))


def warp_striped(T: int, I: int, W: int) -> Layout:  # noqa: E741
    """``((W, T//W), I):((1, W*I), W)``: striped within each warp of W lanes; W divides T.

    Item r of thread t is position ``(t//W)*W*I + t%W + r*W``.
    """
    T, I, W = counts("warp_striped", T=T, I=I, W=W)  # noqa: E741
    if T % W:
        raise refusal(
            "layout-argument",
            f"{T} threads are no whole number of warps of {W} lanes",
            help="the lanes of a warp must divide the threads",
        )
    return Layout(((W, T // W), I), ((1, W * I), W))


def counts(name: str, **given: int) -> list[int]:
    """The numbers of threads, items and lanes, each at least 1."""
    numbers = []
    for word, value in given.items():
        number = as_integer(value)
        if number is None or number < 1:
            raise refusal("layout-argument", f"`{name}` needs {word} to be an integer of at least 1, not {value}")
        numbers.append(number)
    return numbers
