"""Redistributions on the command line: every command that takes a kernel takes one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import layoutc
from layoutc.redistribution import Redistribution
from tests.cli_support import invoke
from tests.header_support import compile_alone

MOVES = """\
redistribute deal: i32 = blocked(4, 3) -> striped(4, 3) warp 4
redistribute put: u8 = scatter blocked(4, 2) -> blocked(4, 2) warp 4
"""
MIXED = "kernel twice(x: f32[N]) -> (y: f32[N]) { y[i] = 2 * x[i] }\n" + MOVES
HELD = "v=[[0,1,2],[3,4,5],[6,7,8],[9,10,11]]"
DEALT = [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]
ENDINGS = {"spec": ".layout", "program": ".program.txt", "plan": ".plan.txt", "cuda": ".cu", "header": ".cuh"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moves.layout").write_text(MOVES)
    (tmp_path / "mixed.layout").write_text(MIXED)
    (tmp_path / "bad.layout").write_text(
        "redistribute one: f32 = blocked(64, 6) -> striped(64, 6) via shuffle\n"
        "redistribute two: f32 = blocked(64, 6) -> striped(64, 6)\n"
        "redistribute three: f32 = blocked(4, 6) -> striped(4, 6) via registers\n")
    return tmp_path


def test_check_plans_them() -> None:
    assert invoke("check", "moves.layout").stdout == (
        "moves.layout: 0 kernels, 0 schedules, 2 redistributions, 0 assertions hold\n")
    assert "deal: via " in invoke("check", "mixed.layout", "-v").stderr


def test_check_refuses_means_that_cannot_be_right_at_their_places() -> None:
    result = invoke("check", "bad.layout")
    assert result.exit_code == 1
    assert result.stderr == """\
error[bad-via]: `one` cannot be right via shuffle
 --> bad.layout:1:62
  |
1 | redistribute one: f32 = blocked(64, 6) -> striped(64, 6) via shuffle
  |                                                              ^^^^^^^ item 3 of thread 0 comes from another warp
  = help: write `via shared`, or leave it out
error[bad-via]: `three` cannot be right via registers
 --> bad.layout:3:62
  |
3 | redistribute three: f32 = blocked(4, 6) -> striped(4, 6) via registers
  |                                                              ^^^^^^^^^ item 2 of thread 0 comes from thread 1
  = help: write `via shuffle` or `via shared`, or leave it out
"""


@pytest.mark.parametrize("stage", ENDINGS)
def test_emit_prints_every_stage_or_writes_a_file_each(stage: str, folder: Path) -> None:
    texts = [invoke("emit", "moves.layout", name, "--stage", stage).stdout for name in ("deal", "put")]
    whole = invoke("emit", "moves.layout", "--stage", stage)
    assert whole.exit_code == 0
    if stage != "spec":
        assert whole.stdout == "\n".join(texts)
    assert invoke("emit", "moves.layout", "--stage", stage, "-o", "out").exit_code == 0
    for name, text in zip(("deal", "put"), texts, strict=True):
        assert (folder / "out" / f"{name}{ENDINGS[stage]}").read_text() == text


def test_emit_is_what_python_gives() -> None:
    m = layoutc.load("moves.layout")
    assert invoke("emit", "moves.layout", "deal").stdout == m.deal.cuda
    assert invoke("emit", "moves.layout", "deal", "--stage", "header").stdout == m.deal.header


def test_headers_are_of_redistributions(folder: Path) -> None:
    assert invoke("emit", "mixed.layout", "--stage", "header", "-o", "out").exit_code == 0
    assert sorted(p.name for p in (folder / "out").iterdir()) == ["deal.cuh", "put.cuh"]
    compile_alone((folder / "out" / "deal.cuh").read_text(), "sm_80")
    refused = invoke("emit", "mixed.layout", "twice", "--stage", "header")
    assert (refused.exit_code, "no-header" in refused.stderr) == (1, True)


def test_explain_in_json_and_as_text() -> None:
    found = json.loads(invoke("explain", "mixed.layout", "--json").stdout)["kernels"]
    assert [(k["name"], k["kind"]) for k in found] == [
        ("twice", "kernel"), ("deal", "redistribute"), ("put", "redistribute")]
    assert found[1] == layoutc.load("moves.layout").deal.explain()
    text = invoke("explain", "moves.layout", "deal").stdout
    assert text.startswith("deal, a redistribution, for sm_90\n  from      (4,3):(3,1)\n  to        (4,3):(1,4)\n")
    assert "None" not in invoke("explain", "moves.layout").stdout


def test_run(device: str, folder: Path) -> None:
    on = ("--device", device)
    assert json.loads(invoke("run", "moves.layout", "deal", "--in", HELD, "--json", *on).stdout) == {"out": DEALT}
    np.save("v.npy", np.arange(24, dtype=np.int32).reshape(2, 4, 3))
    assert invoke("run", "moves.layout", "deal", "--in", "v=v.npy", "--out", "out=o.npy", *on).exit_code == 0
    np.testing.assert_array_equal(np.load("o.npy")[1], np.array(DEALT) + 12)
    shown = invoke("run", "moves.layout", "deal", "--in", "v=random:(3,4,3)", *on).stdout
    assert shown.startswith("out: i32[3, 4, 3]")


@pytest.mark.parametrize("dtype", ["i8", "u8", "i2"])
def test_run_with_ranks(dtype: str, device: str) -> None:
    np.save("rank.npy", np.array([[7, 0], [6, 1], [5, 2], [4, 3]], dtype))
    for rank in ("rank=rank.npy", "rank=[[7,0],[6,1],[5,2],[4,3]]"):
        result = invoke("run", "moves.layout", "put", "--in", "v=[[1,2],[3,4],[5,6],[7,8]]", "--in", rank, "--json",
                        "--device", device)
        assert json.loads(result.stdout) == {"out": [[2, 4], [6, 8], [7, 5], [3, 1]]}


@pytest.mark.parametrize(("words", "status", "slug"), [
    (("run", "moves.layout", "--in", HELD), 2, "which-kernel"),
    (("run", "moves.layout", "deal"), 2, "missing-input"),
    (("run", "moves.layout", "deal", "--in", HELD, "--in", "rank=[[1]]"), 2, "unknown-tensor"),
    (("run", "moves.layout", "deal", "--in", "v=[[1,2]]"), 1, "extent-mismatch"),
    (("run", "moves.layout", "deal", "--in", HELD, "--steps", "2"), 2, "no-steps"),
    (("run", "moves.layout", "deal", "--in", HELD, "--schedule", "fast"), 2, "unknown-schedule"),
    (("emit", "moves.layout", "deel"), 2, "unknown-kernel"),
    (("explain", "moves.layout", "--shape", "H=3"), 2, "unknown-extent"),
    (("test", "moves.layout", "deal", "--case", '{"tiles": 2, "ranks": "odd"}'), 1, "bad-case"),
])
def test_words_that_do_not_fit(words: tuple[str, ...], status: int, slug: str) -> None:
    result = invoke(*words)
    assert (result.exit_code, f"error[{slug}]" in result.stderr) == (status, True), result.stderr


# ---- test


def test_test_tries_every_means(device: str) -> None:
    result = invoke("test", "moves.layout", "--examples", "20", "--seed", "1", "--all-schedules", "--device", device)
    assert result.exit_code == 0
    assert result.stdout == (
        f"deal: 20 examples on {device} agree with NumPy (seed 1)\n  means: as declared; shuffle; shared\n"
        f"  bit for bit: copies\n"
        f"put: 20 examples on {device} agree with NumPy (seed 1)\n  means: as declared; shared\n"
        f"  bit for bit: copies\n")


def test_a_failure_is_shrunk_and_printed_as_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Redistribution.__call__

    def wrong(self: Redistribution, *arrays: Any, **words: Any) -> Any:
        got = right(self, *arrays, **words)
        if got.ndim == 3 and len(got) > 2:
            got[2, 1, 0] = 77
        return got

    monkeypatch.setattr(Redistribution, "__call__", wrong)
    result = invoke("test", "moves.layout", "deal", "--seed", "3", "--device", "cpu")
    assert result.exit_code == 1
    assert "item 0 of thread 1 of tile 2 is 77, expected 26" in result.stdout
    command = result.stdout.rstrip().split("\n")[-1].strip()
    assert command == "layoutc test moves.layout deal --device cpu --case '{\"tiles\": 3}'"
    again = invoke("test", "moves.layout", "deal", "--device", "cpu", "--case", '{"tiles": 3}')
    assert (again.exit_code, "is 77" in again.stdout) == (1, True)
