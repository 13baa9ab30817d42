"""Who holds what, held against Triton's linear layouts; they know sizes that are powers of two."""

from __future__ import annotations

from typing import Any

import pytest

from layoutc.layout import Layout
from layoutc.plan.moves.exchange import Exchange
from tests.moves_support import catalogue, catalogue_pairs

tools = pytest.importorskip("triton.tools", reason="the oracle is an optional package")


def linear(layout: Layout) -> Any:
    """The layout's value at every power of two of thread and item."""
    bases = [
        (name, [[mode(1 << bit)] for bit in range(mode.size.bit_length() - 1)])
        for name, mode in (("thread", layout[0]), ("item", layout[1]))
    ]
    return tools.LinearLayout.from_bases(bases, ["position"], [layout.size], True)


def is_linear(layout: Layout) -> bool:
    """Whether extents are powers of two, no value occurs twice, and strides add up without a carry."""
    return (all(extent & (extent - 1) == 0 for extent, _ in layout.leaves)
            and sorted(layout.values) == list(range(layout.size)))


def test_triton_agrees_on_who_holds_what() -> None:
    every = catalogue()
    pairs = [(s, d) for s, d in catalogue_pairs() if is_linear(every[s]) and is_linear(every[d])]
    assert len(pairs) >= 80
    for source, destination in pairs:
        exchange = Exchange(every[source], every[destination], 4)
        found = linear(every[destination]).invert_and_compose(linear(every[source]))
        for thread, row in enumerate(exchange.came_from):
            for item, slot in enumerate(row):
                place = dict(found.apply({"thread": thread, "item": item}))
                assert (place["thread"], place["item"]) == slot
