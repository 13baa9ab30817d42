"""``layoutc layout``: the numbers are those of LANGUAGE's examples, of CuTe's documentation and of counting by hand."""

from __future__ import annotations

import json

import pytest

from tests.cli_support import invoke


def test_a_layout_with_all_that_is_known_of_it() -> None:
    # rows are mode 0, columns mode 1: the value at (i, j) is 3i + j
    assert invoke("layout", "(4, 3):(3, 1)").stdout.splitlines() == [
        "layout      (4,3):(3,1)",
        "size        12",
        "cosize      12",
        "image       0..=11",
        "injective   yes",
        "bijective   yes",
        "contiguous  yes",
        "",
        "  |  0  1  2",
        "--+---------",
        "0 |  0  1  2",
        "1 |  3  4  5",
        "2 |  6  7  8",
        "3 |  9 10 11",
    ]


def test_the_same_as_json() -> None:
    assert json.loads(invoke("layout", "--json", "(2, 2):(4, 0)").stdout) == {
        "layout": "(2,2):(4,0)", "size": 4, "cosize": 5, "rank": 2, "depth": 1, "values": [0, 4, 0, 4],
        "image": [0, 4], "injective": False, "bijective": False, "contiguous": False, "table": [[0, 0], [4, 4]]}


@pytest.mark.parametrize(("expression", "value"), [
    ("size((4, 3):(3, 1))", "12"),
    ("cosize(4:-1)", "4"),
    ("2 ** 10 - 1", "1023"),
    ("-1", "-1"),
    ("composition((6, 2):(8, 2), (4, 3):(3, 1)) == ((2, 2), 3):((24, 2), 8)", "true"),
    ("complement(4:2, 24) == (2, 3):(1, 8)", "true"),
    ("left_inverse((4, 3):(1, 5)) == (5, 3):(1, 4)", "true"),
    ("(1, (2, 3))", "(1, (2, 3))"),
    ("swizzle(3, 0, 3)", "swizzle(3,0,3)"),
])
def test_whatever_the_language_has_a_value_for(expression: str, value: str) -> None:
    assert invoke("layout", "--", expression).stdout == f"{value}\n"


@pytest.mark.parametrize("words", [("-7//2",), ("-7//2", "--color", "never"), ("-q", "-7//2"), ("--", "-7//2")])
def test_a_minus_sign_before_a_number_begins_no_option(words: tuple[str, ...]) -> None:
    assert invoke("layout", *words).stdout == "-4\n"
    assert json.loads(invoke("layout", "--json", *words).stdout) == {"value": -4}


@pytest.mark.parametrize(("expression", "value"), [
    ("rank((4, 3):(3, 1))", 2), ("1 == 2", False), ("(4, (3, 2))", [4, [3, 2]]), ("swizzle(3, 0, 3)", "swizzle(3,0,3)"),
])
def test_what_is_no_layout_is_a_value_in_json(expression: str, value: object) -> None:
    assert json.loads(invoke("layout", expression, "--json").stdout) == {"value": value}


def test_constants_may_stand_in_it() -> None:
    assert invoke("layout", "size(row_major(T, I))", "-D", "T=128", "-D", "I=4").stdout == "512\n"


def test_a_large_layout_is_not_listed() -> None:
    result = invoke("layout", "(1000000, 1000000):(1, 1000000)")
    assert "size        1000000000000\n" in result.stdout
    assert "image       too large to list\n" in result.stdout
    assert "bijective   yes\n" in result.stdout


def test_an_image_is_shown_as_runs() -> None:
    assert "image       0..=1, 4..=5, 8..=9\n" in invoke("layout", "(2, 3):(1, 4)").stdout
    assert invoke("layout", "100:2").stdout.splitlines()[3].endswith("28, 30, …")


@pytest.mark.parametrize(("expression", "place", "slug"), [
    ("composition((4, 3):(3, 1), foo)", "1:28", "unknown-name"),
    ("(4, 3):(3, 1))", "1:14", ""),
    ("\n  size(", "2:8", "unclosed"),
    ("", "1:1", "unexpected-end"),
    ("1 assert 2", "1:3", "not-an-expression"),
    ("complement((2, 2):(1, 1), 8)", "1:1", "layout"),
    ("1 // 0", "1:1", "division-by-zero"),
])
def test_what_is_wrong_is_located_in_the_expression(expression: str, place: str, slug: str) -> None:
    result = invoke("layout", expression)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error[{slug}")
    assert f"--> EXPR:{place}\n" in result.stderr
    assert "assert " not in result.stderr.replace(expression, "")
