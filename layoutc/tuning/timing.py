"""Device times: events around one launch of several, warmed up, their median."""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable

WARM_UP = 3
LAUNCHES = 9


def median_milliseconds(launch: Callable[[], object]) -> float:
    """Of one launch on CuPy's current stream.

    Another one before it keeps the GPU busy while it is queued, so that none of the host's time is counted.
    """
    cuda = importlib.import_module("cupy").cuda
    times: list[float] = []
    for number in range(WARM_UP + LAUNCHES):
        start, end = cuda.Event(), cuda.Event()
        launch()
        start.record()
        launch()
        end.record()
        end.synchronize()
        if number >= WARM_UP:
            times.append(cuda.get_elapsed_time(start, end))
    return statistics.median(times)
