"""The renderer: form, columns, places, and what never reaches a terminal."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutc.diagnostics import Diagnostic, Label, LayoutcError, did_you_mean, render_diagnostic
from layoutc.source import Source, Span

ANSI = re.compile("\033\\[[0-9;]*m")


def columns(text: str) -> int:
    """Terminal columns of a text."""
    spacing = [c for c in text if unicodedata.category(c) not in ("Mn", "Me")]
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in spacing)


def rendered(text: str, start: int, end: int, label: str = "", *others: Label) -> list[str]:
    source = Source("f.layout", text)
    return render_diagnostic(Diagnostic("slug", "message", source, Span(start, end), label, others)).split("\n")


def test_the_whole_form() -> None:
    source = Source("f.layout", "const a = 1\nconst b = a + c\n")
    diagnostic = Diagnostic(
        "unknown-name", "there is no `c`", source, Span(26, 27), "not declared", (Label(Span(6, 7), "a name that is"),),
        ("names are declared anywhere",), "did you mean `a`?\nor declare it:\n    const c = 1")
    assert render_diagnostic(diagnostic) == """\
error[unknown-name]: there is no `c`
 --> f.layout:2:15
  |
1 | const a = 1
  |       - a name that is
2 | const b = a + c
  |               ^ not declared
  = note: names are declared anywhere
  = help: did you mean `a`?
          or declare it:
              const c = 1"""


def test_a_fault_in_no_text_has_no_place() -> None:
    assert render_diagnostic(Diagnostic("no-gpu", "there is no GPU", help="use `--device cpu`")) == (
        "error[no-gpu]: there is no GPU\n  = help: use `--device cpu`")


@pytest.mark.parametrize(("text", "start", "end", "shown", "mark"), [
    ("", 0, 0, "1 |", "  | ^"),
    ("abc", 3, 4, "1 | abc", "  |    ^"),
    ("abc\n", 4, 4, "2 |", "  | ^"),
    ("abc", 90, 99, "1 | abc", "  |    ^"),
    ("abc\ndef", 1, 6, "1 | abc", "  |  ^^"),
    ("abc\r\ndef", 5, 8, "2 | def", "  | ^^^"),
    ("a\tb", 2, 3, "1 | a   b", "  |     ^"),
    ("\t\tb", 1, 3, "1 |         b", "  |     ^^^^^"),
    ("漢字 x", 0, 2, "1 | 漢字 x", "  | ^^^^"),
    ("漢字 x", 3, 4, "1 | 漢字 x", "  |      ^"),
    ("e\u0301x", 2, 3, "1 | e\u0301x", "  |  ^"),
    ("e\u0301x", 1, 2, "1 | e\u0301x", "  |  ^"),
    ("a\x1b[31mb", 1, 2, "1 | a␛[31mb", "  |  ^"),
    ("a\x00\x7fb", 3, 4, "1 | a␀␡b", "  |    ^"),
    ("a\u202eb\ud800\u200b", 1, 2, "1 | a\ufffdb\ufffd\ufffd", "  |  ^"),
])
def test_lines_and_marks(text: str, start: int, end: int, shown: str, mark: str) -> None:
    assert rendered(text, start, end)[3:] == [shown, mark]


def test_marks_of_one_line_share_it_and_far_lines_are_parted() -> None:
    text = "one two\nthree\nfour\nfive"
    assert rendered(text, 4, 7, "here", Label(Span(0, 3), "first"), Label(Span(19, 23), "last"))[2:] == [
        "  |", "1 | one two", "  | --- first", "  |     ^^^ here", "  | ...", "4 | five", "  | ---- last"]


def test_a_long_line_is_cut_around_its_mark() -> None:
    text = "x" * 500 + "HERE" + "y" * 500
    _, place, _, shown, mark = rendered(text, 500, 504, "label")
    assert place == " --> f.layout:1:501"
    assert shown.startswith("1 | …x")
    assert shown.endswith("y…")
    assert len(shown) < 120
    assert mark.index("^") == shown.index("HERE")
    assert mark.strip("| ") == "^^^^ label"


def test_a_million_characters_cost_nothing() -> None:
    text = "x" * 2**20
    for place in range(0, 2**20, 2**14):
        assert len(rendered(text, place, place + 1)[3]) < 120


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(), max_size=60), st.integers(0, 70), st.integers(0, 20), st.text(max_size=10))
def test_nothing_that_a_file_holds_can_command_a_terminal(text: str, start: int, length: int, name: str) -> None:
    source = Source(name, text)
    diagnostic = Diagnostic(
        "slug", f"`{text}`", source, Span(start, start + length), text, (Label(Span(0, 1), text),), (text,), text)
    plain = render_diagnostic(diagnostic)
    assert all(c == "\n" or c.isprintable() or unicodedata.category(c) == "Zs" for c in plain)
    plain.encode("utf-8")
    assert ANSI.sub("", render_diagnostic(diagnostic, color=True)) == plain


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab \t漢e\u0301\x1b"), max_size=30), st.data())
def test_the_caret_stands_under_its_character(line: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(line)))
    *_, shown, mark = rendered(line + "Z" + line, at, at + 1)
    below = shown[4:4 + len(shown)]
    width = 0
    for character in below:
        if width >= mark.index("^") - 4:
            break
        width += columns(character)
    assert width == mark.index("^") - 4


def test_color_marks_the_parts_and_changes_no_character() -> None:
    source = Source("f.layout", "const a = b\n")
    diagnostic = Diagnostic("slug", "message", source, Span(10, 11), "label", (), ("note",), "help")
    colored = render_diagnostic(diagnostic, color=True)
    assert colored.startswith("\033[1;31merror[slug]\033[0m\033[1m: message\033[0m\n")
    assert "\033[1;31m^ label\033[0m" in colored
    assert ANSI.sub("", colored) == render_diagnostic(diagnostic)


def test_an_error_carries_its_diagnostics_and_reads_as_they_do() -> None:
    first, second = Diagnostic("a", "one"), Diagnostic("b", "two")
    error = LayoutcError(iter([first, second]))
    assert error.diagnostics == (first, second)
    assert str(error) == "error[a]: one\nerror[b]: two"


@pytest.mark.parametrize(("name", "known", "answer"), [
    ("kernal", ["kernel", "const"], "did you mean `kernel`?"), ("KERNEL", ["kernel"], "did you mean `kernel`?"),
    ("nearset", ["nearest", "mirror"], "did you mean `nearest`?"), ("zzz", ["kernel"], ""), ("x", [], ""),
])
def test_did_you_mean(name: str, known: list[str], answer: str) -> None:
    assert did_you_mean(name, known) == answer


@pytest.mark.parametrize(("text", "offset", "place"), [
    ("", 0, (1, 1)), ("ab\ncd", 0, (1, 1)), ("ab\ncd", 2, (1, 3)), ("ab\ncd", 3, (2, 1)), ("ab\ncd", 5, (2, 3)),
    ("ab\n", 3, (2, 1)), ("ab", 99, (1, 3)), ("漢字x", 2, (1, 3)),
])
def test_lines_and_columns_count_characters_from_one(text: str, offset: int, place: tuple[int, int]) -> None:
    assert Source("", text).line_column(offset) == place


def test_the_lines_of_a_source() -> None:
    source = Source("", "one\r\ntwo\n\nfour")
    assert [source.line(number) for number in (1, 2, 3, 4)] == ["one", "two", "", "four"]


@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "errors").glob("*.txt")), ids=lambda path: path.stem)
def test_every_recorded_error_has_the_fixed_form(path: Path) -> None:
    """Headline with a slug, place under the file's name as given, and a caret."""
    said = path.read_text(encoding="utf-8")
    assert path.with_suffix(".layout").exists()
    headlines = list(re.finditer(r"^error\[[a-z0-9-]+\]: .+\n *--> (.+):[0-9]+:[0-9]+\n", said, re.M))
    assert headlines
    assert said.startswith(headlines[0][0])
    assert {headline[1] for headline in headlines} == {f"{path.stem}.layout"}
    assert len(re.findall(r"^ *\| *\^+( .*)?$", said, re.M)) == len(headlines)


def test_a_place_is_found_by_the_lines_of_its_own_text() -> None:
    texts = ["", "\n", "a", "a\n", "a\nbc\n\nd", "\n\n", "a\r\nb\rc\nd"]
    for text in texts:
        source = Source("t", text)
        for offset in range(-1, len(text) + 2):
            before = text[:max(offset, 0)]
            line, column = source.line_column(offset)
            assert (line, column) == (before.count("\n") + 1, len(before.split("\n")[-1]) + 1)
            assert source.line(line) == text.split("\n")[line - 1].rstrip("\r")


def test_the_nearest_of_many_names_is_found() -> None:
    names = [f"{word}_{n}" for word in ("height", "width", "offset", "alpha") for n in range(100)]
    wrongs = (("heigth_42", "height_42"), ("widht_7", "width_7"), ("ofset_99", "offset_99"), ("alpa_3", "alpha_3"))
    for wrong, right in wrongs:
        assert did_you_mean(wrong, names) == f"did you mean `{right}`?"
