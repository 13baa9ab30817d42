"""NVRTC ends in seconds on what the compiler writes: on what random kernels and the filters of ndimage ask for."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from layoutc import ndimage
from layoutc.calling.calls import Caller
from layoutc.compiler import default_signature
from layoutc.cuda_source import CudaSource
from layoutc.module import compile
from layoutc.ndimage import running
from layoutc.testing.ways import random_ways, subject_of, written_ways
from tests.nvrtc_support import unfinished
from tests.random_texts import random_steps_text, random_text

ARCHITECTURES = ("sm_75", "sm_90")
MODES = ("reflect", "mirror", "wrap")       # those that divide
IMAGE = np.random.default_rng(3).standard_normal((64, 65))      # large enough for texts of its own
FILTERS: dict[str, tuple[Any, ...]] = {
    "correlate": (np.arange(15.0).reshape(3, 5),), "convolve": (np.arange(9.0).reshape(3, 3),),
    "correlate1d": (np.arange(7.0),), "convolve1d": (np.arange(4.0),), "uniform_filter": (5,),
    "gaussian_filter": (1.5,), "sobel": (), "prewitt": (), "laplace": (), "minimum_filter": (3,),
    "maximum_filter": ((3, 4),), "median_filter": (3,), "rank_filter": (2, (2, 3)), "gaussian_laplace": (1.0,),
}


def of_ways(text: str, seed: int) -> list[CudaSource]:
    """The texts of a file's kernels under the compiler's own schedule and a random one."""
    found = []
    module = compile(text)
    for subject in (subject_of(module[name]) for name in module):
        for way in (*written_ways(subject, Caller), *random_ways(subject, 1, Random(seed), Caller)):
            found.append(way.caller.text(default_signature(way.kernel))[1])
    return found


@pytest.mark.parametrize("first", [1000, 1003])
def test_random_kernels(first: int) -> None:
    texts = [source for seed in range(first, first + 40, 12) for source in of_ways(random_text(seed), seed)]
    assert not unfinished(texts, ARCHITECTURES[first % 2])


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_random_kernels_with_steps(arch: str) -> None:
    assert not unfinished([s for seed in (2000, 2001) for s in of_ways(random_steps_text(seed), seed)], arch)


@pytest.mark.parametrize("mode", MODES)
def test_the_filters_of_ndimage(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other filter of a mode, and architectures by turns."""
    def kernel(text: str) -> Any:
        made = compile(text)
        one = made[next(iter(made))]
        return lambda *tensors, device: one.reference(*tensors)

    monkeypatch.setattr(running, "_kernel", kernel)
    turn = MODES.index(mode) % 2
    with ndimage.written() as texts:
        for name, words in list(FILTERS.items())[turn::2]:
            getattr(ndimage, name)(IMAGE, *words, mode=mode)
    modules = [compile(text) for text in dict.fromkeys(texts)]
    kernels = [module[name] for module in modules for name in module]
    assert len(kernels) >= 6
    assert not unfinished([k.caller().text(default_signature(k.meaning))[1] for k in kernels], ARCHITECTURES[turn])


@pytest.mark.parametrize("body", [
    "sum(u in 0..7, v in 0..7) sin(x[i + u, j + v]) ** cos(x[i, j])",
    "sum(u in 0..7, v in 0..7) x[i + u, j + v] % x[i, j]",
    "sum(u in -2..=2, v in 0..2) (max(t in 1..W) x[2*t - 1, j + u]) * x[3*u - j, i*v]",
])
def test_windows_of_what_branches(body: str) -> None:
    text = f"kernel k(x: f64[H, W]) -> (y: f64[H, W]) {{ require W > 1  edge x = mirror  y[i, j] = {body} }}"
    assert not unfinished(of_ways(text, 1)[:1], "sm_90")


def test_an_unroll_of_the_schedule_stands() -> None:
    text = """kernel k(x: f64[W], q: f64[]) -> (y: f64[W]) {
        edge x = mirror
        y[i] = sum(u in 0..64, v in 0..64) x[i + u - 3*v] % q[]
    }
    schedule k { tile (i: 32)  unroll v }"""
    lines = [line.strip() for line in compile(text).k.cuda.split("\n")]
    before = {line: lines[n - 1] for n, line in enumerate(lines) if line.startswith("for (int")}
    assert before["for (int v = 0; v < 64; ++v) {"] == "UNROLL"
    assert before["for (int u = 0; u < 64; ++u) {"] == "UNROLL_BY(1)"
