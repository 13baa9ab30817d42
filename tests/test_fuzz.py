"""A small run of the fuzzer; ``python -m tests.fuzz 100000`` is the long one."""

from __future__ import annotations

import pytest

from tests.fuzz.checks import CHECKS
from tests.fuzz.runner import run
from tests.fuzz.texts import text_of


@pytest.mark.parametrize(("check", "count"), [("parse", 2000), ("print", 300), ("resolve", 500)])
def test_every_text_is_answered(check: str, count: int) -> None:
    report = run(CHECKS[check], count, seed=1, limit=20)     # the long run has the true limit
    assert not report.findings, report.findings[0]
    assert report.accepted > count // 50
    assert report.refused.total() > count // 4


def test_texts_depend_on_nothing_but_seed_and_number() -> None:
    assert [text_of(3, number) for number in range(50)] == [text_of(3, number) for number in range(50)]
    assert len({text_of(3, number) for number in range(50)}) == 50


def test_a_fault_is_found() -> None:
    def faulty(text: str) -> None:
        if "kernel" in text:
            raise ValueError("a fault")

    report = run(faulty, 20, seed=1)
    assert report.findings
    assert all("ValueError: a fault" in finding.what for finding in report.findings)
