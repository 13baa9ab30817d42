"""``layoutc emit`` and ``layoutc explain``."""

from __future__ import annotations

import json
import os
import re
import struct
from importlib.util import find_spec
from pathlib import Path

import pytest

from layoutc.backend import device_code
from layoutc.commands.dump import dump
from layoutc.commands.files import text_writer, write_all
from layoutc.diagnostics import LayoutcError
from layoutc.parse.parser import parse
from layoutc.source import Source
from tests.cli_support import BLUR, TWO, invoke

STAGES = ("spec", "program", "plan", "cuda")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blur.layout").write_text(BLUR)
    (tmp_path / "two.layout").write_text(TWO)
    return tmp_path


def without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


@pytest.mark.parametrize("stage", STAGES)
def test_colours_change_no_character(stage: str) -> None:
    plain = invoke("emit", "blur.layout", "--stage", stage)
    painted = invoke("emit", "blur.layout", "--stage", stage, "--color", "always")
    assert plain.exit_code == painted.exit_code == 0
    assert "\x1b[" in painted.stdout
    assert without_colours(painted.stdout) == plain.stdout


def test_a_kernel_is_emitted_as_it_is_called_from_python() -> None:
    import layoutc

    text = invoke("emit", "blur.layout", "blur").stdout
    assert text == layoutc.load("blur.layout").blur.cuda == invoke("emit", "blur.layout").stdout


def test_all_kernels_are_emitted_where_none_is_named() -> None:
    texts = [invoke("emit", "two.layout", name).stdout for name in ("half", "sums")]
    assert invoke("emit", "two.layout").stdout == "\n".join(texts)


def test_a_schedule_is_emitted_by_its_name() -> None:
    assert "schedule: naive" in invoke("emit", "blur.layout", "--schedule", "naive").stdout
    # of all kernels those that have it
    assert "sums" not in invoke("emit", "two.layout", "--schedule", "wide").stdout


def test_constants_reach_every_stage() -> None:
    text = BLUR.replace("assert K == 3", "")
    assert "sum(u in 0..K" in invoke("emit", "-", "--stage", "spec", "-D", "R=3", text=text).stdout
    assert "extents=[7, 7]" in invoke("emit", "-", "--stage", "program", "-D", "R=3", text=text).stdout


def test_the_spec_is_the_same_tree() -> None:
    text = invoke("emit", "two.layout", "--stage", "spec").stdout
    assert parse(Source("a", text)) == parse(Source("a", TWO))


def test_the_spec_of_one_kernel_stands_by_itself() -> None:
    text = invoke("emit", "two.layout", "sums", "--stage", "spec").stdout
    assert "half" not in text
    assert invoke("check", "-", text=text).stdout == "-: 1 kernel, 0 schedules, 0 assertions hold\n"
    text = invoke("emit", "blur.layout", "blur", "--stage", "spec").stdout
    assert invoke("check", "-", text=text).stdout == "-: 1 kernel, 2 schedules, 1 assertion holds\n"


def test_a_deep_expression_passes_every_stage() -> None:
    deep = "abs(" * 180 + "x[i]" + ")" * 180
    text = f"kernel k(x: f32[N]) -> (y: f32[N]) {{ y[i] = {deep} }}"
    for stage in STAGES:
        assert invoke("emit", "-", "--stage", stage, text=text).exit_code == 0


def test_a_file_without_kernels_has_nothing_to_emit() -> None:
    result = invoke("emit", "-", text="const A = 1")
    assert result.exit_code == 1
    assert result.stderr == "error[no-kernel]: `-` holds no kernel\n"


def test_a_kernel_has_no_header() -> None:
    result = invoke("emit", "blur.layout", "--stage", "header")
    assert result.exit_code == 1
    assert "\n --> blur.layout:3:1\n" in result.stderr


# ---- into a folder


def test_a_folder_gets_one_file_a_kernel_and_what_they_include(folder: Path) -> None:
    result = invoke("emit", "two.layout", "-o", "new/out")
    assert sorted(os.listdir("new/out")) == ["half.cu", "layoutc.cuh", "sums.cu"]
    assert result.stdout.splitlines() == ["new/out/half.cu", "new/out/sums.cu", "new/out/layoutc.cuh"]
    assert (folder / "new/out/half.cu").read_text() == invoke("emit", "two.layout", "half").stdout


@pytest.mark.parametrize(("stage", "ending"), [("spec", ".layout"), ("program", ".program.txt"), ("plan", ".plan.txt")])
def test_other_stages_have_endings_of_their_own(stage: str, ending: str) -> None:
    assert invoke("emit", "two.layout", "--stage", stage, "-o", "out", "-q").exit_code == 0
    assert sorted(os.listdir("out")) == [f"half{ending}", f"sums{ending}"]


def test_a_folder_gets_nothing_of_a_file_that_is_wrong(folder: Path) -> None:
    (folder / "bad.layout").write_text(TWO + "schedule half { tile (i: 64)  threads (16, 3):(3, 1) }\n")
    assert invoke("emit", "bad.layout", "-o", "out").exit_code == 1
    assert not (folder / "out").exists()


def test_what_is_no_file_is_not_replaced(folder: Path) -> None:
    (folder / "out/sums.cu").mkdir(parents=True)
    result = invoke("emit", "two.layout", "-o", "out")
    assert result.exit_code == 1
    assert result.stderr == "error[cannot-write]: `out/sums.cu` cannot be written: it is a directory\n"
    assert os.listdir("out") == ["sums.cu"]
    assert invoke("emit", "two.layout", "-o", "two.layout").exit_code == 1
    assert invoke("emit", "two.layout", "-o", "/dev/null/out").exit_code == 1
    assert (folder / "two.layout").read_text() == TWO


def test_a_failure_to_write_leaves_what_was_there(folder: Path) -> None:
    (folder / "a").write_text("old")

    def fail(_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(LayoutcError, match=r"`b` cannot be written: no space left on device"):
        write_all([("a", text_writer("new")), ("b", fail)])
    assert (folder / "a").read_text() == "old"
    assert sorted(os.listdir()) == ["a", "blur.layout", "two.layout"]


def test_a_link_is_followed(folder: Path) -> None:
    (folder / "there").write_text("old")
    (folder / "link").symlink_to("there")
    write_all([("link", text_writer("new"))])
    assert (folder / "link").is_symlink()
    assert (folder / "there").read_text() == "new"


# ---- device code


def test_ptx_needs_nvrtc_and_no_gpu() -> None:
    result = invoke("emit", "two.layout", "half", "--stage", "ptx", "--arch", "sm_80")
    if find_spec("cupy_backends"):
        assert "\n.target sm_80\n" in result.stdout
    else:
        assert result.exit_code == 3
        assert "cuda12" in result.stderr


def test_an_architecture_that_no_compiler_knows_is_lacking() -> None:
    result = invoke("emit", "two.layout", "half", "--stage", "ptx", "--arch", "sm_999")
    assert result.exit_code == 3
    assert result.stderr.startswith("error[missing-tool]: ")


def test_sass_says_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_code, "_folders", lambda: [])
    monkeypatch.setenv("PATH", "")
    result = invoke("emit", "two.layout", "half", "--stage", "sass")
    assert result.exit_code == 3
    assert "pip install nvidia-cuda-nvdisasm" in result.stderr


def test_sass_is_what_the_disassembler_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "nvdisasm"
    program.write_text(f'#!/bin/sh\nhead -c 4 "$2" | tail -c 3\necho " $1"\ncp "$2" "{folder}/cubin"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    result = invoke("emit", "two.layout", "half", "--stage", "sass")
    if not find_spec("cupy_backends"):
        assert result.exit_code == 3
        return
    assert result.stdout == "ELF -c\n"
    code = (folder / "cubin").read_bytes()
    first, = struct.unpack_from("<Q", code, 32)             # of the program headers, which come last
    size, count = struct.unpack_from("<HH", code, 54)
    assert len(code) == first + size * count


# ---- records as text


def test_a_record_is_on_one_line_where_it_fits() -> None:
    spec = parse(Source("a", "const R = 2"))
    assert dump(spec) == "Spec(declarations=[Constant(name=Name(id=R), value=Number(value=2))])\n"
    long = parse(Source("a", f"const {'R' * 90} = 2"))
    assert dump(long).splitlines()[:3] == ["Spec(", "  declarations=[", "    Constant("]


# ---- explain


def test_explain_json_is_one_object_a_kernel() -> None:
    found = json.loads(invoke("explain", "two.layout", "--json").stdout)
    assert [k["name"] for k in found["kernels"]] == ["half", "sums"]
    assert json.loads(invoke("explain", "-", "--json", text="").stdout) == {"kernels": []}


def test_explain_counts_for_extents() -> None:
    # 1080 rows are 67 tiles of 16 and one of 8, 1920 columns are 30 of 64
    result = invoke("explain", "blur.layout", "blur", "--shape", "H=1080,W=1920", "--json")
    launch = json.loads(result.stdout)["kernels"][0]["launch"]
    assert launch["blocks"] == 68 * 30
    parts = invoke("explain", "blur.layout", "--shape", "H=1080", "--shape", "W=1920", "--json").stdout
    assert parts == result.stdout


def test_explain_as_text_says_the_same() -> None:
    text = invoke("explain", "blur.layout", "--shape", "H=1080,W=1920").stdout
    assert "2040" in text
    assert "blur" in text


@pytest.mark.parametrize(("clauses", "named", "title"), [
    ("", (), "chosen by the compiler"),
    ("schedule f { }", (), "default"),
    ("schedule f as wide { }", ("--schedule", "wide"), "wide"),
    ("schedule f as wide { }", (), "chosen by the compiler"),
])
def test_every_command_calls_a_schedule_the_same(clauses: str, named: tuple[str, ...], title: str) -> None:
    text = f"kernel f(x: f32[N]) -> (y: f32[N]) {{ y[i] = x[i] }} {clauses}"
    assert f"// f, schedule: {title}\n" in invoke("emit", "-", *named, text=text).stdout
    assert invoke("explain", "-", *named, text=text).stdout.startswith(f"f, schedule: {title}, for ")
    facts = json.loads(invoke("explain", "-", *named, "--json", text=text).stdout)["kernels"][0]
    assert facts["schedule"] == (None if title == "chosen by the compiler" else title)
    checked = invoke("check", "-v", "-", text=text)
    assert f"f, schedule: {title}: can be honoured" in checked.stdout + checked.stderr


def test_explain_takes_another_warp() -> None:
    def sectors(*words: str) -> object:
        shape = ("--shape", "H=64,W=64", "--schedule", "naive")
        found = json.loads(invoke("explain", "blur.layout", *shape, "--json", *words).stdout)
        return found["kernels"][0]["traffic"]["y"]["transactions_per_warp"]

    # a warp of 32 writes two rows of 16 floats: 2 * 64 bytes
    assert sectors() == 4
    # four lanes write 16 bytes of one row
    assert sectors("--lanes", "4", "--transaction", "16") == 1


def test_explain_passes_over_kernels_whose_extents_are_not_given() -> None:
    text = TWO + "kernel other(x: f32[A, B]) -> (y: f32[A, B]) { y[i, j] = x[i, j] }"
    found = json.loads(invoke("explain", "-", "--shape", "N=100", "--json", text=text).stdout)["kernels"]
    assert found[0]["launch"]["blocks"] >= 1
    assert found[2]["launch"] is None or found[2]["launch"]["blocks"] is None
