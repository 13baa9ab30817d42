"""Arguments of a launch that is made again, as the driver finds them in memory."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from layoutc.backend import ready
from layoutc.backend.ready import ReadyLaunch


class NoContextError(Exception):
    """What the driver says in a thread that it does not know."""


@dataclass
class Driver:
    """Reads arguments as a GPU does: each of its own width, from its own address."""

    types: tuple[Any, ...]
    seen: list[tuple[Any, ...]] = field(default_factory=list)
    known: bool = True
    during: Any = None
    CUDADriverError = NoContextError

    def launchKernel(self, *given: int) -> None:    # noqa: N802 - the driver's name
        if not self.known:
            raise NoContextError
        if self.during is not None:
            self.during()
        *how, at, _ = given
        addresses = (ctypes.c_void_p * len(self.types)).from_address(at)
        there = (type.from_address(a or 0) for type, a in zip(self.types, addresses, strict=True))
        values = (bytes(a) if isinstance(a, ctypes.Array) else a.value for a in there)
        self.seen.append((*how, *values))


class Kernel:
    ptr = 77

    def __init__(self) -> None:
        self.called: list[Any] = []

    def __call__(self, *given: Any, **named: Any) -> None:
        self.called.append((given, named))


def at(*addresses: int) -> list[Any]:
    return [SimpleNamespace(data=SimpleNamespace(ptr=a)) for a in addresses]


TYPES = (ctypes.c_uint64, ctypes.c_int32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_int32)
VALUES = (None, np.int32(-3), np.int64(-(2**40)), None, np.int32(2**31 - 1))
FAR = 2**47 + 512


def launch_of(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> ReadyLaunch:
    monkeypatch.setattr(ready, "_driver", lambda: driver)
    return ReadyLaunch(Kernel(), 9, 128, 4096, VALUES, ((0, 1), (3, 0)))


def test_each_argument_is_found_where_its_address_says(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(TYPES)
    launch = launch_of(driver, monkeypatch)
    for x, y in ((256, FAR), (FAR, 768), (256, 256)):
        launch(at(x, y), 5)
        assert driver.seen[-1] == (77, 9, 1, 1, 128, 1, 1, 4096, 5, y, -3, -(2**40), x, 2**31 - 1)


def test_a_map_is_made_of_the_array_that_is_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "map_of", lambda param, mapped: np.void(
        bytes([param, mapped.last[0], mapped.array.data.ptr % 256]) + bytes(range(125))))
    driver = Driver((ctypes.c_uint8 * 128, ctypes.c_int32, ctypes.c_uint8 * 128, ctypes.c_uint64))
    monkeypatch.setattr(ready, "_driver", lambda: driver)
    maps: Any = ((0, 1, 7, (3,)), (2, 0, 8, (4,)))
    launch = ReadyLaunch(Kernel(), 9, 128, 0, (None, np.int32(-3), None, None), ((3, 2),), maps)
    for x, y in ((16, 17), (18, 19)):
        launch(at(x, y, FAR), 5)
        first, scalar, second, last = driver.seen[-1][-4:]
        assert [first, scalar, second, last] == [
            bytes([7, 3, y, *range(125)]), -3, bytes([8, 4, x, *range(125)]), FAR]


def test_a_launch_within_a_launch_has_arguments_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another thread's may be, while the driver waits for room."""
    driver = Driver(TYPES)
    launch = launch_of(driver, monkeypatch)

    def once() -> None:
        driver.during = None
        launch(at(1024, 2048), 6)

    for _ in range(2):
        driver.during = once
        launch(at(256, 512), 5)
        assert [seen[9] for seen in driver.seen[-2:]] == [2048, 512]


def test_a_thread_that_the_driver_does_not_know_launches_by_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = Driver(TYPES, known=False)
    launch = launch_of(driver, monkeypatch)
    x, y = at(256, 512)
    launch([x, y], 5)
    assert launch.kernel.called == [(((9, 1, 1), (128, 1, 1), [y, *VALUES[1:3], x, VALUES[4]]), {"shared_mem": 4096})]
    driver.known = True
    launch([x, y], 5)
    assert len(driver.seen) == len(launch.kernel.called) == 1
