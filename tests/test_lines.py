"""Folding changes blanks alone, and keeps to the width where a line can be broken."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from layoutc.lines import fold_lines

ATOMS = st.sampled_from(["x", "tile_i", "w[u * 5 + v]", "1.5f", "-y", "float(x_tile[(item_i + 2) * 66 + item_j])"])
EXPRESSIONS = st.recursive(ATOMS, lambda inner: st.one_of(
    st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "&&", "||"]), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
    st.tuples(inner, inner, inner).map(lambda p: f"fma({p[0]}, {p[1]}, {p[2]})"),
    st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} ? {p[1]} : {p[2]})"),
), max_leaves=40)


@given(EXPRESSIONS, st.integers(0, 12))
def test_only_blanks_change(expression: str, depth: int) -> None:
    line = " " * depth + f"y = {expression};"
    folded = fold_lines(line)
    assert re.sub(r"\s+", " ", folded).strip() == line.strip()
    assert all(part.startswith(" " * depth) for part in folded.split("\n"))


@given(EXPRESSIONS)
def test_lines_keep_to_the_width(expression: str) -> None:
    longest = max(map(len, fold_lines(f"y = {expression};", 80).split("\n")))
    assert longest <= 80 or max(map(len, re.split(r"[ ,]", expression))) > 40


def test_comments_stay_whole() -> None:
    comment = "// " + "word " * 60
    assert fold_lines(comment) == comment


def test_a_call_is_broken_between_its_arguments() -> None:
    test = "within(item_i + u - 1, 8) && within(item_j + v - 1, 32) ? 4 : 0"
    assert fold_lines(f"copy_async4(x_tile + item, x + (x_first + c * x_stride_1), {test});", 80) == (
        f"copy_async4(x_tile + item, x + (x_first + c * x_stride_1),\n    {test});")


def test_a_subscript_stays_whole_where_the_value_can_stand_alone() -> None:
    left, right = "y[i * y_stride_0 + (j + line) * y_stride_1 + k]", "y_made[line * 2 + element]"
    assert fold_lines(f"{left} = {right};", 70) == f"{left} =\n    {right};"


@given(st.lists(st.sampled_from(['"ldmatrix.sync {%0}, [%1];"', '"a \\" + b, c = d"', "x + y", '"=r"(x)']), min_size=1))
def test_strings_stay_whole(parts: list[str]) -> None:
    folded = fold_lines(f"    asm volatile({' : '.join(parts)});", 60)
    assert all(part in folded for part in parts if part.startswith('"'))
