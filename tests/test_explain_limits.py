"""Lets that read lets: what is read once is counted once, and what would be written out without end is refused."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from layoutc import LayoutcError
from layoutc.module import compile as compile_text


def chain(length: int, edge: str = "") -> str:
    """Each let reads the one before it on both sides."""
    names = ["x", *(f"g{k}" for k in range(length))]
    domain = " in 0..N" if edge else ""
    lets = [f"let {new}[i{domain}] = {old}[i - 1] + {old}[i + 1]" for old, new in pairwise(names)]
    edges = [f"edge {name} = {edge}" for name in names[1:] if edge]
    return "\n".join([
        "kernel f(x: f32[N]) -> (y: f32[N]) {", "edge x = nearest", *edges, *lets, f"y[i] = {names[-1]}[i]", "}",
        "schedule f { stage x in global }"])


def test_a_chain_of_lets_grows_by_one_place_a_let() -> None:
    """Of 2**20 ways through twenty lets, 21 places are read."""
    facts: Any = compile_text(chain(20)).f.explain(N=100)
    assert facts["halo"]["x"] == {"i": [20, 20]}
    assert facts["traffic"]["x"]["reads_untiled"] == sum(100 - abs(d) for d in range(-20, 21, 2))


def test_lets_that_fold_one_into_another_are_refused_before_they_fill_the_text() -> None:
    with pytest.raises(LayoutcError) as caught:
        _ = compile_text(chain(40, "nearest")).f.plan
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.slug == "too-many-evaluations"
    assert diagnostic.span is not None
