"""Pairs of thread/value layouts of one tile, and what threads hold of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import lcm, prod
from operator import mul
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from layoutc.layout import Layout
from layoutc.resolve.program import Redistribute
from tests.resolve_support import resolved

Array = NDArray[Any]
Pair = tuple[Layout, Layout]
Mode = tuple[int, int]      # extent, stride
MOST_POSITIONS = 96


def redistribute(text: str) -> Redistribute:
    """The meaning of ``redistribute r: ⟨text⟩``."""
    return resolved(f"redistribute r: {text}").redistributes[0]


def held(layout: Layout, tile: Any) -> Array:
    """What threads hold under a layout, ``[T, I]``; ``tile`` maps positions to values."""
    return np.array([[tile[layout(t, i)] for i in range(layout[1].size)] for t in range(layout[0].size)])


@st.composite
def pairs(draw: st.DrawFn, *, copies: bool = True) -> Pair:
    """Two layouts with the same threads and the same image; with ``copies``, also with strides of 0.

    The tile's extent is a product of small primes. On each side the primes are shared out among threads and items and
    stacked in any order; a side whose threads are too few for that repeats itself over more.
    """
    drawn = draw(st.lists(st.sampled_from((2, 2, 3, 5)), min_size=1, max_size=6))
    factors = [f for f, whole in zip(drawn, accumulate(drawn, mul), strict=True) if whole <= MOST_POSITIONS]
    count = len(factors)
    chosen = [draw(st.sets(st.integers(0, count - 1)))]
    chosen.append(draw(st.sets(st.integers(0, count - 1))) if copies else _alike(draw, factors, chosen[0]))
    threads = lcm(*(prod(factors[k] for k in side) for side in chosen))
    scale = draw(st.sampled_from((1, 1, 1, 2, -1)))
    one, two = (_side(draw, factors, side, threads, scale, copies) for side in chosen)
    return one, two


def _alike(draw: st.DrawFn, factors: Sequence[int], chosen: set[int]) -> set[int]:
    """Other factors with the same product."""
    found: set[int] = set()
    for value in [factors[k] for k in sorted(chosen)]:
        found.add(draw(st.sampled_from([k for k, f in enumerate(factors) if f == value and k not in found])))
    return found


def _side(
    draw: st.DrawFn, factors: Sequence[int], chosen: set[int], threads: int, scale: int, copies: bool
) -> Layout:
    order = draw(st.permutations(range(len(factors))))
    below = dict(zip(order, accumulate([factors[k] for k in order], mul, initial=1), strict=False))
    outer = [(factors[k], scale * below[k]) for k in chosen]
    inner = [(factors[k], scale * below[k]) for k in range(len(factors)) if k not in chosen]
    repeated = threads // prod(factors[k] for k in chosen)
    if repeated > 1:
        outer.append((repeated, 0))
    if copies and draw(st.booleans()):
        inner.append((2, 0))
    return Layout.of([_mode(draw(st.permutations(outer))), _mode(draw(st.permutations(inner)))])


def _mode(modes: Sequence[Mode]) -> Layout:
    if not modes:
        return Layout(1, 0)
    return Layout(tuple(n for n, _ in modes), tuple(d for _, d in modes))
