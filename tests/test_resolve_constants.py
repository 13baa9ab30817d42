"""Constants, layouts and asserts."""

from __future__ import annotations

import numpy as np
import pytest

from layoutc.diagnostics import LayoutcError
from layoutc.layout import Layout, composition, swizzle
from tests.resolve_support import refusals, resolved


def constants(text: str, **given: int) -> dict[str, int]:
    return dict(resolved(text, **given).constants)


def test_constants_may_be_declared_in_any_order() -> None:
    assert constants("const K = 2*R + 1\nconst R = S + size(A)\nlayout A = (S, 3):(3, 1)\nconst S = 4") == {
        "K": 33, "R": 16, "S": 4,
    }


def test_the_constants_keep_the_order_of_the_file() -> None:
    assert [name for name, _ in resolved("const B = A\nconst A = 1").constants] == ["B", "A"]


@pytest.mark.parametrize(("expression", "value"), [
    ("-7 // 2", -4), ("-7 % 3", 2), ("7 // -2", -4), ("7 % -2", -1), ("2 ** 10", 1024), ("(-1) ** 999999999999", -1),
    ("0 ** 0", 1), ("0 ** 5", 0), ("2 ** 62 - 1 + 2 ** 62", 2**63 - 1), ("-(2 ** 62) * 2", -(2**63)),
    ("min(3, 1, 2)", 1), ("max(3, 1, 2)", 3), ("ceildiv(7, 2)", 4), ("ceildiv(-7, 2)", -3), ("3 > 2", 1), ("3 != 3", 0),
    ("size((4, 3):(3, 1))", 12), ("cosize(4:-1)", 4), ("rank(((2, 2), 3):((1, 4), 2))", 2), ("depth((4, 3):(3, 1))", 1),
    ("size((((2, 2), 3):((1, 4), 2))[0])", 4), ("size(12)", 12),
])
def test_what_an_expression_of_constants_is(expression: str, value: int) -> None:
    assert constants(f"const A = {expression}") == {"A": value}


@pytest.mark.parametrize(
    "expression", ["2 ** 63", "2 ** 62 + 2 ** 62", "-(2 ** 62) * 2 - 1", "3 ** 99999999999", "2**2**2**2**2"]
)
def test_64_bits_and_no_more(expression: str) -> None:
    assert [slug for slug, _ in refusals(f"const A = {expression}")] == ["overflow"]


def test_a_constant_can_be_given_from_outside() -> None:
    text = "const R = 2\nconst K = 2*R + 1"
    assert constants(text, R=3) == {"R": 3, "K": 7}
    assert constants("const A = B\nconst B = A", A=1) == {"A": 1, "B": 1}
    assert refusals(text, Q=3) == [("unknown-constant", "")]
    assert refusals(text, R=2**63) == [("bad-override", "")]
    assert refusals(text, R=True) == [("bad-override", "")]
    assert constants(text, R=np.int16(3)) == {"R": 3, "K": 7}  # type: ignore[arg-type]
    assert refusals(text, R=np.bool_(True)) == [("bad-override", "")]  # type: ignore[arg-type]
    assert refusals(text, R=2.5) == [("bad-override", "")]  # type: ignore[arg-type]


def test_an_error_outside_the_text_has_no_place() -> None:
    with pytest.raises(LayoutcError) as caught:
        resolved("const RADIUS = 2", RADUIS=3)
    assert "-->" not in str(caught.value)
    assert "did you mean `RADIUS`?" in str(caught.value)


def test_a_cycle_is_reported_once_and_what_needs_it_not_at_all() -> None:
    text = "const A = B\nconst B = C + 1\nconst C = size(L)\nlayout L = A:1\nconst D = A\nconst E = E"
    assert refusals(text) == [("cycle", "A"), ("cycle", "E")]


def test_long_chains_need_no_recursion() -> None:
    chain = "\n".join(f"const A{n} = A{n + 1} + 1" for n in range(3000))
    assert constants(f"{chain}\nconst A3000 = 0")["A0"] == 3000
    assert refusals(f"{chain}\nconst A3000 = A0") == [("cycle", "A0")]


def test_layouts_are_those_of_the_algebra() -> None:
    layouts = dict(resolved(
        "layout A = ((2, 2), 3):((1, 4), 2)\nlayout B = A[0]\nlayout N = 12\n"
        "layout S = composition(swizzle(3, 0, 3), 64:1)\n"
        "layout W = warp_striped(T, 4, 32)\nconst T = 64"
    ).layouts)
    assert layouts["A"] == Layout(((2, 2), 3), ((1, 4), 2))
    assert layouts["B"] == Layout((2, 2), (1, 4))
    assert layouts["N"] == Layout(12, 1)
    assert layouts["S"] == composition(swizzle(3, 0, 3), Layout(64, 1))
    assert layouts["W"] == Layout(((32, 2), 4), ((1, 128), 32))


def test_a_name_before_parentheses_is_the_languages_function() -> None:
    assert dict(resolved("layout size = 4:1\nconst A = size(size)").constants) == {"A": 4}
    assert refusals("layout L = 4:1\nconst A = L(0)") == [("unknown-function", "L")]


def test_the_asserts_of_the_language_hold() -> None:
    program = resolved("""
        layout plain = (4, 3):(3, 1)
        assert size(plain) == 12
        assert composition((6, 2):(8, 2), (4, 3):(3, 1)) == ((2, 2), 3):((24, 2), 8)
        assert complement(4:2, 24) == (2, 3):(1, 8)
        assert left_inverse((4, 3):(1, 5)) == (5, 3):(1, 4)
        assert plain != (4, 3):(1, 4) and not (size(plain) < 12 or false)
    """)
    assert program.assertions == 5


def test_an_assert_that_fails_shows_both_sides() -> None:
    with pytest.raises(LayoutcError) as caught:
        resolved("const R = 2\nassert 2*R + 1 == 3*R")
    assert caught.value.diagnostics[0].notes == ("the left side, `2*R + 1`, is 5", "the right side, `3*R`, is 6")


def test_a_refusal_of_the_algebra_is_located_and_says_where_it_fails() -> None:
    with pytest.raises(LayoutcError) as caught:
        resolved("layout A = 4:1\nlayout B = composition((4, 3):(1, 5), 7:2)")
    error = caught.value.diagnostics[0]
    assert error.source is not None
    assert error.span is not None
    assert error.source.line_column(error.span.start) == (2, 12)
    assert any("at coordinate 2" in note for note in error.notes)


def test_independent_errors_come_together_in_the_order_of_the_text() -> None:
    text = "const A = 1 // 0\nlayout B = (1, 2)\nassert 1 == 2\nconst C = nope + nada\nconst D = A + 1"
    assert [slug for slug, _ in refusals(text)] == [
        "division-by-zero", "not-a-layout", "assertion", "unknown-name", "unknown-name",
    ]
