"""Index expressions: what is simplified keeps its value, and prints as C that means the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutc.index import Binary, Expr, Int, Name, Select, ceildiv, compare, every, select

BOUNDS = {"thread": (0, 255), "item": (0, 7), "u": (-2, 2), "tile": (0, None), "free": (None, None)}
NAMES = {name: Name(name, *bounds) for name, bounds in BOUNDS.items()}
VALUES = st.fixed_dictionaries({
    "thread": st.integers(0, 255), "item": st.integers(0, 7), "u": st.integers(-2, 2),
    "tile": st.integers(0, 10**6), "free": st.integers(-(10**6), 10**6),
})
Built = tuple[Expr, Callable[[dict[str, int]], int]]


def leaf() -> st.SearchStrategy[Built]:
    numbers = st.integers(-70, 70).map(lambda n: (Int(n), lambda env, n=n: n))
    names = st.sampled_from(sorted(NAMES)).map(lambda k: (NAMES[k], lambda env, k=k: env[k]))
    return st.one_of(numbers, names)


def grow(inner: st.SearchStrategy[Built]) -> st.SearchStrategy[Built]:
    pair = st.tuples(inner, inner)
    divisor = st.integers(1, 70)
    return st.one_of(
        pair.map(lambda p: (p[0][0] + p[1][0], lambda env, p=p: p[0][1](env) + p[1][1](env))),
        pair.map(lambda p: (p[0][0] - p[1][0], lambda env, p=p: p[0][1](env) - p[1][1](env))),
        st.tuples(inner, st.integers(-9, 70)).map(lambda p: (p[0][0] * p[1], lambda env, p=p: p[0][1](env) * p[1])),
        pair.map(lambda p: (p[0][0] * p[1][0], lambda env, p=p: p[0][1](env) * p[1][1](env))),
        inner.map(lambda p: (p[0] // (NAMES["thread"] + 1), lambda env, p=p: p[1](env) // (env["thread"] + 1))),
        inner.map(lambda p: (p[0] % (NAMES["thread"] + 1), lambda env, p=p: p[1](env) % (env["thread"] + 1))),
        st.tuples(inner, divisor).map(lambda p: (p[0][0] // p[1], lambda env, p=p: p[0][1](env) // p[1])),
        st.tuples(inner, divisor).map(lambda p: (p[0][0] % p[1], lambda env, p=p: p[0][1](env) % p[1])),
        pair.map(lambda p: (p[0][0] ^ p[1][0], lambda env, p=p: p[0][1](env) ^ p[1][1](env))),
    )


BUILT = st.recursive(leaf(), grow, max_leaves=12)


def floor_div(a: int, b: int) -> int:
    return a // b


def floor_mod(a: int, b: int) -> int:
    return a % b


@given(BUILT, VALUES)
def test_simplification_keeps_the_value(built: Built, env: dict[str, int]) -> None:
    expression, meaning = built
    assert expression.at(env) == meaning(env)


@given(BUILT, VALUES)
def test_the_text_means_the_value(built: Built, env: dict[str, int]) -> None:
    expression, meaning = built
    text = str(expression).replace("/", "//")       # C's / and % stand only on dividends that are not negative
    assert eval(text, {"floor_div": floor_div, "floor_mod": floor_mod}, env) == meaning(env)


@given(BUILT, VALUES)
def test_the_interval_holds_the_value(built: Built, env: dict[str, int]) -> None:
    low, high = built[0].interval
    value = built[0].at(env)
    assert low is None or low <= value
    assert high is None or value <= high


@given(BUILT, BUILT, VALUES, st.sampled_from(["<", "<=", ">", ">="]))
def test_a_decided_test_is_right(a: Built, b: Built, env: dict[str, int], op: str) -> None:
    test = compare(op, a[0], b[0])
    assert bool(test.at({**env, "true": 1})) == eval(f"{a[1](env)} {op} {b[1](env)}")


@given(BUILT, VALUES, st.integers(-5, 5))
def test_substitution_is_evaluation_elsewhere(built: Built, env: dict[str, int], k: int) -> None:
    moved = built[0].over({"free": Name("free") + k})
    assert moved.at(env) == built[0].at({**env, "free": env["free"] + k})


@pytest.mark.parametrize(("expression", "text"), [
    (NAMES["thread"] + NAMES["item"] * 256, "thread + item * 256"),
    ((NAMES["thread"] + NAMES["item"] * 256) // 64, "item * 4 + thread / 64"),
    ((NAMES["thread"] + NAMES["item"] * 256) % 64, "thread % 64"),
    ((NAMES["item"] + NAMES["u"] - 2) * 66, "(item + u) * 66 - 132"),
    (-NAMES["tile"] + 3, "-tile + 3"),
    (NAMES["free"] // 4, "floor_div(free, 4)"),
    ((NAMES["thread"] ^ NAMES["thread"] // 8 % 4) * 4 + NAMES["item"], "(thread ^ (thread / 8 % 4)) * 4 + item"),
    (NAMES["thread"] ^ 0, "thread"),
    (NAMES["thread"] * (NAMES["tile"] // 2), "thread * (tile / 2)"),
    (ceildiv(NAMES["tile"], 64), "(tile + 63) / 64"),
    (Select(compare("<", NAMES["free"], Int(0)), Int(0), NAMES["free"]), "free < 0 ? 0 : free"),
    (every([compare("<", NAMES["item"], Int(8)), compare("<", NAMES["free"], Int(8))]), "free < 8"),
])
def test_it_reads_as_a_person_would_write_it(expression: Expr, text: str) -> None:
    assert str(expression) == text


@pytest.mark.parametrize("op", ["<", "<=", ">", ">="])
def test_a_choice_of_the_lesser_or_greater_is_named(op: str) -> None:
    a, b = Name("a"), Name("b")
    for yes, no in ((a, b), (b, a)):
        made = select(Binary(op, a, b), yes, no)
        assert str(made) in ("minimum(a, b)", "maximum(a, b)")
        for env in ({"a": 1, "b": 2}, {"a": 2, "b": 1}, {"a": 3, "b": 3}):
            assert made.at(env) == Select(Binary(op, a, b), yes, no).at(env)
