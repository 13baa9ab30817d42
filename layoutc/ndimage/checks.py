"""Arguments as scipy.ndimage takes them, and its errors where they do not fit."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

RULES = {
    "nearest": "nearest", "wrap": "wrap", "grid-wrap": "wrap", "reflect": "reflect", "grid-mirror": "reflect",
    "mirror": "mirror", "constant": "constant", "grid-constant": "constant",
}


@dataclass(frozen=True, slots=True)
class Window:
    """What a filter reads along one axis for the output at i: elements i - start … i - start + size - 1."""

    axis: int
    size: int
    start: int
    rule: str       # the language's edge rule


def window(axis: int, size: int, origin: int, mode: str) -> Window:
    """A window of scipy's: centred on ``size // 2`` and shifted by its origin.

    Raises ValueError where it would not hold the output's own place.
    """
    size = operator.index(size)
    start = size // 2 + operator.index(origin)
    if not 0 <= start < size:
        raise ValueError(f"invalid origin {origin}: a window of {size} takes {-(size // 2)} to {(size - 1) // 2}")
    return Window(axis, size, start, rule(mode))


def rule(mode: str) -> str:
    """The edge rule of a mode. RuntimeError where there is none."""
    try:
        return RULES[mode]
    except (KeyError, TypeError):
        raise RuntimeError(f"boundary mode {mode!r} not supported") from None


def check_axes(axes: Any, rank: int) -> tuple[int, ...]:
    """Axes counted from 0; None is all of them.

    Raises ValueError where one is out of range or comes twice, TypeError where one is no integer.
    """
    if axes is None:
        return tuple(range(rank))
    if not np.iterable(axes):
        return (check_axis(axes, rank),)
    given = tuple(operator.index(a) for a in axes)
    for axis in given:
        if not -rank <= axis < rank:
            raise ValueError(f"specified axis: {axis} is out of range")
    found = tuple(axis % rank for axis in given)
    if len(set(found)) != len(found):
        raise ValueError("axes must be unique")
    return found


def check_axis(axis: Any, rank: int) -> int:
    """One axis counted from 0. NumPy's AxisError, a ValueError, where it is out of range."""
    number = operator.index(axis)
    if not -rank <= number < rank:
        raise np.exceptions.AxisError(number, rank)
    return number % rank


def one_each(value: Any, count: int) -> list[Any]:
    """A value for each axis: given so, or the same for all. RuntimeError for another number of them."""
    if isinstance(value, str) or not np.iterable(value):
        return [value] * count
    given = list(value)
    if len(given) != count:
        raise RuntimeError(f"sequence argument must have length equal to input rank: {count}, not {len(given)}")
    return given


def check_one_mode(mode: Any, what: str) -> str:
    """A filter whose window has no axes of its own takes one mode. RuntimeError for a sequence."""
    if not isinstance(mode, str) and np.iterable(mode):
        raise RuntimeError(f"a sequence of modes is not supported by {what}")
    rule(mode)
    return str(mode)


def check_rank(name: str, found: int, axes: Sequence[int]) -> None:
    """An array over the window has one axis for each that is filtered. RuntimeError where it has not."""
    if found != len(axes):
        raise RuntimeError(f"{name}.ndim ({found}) must match len(axes) ({len(axes)})")
