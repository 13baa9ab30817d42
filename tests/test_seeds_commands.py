"""The known answers as a person gets them: ``layoutc run`` and ``layoutc explain`` on the examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli_support import invoke

EXAMPLES = Path(__file__).parent.parent / "examples"
SQUARE = json.dumps([[4 * row + column for column in range(1, 5)] for row in range(4)])
CROSS = "[[1,0,1],[0,1,0],[1,0,1]]"


def run(device: str, example: str, *words: str) -> Any:
    """The outputs by name."""
    result = invoke("run", str(EXAMPLES / f"{example}.layout"), *words, "--json", "--device", device)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def explained(example: str, kernel: str, *words: str) -> Any:
    """The object of a kernel or redistribute."""
    result = invoke("explain", str(EXAMPLES / f"{example}.layout"), kernel, *words, "--json")
    assert result.exit_code == 0, result.output
    (facts,) = json.loads(result.stdout)["kernels"]
    return facts


def test_convolution_across_blocks(device: str) -> None:
    inputs = "--in", f"a={list(range(1, 13))}", "--in", f"w={[1 / 3] * 3}"
    assert run(device, "02_conv1d", *inputs)["b"] == pytest.approx([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 23 / 3, 4])
    facts = explained("02_conv1d", "conv", "--shape", "N=12")
    assert facts["halo"]["a"] == {"i": [0, 2]}
    assert facts["footprint"]["a"] == [6]
    assert facts["launch"]["blocks"] == 3
    assert facts["traffic"]["a"]["loaded_bytes"] == 4 * (6 + 6 + 4)      # 1..6, 5..10, 9..12 and two zeros


def test_centred(device: str) -> None:
    inputs = "--in", "x=[4,1,3,2,3]", "--in", "f=[2,1,4]"
    assert run(device, "03_centred", *inputs)["y"] == [8, 21, 13, 20, 7]
    assert explained("03_centred", "centred")["halo"]["x"] == {"i": [1, 1]}


def test_two_dimensions(device: str) -> None:
    inputs = "--in", f"x={SQUARE}", "--in", f"w={CROSS}"
    assert run(device, "04_valid", *inputs)["y"] == [[30, 35], [50, 55]]
    assert run(device, "05_same", *inputs)["y"] == [
        [7, 14, 17, 11], [17, 30, 35, 22], [29, 50, 55, 34], [23, 34, 37, 27]]
    traffic = explained("04_valid", "valid", "--shape", "H=4,W=4")["traffic"]["x"]
    assert traffic["reads_untiled"] == 36
    assert traffic["unique_bytes"] == 4 * 16


@pytest.mark.parametrize(("n", "threads", "wanted"), [
    (1_000_000, 256, [3907, 1_000_192, 192, 64]), (10_000, 128, [79, 10_112, 112, 16]),
    (5_000, 512, [10, 5_120, 120, 392])])
def test_launch(n: int, threads: int, wanted: list[int]) -> None:
    text = (EXAMPLES / "01_saxpy.layout").read_text(encoding="utf-8").replace("256", str(threads))
    result = invoke("explain", "-", "saxpy", "--shape", f"N={n}", "--json", text=text)
    (facts,) = json.loads(result.stdout)["kernels"]
    launch = facts["launch"]
    assert [launch[key] for key in ("blocks", "threads", "idle_threads", "active_in_last_block")] == wanted


@pytest.mark.parametrize("field", [2, 6])
def test_transactions(field: int) -> None:
    toy = "--lanes", "4", "--transaction", "16", "-D", f"FIELD={field}"
    seen = [(t["transactions_per_warp"], t["utilization"]) for kernel in ("by_record", "by_field")
            for words in (toy, toy[4:]) for t in [explained("28_records", kernel, *words)["traffic"]["z"]]]
    assert seen == [(4, 0.25), (32, 0.125), (1, 1), (4, 1)]


def test_intensity() -> None:
    found = [explained("29_intensity", "filter", *words)["intensity"]["ops_per_byte"]
             for words in ((), ("--schedule", "small"), ("--schedule", "cached"), ("--schedule", "memory"))]
    assert found == [pytest.approx(28**2 * 25 * 2 / (32**2 * 4)), 3.125, 0.5, 0.25]
    assert explained("29_intensity", "filter")["intensity"]["upper_bound"] == 12.5


BLOCKED = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
STRIPED = [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]


def test_redistribution(device: str) -> None:
    assert run(device, "31_redistribute", "deal", "--in", f"v={BLOCKED}")["out"] == STRIPED
    assert run(device, "31_redistribute", "collect", "--in", f"v={STRIPED}")["out"] == BLOCKED
    (move,) = explained("31_redistribute", "deal")["redistribute"]
    assert (move["via"], move["rounds"]) == ("shuffle", 2)
    pairs = [[2 * t, 2 * t + 1] for t in range(8)]
    assert run(device, "31_redistribute", "two_warps", "--in", f"v={pairs}")["out"] == [
        [0, 4], [1, 5], [2, 6], [3, 7], [8, 12], [9, 13], [10, 14], [11, 15]]
    (move,) = explained("31_redistribute", "two_warps")["redistribute"]
    assert move["via"] == "shuffle"         # never leaves a warp


def test_ranks(device: str) -> None:
    """A to H are 1 to 8."""
    put = "--in", "v=[[1,2],[3,4],[5,6],[7,8]]", "--in", "rank=[[7,0],[6,1],[5,2],[4,3]]"
    assert run(device, "34_ranks", "put", *put)["out"] == [[2, 4], [6, 8], [7, 5], [3, 1]]
    get = "--in", "v=[[1,5],[2,6],[3,7],[4,8]]", "--in", "rank=[[7,6],[5,4],[3,2],[1,0]]"
    assert run(device, "34_ranks", "get", *get)["out"] == [[8, 7], [6, 5], [4, 3], [2, 1]]
