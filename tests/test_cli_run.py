"""``layoutc run``: what goes in, what comes out, and what is refused."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutc.commands.inputs import read_input
from layoutc.commands.literals import read_literal
from layoutc.commands.outputs import as_json
from layoutc.diagnostics import LayoutcError
from layoutc.resolve.program import Extent, Tensor
from layoutc.resolve.types import TYPES
from tests.cli_support import BLUR, CENTRE, TWO, invoke, spawn

COPY = "kernel copy(x: {0}[H, W]) -> (y: {0}[H, W]) {{ y[i, j] = x[i, j] }}\n"
LINE = "kernel copy(x: {0}[N]) -> (y: {0}[N]) {{ y[i] = x[i] }}\n"
COLOUR = "kernel invert(x: u8[H, W, C]) -> (y: u8[H, W, C]) { y[i, j, c] = u8(255 - x[i, j, c]) }\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "blur.layout").write_text(BLUR)
    (tmp_path / "two.layout").write_text(TWO)
    (tmp_path / "u8.layout").write_text(COPY.format("u8"))
    (tmp_path / "colour.layout").write_text(COLOUR)
    return tmp_path


@pytest.fixture
def on(device: str) -> tuple[str, str]:
    """The words that choose the device of this run."""
    return "--device", device


def tensor(type: str, rank: int = 1) -> Tensor:
    return Tensor("x", TYPES[type], tuple(map(Extent, "HWCDE"[:rank])))


# ---- results


def test_results_are_json_by_name(on: tuple[str, str]) -> None:
    result = invoke("run", "two.layout", "sums", "--in", "x=[1, 2, 3.5]", "--json", *on)
    assert json.loads(result.stdout) == {"s": 6.5, "p": [2.0, 3.0, 4.5]}


def test_what_json_has_no_number_for_is_a_word(on: tuple[str, str]) -> None:
    result = invoke("run", "-", "--in", "x=[nan, inf, -inf, -0.0]", "--json", *on, text=LINE.format("f32"))
    assert result.stdout == '{"y": ["NaN", "Infinity", "-Infinity", -0.0]}\n'


def test_integers_and_truth_values_are_exact_in_json(on: tuple[str, str]) -> None:
    big = invoke("run", "-", "--in", f"x=[{2**63 - 1}, {-2**63}]", "--json", *on, text=LINE.format("i64"))
    assert json.loads(big.stdout) == {"y": [2**63 - 1, -(2**63)]}
    flags = invoke("run", "-", "--in", "x=[true, false, 1]", "--json", *on, text=LINE.format("bool"))
    assert flags.stdout == '{"y": [true, false, true]}\n'


def test_floats_are_exact_in_json() -> None:
    values = np.array([0.1, 1e-45, 3.4028235e38], np.float32)
    assert np.array_equal(np.array(json.loads(as_json({"y": values}))["y"], np.float32), values)
    half = np.array([0.1, 65504], ml_dtypes.bfloat16)
    assert np.array_equal(np.array(json.loads(as_json({"y": half}))["y"], ml_dtypes.bfloat16), half)


def test_json_goes_in_again(on: tuple[str, str]) -> None:
    values = "[NaN, Infinity, -Infinity, 0.1]"
    once = invoke("run", "-", "--in", f"x={values}", "--json", *on, text=LINE.format("f64")).stdout
    again = json.dumps(json.loads(once)["y"])
    assert invoke("run", "-", "--in", f"x={again}", "--json", *on, text=LINE.format("f64")).stdout == once


def test_results_are_printed_with_type_and_shape(on: tuple[str, str]) -> None:
    assert invoke("run", "two.layout", "half", "--in", "x=[-3, 8]", *on).stdout == "y: i32[2]\n[-2  4]\n"
    assert "s: f32[] = 3.0\n" in invoke("run", "two.layout", "sums", "--in", "x=[1, 2]", *on).stdout


def test_large_results_are_summarised(on: tuple[str, str]) -> None:
    text = invoke("run", "blur.layout", "--in", "x=random:(300, 400)", "--in", CENTRE, *on).stdout
    assert text.startswith("y: f32[300, 400]\n")
    assert "..." in text
    assert len(text) < 2000


def test_the_default_schedule_or_the_named_one_runs(on: tuple[str, str]) -> None:
    words = ("run", "blur.layout", "--in", "x=random:(20, 70)", "--in", CENTRE, "--json", *on)
    assert invoke(*words).stdout == invoke(*words, "--schedule", "naive").stdout


def test_only_who_asks_is_told_where_it_ran(device: str, on: tuple[str, str]) -> None:
    words = ("run", "two.layout", "half", "--in", "x=[1]", *on)
    assert invoke(*words).stderr == ""
    assert invoke(*words, "-v").stderr.startswith("half runs on the " + ("CPU" if device == "cpu" else "GPU ("))


def test_where_an_output_went_is_said_on_standard_error(on: tuple[str, str], folder: Path) -> None:
    words = ("run", "two.layout", "sums", "--in", "x=[1,2]", "--out", "p=there.npy", *on)
    result = invoke(*words)
    assert (result.stdout, result.stderr) == ("", "p: f32[2] is in there.npy\n")
    assert invoke(*words, "-q").stderr == ""


def test_one_step_is_what_a_kernel_without_step_takes(on: tuple[str, str]) -> None:
    assert invoke("run", "two.layout", "half", "--in", "x=[1]", "--steps", "1", *on).exit_code == 0
    assert invoke("run", "two.layout", "half", "--in", "x=[1]", "--steps", "2", *on).exit_code == 2


def test_steps_are_made_one_after_the_other(on: tuple[str, str], folder: Path) -> None:
    grow = "kernel grow(u: i32[N]) -> (v: i32[N]) { edge u = wrap  v[i] = u[i] + u[i - 1]  step u = v }"
    (folder / "grow.layout").write_text(grow)
    words = ("run", "grow.layout", "--in", "u=[1, 0, 0, 0, 0]", "--json", *on)
    for steps, row in ((0, [1, 0, 0, 0, 0]), (1, [1, 1, 0, 0, 0]), (4, [1, 4, 6, 4, 1])):
        assert json.loads(invoke(*words, "--steps", str(steps)).stdout) == {"v": row}


# ---- arrays from files


def test_npy_goes_in_and_out_unchanged(on: tuple[str, str]) -> None:
    values = np.random.default_rng(0).standard_normal((7, 9)).astype(np.float32)
    np.save("a.npy", np.asfortranarray(values))
    result = invoke("run", "blur.layout", "--in", "x=a.npy", "--in", CENTRE, "--out", "y=b.npy", *on)
    assert (result.exit_code, result.stdout) == (0, "")
    assert np.array_equal(np.load("b.npy"), values)


@pytest.mark.parametrize("type", ["bool", "i16", "u64", "f16", "bf16", "f64"])
def test_every_type_comes_back_from_its_file(type: str, on: tuple[str, str]) -> None:
    invoke("run", "-", "--in", "x=random:40", "--out", "y=a.npy", *on, text=LINE.format(type))
    invoke("run", "-", "--in", "x=a.npy", "--out", "y=b.npy", *on, text=LINE.format(type))
    assert Path("a.npy").read_bytes() == Path("b.npy").read_bytes()
    assert np.load("a.npy").shape == (40,)


def test_the_other_byte_order_is_the_same_type() -> None:
    np.save("a.npy", np.array([1, 2, 3], ">f4"))
    found = read_input(tensor("f32"), "a.npy", (0,))
    assert found.dtype == np.float32
    assert found.tolist() == [1, 2, 3]


def test_npz_holds_arrays_by_name(on: tuple[str, str]) -> None:
    np.savez("a.npz", first=np.array([1, 2], np.int32), second=np.array([5], np.int32))
    assert read_input(tensor("i32"), "a.npz:second", (0,)).tolist() == [5]
    wrong = invoke("run", "two.layout", "half", "--in", "x=a.npz:frist", *on)
    assert (wrong.exit_code, wrong.stderr) == (
        1, "error[unknown-array]: `a.npz` holds no array `frist`\n  = help: did you mean `first`?\n")
    assert "write `a.npz:NAME`; it holds first, second" in invoke("run", "two.layout", "half", "--in", "x=a.npz").stderr
    np.savez("one.npz", only=np.array([4], np.int32))
    assert read_input(tensor("i32"), "one.npz", (0,)).tolist() == [4]


def test_a_file_of_another_type_is_refused_with_what_mends_it(on: tuple[str, str]) -> None:
    np.save("a.npy", np.zeros((3, 3), np.int16))
    result = invoke("run", "blur.layout", "--in", "x=a.npy", "--in", CENTRE, *on)
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "error[argument-type]: `x` holds f32, `a.npy` holds i16",
        "  = help: declare `x: i16[…, …]` and cast where it is read, `f32(x[…, …])`; or convert the array to float32"]


def test_names_of_files_may_look_like_anything() -> None:
    for name in ("1.npy", "-5.npy", "[1].npy", "random.npy", "a=b.npy", "nan.npy"):
        np.save(name, np.array([7], np.int32))
        assert read_input(tensor("i32"), name, (0,)).tolist() == [7]


def damaged() -> dict[str, bytes]:
    whole = io.BytesIO()
    np.save(whole, np.arange(12, dtype=np.float32))
    pickled = io.BytesIO()
    np.save(pickled, np.array([{}, 1], object), allow_pickle=True)
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as file:
        file.writestr("x.npy", b"no array")
    header = whole.getvalue()
    return {
        "empty.npy": b"", "text.npy": b"1 2 3\n", "short.npy": header[:100], "cut.npy": header[:-4],
        "expression.npy": header.replace(b"(12,), }", b"(9**9,)}"), "pickle.npy": pickled.getvalue(),
        "giant.npy": header.replace(b"(12,), }             ", b"(99999999999999,), } "),
        "no.npz": b"PK\x03\x04 no zip", "no.npz:x": b"", "in.npz:x": zipped.getvalue(), "plain.npz": header,
        "no.png": b"\x89PNG\r\n\x1a\n no image", "no.jpg": b"\xff\xd8\xff",
        "cut.png": png(np.zeros((9, 9), np.uint8))[:-30],
    }


def png(values: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> bytes:
    from PIL import Image

    room = io.BytesIO()
    Image.fromarray(values).save(room, "PNG")
    return room.getvalue()


@pytest.mark.parametrize("name", damaged())
def test_a_damaged_file_is_a_message(name: str, folder: Path) -> None:
    (folder / name.partition(":")[0]).write_bytes(damaged()[name])
    result = invoke("run", "two.layout", "sums", "--in", f"x={name}")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[unreadable-file]: ")
    assert result.stderr.count("\n") == 1
    assert name.partition(":")[0] in result.stderr


@pytest.mark.parametrize("path", [
    "none.npy", "none.npz:x", "none.png", "two.layout", "folder.npy", "words", "random", "a\0.npy"])
def test_what_cannot_be_read_is_a_message(path: str, folder: Path) -> None:
    (folder / "folder.npy").mkdir()
    result = invoke("run", "two.layout", "sums", "--in", f"x={path}")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[")
    assert "error[internal]" not in result.stderr


# ---- images


def test_images_go_in_and_out_as_they_are(on: tuple[str, str]) -> None:
    from PIL import Image

    grey = np.random.default_rng(0).integers(0, 256, (5, 7), np.uint8)
    Image.fromarray(grey).save("a.png")
    assert invoke("run", "u8.layout", "--in", "x=a.png", "--out", "y=b.png", *on).exit_code == 0
    assert np.array_equal(np.asarray(Image.open("b.png")), grey)
    for channels in (3, 4):
        values = np.random.default_rng(1).integers(0, 256, (5, 7, channels), np.uint8)
        Image.fromarray(values).save("c.png")
        assert invoke("run", "colour.layout", "--in", "x=c.png", "--out", "y=d.png", *on).exit_code == 0
        assert np.array_equal(np.asarray(Image.open("d.png")), 255 - values)


def test_a_palette_is_read_as_its_colours() -> None:
    from PIL import Image

    values = np.zeros((2, 2, 3), np.uint8)
    values[0, 0] = 255
    Image.fromarray(values).quantize(2).save("p.png")
    assert np.array_equal(read_input(tensor("u8", 3), "p.png", (0,)), values)


def test_an_image_of_colours_is_no_matrix(on: tuple[str, str], folder: Path) -> None:
    (folder / "c.png").write_bytes(png(np.zeros((2, 2, 3), np.uint8)))
    result = invoke("run", "u8.layout", "--in", "x=c.png", *on)
    assert result.exit_code == 1
    assert result.stderr.startswith("error[rank-mismatch]: x has 2 axes")


@pytest.mark.parametrize(("words", "slug"), [
    (("blur.layout", "--in", "x=[[1]]", "--in", CENTRE, "--out", "y=y.png"), "no-image"),       # f32
    (("u8.layout", "--in", "x=random:(0, 3)", "--out", "y=y.png"), "no-image"),
    (("colour.layout", "--in", "x=random:(2, 2, 2)", "--out", "y=y.png"), "no-image"),
    (("u8.layout", "--in", "x=[[1]]", "--out", "y=y.jpg"), "unknown-output"),
    (("u8.layout", "--in", "x=[[1]]", "--out", "y=nowhere/y.npy"), "cannot-write"),
    (("u8.layout", "--in", "x=[[1]]", "--out", "y=folder.npy"), "cannot-write"),
    (("u8.layout", "--in", "x=[[1]]", "--out", "y=pipe.npy"), "cannot-write"),
    (("two.layout", "sums", "--in", "x=[1]", "--out", "s=a.npy", "--out", "p=./a.npy"), "cannot-write"),
])
def test_what_cannot_be_written_is_refused(words: tuple[str, ...], slug: str, folder: Path) -> None:
    (folder / "folder.npy").mkdir()
    os.mkfifo("pipe.npy")
    before = sorted(os.listdir())
    result = invoke("run", *words, "--device", "cpu")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error[{slug}]: ")
    assert sorted(os.listdir()) == before


def test_without_pillow_images_are_lacking(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "a.png").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "PIL", None)
    for words in (("--in", "x=a.png"), ("--in", "x=[[1]]", "--out", "y=y.png")):
        result = invoke("run", "u8.layout", *words)
        assert result.exit_code == 3
        assert "pip install 'layoutc[image]'" in result.stderr


# ---- numbers written out, and drawn


@pytest.mark.parametrize(("text", "value"), [
    ("0.25", 0.25), ("-3", -3), ("[1, 2]", [1, 2]), ("[[1,2],[3,4]]", [[1, 2], [3, 4]]), ("(1, 2)", [1, 2]),
    ("[]", []), (" [ 1 , 2 , ] ", [1, 2]), ("1e-3", 1e-3), ("[1., .5]", [1.0, 0.5]), ("inf", float("inf")),
    ("-inf", -float("inf")), ("[true, False]", [True, False]), ("(5)", 5), ("(5,)", [5]),
    ("[(1, 2), [3, 4]]", [[1, 2], [3, 4]]), ('["Infinity", "-Infinity"]', [float("inf"), -float("inf")]),
])
def test_numbers_as_python_json_and_the_language_write_them(text: str, value: object) -> None:
    assert read_literal("x", text) == value


@pytest.mark.parametrize(("text", "column"), [
    ("[1, 2", 6), ("[1, b]", 5), ("[1, 2]]", 7), ("[1, {}]", 5), ("1 + 2", 3), ("['a']", 2), ("[1, 2j]", 5),
    ("[1 2]", 4), ("[1, 2)", 6), ("[,]", 2), ("[1,,2]", 4), ("1 2", 3), ("[-[1]]", 2), ("[" * 300, 65), ("9" * 5000, 1),
    ("[1, 1e999]", 5), ("-1e999", 1), ("[1,\n z]", 2), ("[1", 3), ("", 1), ("[1.2.3]", 5), ("[0x10]", 2),
])
def test_what_are_no_numbers_is_located(text: str, column: int) -> None:
    with pytest.raises(LayoutcError) as caught:
        read_literal("x", text)
    diagnostic, = caught.value.diagnostics
    assert diagnostic.slug == "bad-literal"
    assert diagnostic.source is not None
    assert diagnostic.span is not None
    assert diagnostic.source.line_column(diagnostic.span.start)[1] == column


@pytest.mark.parametrize(("type", "text"), [
    ("u8", "[256]"), ("u8", "[-1]"), ("i8", "[1.5]"), ("i32", f"[{2**31}]"), ("f16", "[70000]"), ("f32", "[1e39]"),
    ("bool", "[2]"), ("i64", f"[{2**64}]"), ("f32", "[[1], [2, 3]]"),
])
def test_numbers_that_a_type_does_not_hold_are_refused(type: str, text: str) -> None:
    with pytest.raises(LayoutcError) as caught:
        read_input(tensor(type), text, (0,))
    assert caught.value.diagnostics[0].slug == "argument-type"


@pytest.mark.parametrize("type", TYPES)
def test_nothing_fits_every_type(type: str) -> None:
    assert read_input(tensor(type), "[]", (0,)).shape == (0,)


@pytest.mark.parametrize("type", TYPES)
def test_random_arrays_come_again_and_fit_their_type(type: str) -> None:
    one, same, other = (read_input(tensor(type, 2), "random:(20, 30)", seed) for seed in ((1, 0), (1, 0), (1, 1)))
    assert one.shape == (20, 30)
    assert one.tobytes() == same.tobytes() != other.tobytes()
    assert len(np.unique(one)) > 1


@pytest.mark.parametrize(("text", "shape"), [
    ("()", ()), ("7", (7,)), ("(7,)", (7,)), ("(2,0,3)", (2, 0, 3)), ("2, 3", (2, 3))])
def test_shapes_of_random_arrays(text: str, shape: tuple[int, ...]) -> None:
    assert read_input(tensor("f32"), f"random:{text}", (0,)).shape == shape


@pytest.mark.parametrize("text", [
    "", "(", "(a)", "(-1)", "(1, 2", "1)", f"({10**9}, {10**9})", f"({10**30})", "(1.5)", f"({'1,' * 99})"])
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(LayoutcError) as caught:
        read_input(tensor("f32"), f"random:{text}", (0,))
    assert caught.value.diagnostics[0].slug == "bad-shape"


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=30) | st.text("[](){},.0123456789-+eEinfa:\"'# \n", max_size=30))
def test_no_words_for_an_input_reach_the_last_resort(text: str) -> None:
    with suppress(LayoutcError):
        read_input(tensor("f32"), text, (0,))


# ---- calls that do not fit


def test_shapes_that_do_not_fit_name_the_arguments() -> None:
    result = invoke("run", "blur.layout", "--in", "x=[[1]]", "--in", "w=[[1]]", "--device", "cpu")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[extent-mismatch]: w has 1 elements on axis 0")


def test_too_large_a_result_is_a_message() -> None:
    text = "kernel huge(x: i32[N]) -> (y: i32[N * 100000000000]) { y[i] = x[0] }"
    result = invoke("run", "-", "--in", "x=random:1000", "--device", "cpu", text=text)
    assert result.exit_code == 1
    assert result.stderr.startswith("error[")
    assert "error[internal]" not in result.stderr


def test_a_machine_without_a_gpu_is_told_so() -> None:
    done = spawn("run", "two.layout", "half", "--in", "x=[1]", "--device", "cuda", env={"CUDA_VISIBLE_DEVICES": "-1"})
    assert done.returncode == 3
    assert done.stderr.startswith("error[missing-tool]: ")
    assert "= help: " in done.stderr


def test_an_interrupt_ends_a_long_block_at_once() -> None:
    """A block of this kernel takes hours, and nothing between its threads gives Python a turn."""
    Path("slow.layout").write_text(
        "kernel slow(x: f32[N]) -> (y: f32[N]) { y[i] = sum(u in 0..N, v in 0..N) x[u] * x[v] }")
    process = subprocess.Popen(
        [sys.executable, "-m", "layoutc", "run", "-v", "slow.layout", "--in", "x=random:100000", "--device", "cpu"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("slow runs on the ")
    time.sleep(2)       # it is compiled, or about to be
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30) == ("", "")
    assert process.returncode == 128 + signal.SIGINT
