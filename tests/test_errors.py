"""Every error as a person sees it: ``errors/*.layout`` beside what is said about it.

``python -m tests.test_errors bounds types`` writes what is said now about the cases whose names begin so;
look at the difference before committing it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from layoutc.diagnostics import LayoutcError
from layoutc.parse.parser import parse
from layoutc.resolve.resolver import resolve
from layoutc.source import Source

CASES = sorted((Path(__file__).parent / "errors").glob("*.layout"))


def said(case: Path) -> str:
    source = Source(case.name, case.read_bytes().decode())
    try:
        resolve(parse(source), source)
    except LayoutcError as error:
        return f"{error}\n"
    return ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_an_error_is_said_in_these_words(case: Path) -> None:
    assert said(case) == case.with_suffix(".txt").read_bytes().decode()


if __name__ == "__main__":
    for path in (case for case in CASES if case.stem.startswith(tuple(sys.argv[1:]))):
        path.with_suffix(".txt").write_bytes(said(path).encode())
