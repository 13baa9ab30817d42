"""correlate, convolve and uniform_filter, after scipy.ndimage."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.ndimage.arrays import PARTS, Array, Output, as_array, host_array, library, output_of
from layoutc.ndimage.checks import Window, check_axes, check_axis, check_one_mode, check_rank, one_each, window
from layoutc.ndimage.sums import along_axes, by_parts, correlated, real_value


def correlate(
    input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: complex = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Array:
    """The sum of ``weights`` (conjugated, if complex) times the window around each element.

    Args:
        input: an array, real or complex.
        weights: an array with one axis for each that is filtered, in ascending order.
        output: a type for the result, or an array to hold it; None is a new array of the input's type.
        mode: what lies outside: reflect, constant, nearest, mirror, wrap.
        cval: the value outside, where mode is constant; rounded to the type of a float input.
        origin: shift of the window, an axis or for all.
        axes: those that are filtered; None is all of them.

    Integers are summed exactly and wrap: input and output of integer types, weights that are whole numbers. All else
    is summed in f64, rounded once at the end, and cut off where the output holds integers.
    """
    return _dense(input, weights, output, mode, cval, origin, axes, is_flipped=False)


def convolve(
    input: Any, weights: Any, output: Any = None, mode: str = "reflect", cval: complex = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Array:
    """As ``correlate``, with the weights reversed along every axis and never conjugated."""
    return _dense(input, weights, output, mode, cval, origin, axes, is_flipped=True)


def _dense(
    input: Any, weights: Any, output: Any, mode: str, cval: complex, origin: Any, axes: Any, *, is_flipped: bool
) -> Array:
    x, taps = as_array(input), _weights(weights)
    target = output_of(output, x, is_complex=_is_complex(x, taps))
    filtered = check_axes(axes, x.ndim)
    if not _is_complex(x):
        real_value(cval)
    check_rank("weights", taps.ndim, filtered)
    if not filtered:
        raise RuntimeError("there is no axis to filter")
    origins = dict(zip(filtered, one_each(origin, len(filtered)), strict=True))
    mode = check_one_mode(mode, "correlate and convolve")
    windows = [_window(a, taps.shape[n], origins[a], mode, is_flipped) for n, a in enumerate(sorted(filtered))]
    taps = taps[(slice(None, None, -1),) * taps.ndim] if is_flipped else taps.conj()
    return _weighted(x, taps, target, cval, lambda a, w, dtype, c: correlated(a, w, windows, dtype, c))


def correlate1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: complex = 0.0,
    origin: int = 0,
) -> Array:
    """``correlate`` along one axis."""
    return _line(input, weights, axis, output, mode, cval, origin, is_flipped=False)


def convolve1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: complex = 0.0,
    origin: int = 0,
) -> Array:
    """``convolve`` along one axis."""
    return _line(input, weights, axis, output, mode, cval, origin, is_flipped=True)


def _line(
    input: Any, weights: Any, axis: int, output: Any, mode: str, cval: complex, origin: int, *, is_flipped: bool
) -> Array:
    x, taps = as_array(input), _weights(weights)
    target = output_of(output, x, is_complex=_is_complex(x, taps))
    if not _is_complex(x):
        real_value(cval)
    if taps.ndim != 1:
        raise RuntimeError(f"weights along one axis have one axis, not {taps.ndim}")
    one = _window(check_axis(axis, x.ndim), taps.shape[0], origin, mode, is_flipped)
    taps = taps[::-1] if is_flipped else taps.conj()
    return _weighted(x, taps, target, cval, lambda a, w, dtype, c: along_axes(a, [(one, w)], dtype, c))


def _weights(weights: Any) -> NDArray[Any]:
    """Weights are few, so they are looked at: floats that are whole numbers are integers."""
    taps = host_array(weights)
    if not taps.size:
        raise RuntimeError("no filter weights given")
    if taps.dtype.kind not in "biufc":
        raise RuntimeError(f"weights of type {taps.dtype} not supported")
    is_whole = taps.dtype.kind == "f" and bool(np.all((np.abs(taps) < 2**63) & (np.trunc(taps) == taps)))
    return taps.astype(np.int64) if is_whole else taps


def _window(axis: int, size: int, origin: int, mode: str, is_flipped: bool) -> Window:
    """A convolution's origin moves the other way, and an even window's middle is the other one."""
    origin = operator.index(origin)
    return window(axis, size, -origin - (size % 2 == 0) if is_flipped else origin, mode)


def _is_complex(*arrays: Array) -> bool:
    return any(a.dtype.kind == "c" for a in arrays)


def _weighted(
    x: Array, taps: Array, output: Output, cval: complex, real: Callable[[Array, Array, Any, float], Array]
) -> Array:
    """``real`` for each pair of a part of the array and a part of the weights."""
    if not _is_complex(taps):
        return by_parts(x, output, cval, lambda a, dtype, c: real(a, taps, dtype, c))
    part, wide = PARTS[output.dtype], np.dtype(np.float64)
    out = library(x).empty(x.shape, output.dtype)
    if not x.size:
        return output.give(out, x.shape)
    if not _is_complex(x):
        out.real = real(x, taps.real, part, real_value(cval)).reshape(x.shape)
        out.imag = real(x, taps.imag, part, real_value(cval)).reshape(x.shape)
        return output.give(out, x.shape)
    re, im = float(np.real(cval)), float(np.imag(cval))
    out.real = (real(x.real, taps.real, wide, re) - real(x.imag, taps.imag, wide, im)).reshape(x.shape)
    out.imag = (real(x.real, taps.imag, wide, re) + real(x.imag, taps.real, wide, im)).reshape(x.shape)
    return output.give(out, x.shape)


def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: complex = 0.0,
    origin: int = 0,
) -> Array:
    """The mean of the window along one axis; see ``uniform_filter``."""
    if operator.index(size) < 1:
        raise RuntimeError("incorrect filter size")
    x = as_array(input)
    target = output_of(output, x, is_complex=_is_complex(x))
    return _means(x, [window(check_axis(axis, x.ndim), size, origin, mode)], target, cval)


def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: complex = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Array:
    """The mean of the window.

    Args:
        input: an array, real or complex.
        size: of the window, an axis or for all; axes of size 0 and 1 are left as they are.
        output: a type for the result, or an array to hold it; None is a new array of the input's type.
        mode: what lies outside, an axis or for all.
        cval: the value outside, where mode is constant.
        origin: shift of the window, an axis or for all.
        axes: those that are filtered; None is all of them.

    The sum of integers of up to 32 bits is exact and divided once, cut off; all else is in f64.
    """
    x = as_array(input)
    target = output_of(output, x, is_complex=_is_complex(x))
    found = check_axes(axes, x.ndim)
    each = [one_each(value, len(found)) for value in (size, origin, mode)]
    windows = [window(a, s, o, m) for a, s, o, m in zip(found, *each, strict=True) if s > 1]
    return _means(x, windows, target, cval)


def _means(x: Array, windows: list[Window], output: Output, cval: complex) -> Array:
    passes = [(w, np.ones(w.size, np.int64)) for w in windows]
    return by_parts(x, output, cval, lambda a, dtype, c: along_axes(a, passes, dtype, c, mean=True))
