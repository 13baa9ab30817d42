"""Reductions of uncertain values, and of certain ones whose order is the compiler's."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.reference import arithmetic, bounded_integers, enclosure, numbers
from layoutc.reference.arithmetic import Block, Plain, Reduction, over_points
from layoutc.reference.bounded_functions import enclose_fma
from layoutc.reference.bounded_sums import ProductBounds, SumBounds
from layoutc.reference.enclosure import Enclosure, between, exactly
from layoutc.resolve.types import F64

Array = NDArray[Any]


def enclose_reduction(reduction: Reduction[Enclosure], fused: bool) -> Enclosure:
    """A reduction of at least one point; ``fused``: a sum's products are accumulated by fma."""
    if reduction.op in ("sum", "prod") and reduction.type.is_float:
        return _in_order(reduction, fused) if reduction.ordered else _in_any_order(reduction)
    blocks = list(reduction.blocks)
    if all(factor.exact for block in blocks for factor in block.factors):
        plain = (Block(b.labels, tuple(f.low for f in b.factors), b.rank) for b in blocks)
        return _exact(Reduction(reduction.op, reduction.body, reduction.type, reduction.ordered, plain))
    terms = _gathered(blocks, reduction)
    match reduction.op:
        case "sum" | "prod":
            return _integers(reduction, terms)
        case "count":
            low, high = (np.count_nonzero(end, axis=0) for end in (terms.low, terms.high))
            return between(np.asarray(low, np.int64), np.asarray(high, np.int64))
        case "argmin" | "argmax":
            return _first_extreme(reduction.op, np.concatenate([b.labels for b in blocks]), terms)
    find = ENDS[reduction.op]
    nan = None if terms.nan is None else np.asarray(terms.nan.any(axis=0))
    return between(np.asarray(find(terms.low)), np.asarray(find(terms.high)), nan)


ENDS = {
    "any": lambda terms: np.any(terms, axis=0),
    "all": lambda terms: np.all(terms, axis=0),
    "min": lambda terms: np.min(terms, axis=0),
    "max": lambda terms: np.max(terms, axis=0),
    "median": arithmetic.median,
}


def _exact(reduction: Reduction[Array]) -> Enclosure:
    """A reduction of certain values; which of two zeros of both signs is least or greatest stays open."""
    result = Plain().reduce(reduction)
    if reduction.op not in ("min", "max", "median") or not reduction.type.is_float:
        return exactly(result)
    low, high = (np.where(result == 0, zero, result).astype(result.dtype) for zero in (-0.0, 0.0))
    return between(low, high)


def _in_order(reduction: Reduction[Enclosure], fused: bool) -> Enclosure:
    """A float sum or product in the order of the binders."""
    total = exactly(numbers.constant(0 if reduction.op == "sum" else 1, reduction.type))
    for block in reduction.blocks:
        factors = tuple(spread_over(f, block) for f in block.factors)
        for point in range(len(block.labels)):
            here = [_at(f, point) for f in factors]
            if len(here) == 2 and fused:
                total = enclose_fma(here[0], here[1], total)
                continue
            term = here[0] if len(here) == 1 else enclosure.multiply(here[0], here[1])
            total = enclosure.add(total, term) if reduction.op == "sum" else enclosure.multiply(total, term)
    return total


def _in_any_order(reduction: Reduction[Enclosure]) -> Enclosure:
    dtype = numbers.held_dtype(reduction.type)
    bounds = SumBounds(dtype, reduction.paired, reduction.cut) if reduction.op == "sum" else ProductBounds(dtype)
    for block in reduction.blocks:
        factors = [_as_f64(spread_over(f, block)) for f in block.factors]
        bounds.add(factors[0] if len(factors) == 1 else _product(factors[0], factors[1]))
    return bounds.result()


def _product(a: Enclosure, b: Enclosure) -> Enclosure:
    """``a * b`` in f64; one that overflows there need not within an fma."""
    product = enclosure.multiply(a, b)
    if not (np.isinf(product.low).any() or np.isinf(product.high).any()):
        return product
    infinite = [np.isinf(f.low) & np.isinf(f.high) for f in (a, b)]
    overflow = (np.isinf(product.low) | np.isinf(product.high)) & ~(infinite[0] | infinite[1])
    return enclosure.choose(~overflow, product, enclosure.anything((), F64))


def spread_over(value: Enclosure, block: Block[Enclosure]) -> Enclosure:
    """The value with all of the block's points as its first axis."""
    points, rank = len(block.labels), block.rank
    low = over_points(value.low, points, rank)
    if value.exact:
        return exactly(low)
    nan = None if value.nan is None else over_points(value.nan, points, rank)
    return Enclosure(low, over_points(value.high, points, rank), nan)


def _at(value: Enclosure, point: int) -> Enclosure:
    low = value.low[point]
    if value.exact:
        return exactly(low)
    return between(low, value.high[point], None if value.nan is None else value.nan[point])


def _as_f64(value: Enclosure) -> Enclosure:
    low = value.low.astype(np.float64)
    return exactly(low) if value.exact else Enclosure(low, value.high.astype(np.float64), value.nan)


def _gathered(blocks: list[Block[Enclosure]], reduction: Reduction[Enclosure]) -> Enclosure:
    """The terms [points, …] of all blocks."""
    terms = []
    for block in blocks:
        factors = [spread_over(f, block) for f in block.factors]
        if len(factors) == 2:
            terms.append(bounded_integers.enclose_binary("*", factors[0], factors[1], reduction.body))
        else:
            terms.append(factors[0])
    shape = np.broadcast_shapes(*(t.low.shape[1:] for t in terms))
    low, high, nan = (
        np.concatenate([np.broadcast_to(part, (len(part), *shape)) for part in parts])
        for parts in ([t.low for t in terms], [t.high for t in terms], [t.may_be_nan for t in terms])
    )
    return between(low, high, nan)


def _integers(reduction: Reduction[Enclosure], terms: Enclosure) -> Enclosure:
    """A sum of uncertain integers by its ends; a product only where they are certain."""
    if reduction.op == "sum":
        ends = [np.asarray(end.astype(object).sum(axis=0)) for end in (terms.low, terms.high)]
        return bounded_integers.wrapped(ends, reduction.type)
    dtype = numbers.held_dtype(reduction.type)
    value = np.asarray(np.multiply.reduce(terms.low.astype(dtype), axis=0, dtype=dtype))
    return bounded_integers.or_anything(value, np.asarray(terms.single.all(axis=0)), reduction.type)


def _first_extreme(op: str, labels: Array, terms: Enclosure) -> Enclosure:
    """From the first to the last label that may win: below all later terms' highs, and all earlier ones'."""
    low, high = (terms.low, terms.high) if op == "argmin" else (_mirrored(terms.high), _mirrored(terms.low))
    greatest = enclosure.limits(low.dtype)[1]
    number = np.where(np.isnan(high), greatest, high) if low.dtype.kind == "f" else high
    before = np.minimum.accumulate(number, axis=0)
    first = np.ones_like(before[:1], np.bool_)
    wins = (low <= before[-1]) & np.concatenate([first, low[1:] < before[:-1]])
    if low.dtype.kind == "f":
        certain = np.isnan(low)
        earlier = np.cumsum(certain, axis=0) - certain > 0      # a NaN before it has won already
        wins = np.where(certain.any(axis=0), terms.may_be_nan & ~earlier, wins | terms.may_be_nan)
    places = labels.reshape((-1,) + (1,) * (wins.ndim - 1))
    return between(
        np.asarray(np.min(np.where(wins, places, labels[-1]), axis=0)),
        np.asarray(np.max(np.where(wins, places, labels[0]), axis=0)),
    )


def _mirrored(end: Array) -> Array:
    """An order turned round: what was greatest is least."""
    return np.asarray(-end if end.dtype.kind == "f" else ~end)
