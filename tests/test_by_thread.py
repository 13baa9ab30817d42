"""Functions of the thread as expressions: they have the values they are made from, and the plain ones read plainly."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from layoutc.layout import blocked
from layoutc.plan.emission import by_thread
from layoutc.plan.emission.by_thread import number_of
from layoutc.plan.emission.frame import Frame
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.names import Names
from layoutc.plan.steps import Table


def frame(threads: int) -> Frame:
    return Frame(Exchange(blocked(threads, 1), blocked(threads, 1), 4), "float", Names(), "move")


def value(text: object, thread: int, made: Frame) -> int:
    """What C makes of an expression of non-negative numbers."""
    words = re.sub(r"(\d|0x[0-9a-f]+)(ull|u)\b", r"\1", str(text))
    words = words.replace("/", "//").replace("&&", "and")
    # C's & binds tighter than and, looser than ==; Python's tighter than ==: only masks have it, alone
    tables = {s.name: s.values for s in made.head if isinstance(s, Table)}
    return int(eval(words, {**tables, "thread": thread, "lane": thread % 32, "true": True}))


@st.composite
def functions(draw: st.DrawFn) -> list[int]:
    """Of the thread, or of the lane: digits turned, exclusive or, anything."""
    threads = draw(st.sampled_from((1, 2, 4, 12, 31, 32, 40, 64, 96)))
    kind = draw(st.sampled_from(("turned", "exclusive", "lane", "any", "split")))
    a, b, c, d = (draw(st.integers(0, 31)) for _ in range(4))
    if kind == "any":
        return draw(st.lists(st.integers(0, 31), min_size=threads, max_size=threads))
    if kind == "lane":
        lanes = draw(st.lists(st.integers(0, 300), min_size=32, max_size=32))
        return [lanes[t % 32] for t in range(threads)]
    if kind == "exclusive":
        return [(t % 32 * a + b) % 32 ^ c for t in range(threads)]
    if kind == "split":
        return [(t + a) % 4 * 8 + (t // 4 + b) % 8 for t in range(threads)]
    return [(t % 4 * a + t // 4 * b + c + d) % 32 for t in range(threads)]


@given(functions(), st.data())
def test_a_number_is_that_of_every_thread_that_cares(numbers: list[int], data: st.DataObject) -> None:
    made = frame(len(numbers))
    free = data.draw(st.sets(st.integers(0, len(numbers) - 1), max_size=5))
    wanted = [None if t in free else n for t, n in enumerate(numbers)]
    found = number_of(made, wanted, "lanes", made.thread % 32)
    for thread, number in enumerate(wanted):
        if number is not None:
            assert value(found, thread, made) == number
            assert found.at({"thread": thread, "lane": thread % 32}) == number


@st.composite
def truths(draw: st.DrawFn) -> list[bool]:
    threads = draw(st.sampled_from((1, 2, 12, 32, 48, 64, 96)))
    kind = draw(st.sampled_from(("digit", "digits", "lane", "any")))
    a, b, c = (draw(st.integers(1, 6)) for _ in range(3))
    if kind == "any":
        return draw(st.lists(st.booleans(), min_size=threads, max_size=threads))
    if kind == "lane":
        lanes = draw(st.lists(st.booleans(), min_size=32, max_size=32))
        return [lanes[t % 32] for t in range(threads)]
    if kind == "digit":
        return [t // a % b < c for t in range(threads)]
    return [t // a % 2 == 0 and t // 8 % b == 0 for t in range(threads)]


@given(truths().filter(any))
def test_a_test_holds_for_whom_it_should(wanted: list[bool]) -> None:
    made = frame(len(wanted))
    found = by_thread.test_of(made, wanted)
    assert [bool(value(found, thread, made)) for thread in range(len(wanted))] == wanted


@pytest.mark.parametrize(("numbers", "text"), [
    ([5] * 64, "5"),
    (range(32), "thread"),
    ([t ^ 5 for t in range(32)], "thread ^ 5"),
    ([t % 32 ^ 8 for t in range(64)], "(thread % 32) ^ 8"),
    ([(t + 3) % 32 for t in range(32)], "(thread + 3) % 32"),
    ([t % 4 * 8 + t // 4 for t in range(32)], "thread % 4 * 8 + thread / 4"),
    ([(24 * (t % 4) + t // 4) % 32 for t in range(32)], "thread % 4 * 3 % 4 * 8 + thread / 4"),
    ([3, 0, 1, 2] * 8, "(thread + 3) % 4"),
    ([3, 1, 0, 2, 2, 3, 1, 0] * 8, "0x1e87u >> thread % 8 * 2 & 3"),
])
def test_simple_numbers_read_simply(numbers: Sequence[int], text: str) -> None:
    made = frame(len(numbers))
    assert str(number_of(made, list(numbers), "lanes", made.thread % 32)) == text


@pytest.mark.parametrize(("wanted", "text"), [
    ([t < 7 for t in range(32)], "thread < 7"),
    ([t % 4 == 2 for t in range(64)], "thread % 4 == 2"),
    ([t // 8 % 2 == 0 for t in range(32)], "thread / 8 % 2 == 0"),
    ([t % 2 == 0 and t // 4 % 2 == 1 for t in range(32)], "thread % 2 == 0 && thread / 4 % 2 == 1"),
    ([t % 32 in (1, 2, 4, 5) for t in range(64)], "0x36u >> lane & 1"),
])
def test_simple_tests_read_simply(wanted: Sequence[bool], text: str) -> None:
    assert str(by_thread.test_of(frame(len(wanted)), wanted)) == text
