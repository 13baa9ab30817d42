"""Device times: events around one launch of several, warmed up, their medians."""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable, Sequence
from typing import Any

WARM_UP = 3
LAUNCHES = 21           # of each that is timed, where that takes no more than …
LONGEST = 600.0         # milliseconds on the GPU; …
FEWEST = 5              # however long they are
SHORTEST = 1e-3         # milliseconds that events tell apart
FILLS = 4               # of twice the second cache: 0.1 ms on an H200

Launch = Callable[[], object]


def median_milliseconds(launch: Launch, before: Launch | None = None, launches: int = LAUNCHES) -> float:
    """Of one launch on CuPy's current stream; ``before`` as for :func:`medians_in_turn`."""
    return medians_in_turn((launch,), before, launches)[0]


def medians_in_turn(
    subjects: Sequence[Launch], before: Launch | None = None, launches: int = LAUNCHES
) -> tuple[float, ...]:
    """Of one launch of each on CuPy's current stream, milliseconds; they take turns, so that what drifts meets all.

    ``before`` runs on the GPU before each (left out: the launch itself), and keeps it busy while the launch is
    queued, so that none of the host's time is counted. Long ones are launched less often, never below 5 times.
    """
    warm = [[_milliseconds(launch, before or launch) for launch in subjects] for _ in range(WARM_UP)]
    fitting = LONGEST / max(sum(warm[-1]), SHORTEST)
    rounds = max(min(launches, FEWEST), int(min(launches, fitting)))
    times = [[_milliseconds(launch, before or launch) for launch in subjects] for _ in range(rounds)]
    return tuple(statistics.median(each) for each in zip(*times, strict=True))


def _milliseconds(launch: Launch, before: Launch) -> float:
    cuda = importlib.import_module("cupy").cuda
    start, end = cuda.Event(), cuda.Event()
    before()
    start.record()
    launch()
    end.record()
    end.synchronize()
    return float(cuda.get_elapsed_time(start, end))


def emptied_cache() -> Launch:
    """Work that leaves nothing of earlier launches in the current GPU's L2 cache, and lasts longer than a call takes.

    Once would do for the cache; a host whose own caches are cold would then come too late, and its time be counted.
    """
    cupy: Any = importlib.import_module("cupy")
    bytes = max(2 * int(cupy.cuda.Device().attributes["L2CacheSize"]), 64 << 20)
    room = cupy.empty(bytes, cupy.uint8)

    def fill() -> None:
        for _ in range(FILLS):
            room.fill(0)

    return fill


def copy_of(bytes: int) -> Launch:
    """A device-to-device copy that moves so many bytes, half of them read and half written."""
    cupy: Any = importlib.import_module("cupy")
    half = max(bytes // 2, 1)
    source, target = cupy.ones(half, cupy.uint8), cupy.empty(half, cupy.uint8)
    return lambda: target.data.copy_from_device_async(source.data, half)
