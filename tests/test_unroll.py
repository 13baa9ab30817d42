"""``unroll``: the loop over the index is written out or its pragma stands before it, whatever its range."""

from __future__ import annotations

import pytest

from layoutc.module import compile

CASES = (
    ("y[i] = sum(c) x[c, i]", "tile (i: 32) threads (32, 1):(1, 1)", "c"),
    ("y[i] = sum(c in 0..40) x[0, i] * f32(c)", "tile (i: 32)", "c"),
    ("y[i] = x[0, i]", "tile (i: 4096) threads 64", "i"),
)


@pytest.mark.parametrize(("equation", "clauses", "index"), CASES)
def test_a_pragma_stands_before_the_loop(equation: str, clauses: str, index: str) -> None:
    text = f"kernel k(x: f32[C, W]) -> (y: f32[W]) {{ require C > 0  {equation} }}"
    plain = compile(f"{text} schedule k {{ {clauses} }}").k.cuda.split("\n")
    told = compile(f"{text} schedule k {{ {clauses} unroll {index} }}").k.cuda.split("\n")
    where = [n for n, line in enumerate(told) if line.strip() == "UNROLL"]
    assert [line for line in told if line.strip() != "UNROLL"] == [line for line in plain if line.strip() != "UNROLL"]
    assert any(told[n + 1].strip().startswith("for (") for n in where)
