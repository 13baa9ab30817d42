"""What benchmarks time is what they say: layoutc's functions in a loop, and the same conversions by NumPy."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from layoutc.backend.cuda import compile_ptx
from layoutc.backend.types import numpy_dtype
from layoutc.cuda_source import CudaSource

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def redistribute(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("redistribute")


def test_results_are_held_to_the_meaning_of_the_redistribution(redistribute: ModuleType) -> None:
    for case in redistribute.CASES:
        held = np.arange(2 * redistribute.THREADS * case.items).astype(numpy_dtype(case.type))
        tiles = held.reshape(2, redistribute.THREADS, case.items)
        assert (case.converted(tiles) == case.redistribution().reference(tiles)).all(), case.title


@pytest.mark.parametrize("number", [0, 1, 8, 11, 17, 19, 22])
def test_loops_call_the_header_s_function(redistribute: ModuleType, number: int) -> None:
    case = redistribute.CASES[number]
    header = case.redistribution().header
    calls = [f"{case.name}(v, v);"]
    if f"{case.name}_in_turns(" in header:
        calls.append(f"{case.name}_in_turns(v, v, r);")
    assert (len(calls) == 2) == (case.form == "block")
    for call in calls:
        ptx, _ = compile_ptx(CudaSource("loop.cu", header + redistribute.loop_text(case, call), ()), "sm_90")
        assert f".entry loop_{case.name}(" in ptx


def test_peers_are_named_by_their_cases(redistribute: ModuleType) -> None:
    for case in redistribute.CASES:
        assert f"{case.peer.name}(const {redistribute.C_TYPES[case.type]}* in" in case.peer.text
        assert ("BlockExchange" in case.peer.text) == case.form.startswith("block")


def test_a_table_marks_what_was_reached_and_leaves_blank_what_was_not_timed(redistribute: ModuleType) -> None:
    case = redistribute.CASES[0]
    table = redistribute.as_markdown([redistribute.Figure(case, "shared", 0.3, None, 0.05, 0.25, {"shared": 0.31})])
    assert table.split("\n")[2] == (
        "| block, blocked → striped, i32, 2 items | shared |  | 0.300 | **0.250** | ≤ 0.27 |  | 0.050 |  | 0.310 |")
