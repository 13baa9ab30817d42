"""A small run of the fuzzer; ``python -m tests.fuzz 100000`` is the long one."""

from __future__ import annotations

import pytest

from layoutc.cuda_source import CudaSource
from tests.fuzz.checks import CHECKS, Answer
from tests.fuzz.compilation import Compilation
from tests.fuzz.runner import run
from tests.fuzz.texts import text_of


@pytest.mark.parametrize(("check", "count"), [("parse", 2000), ("print", 300), ("resolve", 500)])
def test_every_text_is_answered(check: str, count: int) -> None:
    report = run(CHECKS[check], count, seed=1, limit=20)     # the long run has the true limit
    assert not report.findings, report.findings[0]
    assert report.accepted > count // 50
    assert report.refused.total() > count // 4


def test_what_is_accepted_compiles() -> None:
    report = run(CHECKS["compile"], 120, seed=1, limit=20, compilation=Compilation())
    assert not report.findings, report.findings[0]
    assert report.compiled["distinct, by the host's compiler"] > 60


def test_cuda_that_does_not_compile_is_found_and_named() -> None:
    good = [CudaSource(f"k{n}.cu", f'#include "layoutc.cuh"\nKERNEL(1) k(Out<int> y) {{ y[0] = {n}; }}\n', ())
            for n in range(5)]
    bad = CudaSource("bad.cu", '#include "layoutc.cuh"\nKERNEL(1) k(Out<int> y) {\n    y[0] = nothing;\n}\n', ())
    compilation = Compilation()
    for number, source in enumerate((*good, bad)):
        assert compilation.add(number, (source,)) == []
    (number, what), = compilation.flush()
    assert number == 5
    assert "bad.cu:3" in what
    assert "nothing" in what


def test_texts_depend_on_nothing_but_seed_and_number() -> None:
    assert [text_of(3, number) for number in range(50)] == [text_of(3, number) for number in range(50)]
    assert len({text_of(3, number) for number in range(50)}) == 50


def test_a_fault_is_found() -> None:
    def faulty(text: str) -> Answer:
        if "kernel" in text:
            raise ValueError("a fault")
        return Answer()

    report = run(faulty, 20, seed=1)
    assert report.findings
    assert all("ValueError: a fault" in finding.what for finding in report.findings)
