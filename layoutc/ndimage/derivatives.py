"""sobel, prewitt, laplace and the generic forms, after scipy.ndimage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from layoutc.ndimage.arrays import Array, Output, as_array, library, output_of
from layoutc.ndimage.checks import Window, check_axes, check_axis, one_each, window
from layoutc.ndimage.running import cast, is_large, run
from layoutc.ndimage.shapes import merged
from layoutc.ndimage.sums import along_axes, by_parts, outside, prepared, sum_type
from layoutc.ndimage.texts import Form, has_constant_edge, laplace_text

DIFFERENCE = np.array([-1, 0, 1])
PREWITT = np.array([1, 1, 1])
SOBEL = np.array([1, 2, 1])


def sobel(
    input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: complex = 0.0,
) -> Array:
    """The difference of the neighbours along ``axis``, weighted 1 2 1 along all others; ``mode`` an axis or for all."""
    return _smoothed_difference(input, axis, output, mode, cval, SOBEL)


def prewitt(
    input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: complex = 0.0,
) -> Array:
    """The difference of the neighbours along ``axis``, summed over three along all others; ``mode`` as in ``sobel``."""
    return _smoothed_difference(input, axis, output, mode, cval, PREWITT)


def _smoothed_difference(input: Any, axis: int, output: Any, mode: Any, cval: complex, smooth: Any) -> Array:
    x = as_array(input)
    target = output_of(output, x, is_complex=x.dtype.kind == "c")
    along = check_axis(axis, x.ndim)
    modes = one_each(mode, x.ndim)
    order = [along, *(a for a in range(x.ndim) if a != along)]
    passes = [(window(a, 3, 0, modes[a]), DIFFERENCE if a == along else smooth) for a in order]
    return by_parts(x, target, cval, lambda a, dtype, c: along_axes(a, passes, dtype, c))


def laplace(
    input: Any, output: Any = None, mode: Any = "reflect", cval: complex = 0.0, *, axes: Any = None
) -> Array:
    """The sum of second differences along the axes; ``mode`` an axis or for all."""
    x = as_array(input)
    target = output_of(output, x, is_complex=x.dtype.kind == "c")
    found = check_axes(axes, x.ndim)
    windows = [window(a, 3, 0, m) for a, m in zip(found, one_each(mode, len(found)), strict=True)]
    return by_parts(x, target, cval, lambda a, dtype, c: _laplace(a, windows, dtype, c))


def _laplace(x: Array, windows: Sequence[Window], dtype: Any, cval: float) -> Array:
    if not windows:
        return along_axes(x, [], dtype, cval)
    total = sum_type(x, np.dtype(np.int64), dtype, windows, cval)
    shape = merged(x.shape, windows)
    x, types = prepared(x, total, dtype, windows, cval)
    ends = [outside(cval, x.dtype)] if has_constant_edge(windows) else []
    out = run(laplace_text(Form(shape, is_large(x)), types), x.reshape(shape.extents), *ends)
    return cast(out, dtype)


def generic_laplace(
    input: Any, derivative2: Callable[..., Any], output: Any = None, mode: Any = "reflect", cval: complex = 0.0,
    extra_arguments: Sequence[Any] = (), extra_keywords: Mapping[str, Any] | None = None, *, axes: Any = None,
) -> Array:
    """The sum over the axes of ``derivative2(input, axis, output, mode, cval, *extra_arguments, **extra_keywords)``."""
    x = as_array(input)
    target = output_of(output, x, is_complex=x.dtype.kind == "c")
    found = _axes_and_modes(x, axes, mode)
    if not found:
        return _unchanged(x, target, cval)
    total = library(x).zeros(x.shape, target.dtype)
    for axis, one in found:
        total += derivative2(x, axis, target.dtype, one, cval, *extra_arguments, **(extra_keywords or {}))
    return target.give(total, x.shape)


def generic_gradient_magnitude(
    input: Any, derivative: Callable[..., Any], output: Any = None, mode: Any = "reflect", cval: complex = 0.0,
    extra_arguments: Sequence[Any] = (), extra_keywords: Mapping[str, Any] | None = None, *, axes: Any = None,
) -> Array:
    """The root of the sum over the axes of ``derivative(…)`` squared; as ``generic_laplace`` else."""
    x = as_array(input)
    target = output_of(output, x, is_complex=x.dtype.kind == "c")
    found = _axes_and_modes(x, axes, mode)
    if not found:
        return _unchanged(x, target, cval)
    total = library(x).zeros(x.shape, target.dtype)
    for axis, one in found:
        part = derivative(x, axis, target.dtype, one, cval, *extra_arguments, **(extra_keywords or {}))
        total += part * part
    root = library(x).sqrt(total)
    return target.give(root if root.dtype == target.dtype else cast(root.astype(np.float64), target.dtype), x.shape)


def _unchanged(x: Array, target: Output, cval: complex) -> Array:
    """Along no axis at all, scipy gives the array itself."""
    return by_parts(x, target, cval, lambda a, dtype, c: along_axes(a, [], dtype, c))


def _axes_and_modes(x: Array, axes: Any, mode: Any) -> list[tuple[int, str]]:
    found = check_axes(axes, x.ndim)
    return list(zip(found, one_each(mode, len(found)), strict=True))
