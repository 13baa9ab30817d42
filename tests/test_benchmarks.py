"""What benchmarks time is what they say: layoutc's functions in a loop, and the same conversions by NumPy."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy import ndimage

import layoutc
from layoutc.backend.cuda import compile_ptx
from layoutc.backend.types import numpy_dtype
from layoutc.cuda_source import CudaSource
from layoutc.resolve.binding import tensor_shape

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
        for by_words in (False, True)[:1 + case.narrow]:
            text = header + redistribute.loop_text(case, call, by_words)
            ptx, _ = compile_ptx(CudaSource("loop.cu", text, ()), "sm_90")
            assert f".entry loop_{case.name}(" in ptx


def test_peers_are_named_by_their_cases(redistribute: ModuleType) -> None:
    for case in redistribute.CASES:
        for peer in (case.peer(), case.peer(by_words=True)) if case.narrow else (case.peer(),):
            assert f"{peer.name}(const {redistribute.C_TYPES[case.type]}* in" in peer.text
            assert ("BlockExchange" in peer.text) == case.form.startswith("block")


def test_a_table_marks_what_was_reached_and_leaves_blank_what_was_not_timed(redistribute: ModuleType) -> None:
    case = redistribute.CASES[0]
    table = redistribute.as_markdown([redistribute.Figure(case, "shared", 0.3, None, 0.05, 0.25, {"shared": 0.31})])
    assert table.split("\n")[2] == (
        "| block, blocked → striped, i32, 2 items | shared |  | 0.300 | **0.250** | ≤ 0.27 |  | 0.050 |  | 0.310 |  "
        "|  |")


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("kernels")


def test_rows_mean_what_their_peers_do(kernels: ModuleType) -> None:
    """The peers' functions, by NumPy and SciPy in place of CuPy."""
    array_peer = importlib.import_module("peers").array_peer
    compared = set()
    for row in kernels.ROWS:
        kernel = layoutc.compile(row.text).k
        extents = {name: 9 + n for n, name in enumerate(row.small)}
        random = np.random.default_rng(3)
        given = kernels.given_of(kernel)
        inputs = [given.get(t.name, random.standard_normal(tensor_shape(t, extents))).astype(numpy_dtype(t.type.name))
                  for t in kernel.meaning.inputs]
        peer = array_peer(row, inputs, np, ndimage)
        if peer is not None:
            compared.add(row.peer)
            np.testing.assert_allclose(kernel.reference(*inputs), peer(), rtol=2e-5, atol=2e-5, err_msg=row.title)
    assert len(compared) == 12


def test_weights_are_asymmetric_and_sum_to_one(kernels: ModuleType) -> None:
    for row in kernels.ROWS:
        for name, w in kernels.given_of(layoutc.compile(row.text).k).items():
            assert w.size == 1 or abs(w.sum() - 1) < 1e-6, (row.title, name)
            assert w.size == 1 or not np.allclose(w, w[tuple([slice(None, None, -1)] * w.ndim)])


def test_a_line_says_what_was_reached(kernels: ModuleType) -> None:
    row = kernels.ROWS[0]
    reached = kernels.Line(row, 0.5, 0.97, 4000.0, {"cupy": 2.0, "torch": 1.5})
    missed = kernels.Line(row, 0.5, 0.94, 4000.0, {}, "NumPy: y")
    assert kernels.as_markdown([reached, missed]).split("\n")[2:] == [
        "| box 3×3 f32 16384² | 0.5000 | 0.970 | **0.970** | ≥ 0.96 | cupy 2.000, torch 1.500 | 3.00 |  |",
        "| box 3×3 f32 16384² | 0.5000 | 0.940 | 0.940 | ≥ 0.96 |  |  | NumPy: y |"]
