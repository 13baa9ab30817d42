"""``layoutc test``: which kernels it tests, and how its answer is given."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from layoutc.calling import calls
from tests.cli_support import TWO, invoke


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.layout").write_text(TWO)
    return tmp_path


def test_all_kernels_or_the_named_one() -> None:
    words = ("--examples", "5", "--seed", "1", "--device", "cpu")
    both, one = invoke("test", "two.layout", *words), invoke("test", "two.layout", "half", *words)
    assert both.exit_code == one.exit_code == 0
    assert [line for line in both.stdout.splitlines() if "5 examples on cpu agree" in line and line[0] != " "] == [
        "half: 5 examples on cpu agree with NumPy (seed 1)", "sums: 5 examples on cpu agree with NumPy (seed 1)"]
    assert both.stdout.startswith(one.stdout)
    assert invoke("test", "two.layout", "half", "-q", *words).stdout == ""


def test_the_named_schedule() -> None:
    result = invoke("test", "two.layout", "--schedule", "wide", "--examples", "5", "--device", "cpu")
    assert result.stdout.startswith("half: ")
    assert "sums" not in result.stdout


def test_a_failure_is_an_exit_status_and_a_command_that_shows_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    run = calls.Caller._run_cpu

    def spoiled(self: calls.Caller, inputs: Any, outputs: Any, *rest: Any) -> None:
        run(self, inputs, outputs, *rest)
        for output in outputs:
            if output.ndim == 1 and len(output) >= 3:
                output[2] += 1

    with monkeypatch.context() as planted:
        planted.setattr(calls.Caller, "_run_cpu", spoiled)
        result = invoke("test", "two.layout", "half", "--examples", "50", "--seed", "3", "--device", "cpu")
        assert result.exit_code == 1
        assert "extents: N = 3\n" in result.stdout         # the smallest that shows it
        command = next(line for line in result.stdout.splitlines() if line.strip().startswith("layoutc test "))
        again = shlex.split(command)[1:]
        assert invoke(*again).exit_code == 1
    assert invoke(*again).exit_code == 0


@pytest.mark.parametrize("case", ["", "{", "[]", "1", json.dumps({"extents": {}})])
def test_a_case_that_is_none_is_a_message(case: str) -> None:
    result = invoke("test", "two.layout", "half", "--case", case, "--device", "cpu")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[bad-case]: ")


def test_without_hypothesis_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util
    import sys

    for name in [name for name in sys.modules if name.startswith("layoutc.testing")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = invoke("test", "two.layout")
    assert result.exit_code == 3
    assert "pip install 'layoutc[testing]'" in result.stderr
