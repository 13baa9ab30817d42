"""Weighted windows: which type the sums take, which text they run, one pass or several.

Sums of floats are taken in f64 and rounded once, at the end. Where input, weights and output are integers they are
exact (modulo 2^n of the output), which scipy.ndimage, summing in f64, is not beyond 2^53.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from layoutc.ndimage.arrays import PARTS, REAL, Array, Output, library
from layoutc.ndimage.checks import Window
from layoutc.ndimage.running import cast, is_large, run
from layoutc.ndimage.shapes import Shape, merged
from layoutc.ndimage.texts import Form, Types, correlate_text, has_constant_edge, separable_text

FUSED_UP_TO = 65        # elements of a window along an axis; two longer ones are no longer worth one pass
DTYPES: dict[str, np.dtype[Any]] = {"i32": np.dtype(np.int32), "i64": np.dtype(np.int64), "f64": np.dtype(np.float64)}

Pass = tuple[Window, Array]     # a window along one axis and its weights


def is_whole(cval: float) -> bool:
    """Whether a value beyond the edges is an integer of 64 bits."""
    return not isinstance(cval, float | np.floating) or (float(cval).is_integer() and abs(cval) < 2**63)


def sum_type(x: Array, weights: Any, dtype: Any, windows: Sequence[Window], cval: float) -> str:
    """The type in which a window is summed: i32, i64 or f64."""
    if any(d.kind not in "biu" for d in (x.dtype, weights, dtype)) or not (
            is_whole(cval) or not has_constant_edge(windows)):
        return "f64"
    return "i32" if dtype.itemsize <= 4 and is_large(x) else "i64"


def outside(cval: float, dtype: Any) -> Array:
    """The value beyond a constant edge, in a type; integers modulo 2^n."""
    with np.errstate(over="ignore"):        # to an infinity, as scipy
        return np.asarray(int(cval) if dtype.kind in "iu" else float(cval)).astype(dtype)


def fits(cval: float, dtype: Any, windows: Sequence[Window]) -> bool:
    """Whether an array of this type can be extended by the value."""
    if dtype.kind == "f" or not has_constant_edge(windows):
        return True
    ends = np.iinfo(dtype)
    return is_whole(cval) and ends.min <= int(cval) <= ends.max


def prepared(x: Array, total: str, dtype: Any, windows: Sequence[Window], cval: float) -> tuple[Array, Types]:
    """The input as the text takes it, and the text's types: the arrays' own where a text of its own is worth it."""
    if x.dtype.kind == "b":
        x = x.view(np.uint8)
    if not is_large(x) or dtype.kind == "b":
        return cast(x, DTYPES[total]), Types(total, total, total)
    if not fits(cval, x.dtype, windows):
        x = cast(x, DTYPES[total])
    return x, Types(REAL[x.dtype], total, REAL[dtype])


def correlated(x: Array, weights: Array, windows: Sequence[Window], dtype: Any, cval: float) -> Array:
    """The window's weighted sum for each element of a real array; ``weights`` has an axis for each window."""
    total = sum_type(x, weights.dtype, dtype, windows, cval)
    shape = merged(x.shape, windows)
    x, types = prepared(x, total, dtype, windows, cval)
    form = Form(shape, is_large(x))
    ends = [outside(cval, x.dtype)] if has_constant_edge(windows) else []
    text = correlate_text(form, types, "")
    out = run(text, x.reshape(shape.extents), _weights(weights, total), *form.starts_argument, *ends)
    return cast(out, dtype)


def _weights(weights: Array, total: str) -> Array:
    return np.ascontiguousarray(weights).astype(DTYPES[total])


def along_axes(x: Array, passes: Sequence[Pass], dtype: Any, cval: float, *, mean: bool = False) -> Array:
    """Weighted sums along one axis after another; of the ``mean`` the weights are ones, and their count divides.

    Arrays large enough for texts of their own take the last two axes in one pass, the first's sums held on chip.
    """
    if not passes:
        return x.astype(dtype) if x.dtype == dtype else cast(x, dtype)
    windows = [w for w, _ in passes]
    kinds = np.result_type(*(w.dtype for _, w in passes))
    total = sum_type(x, kinds, dtype, windows, cval)
    if mean and total != "f64":
        total = "i64" if x.dtype.itemsize <= 4 else "f64"
    divide = "" if not mean else "each" if total == "f64" else "whole"
    x, types = prepared(x, total, dtype, windows, cval)
    groups: list[Sequence[Pass]] = [(p,) for p in passes]
    if is_large(x) and len(passes) > 1 and all(w.size <= FUSED_UP_TO for w in windows[-2:]):
        groups[-2:] = [passes[-2:]]
    for number, group in enumerate(groups):
        is_last = number == len(groups) - 1
        here = Types(REAL[x.dtype], total, types.output if is_last else total)
        how = divide if is_last or divide == "each" else ""
        count = prod(w.size for w in windows) if divide == "whole" else None
        x = _one_pass(x, group, here, how, cval, count)
    return cast(x, dtype)


def _one_pass(x: Array, group: Sequence[Pass], types: Types, divide: str, cval: float, count: int | None) -> Array:
    """One text over one or two axes; ``count`` divides at the end, or else each window's size where it is summed."""
    windows = [w for w, _ in group]
    shape: Shape = merged(x.shape, windows)
    form = Form(shape, is_large(x))
    weights = [_weights(w, types.sum) for _, w in group]
    kinds = [x.dtype, DTYPES[types.sum]]        # what the first window's edge and the second's extend
    ends = [outside(cval, kind) for w, kind in zip(windows, kinds, strict=False) if w.rule == "constant"]
    divisors = [np.asarray(count or w.size, DTYPES[types.sum]) for w in reversed(windows)] if divide else []
    if count is not None:
        divisors = divisors[:1]
    text = (correlate_text if len(group) == 1 else separable_text)(form, types, divide)
    out = run(text, x.reshape(shape.extents), *weights, *form.starts_argument, *ends, *divisors)
    return out.reshape(x.shape)


def by_parts(x: Array, output: Output, cval: complex, filtered: Callable[[Array, Any, float], Array]) -> Array:
    """A filter with real weights of a real or complex array, in its place: the parts of a complex one by themselves."""
    if not x.size:
        return output.give(library(x).zeros(x.shape, output.dtype), x.shape)
    if x.dtype not in PARTS:
        value = real_value(cval)
        if output.dtype in PARTS:
            return output.give(filtered(x, PARTS[output.dtype], value).astype(output.dtype), x.shape)
        return output.give(filtered(x, output.dtype, value), x.shape)
    part, value = PARTS[output.dtype], one_value(cval)
    out = library(x).empty(x.shape, output.dtype)
    out.real = filtered(x.real, part, float(np.real(value))).reshape(x.shape)
    out.imag = filtered(x.imag, part, float(np.imag(value))).reshape(x.shape)
    return output.give(out, x.shape)


def real_value(cval: Any) -> Any:
    """A real array is extended by a real value. ValueError for a complex one, and for what is no number."""
    value = one_value(cval)
    if np.iscomplexobj(value):
        raise ValueError("cannot provide a complex-valued cval when the input is real")
    return value


def one_value(cval: Any) -> Any:
    """What stands outside is one number. ValueError where it is not."""
    if np.ndim(cval) != 0 or np.asarray(cval).dtype.kind not in "biufc":
        raise ValueError(f"cval is one number, not {cval!r:.40}")
    return cval
