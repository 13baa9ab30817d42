"""``layoutc bench`` and ``layoutc tune FILE``: what is counted, what is searched, what is said without a GPU."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from layoutc.backend import problem_with
from layoutc.diagnostics import LayoutcError
from layoutc.module import Kernel, compile
from layoutc.tuning.bench import Figure, compulsory_bytes
from layoutc.tuning.memory import place_of, remember, remembered
from layoutc.tuning.search import Search, with_clauses
from layoutc.tuning.timing import FEWEST, LAUNCHES, LONGEST, WARM_UP, median_milliseconds, medians_in_turn
from tests.cli_support import invoke

BLUR = """
kernel blur(x: f32[H, W], w: f32[3, 3]) -> (y: f32[H, W]) {
    edge x = nearest
    y[i, j] = sum(u in 0..3, v in 0..3) w[u, v] * x[i + u - 1, j + v - 1]
}
schedule blur { tile (i: 4, j: 64) stage x in shared }
kernel total(x: u8[N], unused: f64[N]) -> (s: u8[]) { s[] = max(x[0], x[N - 1])  require N > 0 }
redistribute b2s: f32 = blocked(32, 4) -> striped(32, 4)
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LAYOUTC_DATA_DIR", str(tmp_path / "data"))
    path = tmp_path / "blur.layout"
    path.write_text(BLUR)
    return str(path)


def test_compulsory_bytes_are_what_is_read_and_written_once() -> None:
    module = compile(BLUR)
    assert compulsory_bytes(module.blur, {"H": 100, "W": 70}) == 4 * (2 * 100 * 70 + 9)
    assert compulsory_bytes(module.total, {"N": 1000}) == 3


@pytest.mark.parametrize("words", [
    ("bench", "FILE", "blur"), ("bench", "FILE", "blur", "--shape", "H=5"), ("bench", "FILE", "b2s"),
    ("bench", "FILE", "blur", "--shape", "H=5,W=6,G=7"), ("tune", "FILE", "b2s"), ("tune", "FILE", "blur"),
    ("tune", "FILE", "--costs"), ("bench", "FILE", "blur", "--shape", "H=5,W=6", "--schedule", "none"),
])
def test_words_that_do_not_fit_are_refused_before_a_gpu_is_looked_for(file: str, words: tuple[str, ...]) -> None:
    assert invoke(*[file if word == "FILE" else word for word in words]).exit_code == 2


@pytest.mark.parametrize("command", ["bench", "tune"])
def test_figures_or_what_is_missing(file: str, command: str) -> None:
    budget = ["--budget", "3"] if command == "tune" else []
    result = invoke(command, file, "blur", "--shape", "H=300,W=500", "--json", *budget)
    if problem_with("cuda"):
        assert (result.exit_code, result.stdout) == (3, "")
        assert "missing-tool" in result.stderr
        return
    found = json.loads(result.stdout)
    figure = found["kernels"][0] if command == "bench" else found["best"]
    assert figure["bytes"] == 4 * (2 * 300 * 500 + 9)
    assert 0 < figure["milliseconds"] < 100
    assert figure["of_copy"] == pytest.approx(figure["gigabytes_per_second"] / figure["copy_gigabytes_per_second"])


@pytest.mark.parametrize("command", ["bench", "tune"])
def test_extents_that_the_kernel_refuses(file: str, command: str) -> None:
    result = invoke(command, file, "total", "--shape", "N=0")
    assert result.exit_code == 1
    assert "requirement" in result.stderr


class Gpu:
    """A GPU that gets slower with every launch; stands in for CuPy's events."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, slower: float = 1.0) -> None:
        self.now, self.pace, self.slower, self.told = 0.0, 1.0, slower, ""
        event = SimpleNamespace(Event=self.event, get_elapsed_time=lambda start, end: end.at - start.at)
        monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=event))

    def event(self) -> SimpleNamespace:
        made = SimpleNamespace(at=0.0, synchronize=lambda: None)
        made.record = lambda: setattr(made, "at", self.now)
        return made

    def launch(self, name: str, milliseconds: float) -> None:
        self.told += name
        self.now += milliseconds * self.pace
        self.pace *= self.slower


def test_what_drifts_meets_all_that_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Gpu(monkeypatch, slower=1.01)
    subjects = [lambda: gpu.launch("k", 0.3), lambda: gpu.launch("c", 0.2)]
    kernel, copy = medians_in_turn(subjects, lambda: gpu.launch("-", 0.05))
    assert gpu.told == "-k-c" * (WARM_UP + LAUNCHES)
    assert kernel / copy == pytest.approx(1.5, rel=0.025)      # two launches apart; 1.01 ** 42 by one after the other


@pytest.mark.parametrize(("milliseconds", "rounds"), [
    (0.001, LAUNCHES), (0.99 * LONGEST / LAUNCHES, LAUNCHES), (LONGEST / 10.5, 10), (10 * LONGEST, FEWEST)])
def test_long_launches_are_timed_less_often(monkeypatch: pytest.MonkeyPatch, milliseconds: float, rounds: int) -> None:
    gpu = Gpu(monkeypatch)
    assert median_milliseconds(lambda: gpu.launch("k", milliseconds)) == pytest.approx(milliseconds)
    assert len(gpu.told) == 2 * (WARM_UP + rounds)


def test_as_few_launches_as_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = Gpu(monkeypatch)
    median_milliseconds(lambda: gpu.launch("k", 1000 * LONGEST), lambda: gpu.launch("-", 1), launches=3)
    assert gpu.told == "-k" * (WARM_UP + 3)


class Clock:
    """A bench whose times follow from the schedule, and whose results can be spoiled."""

    def __init__(self, kernel: Kernel, spoiled: int = 0) -> None:
        self.kernel, self.spoiled = kernel, spoiled
        self.outputs: list[Any] = [np.ones((3, 4), np.float32)]

    def measure(self, kernel: Kernel) -> Figure:
        schedule = kernel.meaning.schedule()
        kernel.plan     # noqa: B018 (refused where it cannot be honoured)
        tile = dict(schedule.tile or ()) if schedule else {}
        staged = bool(schedule and schedule.stages)
        threads = schedule.threads.count if schedule and schedule.threads else 0
        milliseconds = abs(tile.get("i", 1) - 8) + abs(tile.get("j", 32) - 128) / 16 + 2 * staged + (threads != 256) + 1
        self.outputs[0][...] = 2 if tile.get("i", 1) == self.spoiled else 1
        return Figure("blur", None, "", {}, 1, milliseconds, 1, 1.0, 1.0, 1.0)


def search(clock: Clock, budget: int = 400) -> Search:
    return Search(clock, budget, Random(1), lambda count, best: None)  # type: ignore[arg-type]


def test_the_search_comes_to_the_best_of_all() -> None:
    found = search(Clock(compile(BLUR).blur)).run()
    schedule = with_clauses(compile(BLUR).blur, found.clauses).meaning.schedule()
    assert schedule is not None
    assert dict(schedule.tile or ()) == {"i": 8, "j": 128}
    assert (schedule.threads and schedule.threads.count, schedule.stages) == (256, ())
    assert found.best.milliseconds == 1 < found.default.milliseconds


def test_the_search_keeps_its_budget() -> None:
    told: list[int] = []
    found = replace(search(Clock(compile(BLUR).blur), 9), tell=lambda count, best: told.append(count)).run()
    assert (found.tried, told[-1]) == (9, 9)


def test_what_was_found_before_is_looked_at_first() -> None:
    best = "{ tile (i: 8, j: 128)  threads 256 }"
    assert search(Clock(compile(BLUR).blur), 2).run(best).clauses == best


def test_what_is_remembered_but_wrong_now_is_passed_over() -> None:
    assert search(Clock(compile(BLUR).blur), 3).run("{ tile (k: 8) }").refused >= 1


def test_wrong_results_are_never_the_best() -> None:
    with pytest.raises(LayoutcError, match="not the same"):
        search(Clock(compile(BLUR).blur, spoiled=8)).run()


def test_memory_is_by_kernel_device_and_class_of_shapes(file: str) -> None:
    module = compile(BLUR)
    place = place_of(module.blur, {"H": 1000, "W": 1000}, "one")
    assert remembered(place) is None
    remember(place, "{ vector 4 }")
    assert remembered(place_of(module.blur, {"H": 513, "W": 1023}, "one")) == "{ vector 4 }"
    others = [place_of(module.blur, {"H": 1025, "W": 1000}, "one"), place_of(module.total, {"N": 1000}, "one"),
              place_of(module.blur, {"H": 1000, "W": 1000}, "two")]
    assert [remembered(other) for other in others] == [None] * 3
