"""Every block of README.md and docs/ runs and prints what it says.

A ``layout`` block is a file (its first comment line may name it) that must check, a ``layout-error`` block one that
must not; a ``python`` block runs in the namespace of its page; a ``console`` block holds commands after ``$`` and what
they print, ``...`` for anything.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from typing import get_args

import pytest
from sybil import Document, Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

from layoutc.commands.check import plan_everything
from layoutc.commands.settings import Settings
from layoutc.compiler import read_program
from layoutc.diagnostics import LayoutcError
from layoutc.parse import syntax
from layoutc.parse.parser import parse
from layoutc.source import Source

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def run_layout(example: Example) -> None:
    text = str(example.parsed)
    plan_everything(read_program(Source("block.layout", text)), Settings())
    save(text)


def run_layout_error(example: Example) -> None:
    with pytest.raises(LayoutcError):
        run_layout(example)
    save(str(example.parsed))


def save(text: str) -> None:
    named = re.match(r"# (\w+\.layout)\b", text)
    if named:
        Path(named[1]).write_text(text)


def run_console(example: Example) -> str | None:
    for command, wanted in commands(str(example.parsed)):
        done = subprocess.run(command, shell=True, capture_output=True, text=True, env=environment(), timeout=300)
        got = done.stdout + done.stderr
        if not OutputChecker().check_output(wanted, got, ELLIPSIS | NORMALIZE_WHITESPACE):
            return f"$ {command}\nwanted:\n{wanted}\ngot:\n{got}"
    return None


def commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command and what stands below it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


SYBIL = Sybil(parsers=[
    CodeBlockParser("layout", run_layout), CodeBlockParser("layout-error", run_layout_error),
    CodeBlockParser("console", run_console), PythonCodeBlockParser(),
])


def page_of(page: Path) -> Document:
    return SYBIL.parse(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    examples = list(page_of(page))
    assert examples
    for example in examples:
        example.evaluate()


def test_the_reference_shows_every_clause() -> None:
    blocks = [str(e.parsed) for e in page_of(ROOT / "docs" / "language.md")]
    declared = [d for b in blocks if "kernel " in b for d in parsed(b)]
    shown = {type(c) for d in declared if isinstance(d, syntax.Kernel | syntax.Schedule) for c in d.clauses}
    assert shown == {*get_args(syntax.Clause), *get_args(syntax.ScheduleClause)}


def parsed(block: str) -> Sequence[syntax.Declaration]:
    try:
        return parse(Source("block.layout", block)).declarations
    except LayoutcError:        # not of the language
        return ()


def test_the_two_commands_of_the_readme_are_one_line_each() -> None:
    text = (ROOT / "README.md").read_text()
    for heading in ("## Run it", "## Test it"):
        block = re.search(rf"^{heading}\n.*?^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        assert block, heading
        assert block[1].count("\n") == 1
