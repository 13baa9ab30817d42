"""What a redistribution means: its sides, its kind, how values may travel."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutc.layout import Layout, blocked, mma_a, striped
from layoutc.resolve.program import Redistribute
from layoutc.resolve.types import F16, F32, TYPES
from tests.resolve_support import refusals, resolved


def redistribute(text: str, **constants: int) -> Redistribute:
    (found,) = resolved(text, **constants).redistributes
    return found


def test_what_is_left_out_is_the_cheapest_means_in_warps_of_32() -> None:
    r = redistribute("redistribute b2s: f32 = blocked(128, 4) -> striped(128, 4)")
    assert r == Redistribute("b2s", F32, "exchange", blocked(128, 4), striped(128, 4), None, 32)
    assert (r.threads, r.items) == (128, (4, 4))


@pytest.mark.parametrize("tail", ["via shared warp 4", "warp 4 via shared"])
@pytest.mark.parametrize("kind", ["exchange", "scatter", "gather"])
def test_kind_means_and_warp(kind: str, tail: str) -> None:
    word = "" if kind == "exchange" else kind
    r = redistribute(f"redistribute r: f16 = {word} blocked(8, 2) -> striped(8, 2) {tail}")
    assert (r.kind, r.type, r.via, r.warp) == (kind, F16, "shared", 4)


def test_sides_are_layout_expressions() -> None:
    text = "const T = 32  layout a = mma_a(16, 8, 16, f16)  redistribute r: f16 = a -> striped(T, size(a) // T)"
    r = redistribute(text)
    assert (r.source, r.destination) == (mma_a(16, 8, 16, "f16"), striped(32, 8))


def test_constants_from_outside() -> None:
    text = "const I = 2  redistribute r: f32 = blocked(4, I) -> striped(4, I) warp 2**I"
    assert redistribute(text, I=3).source == blocked(4, 3)
    assert redistribute(text, I=3).warp == 8


def test_swizzled_sides_are_held_as_they_are() -> None:
    text = "redistribute r: f32 = composition(swizzle(2, 0, 2), (4, 4):(1, 4)) -> striped(4, 4)"
    source = redistribute(text).source
    assert [[source(t, r) for r in range(4)] for t in range(4)] == [
        [(4 * r) | (t ^ r) for r in range(4)] for t in range(4)]


def test_names_are_those_of_kernels() -> None:
    text = "kernel f(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] } redistribute f: f32 = blocked(2, 2) -> striped(2, 2)"
    assert [slug for slug, _ in refusals(text)] == ["duplicate-name"]


def test_a_redistribution_has_no_schedule() -> None:
    text = "redistribute f: f32 = blocked(2, 2) -> striped(2, 2) schedule f { tile (i: 4) }"
    assert refusals(text) == [("unknown-name", "f")]


def test_as_many_errors_as_there_are() -> None:
    text = "redistribute f: f33 = blocked(2000, 1) -> 7 via air warp 3"
    assert refusals(text) == [
        ("unknown-type", "f33"), ("bad-side", "blocked(2000, 1)"), ("bad-side", "7"), ("bad-via", "air"),
        ("bad-warp", "3")]


layouts = st.builds(
    lambda t, i, a, b: Layout((t, i), (a, b)),
    st.integers(1, 6), st.integers(1, 4), st.integers(-6, 6), st.integers(-6, 6))


@settings(deadline=None)
@given(layouts, layouts, st.sampled_from(sorted(TYPES)))
def test_accepted_exactly_where_both_sides_hold_the_same(source: Layout, destination: Layout, type: str) -> None:
    text = f"redistribute r: {type} = {source} -> {destination}"
    same = source[0].size == destination[0].size and source.image == destination.image
    assert refusals(text) == ([] if same else [("different-tiles", str(destination))])
