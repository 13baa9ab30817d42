"""The rendered text and what a caller must know to launch it; all that a backend sees."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArrayParam:
    """``In<T> name`` or ``Out<T> name``: the address of a tensor's element (0, 0, …)."""

    name: str       # in the text
    type: str       # layoutc's name of the element type: f32, u8, …
    writes: bool


@dataclass(frozen=True, slots=True)
class ConstantParam:
    """``CONSTANT_PARAM Constant<T, count> name``: a small array passed by value, row-major."""

    name: str
    type: str
    count: int      # elements


@dataclass(frozen=True, slots=True)
class ScalarParam:
    """A number passed by value, of C type ``int`` or ``i64``."""

    name: str
    type: str       # "i32" or "i64"


@dataclass(frozen=True, slots=True)
class MapParam:
    """``CONSTANT_PARAM TensorMap name``: a tensor as the engine that copies boxes of it knows it.

    A copy brings a box; or, where ``windows`` is not 0, one tap of so many windows side by side along all axes but the
    first, which counts images, and the last, of which it brings the box.
    """

    name: str
    type: str
    box: tuple[int, ...]        # elements along each axis, the last fastest
    windows: int = 0
    low: tuple[int, ...] = ()   # per axis that windows have the first tap of the first
    step: tuple[int, ...] = ()  # and from one window to the next
    is_panel: bool = False      # vectors of 16 bytes change places as in PANEL_AT


Param = ArrayParam | ConstantParam | ScalarParam | MapParam


@dataclass(frozen=True, slots=True)
class Entry:
    """One ``KERNEL(threads) name(params)`` of the text; the grid has one dimension."""

    name: str
    threads: int    # a block, along x
    params: tuple[Param, ...]
    shared_bytes: int = 0   # dynamic shared memory, of which SHARED_AT takes its regions


@dataclass(frozen=True, slots=True)
class CudaSource:
    """A text that includes only ``layoutc.cuh``, and its entries."""

    name: str       # shown in reports, like blur.cu
    text: str
    entries: tuple[Entry, ...]
