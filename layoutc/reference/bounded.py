"""The second arithmetic: carries every value that a right run may give, for runs to be compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.reference import bounded_integers, enclosure, functions, numbers
from layoutc.reference.arithmetic import Piece, Reduction
from layoutc.reference.bounded_functions import enclose_call
from layoutc.reference.bounded_reductions import enclose_reduction
from layoutc.reference.enclosure import Enclosure, anything, between, choose, either, exactly, union
from layoutc.resolve.types import I64, Type

Array = NDArray[Any]


class Bounded:
    """What every conforming run may give.

    Exact: integers, moves, comparisons, and ``+ - * / // % sqrt fma`` and casts of floats, which all
    machines round alike; a sum of products over constant ranges, by fma in the order of the binders
    (with ``fused`` false: as NumPy has it, multiplied, rounded, added). Within stated units in the last
    place: the transcendental functions. In any order: sums and products over extents.
    """

    def __init__(self, fused: bool = True) -> None:
        self._fused = fused

    def constant(self, value: float, type: Type) -> Enclosure:
        """A number of the language."""
        return exactly(numbers.constant(value, type))

    def load(self, array: Array, type: Type) -> Enclosure:
        """Elements of an argument, or indices."""
        return exactly(numbers.load(array, type))

    def stored(self, value: Enclosure, type: Type) -> Enclosure:
        """What is read again of a value that was stored: rounding is monotone."""
        low, high = (numbers.load(numbers.store(end, type), type) for end in (value.low, value.high))
        return exactly(low) if value.exact else between(low, high, value.nan)

    def pick(self, value: Enclosure, select: Callable[[Array], Array]) -> Enclosure:
        """A selection of points."""
        if value.exact:
            return exactly(select(value.low))
        return between(select(value.low), select(value.high), None if value.nan is None else select(value.nan))

    def positions(self, value: Enclosure) -> tuple[Array, Array | None]:
        """Subscripts, 0 where they are uncertain."""
        if value.exact:
            return value.low, None
        return np.where(value.single, value.low, 0), ~value.single

    def doubt(self, value: Enclosure, where: Array, type: Type) -> Enclosure:
        """The value, but anything at all ``where``."""
        return choose(~where, value, anything((), type))

    def unary(self, op: str, a: Enclosure, type: Type) -> Enclosure:
        """``-a`` or ``not a``."""
        if a.exact:
            return exactly(numbers.unary(op, a.low))
        if op == "not":
            return between(~a.high, ~a.low)
        return enclosure.negate(a) if type.is_float else bounded_integers.enclose_negation(a, type)

    def binary(self, op: str, a: Enclosure, b: Enclosure, type: Type) -> Enclosure:
        """An operator on two values of one type."""
        if op == "**" and type.is_float:
            return enclose_call("pow", (a, b), type)
        if a.exact and b.exact:
            return exactly(numbers.binary(op, a.low, b.low))
        return FLOATS[op](a, b) if type.is_float else bounded_integers.enclose_binary(op, a, b, type)

    def compare(self, op: str, a: Enclosure, b: Enclosure) -> Enclosure:
        """A comparison: certain, impossible, or left open where the operands overlap."""
        match op:
            case "!=":
                return self.unary("not", self.compare("==", a, b), I64)
            case "<" | "<=":
                low, high = numbers.compare(op, a.high, b.low), numbers.compare(op, a.low, b.high)
            case ">" | ">=":
                low, high = numbers.compare(op, a.low, b.high), numbers.compare(op, a.high, b.low)
            case _:
                low = np.asarray((a.low == b.high) & (a.high == b.low))
                high = np.asarray((a.low <= b.high) & (a.high >= b.low))
        nan = either(a.nan, b.nan)
        return between(low if nan is None else low & ~nan, high)

    def logic(self, op: str, a: Enclosure, b: Enclosure) -> Enclosure:
        """``and`` or ``or``."""
        return between(numbers.logic(op, a.low, b.low), numbers.logic(op, a.high, b.high))

    def where(self, test: Enclosure, yes: Enclosure, no: Enclosure) -> Enclosure:
        """A choice, point by point; both where the test is open."""
        chosen = choose(test.low, yes, no)
        return chosen if test.exact else choose(test.single, chosen, union(yes, no))

    def call(self, function: str, arguments: tuple[Enclosure, ...], type: Type) -> Enclosure:
        """A function of the language."""
        if type.is_float:
            return enclose_call(function, arguments, type)
        lows = tuple(a.low for a in arguments)
        value = functions.call(function, lows)
        if all(a.exact for a in arguments):
            return exactly(value)
        if function in MONOTONE:
            return between(value, functions.call(function, tuple(a.high for a in arguments)))
        single = np.logical_and.reduce(np.broadcast_arrays(*(a.single for a in arguments)))
        return bounded_integers.or_anything(value, single, type)

    def cast(self, a: Enclosure, source: Type, target: Type) -> Enclosure:
        """A conversion; all but the wrapping of integers are monotone."""
        if a.exact:
            return exactly(numbers.cast(a.low, source, target))
        if target.kind == "bool":
            return self.compare("!=", a, self.constant(0, source))
        low, high = numbers.cast(a.low, source, target), numbers.cast(a.high, source, target)
        if target.is_float:
            return between(low, high, a.nan)
        if source.is_float:
            zero = np.zeros_like(low)
            nan = np.zeros(low.shape, np.bool_) if a.nan is None else a.nan
            return between(np.where(nan, np.minimum(low, zero), low), np.where(nan, np.maximum(high, zero), high))
        return between(low, high) if source.kind == "bool" else bounded_integers.enclose_cast(a, target)

    def assemble(self, shape: tuple[int, ...], type: Type, pieces: list[Piece[Enclosure]]) -> Enclosure:
        """Values of a box from pieces that tile it."""
        low = np.empty(shape, numbers.held_dtype(type))
        for where, piece in pieces:
            low[where] = piece.low
        if all(piece.exact for _, piece in pieces):
            return exactly(low)
        high, nan = low.copy(), np.zeros(shape, np.bool_)
        for where, piece in pieces:
            high[where] = piece.high
            nan[where] = False if piece.nan is None else piece.nan
        return between(low, high, nan)

    def reduce(self, reduction: Reduction[Enclosure]) -> Enclosure:
        """A reduction of at least one point."""
        return enclose_reduction(reduction, self._fused)


MONOTONE = ("min", "max", "clamp", "sign", "floor", "ceil", "round", "trunc")
FLOATS = {
    "+": enclosure.add,
    "-": lambda a, b: enclosure.add(a, enclosure.negate(b)),
    "*": enclosure.multiply,
    "/": enclosure.divide,
    "//": enclosure.floor_divide,
    "%": enclosure.remainder,
}
