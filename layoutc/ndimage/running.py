"""Texts become modules once, and run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import numpy as np

from layoutc.module import compile
from layoutc.ndimage.arrays import REAL, Array, chosen_device, library
from layoutc.ndimage.texts import cast_text

LARGE = 4096    # elements of an array from which a text of its own for types and window is worth its compilation


def is_large(array: Array) -> bool:
    """Whether texts are written for this very filter; a small array shares a few with all others."""
    return bool(array.size >= LARGE)


@cache
def _kernel(text: str) -> Any:
    module = compile(text, name="ndimage")
    return module[next(iter(module))]


_written: ContextVar[list[str] | None] = ContextVar("layoutc_ndimage_written", default=None)


@contextmanager
def written() -> Iterator[list[str]]:
    """Collects the texts that the filters called inside run, to read, to tune or to make your own of."""
    texts: list[str] = []
    token = _written.set(texts)
    try:
        yield texts
    finally:
        _written.reset(token)


def run(text: str, *tensors: object) -> Array:
    """The output of the text's one kernel."""
    texts = _written.get()
    if texts is not None:
        texts.append(text)
    return _kernel(text)(*tensors, device=chosen_device())


def cast(array: Array, dtype: Any) -> Array:
    """The array in another type; floats become integers cut off and modulo 2^n, as everywhere here, bools cut off."""
    if array.dtype == dtype:
        return array
    if dtype.kind == "b":
        return (library(array).trunc(array) if array.dtype.kind == "f" else array) != 0
    if array.dtype.kind == "f" and dtype.kind in "iu":
        flat = library(array).ascontiguousarray(array).reshape(-1)
        return run(cast_text(REAL[array.dtype], REAL[dtype]), flat).reshape(array.shape)
    with np.errstate(over="ignore"):        # to an infinity, as scipy
        return array.astype(dtype)
