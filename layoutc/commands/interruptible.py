"""Work that Ctrl-C ends at once, however long a block of a kernel takes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def interruptible(action: Callable[[], T]) -> T:
    """What ``action`` gives or raises; it runs in a thread that is abandoned on KeyboardInterrupt.

    Compiled code keeps Python's own handler of the interrupt waiting until it returns.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(action())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
