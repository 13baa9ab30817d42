"""Device times: events around one launch, warmed up, the median of several."""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable

WARM_UP = 3
LAUNCHES = 9


def median_milliseconds(launch: Callable[[], object]) -> float:
    """Of one launch on CuPy's current stream."""
    cuda = importlib.import_module("cupy").cuda
    times: list[float] = []
    for number in range(WARM_UP + LAUNCHES):
        start, end = cuda.Event(), cuda.Event()
        start.record()
        launch()
        end.record()
        end.synchronize()
        if number >= WARM_UP:
            times.append(cuda.get_elapsed_time(start, end))
    return statistics.median(times)
