"""No text is too odd, too deep or too long to be answered, and none takes long."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from layoutc.diagnostics import LayoutcError
from layoutc.parse.limits import DEEPEST, MOST_TOKENS
from layoutc.parse.parser import MOST_ERRORS, parse
from layoutc.parse.printer import print_spec
from layoutc.parse.reading import read_source
from layoutc.source import LONGEST_TEXT, Source


def slugs(text: str) -> list[str]:
    """The slugs of a text's errors, found within the time that any text may take."""
    begin = time.perf_counter()
    try:
        parse(Source("<text>", text))
        found = []
    except LayoutcError as error:
        found = [d.slug for d in error.diagnostics]
    assert time.perf_counter() - begin < 10     # 2 s on a free machine
    return found


NESTED = {
    "parentheses": lambda n: "(" * n + "1" + ")" * n,
    "calls": lambda n: "f(" * n + "1" + ")" * n,
    "tuples": lambda n: "(" * n + "1" + ",)" * n,
    "subscripts within": lambda n: "x[" * n + "1" + "]" * n,
    "subscripts behind": lambda n: "x" + "[1]" * n,
    "minus": lambda n: "-" * n + "1",
    "not": lambda n: "not " * n + "a",
    "powers": lambda n: "2**" * n + "1",
    "sums": lambda n: "1+" * n + "1",
    "products": lambda n: "1*" * n + "1",
    "or": lambda n: "a or " * n + "a",
    "reductions": lambda n: "sum(i) " * n + "1",
    "ranged reductions": lambda n: "sum(i in 0..1) " * n + "1",
}


@pytest.mark.parametrize("form", NESTED)
def test_nesting_is_taken_to_its_limit_and_refused_past_it(form: str) -> None:
    deepest = "const a = " + NESTED[form](DEEPEST)
    assert slugs(deepest) == []
    assert slugs(print_spec(parse(Source("<text>", deepest)))) == []
    assert slugs("const a = " + NESTED[form](DEEPEST + 1)) == ["nesting-too-deep"]


@pytest.mark.parametrize("form", NESTED)
def test_a_file_full_of_nesting_is_refused(form: str) -> None:
    text = "const a = " + NESTED[form](LONGEST_TEXT // 20)
    assert slugs(text) in (["nesting-too-deep"], ["text-too-long"])


def test_nested_ranges_are_refused_before_recursion_is() -> None:
    for depth in range(50, 260, 15):
        text = "const a = " + "sum(i in 0.." * depth + "1" + ") 1" * depth
        if slugs(text) == []:
            assert slugs(print_spec(parse(Source("<text>", text)))) == []


@pytest.mark.parametrize("piece", [
    "const a = 1\n", ";", "a ", "(", ")", "[", "{", "}", "const a = ", "kernel k(", "f(", "1,", "..", "1.", "é", "\x00",
    "\ud800", "#\n", "#", "# sum(\n", "sum#\n", "sum(", "min(a", "min(", "min #\n(", "9", "'", "\\", "\n", "\r", "\t",
    "const a = =\n", "kernel k() -> (y: i8[]) { y[] = 1\n",
])
def test_a_file_full_of_one_thing_is_answered(piece: str) -> None:
    assert len(slugs(piece * (LONGEST_TEXT // len(piece)))) <= MOST_ERRORS
    assert len(slugs("const a = " + piece * 3000)) <= MOST_ERRORS


def test_a_file_may_have_so_many_tokens_and_characters() -> None:
    constants = "const a = 1\n" * (MOST_TOKENS // 4)
    assert slugs(constants) == []
    assert slugs(constants + ";") == ["text-too-long"]
    assert slugs("#" * LONGEST_TEXT) == []
    assert slugs("#" * (LONGEST_TEXT + 1)) == ["text-too-long"]


def test_numbers_may_be_as_long_as_they_like_but_not_too_large() -> None:
    assert slugs("const a = " + "0" * 10_000 + "1") == []
    assert slugs("const a = 0." + "3" * 10_000) == []
    assert slugs("const a = 18446744073709551616") == ["number-too-large"]
    assert slugs("const a = " + "9" * 10_000) == ["number-too-large"]
    assert slugs("const a = 1e309") == ["number-too-large"]


def test_several_errors_are_reported_at_once() -> None:
    text = (
        "const = 1\nconst b = 2\nconst c = 2 +\nlayout d = 4::1\nkernel k { y = 1 }\nassert 1 < 2 < 3\nassert = 2\n")
    with pytest.raises(LayoutcError) as caught:
        parse(Source("<text>", text))
    lines = [d.source.line_column(d.span.start)[0] for d in caught.value.diagnostics if d.source and d.span]
    assert lines == [1, 4, 4, 5, 6, 7]


def test_an_unclosed_kernel_does_not_hide_the_next_error() -> None:
    text = "kernel k(x: i8[H]) -> (y: i8[H]) { y[i] = x[i]\nconst a = 1\nconst b = = 2\n"
    assert slugs(text) == ["unclosed", "syntax"]


@pytest.mark.parametrize("content", [b"const a = \xff", b"\xed\xa0\x80", b"# \xe2\x82"])
def test_files_that_are_not_utf8(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.layout"
    path.write_bytes(content)
    with pytest.raises(LayoutcError) as caught:
        read_source(str(path))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.slug == "not-utf8"
    assert diagnostic.span is not None
    assert diagnostic.span.start == len(content.decode("utf-8", "ignore"))


def test_files_are_read_whatever_their_line_ends_and_marks(tmp_path: Path) -> None:
    path = tmp_path / "good.layout"
    path.write_bytes("\ufeffconst a = 1\r\n# é\r\n".encode())
    source = read_source(str(path))
    assert source == Source(str(path), "const a = 1\r\n# é\r\n")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    long = tmp_path / "long.layout"
    long.write_bytes(b" " * (4 * LONGEST_TEXT + 4))
    with pytest.raises(LayoutcError, match="the name of a file is empty"):
        read_source("")
    for path, slug in (
        (tmp_path / "none.layout", "no-such-file"), (tmp_path, "not-a-file"), (tmp_path / "a\0b", "unreadable-file"),
        (tmp_path / ("n" * 300), "unreadable-file"), (long, "text-too-long"),
    ):
        with pytest.raises(LayoutcError) as caught:
            read_source(str(path))
        assert [d.slug for d in caught.value.diagnostics] == [slug]
