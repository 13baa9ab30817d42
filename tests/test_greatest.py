"""No value of an index expression exceeds what is said to be its greatest."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from layoutc.index import Expr, Int, Name, divide, multiply, remainder
from layoutc.plan.lowering.greatest import greatest

i, j, N = Name("i", 0), Name("j", 0), Name("N", 0)


def expressions() -> st.SearchStrategy[Expr]:
    """Sums, products, quotients and remainders of two variables and an extent."""
    leaves = st.sampled_from([i, j, N, Int(0), Int(1), Int(5)])
    constants = st.integers(1, 4)
    return st.recursive(leaves, lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner),
        st.builds(lambda a, c: a - c, inner, constants),
        st.builds(lambda a, b: a - b, inner, inner),
        st.builds(lambda a, c: a * c, inner, st.integers(-3, 3)),
        st.builds(multiply, inner, inner),
        st.builds(lambda a, c: divide(a, Int(c)), inner, constants),
        st.builds(lambda a, c: remainder(a, Int(c)), inner, constants),
    ), max_leaves=6)


@given(expressions(), st.integers(1, 9), st.integers(1, 9), st.data())
def test_nothing_is_greater(e: Expr, n: int, m: int, data: st.DataObject) -> None:
    most = greatest(e, {"i": N, "j": Int(m)})
    at = {"i": data.draw(st.integers(0, n - 1)), "j": data.draw(st.integers(0, m - 1)), "N": n}
    assert e.at(at) <= most.at(at)


def test_bounds_that_matter_are_found() -> None:
    assert greatest(i + 2, {"i": N}) == N + 1
    assert greatest(i * 2 + j, {"i": N, "j": Int(3)}) == N * 2
    assert greatest(divide(i, Int(2)), {"i": Int(9)}) == Int(4)
    assert greatest(remainder(i + 5, Int(3)), {"i": Int(2)}) == remainder(i + 5, Int(3))
