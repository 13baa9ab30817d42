"""Minimum, maximum, median and the filters of other ranks, after scipy.ndimage. NaN propagates."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.ndimage.arrays import REAL, Array, Output, as_array, host_array, output_of
from layoutc.ndimage.checks import Window, check_axes, check_axis, check_one_mode, check_rank, one_each, window
from layoutc.ndimage.running import cast, is_large, run
from layoutc.ndimage.shapes import merged
from layoutc.ndimage.sums import FUSED_UP_TO, fits, is_whole, outside, real_value
from layoutc.ndimage.texts import (
    Form,
    extreme_text,
    has_constant_edge,
    rank_text,
    separable_extreme_text,
)

WIDE = {"b": np.dtype(np.uint64), "u": np.dtype(np.uint64), "i": np.dtype(np.int64), "f": np.dtype(np.float64)}


def minimum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Array:
    """The least element of the window along one axis."""
    return _extreme_line("min", input, size, axis, output, mode, cval, origin)


def maximum_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: float = 0.0, origin: int = 0
) -> Array:
    """The greatest element of the window along one axis."""
    return _extreme_line("max", input, size, axis, output, mode, cval, origin)


def _extreme_line(
    op: str, input: Any, size: int, axis: int, output: Any, mode: str, cval: float, origin: int
) -> Array:
    x = _real(input)
    target = output_of(output, x)
    if operator.index(size) < 1:
        raise RuntimeError("incorrect filter size")
    return _give(x, target, _extremes(op, x, [window(check_axis(axis, x.ndim), size, origin, mode)], cval))


def minimum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: float = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Array:
    """The least element of the window.

    Args:
        input: a real array.
        size: of the window, an axis or for all.
        footprint: which elements of the window count, instead; one axis for each that is filtered, ascending.
        output: a type for the result, or an array to hold it; None is a new array of the input's type.
        mode: what lies outside, an axis or for all; one for all with a footprint that leaves something out.
        cval: the value outside, where mode is constant.
        origin: shift of the window, an axis or for all.
        axes: those that are filtered; None is all of them.
    """
    return _extreme("min", input, size, footprint, output, mode, cval, origin, axes)


def maximum_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: float = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Array:
    """The greatest element of the window; arguments as in ``minimum_filter``."""
    return _extreme("max", input, size, footprint, output, mode, cval, origin, axes)


def _extreme(
    op: str, input: Any, size: Any, footprint: Any, output: Any, mode: Any, cval: float, origin: Any, axes: Any
) -> Array:
    x = _real(input)
    target = output_of(output, x)
    mask = _mask(size, footprint)
    found = check_axes(axes, x.ndim)
    if mask is None or mask.all():
        sizes = one_each(size if mask is None else mask.shape, len(found))
        each = zip(found, sizes, one_each(origin, len(found)), one_each(mode, len(found)), strict=True)
        return _give(x, target, _extremes(op, x, [window(a, s, o, m) for a, s, o, m in each if s > 1], cval))
    windows = _windows(mask, found, origin, mode)
    return _give(x, target, _masked_extreme(op, x, mask, windows, cval))


def _extremes(op: str, x: Array, windows: Sequence[Window], cval: float) -> Array:
    """Along one axis after another; two at a time where the array is worth texts of its own."""
    x = _ranked(x, windows, cval)
    groups: list[list[Window]] = [[w] for w in windows]
    if is_large(x) and len(windows) > 1 and all(w.size <= FUSED_UP_TO for w in windows[-2:]):
        groups[-2:] = [[*windows[-2:]]]
    for group in groups:
        form = Form(merged(x.shape, group), is_large(x))
        text = (extreme_text(form, op, REAL[x.dtype], False) if len(group) == 1
                else separable_extreme_text(form, op, REAL[x.dtype]))
        x = run(text, x.reshape(form.shape.extents), *_arguments(form, x, cval)).reshape(x.shape)
    return x


def _masked_extreme(op: str, x: Array, mask: NDArray[np.bool_], windows: Sequence[Window], cval: float) -> Array:
    x = _ranked(x, windows, cval)
    form = Form(merged(x.shape, windows), is_large(x))
    text = extreme_text(form, op, REAL[x.dtype], True)
    return run(text, x.reshape(form.shape.extents), mask, *_arguments(form, x, cval, sizes=False))


def _arguments(form: Form, x: Array, cval: float, *, sizes: bool = True) -> list[Any]:
    """What follows the array: sizes and starts, where the text has them not, and the value outside."""
    given: list[Any] = []
    if sizes and not form.is_constant:
        given += [np.empty(w.size, np.int8) for w in form.shape.windows]
    return [*given, *form.starts_argument, *[outside(cval, x.dtype)] * has_constant_edge(form.shape.windows)]


def rank_filter(
    input: Any, rank: int, size: Any = None, footprint: Any = None, output: Any = None, mode: str = "reflect",
    cval: float = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Array:
    """The element of a rank in the window: 0 the least, -1 the greatest; else as ``minimum_filter``."""
    x, target, mask, windows = _ranking(input, size, footprint, output, mode, origin, axes)
    return _ranks(x, target, operator.index(rank), mask, windows, cval)


def percentile_filter(
    input: Any, percentile: float, size: Any = None, footprint: Any = None, output: Any = None, mode: str = "reflect",
    cval: float = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Array:
    """The element below which ``percentile`` of the window lie; -20 is 80. Else as ``minimum_filter``."""
    x, target, mask, windows = _ranking(input, size, footprint, output, mode, origin, axes)
    share = percentile + 100.0 if percentile < 0 else percentile
    if not 0 <= share <= 100:
        raise RuntimeError("invalid percentile")
    count = int(mask.sum())
    rank = count - 1 if share == 100 else int(float(count) * share / 100.0)
    return _ranks(x, target, rank, mask, windows, cval)


def median_filter(
    input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: str = "reflect", cval: float = 0.0,
    origin: Any = 0, *, axes: Any = None,
) -> Array:
    """The middle element of the window, the upper one of two; else as ``minimum_filter``."""
    x, target, mask, windows = _ranking(input, size, footprint, output, mode, origin, axes)
    return _ranks(x, target, int(mask.sum()) // 2, mask, windows, cval)


def _ranking(
    input: Any, size: Any, footprint: Any, output: Any, mode: Any, origin: Any, axes: Any
) -> tuple[Array, Output, NDArray[np.bool_], list[Window]]:
    x = _real(input)
    target = output_of(output, x)
    found = check_axes(axes, x.ndim)
    mask = _mask(size, footprint)
    if mask is None:
        sizes = dict(zip(found, one_each(size, len(found)), strict=True))
        mask = np.ones([operator.index(sizes[a]) for a in sorted(sizes)], bool)
    return x, target, mask, _windows(mask, found, origin, mode)


def _ranks(
    x: Array, target: Output, rank: int, mask: NDArray[np.bool_], windows: list[Window], cval: float
) -> Array:
    count = int(mask.sum())
    rank = rank + count if rank < 0 else rank
    if not 0 <= rank < count:
        raise RuntimeError("rank not within filter footprint size")
    if rank in (0, count - 1):
        op = "min" if rank == 0 else "max"
        wide = [w for w in windows if w.size > 1]
        return _give(x, target, _extremes(op, x, wide, cval) if mask.all() else
                     _masked_extreme(op, x, mask, windows, cval))
    return _give(x, target, _ranked_elements(x, rank, mask, windows, cval) if x.size else x)


def _ranked_elements(
    x: Array, rank: int, mask: NDArray[np.bool_], windows: Sequence[Window], cval: float
) -> Array:
    """The median of the window, in which elements that do not count are so many low and high ones that it has the rank.

    A second layer of them is added where the window itself has not enough.
    """
    x = _ranked(x, windows, cval)
    form = Form(merged(x.shape, windows), is_large(x))
    flat = x.reshape(form.shape.extents)
    if mask.all() and rank == mask.size // 2:
        return run(rank_text(form, REAL[x.dtype], 0), flat, *_arguments(form, x, cval))
    layers = 1 if 0 <= mask.size // 2 - rank <= mask.size - int(mask.sum()) else 2
    counts = np.zeros((layers, *mask.shape), bool)
    counts[0] = mask
    fill = np.zeros(counts.shape, x.dtype)
    lows = layers * mask.size // 2 - rank
    low, high = (-np.inf, np.inf) if x.dtype.kind == "f" else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
    fill[~counts] = np.where(np.arange(counts.size - int(mask.sum())) < lows, x.dtype.type(low), x.dtype.type(high))
    text = rank_text(form, REAL[x.dtype], layers)
    return run(text, flat, counts, fill, *_arguments(form, x, cval, sizes=False))


def _ranked(x: Array, windows: Sequence[Window], cval: float) -> Array:
    """The array in a type that holds the value outside; a small one in the widest, whose texts all types share."""
    if x.dtype.kind == "b":
        x = x.view(np.uint8)
    if not fits(real_value(cval), x.dtype, windows):
        x = x.astype(np.int64 if x.dtype != np.uint64 and is_whole(cval) else np.float64)
    return x.astype(WIDE[x.dtype.kind]) if not is_large(x) else x


def _give(x: Array, target: Output, result: Array) -> Array:
    """The result in the output's type; a new array even where nothing was filtered."""
    found = cast(result, target.dtype)
    return target.give(found.copy() if found is x else found, x.shape)


def _real(input: Any) -> Array:
    x = as_array(input)
    if x.dtype.kind == "c":
        raise TypeError("complex numbers have no order")
    return x


def _mask(size: Any, footprint: Any) -> NDArray[np.bool_] | None:
    if footprint is None:
        if size is None:
            raise RuntimeError("no footprint or filter size provided")
        return None
    if size is not None:
        warnings.warn("ignoring size because footprint is set", UserWarning, stacklevel=5)
    mask = host_array(footprint).astype(bool)
    if not mask.any():
        raise ValueError("All-zero footprint is not supported.")
    return mask


def _windows(mask: NDArray[np.bool_], axes: Sequence[int], origin: Any, mode: Any) -> list[Window]:
    """The footprint's axes are those that are filtered, ascending; origins come in the order of ``axes``."""
    check_rank("footprint", mask.ndim, axes)
    origins = dict(zip(axes, one_each(origin, len(axes)), strict=True))
    one = check_one_mode(mode, "footprints and ranks")
    return [window(a, mask.shape[n], origins[a], one) for n, a in enumerate(sorted(axes))]
