"""Goldens are for reading: the text of every example, and that NVRTC takes it without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from layoutc.backend.cuda import architectures, compile_ptx
from tests.golden_texts import GOLDEN, examples, golden_texts

EXAMPLES = examples()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_the_text_of_an_example_is_its_golden(example: Path, request: pytest.FixtureRequest) -> None:
    for golden in golden_texts(example):
        if request.config.getoption("--update-goldens"):
            golden.path.write_text(golden.cuda.text)
        assert golden.path.read_text() == golden.cuda.text, f"{golden.path.name}: --update-goldens, and read the diff"


def test_no_golden_is_left_over() -> None:
    made = {golden.path.name for example in examples() for golden in golden_texts(example)}
    assert {path.name for path in GOLDEN.glob("*.cu")} == made


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_nvrtc_takes_every_text_without_a_warning(example: Path) -> None:
    """The oldest and the newest architecture by turns: they differ in the headers, which are compiled for both."""
    turn = EXAMPLES.index(example)
    for number, golden in enumerate(golden_texts(example), turn):
        arch = architectures()[number % 2]
        _, log = compile_ptx(golden.cuda, arch)
        assert log.strip() == "", f"{golden.path.name} for {arch}: {log}"
