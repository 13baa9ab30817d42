"""Printing is the inverse of parsing, adds no needless parenthesis, and formatting keeps comments."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutc.parse.formatter import format_text
from layoutc.parse.parser import parse
from layoutc.parse.printer import print_spec
from layoutc.parse.syntax import Spec
from layoutc.source import Source
from tests.parse_examples import TEXTS
from tests.spec_strategies import specs

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.layout"))


def parsed(text: str) -> Spec:
    return parse(Source("<text>", text))


def formatted(text: str) -> str:
    return format_text(Source("<text>", text))


def same(a: Spec, b: Spec) -> bool:
    """Equality that tells 1 from 1.0 and true."""
    return a == b and repr(a) == repr(b)


@settings(max_examples=100, deadline=None)
@given(specs)
def test_a_printed_tree_parses_to_itself(spec: Spec) -> None:
    text = print_spec(spec)
    assert same(parsed(text), spec), text
    assert print_spec(parsed(text)) == text


@settings(max_examples=30, deadline=None)
@given(specs)
def test_canonical_text_is_left_alone_by_formatting(spec: Spec) -> None:
    text = print_spec(spec)
    assert formatted(text) == text


@pytest.mark.parametrize("text", [*TEXTS, *(path.read_text(encoding="utf-8") for path in EXAMPLES)])
def test_examples_survive_printing_and_formatting(text: str) -> None:
    assert same(parsed(print_spec(parsed(text))), parsed(text))
    assert same(parsed(formatted(text)), parsed(text))
    assert formatted(formatted(text)) == formatted(text)


@settings(max_examples=40, deadline=None)
@given(specs, st.randoms(use_true_random=False))
def test_formatting_keeps_every_comment(spec: Spec, random: Random) -> None:
    tokens = print_spec(spec).split(" ")
    text, placed = "", []
    for number, token in enumerate(tokens):
        text += token
        if random.random() < 0.1:
            placed.append(f"# note {number}")
            text += random.choice([" ", "\n", "\n\n"]) + placed[-1] + "  \n"
        else:
            text += " "
    result = formatted(text)
    assert same(parsed(result), spec)
    assert sorted(line[line.index("#"):] for line in result.split("\n") if "#" in line) == sorted(placed)
    assert formatted(result) == result


@pytest.mark.parametrize(("written", "canonical"), [
    ("((a))", "a"), ("(a*b)+c", "a*b + c"), ("a*(b+c)", "a * (b + c)"),
    ("a-(b-c)", "a - (b - c)"), ("(a-b)-c", "a - b - c"), ("-(x**2)", "-x**2"),
    ("(-x)**2", "(-x)**2"), ("2**(-1)", "2**-1"), ("(2**3)**4", "(2**3)**4"),
    ("2**(3**4)", "2**3**4"), ("not (a<b)", "not a < b"), ("(not a)<b", "(not a) < b"),
    ("(a or b) and c", "(a or b) and c"), ("a or (b and c)", "a or b and c"), ("(4,3):(3,1)", "(4, 3):(3, 1)"),
    ("4:(2+1)", "4:2 + 1"), ("(4:2)+1", "(4:2) + 1"), ("sum(u) (a*b)", "sum(u) a*b"),
    ("(sum(u) a)*b", "(sum(u) a) * b"), ("a*(sum(u) b)", "a * sum(u) b"), ("(-sum(u) a)*b", "(-sum(u) a) * b"),
    ("(a**sum(u) b)*c", "(a**sum(u) b) * c"), ("(sum(u) a)+b", "sum(u) a + b"), ("sum(u) (a+b)", "sum(u) (a + b)"),
    ("(a,)", "(a,)"), ("(f(a))[0]", "f(a)[0]"), ("((4,3):(3,1))[0]", "((4, 3):(3, 1))[0]"),
    ("x[i-1]", "x[i - 1]"), ("1e30", "1e+30"), ("0.50", "0.5"),
    ("007", "7"), ("f(a,)", "f(a)"), ("x[ ]", "x[]"),
])
def test_canonical_form(written: str, canonical: str) -> None:
    assert print_spec(parsed(f"const a = {written}")) == f"const a = {canonical}\n"


def test_long_lines_are_broken_at_their_outermost_operators() -> None:
    taps = " + ".join(f"weights[{k}] * image[i + {k}]" for k in range(6))
    assert print_spec(parsed(f"kernel k(x: f32[H]) -> (y: f32[H]) {{ y[i] = {taps} }}")) == (
        "kernel k(x: f32[H]) -> (y: f32[H]) {\n"
        "    y[i] = weights[0] * image[i + 0]\n"
        + "".join(f"        + weights[{k}] * image[i + {k}]\n" for k in range(1, 6))
        + "}\n")


def test_comments_find_their_places() -> None:
    assert formatted(
        "# file\n\n\n#about a\nconst a=1# behind\nkernel k(x:f32[H], # the input\n) -> (y:f32[H]) { # open\n"
        "  # first\n\n  y[i]=x[i] # left\n    +1 # right\n\n  # last\n}\nschedule k {tile(i:4)} # end"
    ) == (
        "# file\n\n#about a\nconst a = 1  # behind\n\nkernel k(\n    x: f32[H],  # the input\n"
        ") -> (\n    y: f32[H],\n) {  # open\n"
        "    # first\n\n    # left\n    y[i] = x[i] + 1  # right\n\n    # last\n}\n\n"
        "schedule k { tile (i: 4) }  # end\n")


def test_comments_in_a_head_stay_with_their_tensors() -> None:
    assert formatted(
        "kernel k ( # takes\n\n  # the image\n  x: f32[H, W], # read once\n w:f32[3] # 9 -> 3 taps\n"
        "  # after them\n) # then\n -> ( # gives\n y: f32[H]\n # the end\n) # of it {\n { y[i] = w[0] }"
    ) == (
        "kernel k(  # takes\n    # the image\n    x: f32[H, W],  # read once\n    w: f32[3],     # 9 -> 3 taps\n"
        "    # after them\n    # then\n) -> (  # gives\n    y: f32[H],\n    # the end\n    # of it {\n) {\n"
        "    y[i] = w[0]\n}\n")


def test_comments_behind_lines_that_follow_one_another_stand_in_one_column() -> None:
    assert formatted(
        "const a = 1 # one\nconst bcd = 22 # two\nconst e = 3\nconst f = 4 # four\n\nconst ghijk = 55 # five\n"
    ) == (
        "const a = 1     # one\nconst bcd = 22  # two\nconst e = 3\nconst f = 4  # four\n\n"
        "const ghijk = 55  # five\n")
