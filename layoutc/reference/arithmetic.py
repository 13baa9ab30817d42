"""What an evaluation computes with: NumPy's numbers (``Plain``), or all that a right run could give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from layoutc.reference import functions, numbers
from layoutc.resolve.types import I64, Type

Array = NDArray[Any]
V = TypeVar("V")
Piece = tuple[tuple[slice, ...], V]


@dataclass(frozen=True, slots=True)
class Block(Generic[V]):
    """Some consecutive points of a reduction, in binder order.

    ``labels`` [points] is what argmin and argmax would answer for each; ``factors`` are the body, or the
    two operands of the product that it is, with the points as the first of ``rank + 1`` axes.
    """

    labels: Array
    factors: tuple[V, ...]
    rank: int


@dataclass(frozen=True, slots=True)
class Reduction(Generic[V]):
    """A reduction with at least one point.

    ``ordered``: only the order of the binders is meant; ``paired``: in any order, but with no longer a chain of
    roundings than a sum of pairs has, blocks of ``PAIRED_FROM`` terms aside; ``cut``: in any order, and not rounded to
    the nearest but cut, as tensor cores do.
    """

    op: str
    body: Type
    type: Type
    ordered: bool
    blocks: Iterable[Block[V]]
    paired: bool = False
    cut: bool = False


class Arithmetic(Protocol[V]):
    """Held values ``V`` of many points at once, that broadcast as NumPy's arrays do."""

    def constant(self, value: float, type: Type) -> V:
        """A number of the language."""

    def load(self, array: Array, type: Type) -> V:
        """Elements of an argument, or indices."""

    def stored(self, value: V, type: Type) -> V:
        """What is read again of a value that was stored as elements of a type."""

    def pick(self, value: V, select: Callable[[Array], Array]) -> V:
        """A selection of points; ``select`` moves elements only."""

    def positions(self, value: V) -> tuple[Array, Array | None]:
        """Subscripts as integers, and where they are uncertain (None: nowhere)."""

    def doubt(self, value: V, where: Array, type: Type) -> V:
        """The value, but anything at all ``where``."""

    def unary(self, op: str, a: V, type: Type) -> V:
        """``-a`` or ``not a``."""

    def binary(self, op: str, a: V, b: V, type: Type) -> V:
        """An operator on two values of one type."""

    def compare(self, op: str, a: V, b: V) -> V:
        """A comparison, giving bool."""

    def logic(self, op: str, a: V, b: V) -> V:
        """``and`` or ``or``."""

    def where(self, test: V, yes: V, no: V) -> V:
        """A choice, point by point."""

    def call(self, function: str, arguments: tuple[V, ...], type: Type) -> V:
        """A function of the language, on values of one type."""

    def cast(self, a: V, source: Type, target: Type) -> V:
        """A conversion."""

    def reduce(self, reduction: Reduction[V]) -> V:
        """A reduction of at least one point."""

    def assemble(self, shape: tuple[int, ...], type: Type, pieces: list[Piece[V]]) -> V:
        """Values of a box from pieces that tile it."""


class Plain:
    """NumPy's own numbers: what the language means. Sums of products are multiplied, rounded, added."""

    def constant(self, value: float, type: Type) -> Array:
        """A number of the language."""
        return numbers.constant(value, type)

    def load(self, array: Array, type: Type) -> Array:
        """Elements of an argument, or indices."""
        return numbers.load(array, type)

    def stored(self, value: Array, type: Type) -> Array:
        """What is read again of a value that was stored."""
        return numbers.load(numbers.store(value, type), type)

    def pick(self, value: Array, select: Callable[[Array], Array]) -> Array:
        """A selection of points."""
        return select(value)

    def positions(self, value: Array) -> tuple[Array, Array | None]:
        """Subscripts; none is uncertain."""
        return value, None

    def doubt(self, value: Array, where: Array, type: Type) -> Array:
        """Nothing is in doubt."""
        return value

    def unary(self, op: str, a: Array, type: Type) -> Array:
        """``-a`` or ``not a``."""
        return numbers.unary(op, a)

    def binary(self, op: str, a: Array, b: Array, type: Type) -> Array:
        """An operator on two values of one type."""
        return numbers.binary(op, a, b)

    def compare(self, op: str, a: Array, b: Array) -> Array:
        """A comparison."""
        return numbers.compare(op, a, b)

    def logic(self, op: str, a: Array, b: Array) -> Array:
        """``and`` or ``or``."""
        return numbers.logic(op, a, b)

    def where(self, test: Array, yes: Array, no: Array) -> Array:
        """A choice, point by point."""
        return np.where(test, yes, no)

    def call(self, function: str, arguments: tuple[Array, ...], type: Type) -> Array:
        """A function of the language."""
        return functions.call(function, arguments)

    def cast(self, a: Array, source: Type, target: Type) -> Array:
        """A conversion."""
        return numbers.cast(a, source, target)

    def assemble(self, shape: tuple[int, ...], type: Type, pieces: list[Piece[Array]]) -> Array:
        """Values of a box from pieces that tile it."""
        whole = np.empty(shape, numbers.held_dtype(type))
        for where, values in pieces:
            whole[where] = values
        return whole

    def reduce(self, reduction: Reduction[Array]) -> Array:
        """A reduction of at least one point, in binder order."""
        terms = _terms(reduction)
        match reduction.op:
            case "sum" | "prod":
                add = np.add if reduction.op == "sum" else np.multiply
                total = np.asarray(add.identity, numbers.held_dtype(reduction.type))
                for _, block in terms:
                    total = accumulate(add, total, block.astype(total.dtype, copy=False), reduction.ordered)
                return total
            case "min":
                return _fold(numbers.minimum, terms)
            case "max":
                return _fold(numbers.maximum, terms)
            case "any":
                return _fold(np.logical_or, terms)
            case "all":
                return _fold(np.logical_and, terms)
            case "count":
                return np.asarray(sum(np.count_nonzero(block, axis=0) for _, block in terms), np.int64)
            case "median":
                return median(np.concatenate([block for _, block in terms]))
            case _:
                return first_extreme(reduction.op, terms)


def _terms(reduction: Reduction[Array]) -> Iterator[tuple[Array, Array]]:
    for block in reduction.blocks:
        term = block.factors[0] if len(block.factors) == 1 else np.asarray(block.factors[0] * block.factors[1])
        yield block.labels, over_points(term, len(block.labels), block.rank)


def over_points(value: Array, points: int, rank: int) -> Array:
    """The value with ``points`` as the first of ``rank + 1`` axes."""
    full = value.reshape((1,) * (rank + 1 - value.ndim) + value.shape)
    return np.broadcast_to(full, (points, *full.shape[1:]))


def accumulate(add: np.ufunc, total: Array, terms: Array, ordered: bool) -> Array:
    """``total`` with terms [points, …] added (or multiplied) one after the other, or in NumPy's order."""
    if len(terms) == 1:
        return np.asarray(add(total, terms[0]))
    if not ordered:
        return np.asarray(add(total, add.reduce(terms, axis=0, dtype=total.dtype)))
    start = np.broadcast_to(total, terms.shape[1:])[np.newaxis]
    return np.asarray(add.accumulate(np.concatenate([start, terms]), axis=0, dtype=total.dtype)[-1])


def _fold(combine: Callable[[Array, Array], Array], terms: Iterable[tuple[Array, Array]]) -> Array:
    result: Array | None = None
    for _, block in terms:
        for term in halved(combine, block):
            result = term if result is None else np.asarray(combine(result, term))
    assert result is not None
    return result


def halved(combine: Callable[[Array, Array], Array], terms: Array) -> Array:
    """Terms [points, …] combined to [1, …] by halves, for operations that any order suits."""
    while len(terms) > 1:
        half = len(terms) // 2
        terms = np.concatenate([np.asarray(combine(terms[:half], terms[half : 2 * half])), terms[2 * half :]])
    return terms


def median(terms: Array) -> Array:
    """The element of rank ``points // 2``; NaN where a term is one."""
    middle = np.partition(terms, len(terms) // 2, axis=0)[len(terms) // 2]
    return np.where(np.isnan(terms).any(axis=0), np.nan, middle).astype(terms.dtype) if _floats(terms) else middle


def first_extreme(op: str, terms: Iterable[tuple[Array, Array]]) -> Array:
    """The label of the first least (argmin) or greatest (argmax) term; a NaN counts as the extreme."""
    find = np.argmin if op == "argmin" else np.argmax
    best: Array | None = None
    label: Array = np.asarray(0, numbers.held_dtype(I64))
    for labels, block in terms:
        place = np.asarray(find(block, axis=0))
        term = np.take_along_axis(block, place[np.newaxis], axis=0)[0]
        if best is None:
            best, label = term, labels[place]
            continue
        better = np.asarray(term < best if op == "argmin" else term > best)
        if _floats(block):
            better = ~np.isnan(best) & (better | np.isnan(term))
        best, label = np.where(better, term, best), np.where(better, labels[place], label)
    return label


def _floats(terms: Array) -> bool:
    return terms.dtype.kind == "f"
