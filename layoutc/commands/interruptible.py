"""Work that Ctrl-C ends at once, however long a block of a kernel takes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TypeVar

INTERRUPTED = 130       # exit status, as of a program that SIGINT ended

T = TypeVar("T")


def interruptible(action: Callable[[], T]) -> T:
    """What ``action`` gives or raises; it runs in a thread of its own, and an interrupt ends the process.

    Compiled code would keep Python's handler of the interrupt waiting until it returns, and an orderly end would
    wait for what runs on a GPU.
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
    try:
        thread.join()
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
    if errors:
        raise errors[0]
    return results[0]
