"""The catalogue of errors is closed, and each kind is shown by a golden."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import layoutc
from layoutc.diagnostics import LayoutcError
from layoutc.resolve.errors import SLUGS
from tests.resolve_support import resolved

PACKAGE = Path(layoutc.__file__).parent
GOLDENS = Path(__file__).parent / "errors"

WITHOUT_A_PLACE = {"unknown-constant", "bad-override"}      # test_resolve_constants.py shows these


def test_every_kind_of_error_has_a_golden() -> None:
    said = "\n".join(path.read_text(encoding="utf-8") for path in GOLDENS.glob("*.txt"))
    shown = set(re.findall(r"^error\[([a-z-]+)\]", said, re.MULTILINE))
    assert set(SLUGS) - shown == WITHOUT_A_PLACE


def test_every_error_that_the_resolver_and_the_algebra_report_is_in_the_catalogue() -> None:
    resolver = "\n".join(p.read_text(encoding="utf-8") for p in (PACKAGE / "resolve").glob("*.py"))
    algebra = "\n".join(p.read_text(encoding="utf-8") for p in (PACKAGE / "layout").glob("*.py"))
    reported = set(re.findall(r"errors\.(?:report|refuse)\(\s*\"([a-z-]+)\"", resolver))
    reported |= set(re.findall(r"Fault\(\"([a-z-]+)\"", resolver))
    reported |= set(re.findall(r"refusal\(\s*\"([a-z-]+)\"", algebra))
    assert reported - {"layout-coordinate"} <= set(SLUGS)       # the language does not call layouts
    assert len(reported) > 40


# ---- no text makes a traceback

WORDS = [
    "x", "y", "w", "g", "h", "i", "j", "u", "v", "H", "W", "K", "R", "S", "L", "f32", "i32", "u8", "u64",
    "bool", "f16", "sum", "max", "min", "argmax", "median", "any", "where", "clamp", "sqrt", "0", "1", "2",
    "3", "0.5", "true", "inf", "+", "-", "*", "/", "//", "%", "**", "(", ")", "[", "]", ",", "..", "..=",
    "in", ":", "=", "==", "<", ">", "and", "or", "not", "edge", "require", "let", "step", "constant",
    "nearest", "wrap",
]

TEMPLATE = """
const R = {}
layout L = {}
kernel k(x: f32[H, W], w: i32[{}], g: u8[K]) -> (y: {}[{}]) {{
    edge x = {}
    require {}
    let h[{}] = {}
    y[i, j] = {}
}}
schedule k {{ tile (i: {}) threads {} }}
assert {}
"""

PLAIN = (
    "2", "(4, 3):(3, 1)", "K", "f32", "H, W", "constant(0)", "H > 0", "a, b", "x[a, b]", "h[i, j]", "4", "64", "R == 2",
)


parts = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


@settings(deadline=None)
@given(st.dictionaries(st.integers(0, len(PLAIN) - 1), parts, max_size=3))
def test_a_text_resolves_or_is_refused_with_places_inside_it(changes: dict[int, str]) -> None:
    text = TEMPLATE.format(*(changes.get(number, part) for number, part in enumerate(PLAIN)))
    try:
        resolved(text)
    except LayoutcError as error:
        for diagnostic in error.diagnostics:
            assert diagnostic.span is not None
            assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)


def test_each_of_thousands_of_errors_is_reported_once() -> None:
    text = "".join(f"assert size(4:1) == {n}\n" for n in range(5, 2005))
    with pytest.raises(LayoutcError) as caught:
        resolved(text)
    assert [d.span.start for d in caught.value.diagnostics if d.span] == [
        found.start() + 7 for found in re.finditer("assert", text)]


def test_what_a_refused_constant_leaves_open_is_not_looked_at() -> None:
    for use in ("y: f32[N]", "y: f32[2*N, H]"):
        rank = "i" if "H]" not in use else "i, j"
        kernel = f"kernel k(x: f32[H]) -> ({use}) {{ y[{rank}] = x[i + i] }}"
        text = f"const N = 1 % N\n{kernel}\nschedule k {{ tile (i: N) }}"
        with pytest.raises(LayoutcError) as caught:
            resolved(text)
        assert [d.slug for d in caught.value.diagnostics] == ["cycle"]
