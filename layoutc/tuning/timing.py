"""Device times: events around one launch of several, warmed up, their median."""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable
from typing import Any

WARM_UP = 3
LAUNCHES = 9


def median_milliseconds(
    launch: Callable[[], object], before: Callable[[], object] | None = None, launches: int = LAUNCHES
) -> float:
    """Of one launch on CuPy's current stream.

    ``before`` runs on the GPU before each (left out: the launch itself), and keeps it busy while the launch is
    queued, so that none of the host's time is counted.
    """
    cuda = importlib.import_module("cupy").cuda
    times: list[float] = []
    for number in range(WARM_UP + launches):
        start, end = cuda.Event(), cuda.Event()
        (before or launch)()
        start.record()
        launch()
        end.record()
        end.synchronize()
        if number >= WARM_UP:
            times.append(cuda.get_elapsed_time(start, end))
    return statistics.median(times)


def emptied_cache() -> Callable[[], object]:
    """Work that leaves nothing of earlier launches in the current GPU's L2 cache."""
    cupy: Any = importlib.import_module("cupy")
    bytes = max(2 * int(cupy.cuda.Device().attributes["L2CacheSize"]), 64 << 20)
    room = cupy.empty(bytes, cupy.uint8)
    return lambda: room.fill(0)


def copy_milliseconds(bytes: int, before: Callable[[], object]) -> float:
    """Of a device-to-device copy that moves so many bytes, half of them read and half written."""
    cupy: Any = importlib.import_module("cupy")
    half = max(bytes // 2, 1)
    source, target = cupy.ones(half, cupy.uint8), cupy.empty(half, cupy.uint8)
    return median_milliseconds(lambda: target.data.copy_from_device_async(source.data, half), before)
