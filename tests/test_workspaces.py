"""Arrays between the blocks of a call: who shares one, who has its own, and which begin at zero."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from layoutc.calling.workspaces import PER_THREAD, Need, Rooms, poisoned

COUNTS, SUMS = Need("counts", "u32", 4, zero=True), Need("sums", "f32", 8)


@dataclass
class Stream:
    """What is asked of CuPy's current stream."""

    ptr: int = 0
    capturing: bool = False

    def is_capturing(self) -> bool:
        return self.capturing


class Gpu:
    """CuPy's allocations on a GPU that is not there; fresh memory holds anything."""

    def __init__(self) -> None:
        self.stream, self.device = Stream(), 0
        self.cuda = SimpleNamespace(runtime=SimpleNamespace(getDevice=lambda: self.device),
                                    get_current_stream=lambda: self.stream)

    def empty(self, count: int, dtype: Any) -> Any:
        return np.full(count, 77, dtype)

    def zeros(self, count: int, dtype: Any) -> Any:
        return np.zeros(count, dtype)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    made = Gpu()
    monkeypatch.setitem(sys.modules, "cupy", made)
    return made


def test_counts_begin_at_zero_and_nothing_else_does(gpu: Gpu) -> None:
    counts, sums = Rooms().take([COUNTS, SUMS])
    assert not counts.any()
    assert sums.all()
    assert [bool(g.array.any()) for g in poisoned([COUNTS, SUMS])] == [False, True]


def test_calls_on_one_stream_share_and_larger_ones_begin_at_zero_again(gpu: Gpu) -> None:
    rooms = Rooms()
    first = rooms.take([COUNTS])[0]
    assert rooms.take([Need("counts", "u32", 2, zero=True)])[0] is first
    larger = rooms.take([Need("counts", "u32", 9, zero=True)])[0]
    assert larger.size == 9
    assert not larger.any()


@pytest.mark.parametrize(("change", "value"), [("stream", Stream(5)), ("device", 1)])
def test_another_stream_or_device_has_its_own(gpu: Gpu, change: str, value: object) -> None:
    rooms = Rooms()
    first = rooms.take([COUNTS])[0]
    setattr(gpu, change, value)
    assert rooms.take([COUNTS])[0] is not first


def test_a_threads_own_default_stream_is_another_in_every_thread(gpu: Gpu) -> None:
    rooms, found = Rooms(), []
    gpu.stream = Stream(PER_THREAD)
    found.append(rooms.take([COUNTS])[0])
    other = Thread(target=lambda: found.append(rooms.take([COUNTS])[0]))
    other.start()
    other.join()
    assert found[0] is not found[1]
    assert rooms.take([COUNTS])[0] is found[0]


def test_what_a_graph_captures_is_its_own_and_stays(gpu: Gpu) -> None:
    """What clears it is made by the replay alone, so that no call before that may count in it."""
    rooms = Rooms()
    before = rooms.take([COUNTS])[0]
    gpu.stream.capturing = True
    one, two = rooms.take([COUNTS])[0], rooms.take([COUNTS])[0]
    assert one is not before
    assert one is not two
    gpu.stream.capturing = False
    assert rooms.take([COUNTS])[0] is before
    kept = rooms._captured
    assert [any(a is b for b in kept) for a in (one, two)] == [True, True]
