"""The command line as such: its words, streams and exit statuses; ``check`` and ``fmt``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from layoutc.commands import check as check_command
from tests.cli_support import BLUR, TWO, invoke, spawn

COMMANDS = ("bench", "check", "emit", "explain", "fmt", "layout", "run", "test", "tune")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blur.layout").write_text(BLUR)
    (tmp_path / "two.layout").write_text(TWO)
    return tmp_path


# ---- words


def test_help_lists_the_commands_that_there_are() -> None:
    text = invoke("--help").stdout
    listed = text[text.index("Commands:"):].split("\n")[1:]
    assert tuple(line.split()[0] for line in listed if line.strip()) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_the_common_options(command: str) -> None:
    text = invoke(command, "-h").stdout
    for option in ("-D", "--schedule", "--device", "--arch", "--color", "-q", "-v"):
        assert option in text


def test_version_is_the_package_s() -> None:
    import layoutc

    assert invoke("--version").stdout == f"layoutc {layoutc.__version__}\n"


@pytest.mark.parametrize("words", [
    (), ("chek", "blur.layout"), ("check",), ("check", "blur.layout", "--nope"),
    ("emit", "blur.layout", "--stage", "nope"), ("emit", "blur.layout", "blur", "more"),
    ("check", "blur.layout", "-D", "R"), ("check", "blur.layout", "-D", "R=two"), ("check", "blur.layout", "-D", "=2"),
    ("check", "blur.layout", "-D", f"R={2**63}"), ("check", "blur.layout", "-D", "Q=2"),
    ("check", "blur.layout", "--arch", "hopper"), ("run", "blur.layout", "--arch", "sm_10"),
    ("emit", "blur.layout", "--arch", "sm_70"), ("check", "blur.layout", "--device", "tpu"),
    ("emit", "blur.layout", "blurr"), ("emit", "blur.layout", "--schedule", "naif"),
    ("explain", "blur.layout", "--shape", "H"), ("explain", "blur.layout", "--shape", "H=-1,W=2"),
    ("explain", "blur.layout", "--shape", "H=1"), ("explain", "blur.layout", "--shape", "H=1,W=2,V=3"),
    ("explain", "blur.layout", "--shape", "H=1,H=2,W=3"), ("explain", "blur.layout", "--lanes", "0"),
    ("run", "blur.layout", "--in", "x"), ("run", "blur.layout", "--in", "x=[[1]]"),
    ("run", "blur.layout", "--in", "q=[[1]]"), ("run", "blur.layout", "--in", "x=[[1]]", "--in", "x=[[1]]"),
    ("run", "two.layout", "--in", "x=[1]"), ("run", "two.layout", "half", "--in", "x=[1]", "--out", "z=a.npy"),
    ("run", "two.layout", "half", "--in", "x=[1]", "--steps", "-1"), ("test", "blur.layout", "--examples", "0"),
])
def test_wrong_words_end_with_two(words: tuple[str, ...]) -> None:
    result = invoke(*words)
    assert result.exit_code == 2
    assert not result.stdout
    assert "error[internal]" not in result.stderr


@pytest.mark.parametrize(("words", "meant"), [
    (("emit", "blur.layout", "blurr"), "did you mean `blur`?"),
    (("emit", "blur.layout", "--schedule", "naif"), "did you mean `naive`?"),
    (("explain", "two.layout", "--shape", "n=3"), "did you mean `N`?"),
    (("run", "two.layout", "--in", "x=[1]"), "name one of half, sums"),
    (("run", "blur.layout", "--in", "x=[[1]]"), "give --in w=…"),
])
def test_wrong_words_are_told_what_would_do(words: tuple[str, ...], meant: str) -> None:
    assert meant in invoke(*words).stderr


def test_common_options_may_stand_before_the_command() -> None:
    assert invoke("-D", "R=2", "check", "blur.layout").exit_code == 1       # K is 5: the assertion fails
    assert invoke("-q", "check", "blur.layout").stdout == ""
    assert invoke("--schedule", "naif", "emit", "blur.layout").exit_code == 2
    assert invoke("-D", "R=2", "check", "blur.layout", "-D", "R=1").exit_code == 0      # the later one counts


# ---- check


def test_check_says_one_line_a_file() -> None:
    result = invoke("check", "blur.layout", "two.layout")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "blur.layout: 1 kernel, 2 schedules, 1 assertion holds",
        "two.layout: 2 kernels, 1 schedule, 0 assertions hold"]
    assert result.stderr == ""
    assert invoke("check", "-q", "blur.layout").stdout == ""


def test_check_reads_standard_input() -> None:
    assert invoke("check", "-", text=BLUR).stdout == "-: 1 kernel, 2 schedules, 1 assertion holds\n"
    wrong = invoke("check", "-", text="assert 1 == 2")
    assert wrong.exit_code == 1
    assert "\n --> -:1:8\n" in wrong.stderr


def test_check_reports_every_file_and_every_schedule(folder: Path) -> None:
    (folder / "bad.layout").write_text(
        TWO + "schedule half as big { tile (i: 64)  threads (32, 3):(3, 1) }\n"
              "schedule half as odd { tile (i: 64)  threads (16, 3):(3, 1) }\n")
    (folder / "worse.layout").write_text("assert 1 == 2\nassert 2 == 3\n")
    result = invoke("check", "bad.layout", "missing.layout", "worse.layout", "blur.layout")
    assert result.exit_code == 1
    assert result.stdout == "blur.layout: 1 kernel, 2 schedules, 1 assertion holds\n"
    for place in ("bad.layout:4", "bad.layout:5", "worse.layout:1:8", "worse.layout:2:8", "missing.layout"):
        assert place in result.stderr


def test_check_says_more_when_asked() -> None:
    assert "naive" in invoke("check", "-v", "blur.layout").stderr


def test_a_diagnostic_names_the_file_as_it_was_given(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "a.layout").write_text("assert 1 == 2")
    lines = invoke("check", "./sub/../sub/a.layout").stderr.splitlines()
    assert lines[0].startswith("error[assertion]: ")
    assert lines[1] == " --> ./sub/../sub/a.layout:1:8"
    assert lines[4].lstrip(" |").startswith("^^^^^^")


# ---- colour


def test_colour_is_for_terminals_unless_asked_for(folder: Path) -> None:
    (folder / "bad.layout").write_text("assert 1 == 2")
    plain, painted = invoke("check", "bad.layout"), invoke("check", "bad.layout", "--color", "always")
    assert "\x1b" not in plain.stderr
    assert "\x1b[" in painted.stderr
    assert "\x1b" not in invoke("emit", "blur.layout").stdout


# ---- streams, of real processes


@pytest.mark.parametrize("words", [("emit", "two.layout", "--stage", "plan"), ("run", "two.layout", "half",
                         "--in", "x=random:100000", "--json", "--device", "cpu")])
def test_a_closed_pipe_ends_quietly(words: tuple[str, ...]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "layoutc", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.read(1)
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 0


def test_an_interrupt_ends_quietly() -> None:
    program = (
        "import os, signal, sys, threading\n"
        "from layoutc.cli import main\n"
        "from layoutc.commands import check\n"
        "check.check = lambda *a: (os.kill(os.getpid(), signal.SIGINT), __import__('time').sleep(20))\n"
        "main(['check', 'blur.layout'])\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (128 + signal.SIGINT, b"")


@pytest.mark.parametrize("words", [("emit", "blur.layout"), ("--version",), ("--help",), ("emit", "--help")])
def test_a_full_disk_is_a_message(words: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-m", "layoutc", *words], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr == "error[system]: the system refused: no space left on device\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams_do_no_harm(closed: str) -> None:
    command = f'"{sys.executable}" -m layoutc check blur.layout - </dev/null {closed}'
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    assert "error[internal]" not in done.stderr


def test_a_poor_terminal_gets_numbers_for_its_missing_characters() -> None:
    done = spawn("check", "grün.layout", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert done.returncode == 1
    assert r"gr\xfcn.layout" in done.stderr


def test_a_name_that_is_no_text_is_a_message() -> None:
    done = subprocess.run([sys.executable, "-m", "layoutc", "check", b"a\xff.layout"], capture_output=True, timeout=60,
                          check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"error[no-such-file]: ")


# ---- the last resort


def test_what_nobody_foresaw_is_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr(check_command, "check", fail)
    result = invoke("check", "blur.layout")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[internal]: layoutc failed where it should not: ZeroDivisionError: by hand\n")
    assert "report it" in result.stderr
    assert "LAYOUTC_TRACEBACK=1" in result.stderr


BAD_TEXTS = {
    "nothing": "", "blank": " \n\t\n", "a mark": "\ufeff", "a zero": "kernel\0", "only a bracket": "(",
    "unclosed": "kernel k(", "a word": "kernel", "binary": "\x7fELF\x02\x01",
    "prose": "Dear sir, please compile this.", "a million": "(" * 10**6,
    "deep": "const A = " + "(" * 300 + "1" + ")" * 300, "long name": f"const {'a' * 10**5} = 1",
    "long number": f"const A = {'9' * 10**5}", "huge power": "const A = 9 ** 9 ** 9 ** 9", "itself": "const A = A",
    "divided": "const A = 1 // 0", "huge layout": "layout A = (999999999999, 999999999999):(1, 999999999999)",
    "no value": "layout A =", "no kernel": "schedule nope { tile (i: 4) }",
    "no equation": "kernel k(x: f32[N]) -> (y: f32[N]) { }",
    "outside": "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i + 1] }",
    "unknown": "kernel k(x: f33[N]) -> (y: f32[N]) { y[j] = z[i] }",
    "escapes": "kernel \x1b[31m() -> ()", "not ascii": "kernel größe(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }",
}


@pytest.mark.parametrize("name", BAD_TEXTS)
@pytest.mark.parametrize("command", ["check", "emit", "explain", "fmt"])
def test_a_bad_text_is_answered_without_the_last_resort(name: str, command: str, folder: Path) -> None:
    (folder / "bad.layout").write_text(BAD_TEXTS[name])
    result = invoke(command, "bad.layout")
    assert result.exit_code in (0, 1)
    assert "error[internal]" not in result.stderr
    assert "\x1b" not in result.output
    assert (result.exit_code == 1) == ("error[" in result.stderr)


@pytest.mark.parametrize("path", [".", "none.layout", "", "a\0b", "x" * 5000, "/dev/null/x"])
@pytest.mark.parametrize("command", ["check", "emit", "explain", "run", "test", "fmt"])
def test_a_bad_path_is_answered_without_the_last_resort(path: str, command: str) -> None:
    result = invoke(command, path)
    assert result.exit_code == 1
    assert result.stderr.startswith("error[")
    assert "error[internal]" not in result.stderr


def test_bytes_that_are_no_text_are_located(folder: Path) -> None:
    (folder / "bad.layout").write_bytes(b"const A = 1\nconst B\xff = 2\n")
    result = invoke("check", "bad.layout")
    assert result.exit_code == 1
    assert " --> bad.layout:2:8\n" in result.stderr


# ---- fmt


def test_fmt_writes_one_form_and_then_leaves_it(folder: Path) -> None:
    (folder / "a.layout").write_text("# kept\nconst   R=1 # too\n")
    assert invoke("fmt", "--check", "a.layout").exit_code == 1
    assert "a.layout" in invoke("fmt", "--check", "a.layout").stdout
    assert invoke("fmt", "a.layout").exit_code == 0
    text = (folder / "a.layout").read_text()
    assert "# kept" in text
    assert "const R = 1" in text
    assert invoke("fmt", "--check", "a.layout").exit_code == 0
    assert os.listdir(folder).count("a.layout") == len([f for f in os.listdir(folder) if "a.layout" in f])


def test_fmt_of_standard_input_is_standard_output() -> None:
    assert invoke("fmt", "-", text="const   R=1").stdout == "const R = 1\n"


def test_fmt_leaves_a_file_that_is_wrong(folder: Path) -> None:
    (folder / "a.layout").write_text("const = 1")
    assert invoke("fmt", "a.layout", "blur.layout").exit_code == 1
    assert (folder / "a.layout").read_text() == "const = 1"


# ---- what is imported


def test_import_takes_neither_cupy_nor_anything_heavy() -> None:
    program = "import json, layoutc, sys; print(json.dumps([m.partition('.')[0] for m in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"cupy", "numpy", "lark", "jinja2", "click", "rich", "hypothesis"} & set(json.loads(done.stdout))


def test_check_imports_no_more_than_it_needs() -> None:
    done = subprocess.run([sys.executable, "-X", "importtime", "-m", "layoutc", "check", "blur.layout"],
                          capture_output=True, text=True, check=True)
    imported = {line.rsplit("|", 1)[1].strip() for line in done.stderr.splitlines() if "|" in line}
    assert "layoutc.plan.planner" in imported
    assert not {"cupy", "numpy", "jinja2", "rich", "hypothesis", "PIL"} & imported
