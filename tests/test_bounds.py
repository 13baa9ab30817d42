"""The proof of bounds: never wrong, seldom at a loss, and exact about how far a read goes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutc.diagnostics import LayoutcError
from tests.resolve_support import kernel, refusals, resolved

# ---- against counting: every index of every small extent


def clamp(value: int, low: int, high: int) -> int:
    return min(max(value, low), high)


def where(test: bool, yes: int, no: int) -> int:
    return yes if test else no


FUNCTIONS = {"min": min, "max": max, "clamp": clamp, "where": where, "abs": abs}


def number(expression: str) -> Callable[..., int]:
    """An expression of the language as a function of its names; Python's integers floor alike."""
    function: Callable[..., int] = eval(f"lambda H, W, i=0, u=0: {expression}", FUNCTIONS)
    return function


def places(output: str, reduced: tuple[int, int], require: str, most: int) -> Iterator[tuple[int, int, int, int]]:
    """H, W, i, u of every read of every call with extents up to ``most`` that is not refused."""
    length, allowed = number(output), number(require)
    for H, W in product(range(most + 1), repeat=2):
        if allowed(H, W):
            yield from product((H,), (W,), range(length(H, W)), range(*reduced))


def overshoots(subscript: str, extent: str, reads: Iterator[tuple[int, int, int, int]]) -> tuple[int, int]:
    """How far below 0 and past the end the reads go at most."""
    index, length = number(subscript), number(extent)
    low = high = 0
    for H, W, i, u in reads:
        at = index(H, W, i, u)
        low, high = max(low, -at), max(high, at - length(H, W) + 1)
    return low, high


def text(subscript: str, output: str, extent: str, reduced: tuple[int, int], require: str) -> str:
    return (
        f"kernel k(a: f32[H], b: f32[W], x: f32[{extent}]) -> (y: f32[{output}]) {{\n"
        f"    require {require}\n"
        f"    y[i] = sum(u in {reduced[0]}..{reduced[1]}) x[{subscript}]\n}}"
    )


def said(source: str) -> list[str]:
    try:
        resolved(source)
    except LayoutcError as error:
        return [d.message for d in error.diagnostics]
    return []


extents = st.sampled_from(
    ["H", "W", "H + W", "H - 2", "2 * H", "H - W + 1", "H // 2", "(H + 1) // 2", "max(H, W)", "5"]
)
requirements = st.sampled_from(["0 <= H", "H >= 3", "W <= H", "W >= H and H > 0", "H == W + 1", "H > 4 or W > 4"])
reductions = st.sampled_from([(0, 1), (0, 3), (-1, 2), (2, 5)])


@st.composite
def linear(draw: st.DrawFn) -> str:
    terms = [f"{draw(st.sampled_from([-1, 1, 2]))} * i", f"{draw(st.sampled_from([-1, 0, 1, 2]))} * u"]
    terms += [f"{draw(st.sampled_from([-1, 0, 0, 1]))} * {name}" for name in ("H", "W")]
    return " + ".join([*terms, str(draw(st.integers(-3, 3)))])


@settings(deadline=None)
@given(linear(), extents, st.sampled_from(["H", "W", "H - 1", "2 * H", "5"]), reductions, requirements)
def test_a_linear_read_is_proved_exactly_when_counting_finds_it_inside(
    subscript: str, output: str, extent: str, reduced: tuple[int, int], require: str
) -> None:
    messages = said(text(subscript, output, extent, reduced, require))
    low, high = overshoots(subscript, extent, places(output, reduced, f"({require}) and {extent} >= 0", 24))
    if not messages:
        assert (low, high) == (0, 0)
    for message in messages:
        if "not proved" not in message:
            assert (low if "before" in message else high) > 0, message
        told = re.search(r"can read (\d+) (before|past)", message)
        if told:
            assert int(told[1]) == (low if told[2] == "before" else high), message


@st.composite
def anything(draw: st.DrawFn, depth: int = 3) -> str:
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(["i", "i", "u", "H", "W", "0", "1", "2", "(-1)"]))
    a, b = draw(anything(depth - 1)), draw(anything(depth - 1))
    number = draw(st.sampled_from([-3, -2, 2, 3, 5]))
    return draw(st.sampled_from([
        f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} * {number})", f"({a} // {number})", f"({a} % {number})",
        f"min({a}, {b})", f"max({a}, {b})", f"clamp({a}, 0, {b})", f"clamp({a}, {b}, H - 1)", f"abs({a})",
        # by an extent of 0 they give 0: the counting leaves those calls out
        f"({a} % H)", f"({a} // W)", f"where({a} < {b}, {b}, {a})", f"where({a} == 0 or {b} >= 1, {a}, 0)",
    ]))


@settings(deadline=None)
@given(anything(), extents, st.sampled_from(["H", "W", "2 * H", "5"]), reductions, requirements)
def test_what_is_proved_of_any_subscript_holds_for_every_index(
    subscript: str, output: str, extent: str, reduced: tuple[int, int], require: str
) -> None:
    if not said(text(subscript, output, extent, reduced, require)):
        held = f"({require}) and {extent} >= 0 and H > 0 and W > 0"
        assert overshoots(subscript, extent, places(output, reduced, held, 7)) == (0, 0)


offsets = st.integers(-2, 2)


@settings(deadline=None)
@given(st.lists(st.lists(offsets, min_size=1, max_size=3), min_size=1, max_size=3), st.integers(0, 5), offsets)
def test_reads_through_lets_add_their_offsets(chain: list[list[int]], less: int, shift: int) -> None:
    lets, read = "", "x"
    for number, taps in enumerate(chain):
        lets += f"    let g{number}[i] = {' + '.join(f'{read}[i + {t}]' for t in taps)}\n"
        read = f"g{number}"
    source = f"kernel k(x: f32[N]) -> (y: f32[N - {less}]) {{\n{lets}    y[i] = {read}[i + {shift}]\n}}"
    least = shift + sum(min(taps) for taps in chain)
    most = shift + sum(max(taps) for taps in chain)
    messages = said(source)
    assert bool([m for m in messages if "before" in m]) == (least < 0)
    assert bool([m for m in messages if "past" in m]) == (most > less)
    for message in messages:
        assert f"can read {-least if 'before' in message else most - less} " in message


# ---- known answers


@pytest.mark.parametrize("body", [
    "(x: f32[H, W]) -> (y: f32[H - 2, W - 2]) { y[i, j] = sum(u in 0..3, v in 0..3) x[i + u, j + v] }",
    "(x: f32[N], w: f32[K]) -> (y: f32[N - K + 1]) { y[i] = sum(k) w[k] * x[i + k] }",
    "(x: f32[N]) -> (y: f32[(N - 3)//2 + 1]) { y[i] = max(u in 0..3) x[2*i + u] }",
    "(x: f32[N]) -> (y: f32[N]) { y[i] = x[N - 1 - i] }",
    "(x: f32[N]) -> (y: f32[N // 2]) { y[i] = x[2*i] + x[2*i + 1] }",
    "(x: f32[N]) -> (y: f32[2 * N]) { y[i] = x[i // 2] }",
    "(x: f32[N]) -> (y: f32[ceildiv(N, 4)]) { y[i] = x[4*i] }",
    "(x: f32[N]) -> (y: f32[N]) { y[i] = x[(i + 1) % N] + x[(i - 1) % N] }",
    "(x: f32[N]) -> (y: f32[N]) { y[i] = x[max(i - 1, 0)] + x[min(i + 1, N - 1)] + x[where(i > 0, i - 1, 0)] }",
    "(x: f32[H*W], r: f32[H], c: f32[W]) -> (y: f32[H, W]) { y[i, j] = x[i*W + j] }",
    "(x: f32[H, W]) -> (y: f32[H*W]) { y[k] = x[k // W, k % W] }",
    "(x: f32[A*B*C], a: f32[A], b: f32[B], c: f32[C]) -> (y: f32[A, B, C]) { y[i, j, k] = x[(i*B + j)*C + k] }",
    "(x: f32[C, H]) -> (y: f32[C//4, 4*H]) { y[c, h] = x[4*c + h % 4, h//4] }",
    "(x: f32[C, H]) -> (y: f32[C//4, 4*H]) { y[c, h] = x[h % 4 * (C//4) + c, h//4] }",
    "(x: f32[C, H, W]) -> (y: f32[4*C, H//2, W//2]) { y[k, h, w] = x[k % C, 2*h + k//C//2, 2*w + k//C % 2] }",
    "(x: f32[G*C], w: f32[4*M, C], g: f32[G], one: f32[M]) -> (y: f32[4*M]) {\n"
    "require G == 4\n y[m] = sum(c) w[m, c] * x[m//M*C + c] }",
    "(x: f32[C], w: f32[M, D]) -> (y: f32[M]) {\n"
    "require M % 2 == 0, C == 2*D\n y[m] = sum(c) w[m, c] * x[m//(M//2)*D + c] }",
    "(x: f32[C], w: f32[M]) -> (y: f32[M]) { require C >= 1, M % C == 0\n y[m] = x[m // (M//C)] * w[m] }",
    "(x: f32[C, D]) -> (y: f32[C*D]) { require D >= 1\n y[m] = x[m//D, m - m//D*D] + x[m//D, m % D] }",
    "(t: f32[256], b: u8[N]) -> (y: f32[N]) { y[i] = t[b[i]] }",
    "(t: f32[256], b: i8[N]) -> (y: f32[N]) { y[i] = t[b[i] + 128] }",
    "(x: f32[N], at: i32[M]) -> (y: f32[M]) { require N >= 1\n y[i] = x[clamp(at[i], 0, N - 1)] }",
    "(x: f32[N], at: i64[M]) -> (y: f32[M]) { require N >= 1\n y[i] = x[at[i] % N] }",
    "(x: f32[N], w: f32[M]) -> (s: f32[]) { s[] = sum(i) x[i] * w[i] }",
    "(x: f32[N], y: f32[N + 2]) -> (z: f32[N]) { z[i] = y[i] + y[i + 1] + y[i + 2] + x[i] }",
])
def test_these_are_inside(body: str) -> None:
    assert refusals(f"kernel k{body}") == []


@pytest.mark.parametrize(("body", "place"), [
    ("(x: f32[N]) -> (s: f32[]) { s[] = x[0] }", "0"),
    ("(x: f32[N]) -> (y: f32[N]) { y[i] = x[2*i] }", "2*i"),
    ("(x: f32[N]) -> (y: f32[N]) { y[i] = where(i > 0, x[i - 1], 0) }", "i - 1"),
    ("(x: f32[N], at: i64[N]) -> (y: f32[N]) { y[i] = x[max(at[i] + 1 - at[i], 0) * 0 + max(at[i] + 1, 0) % 5] }",
     "max(at[i] + 1 - at[i], 0) * 0 + max(at[i] + 1, 0) % 5"),
    ("(x: f32[N], at: u64[N]) -> (y: f32[N]) { y[i] = x[min(i64(at[i]), N - 1)] }", "min(i64(at[i]), N - 1)"),
    ("(x: f32[N], at: u8[N]) -> (y: f32[N]) { y[i] = x[u8(i)] }", "u8(i)"),
    ("(x: f32[C], w: f32[M]) -> (y: f32[M]) { require C >= 1\n y[m] = x[m // (M//C)] * w[m] }", "m // (M//C)"),
    ("(x: f32[C], w: f32[M]) -> (y: f32[M]) { require M % C == 0\n y[m] = x[m // (M//C)] * w[m] }", "m // (M//C)"),
])
def test_these_are_not(body: str, place: str) -> None:
    found = refusals(f"kernel k{body}")
    assert {slug for slug, _ in found} == {"out-of-bounds"}
    assert {where for _, where in found} == {place}


def test_an_edge_rule_covers_its_axis_and_no_other() -> None:
    source = "kernel k(x: f32[H, W]) -> (y: f32[H, W]) {{ {} y[i, j] = x[i - 1, j + 1] }}"
    assert [where for _, where in refusals(source.format(""))] == ["i - 1", "j + 1"]
    assert [where for _, where in refusals(source.format("edge x[0] = nearest"))] == ["j + 1"]
    assert refusals(source.format("edge x = nearest")) == []


def test_a_let_with_a_domain_is_computed_on_its_domain_alone() -> None:
    source = "kernel k(x: f32[N]) -> (y: f32[N]) {{ {} let g[i in 1..N] = x[i - 1] y[i] = g[i - 5] }}"
    assert refusals(source.format("edge g = mirror")) == []
    assert [where for _, where in refusals(source.format(""))] == ["i - 1", "i - 5"]


def test_the_error_says_how_far_and_what_mends_it() -> None:
    with pytest.raises(LayoutcError) as caught:
        kernel("kernel k(x: f32[H], w: f32[K]) -> (y: f32[H]) { y[i] = x[i + 2] + w[i] }")
    first, second = caught.value.diagnostics
    assert "can read 2 past the end of axis 0 of `x`" in first.message
    assert "`H - 2`" in first.help
    assert "`require K >= H`" in second.help


def test_what_help_asks_for_is_enough() -> None:
    source = "kernel k(x: f32[H], w: f32[K]) -> (y: f32[H]) {{ require {}\n y[i] = x[i] * w[i + 1] * w[2] }}"
    with pytest.raises(LayoutcError) as caught:
        kernel(source.format("0 <= 0"))
    helps = [re.search(r"require ([^`]*)`", d.help) for d in caught.value.diagnostics]
    asked = ", ".join(found[1] for found in helps if found)
    assert asked
    assert refusals(source.format(asked)) == []
