"""What stands outside of an array, by index maps of NumPy's own: the oracle shares none with the compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.resolve.program import Sides, Value

Array = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Located:
    """Where a read lands: a place inside on every axis, and what constants stand over it.

    ``positions`` are index arrays that broadcast together, one an axis, counted from the first element;
    ``constants`` are (where, value), the later ones deciding over the earlier ones.
    ``nothing`` says that the array has no element at all, so that only constants are read.
    """

    positions: tuple[Array, ...]
    constants: tuple[tuple[Mask, Value], ...]
    nothing: bool


def locate(name: str, subscripts: tuple[Array, ...], extents: tuple[int, ...], edges: tuple[Sides, ...]) -> Located:
    """Folds subscripts (counted from the first element) into the extents by each axis' rules.

    The lowest-numbered axis that is outside and has a constant there decides; else each axis folds.
    Raises LayoutcError ``empty-fold`` where a fold has no element to read; IndexError where no rule
    stands and a subscript is outside, which the proof of the bounds excludes.
    """
    positions: list[Array] = []
    constants: list[tuple[Mask, Value]] = []
    stranded: list[Mask] = []       # folded into an extent of 0
    for axis, (index, n) in enumerate(zip(subscripts, extents, strict=True)):
        place = index
        for side, outside in enumerate((index < 0, index >= n)):
            if not outside.any():
                continue
            rule = edges[axis][side] if edges else None
            if rule is None:
                raise IndexError(f"{name} is read outside its extent {n} on axis {axis}, where it has no edge rule")
            if rule.value is not None:
                constants.append((outside, rule.value))
            if rule.value is not None or n == 0:
                place = np.where(outside, 0, place)
                stranded += [outside] if rule.value is None else []
            else:
                place = np.where(outside, fold(rule.name, index, n), place)
        positions.append(place)
    _refuse_stranded(name, stranded, constants)
    return Located(tuple(positions), tuple(reversed(constants)), 0 in extents)


def fold(rule: str, index: Array, n: int) -> Array:
    """The element read for any index, by scipy.ndimage's rule of that name; n is at least 1."""
    match rule:
        case "nearest":
            return np.clip(index, 0, n - 1)
        case "wrap":
            return np.mod(index, n)
        case "reflect":
            inside = np.mod(index, 2 * n)
            return np.where(inside < n, inside, 2 * n - 1 - inside)
        case "mirror":
            period = max(2 * n - 2, 1)
            inside = np.mod(index, period)
            return np.where(inside < n, inside, period - inside)
    raise ValueError(f"not a folding rule: {rule}")


def gather(array: Array, positions: tuple[Array, ...], rank: int) -> Array:
    """``array[positions]`` with ``rank`` axes, broadcasting to the positions' common shape.

    Positions that each run along an axis of their own (an open mesh) are taken axis by axis,
    as a view where they are evenly spaced; others point by point.
    """
    runs = [_run(p, rank) for p in positions]
    axes = [axis for axis in runs if axis is not None and axis >= 0]
    if None in runs or len(axes) != len(set(axes)):
        taken = np.asarray(array[positions])
        return taken.reshape((1,) * (rank - taken.ndim) + taken.shape)
    flat = [p.reshape(-1) for p in positions]
    spans = [_span(p) for p in flat]
    taken = array[tuple(spans)]
    for axis, (places, span) in enumerate(zip(flat, spans, strict=True)):
        if span.step is None:       # not np.take, which first copies an array of wide or repeated strides
            taken = taken[(slice(None),) * axis + (places - span.start,)]
    order = sorted(range(len(runs)), key=lambda axis: runs[axis] or 0)
    shape = [1] * rank
    for run, places in zip(runs, flat, strict=True):
        if run is not None and run >= 0:
            shape[run] = len(places)
    return taken.transpose(order).reshape(shape)


def _run(position: Array, rank: int) -> int | None:
    """The axis (of ``rank``) along which a position array runs; -1: none; None: several."""
    long = [axis + rank - position.ndim for axis, length in enumerate(position.shape) if length > 1]
    return None if len(long) > 1 else long[0] if long else -1


def _span(places: Array) -> slice:
    """Evenly spaced places as a slice with a step; else the slice from the first to the last that holds them."""
    step = int(places[1] - places[0]) if len(places) > 1 else 1
    if step == 0 or (np.diff(places) != step).any():
        return slice(int(places.min()), int(places.max()) + 1)
    stop = int(places[-1]) + (1 if step > 0 else -1)
    return slice(int(places[0]), None if stop < 0 else stop, step)


def _refuse_stranded(name: str, stranded: list[Mask], constants: list[tuple[Mask, Value]]) -> None:
    for mask in stranded:
        for covered, _ in constants:
            mask = mask & ~covered
        if mask.any():
            raise LayoutcError([Diagnostic("empty-fold", f"{name} has no element for its edge rule to repeat")])
