"""What explain counts of reductions in chunks is what a person counts, chunk by chunk."""

from __future__ import annotations

from math import ceil
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutc.explain import explain_text
from layoutc.module import compile

TEXT = """
kernel f(x: f32[C, N], w: f32[M, C, 3]) -> (y: f32[M, N]) {{
    edge x = constant(0)
    y[m, i] = sum(c in {low}..C, u) w[m, c, u] * x[{s}*c + {o}, i + u - 1]
}}
schedule f {{ tile (m: {m}, i: {i}, c: {c})  stage x in shared {double}  stage w in {where} }}"""


@settings(max_examples=60, deadline=None)
@given(
    channels=st.integers(0, 9), n=st.integers(1, 12), made=st.integers(1, 5), low=st.integers(0, 2),
    s=st.integers(1, 2), o=st.integers(-2, 3), m=st.integers(1, 3), i=st.integers(1, 5), c=st.integers(1, 4),
    double=st.sampled_from(["", "double"]), where=st.sampled_from(["shared", "global"]))
def test_what_chunks_load(
    channels: int, n: int, made: int, low: int, s: int, o: int, m: int, i: int, c: int, double: str, where: str
) -> None:
    text = TEXT.format(low=low, s=s, o=o, m=m, i=i, c=c, double=double, where=where)
    facts: Any = compile(text).f.explain(C=channels, N=n, M=made)
    x = w = 0
    for row in range(0, made, m):
        for column in range(0, n, i):
            for first in range(low, channels, c):
                lines = sum(0 <= s * first + o + k < channels for k in range(s * (c - 1) + 1))
                x += lines * sum(0 <= at < n for at in range(column - 1, column + i + 1))
                w += 3 * sum(row + k < made for k in range(m)) * sum(first + k < channels for k in range(c))
    reads = 3 * made * n * max(channels - low, 0)
    assert facts["traffic"]["x"]["loaded_bytes"] == 4 * x
    assert facts["traffic"]["w"]["loaded_bytes"] == 4 * (w if where == "shared" else reads)
    touched = {(s * k + o, at + u - 1) for k in range(low, channels) for at in range(n) for u in range(3)}
    unique = sum(0 <= a < channels and 0 <= b < n for a, b in touched)
    assert facts["traffic"]["x"]["unique_bytes"] == 4 * unique
    assert facts["footprint"]["x"] == [s * (c - 1) + 1, i + 2]
    copies = 2 if double else 1
    held = {item["name"]: (item["where"], item["bytes"], item["copies"]) for item in facts["storage"]["items"]}
    assert held["x"] == ("shared", 4 * (s * (c - 1) + 1) * (i + 2), copies)
    assert held["y"] == ("registers", 4 * m * i, 1)
    assert facts["storage"]["shared_bytes"] == held["x"][1] * copies + (held["w"][1] if "w" in held else 0)


@pytest.mark.parametrize(("channels", "bytes"), [(4, 4 * (4 * 6 + 2 * 4 * 3)), (5, 4 * (5 * 6 + 2 * 5 * 3)), (0, 0)])
def test_intensity_counts_every_chunk(channels: int, bytes: int) -> None:
    """2 x 4 outputs, 3 taps a channel: the whole of each channel's box, no more of a short chunk than there is."""
    text = TEXT.format(low=0, s=1, o=0, m=2, i=4, c=2, double="double", where="shared")
    intensity: Any = compile(text).f.explain(C=channels, N=8, M=4)["intensity"]
    assert intensity["ops"] == 2 * 4 * channels * 3 * 2
    assert intensity["bytes"] == bytes


def test_the_text_names_chunks_and_copies() -> None:
    text = TEXT.format(low=0, s=1, o=0, m=2, i=4, c=2, double="double", where="shared")
    facts: Any = compile(text).f.explain(C=5, N=8, M=4)
    said = explain_text(facts)
    assert "m 2, i 4, c 2" in said
    assert "c < C" in said
    assert f"{4 * 2 * 6}  bytes x 2" in said
    assert facts["launch"]["blocks"] == ceil(4 / 2) * ceil(8 / 4)
    assert {"tensor": "w", "axis": 1, "side": "high", "kind": "ragged", "test": "c < C"} in facts["masks"]
