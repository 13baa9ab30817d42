"""Layouts from their definition, and searches that share nothing with the algebra: what its tests are held to."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from scipy.optimize import LinearConstraint, milp

from layoutc.layout import Layout, LayoutError

Nest = int | tuple["Nest", ...]

unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def flat(nest: Nest) -> list[int]:
    return [nest] if isinstance(nest, int) else [leaf for part in nest for leaf in flat(part)]


@cache
def table(shape: Nest, stride: Nest) -> tuple[int, ...]:
    """The value at every coordinate, the first index fastest: sums of coordinate times stride, nothing else."""
    extents, strides = flat(shape), flat(stride)
    coordinates = itertools.product(*(range(extent) for extent in reversed(extents)))
    return tuple(sum(c * d for c, d in zip(reversed(where), strides, strict=True)) for where in coordinates)


def values_of(layout: Layout) -> tuple[int, ...]:
    """The value at every coordinate of a layout, by the definition."""
    return table(layout.shape, layout.stride)


def value(layout: Layout, index: int) -> int:
    """The value at an integer coordinate, the last leaf running on past the size."""
    extents, strides = flat(layout.shape), flat(layout.stride)
    total = 0
    for extent, stride in zip(extents[:-1], strides[:-1], strict=True):
        total += index % extent * stride
        index //= extent
    return total + index * strides[-1]


def colex(coordinate: Nest, shape: Nest) -> int:
    """The integer coordinate of a nested one."""
    index, step = 0, 1
    for digit, extent in zip(flat(coordinate), flat(shape), strict=True):
        assert 0 <= digit < extent
        index, step = index + digit * step, step * extent
    return index


def attempt(operation: Callable[..., Layout], *operands: object) -> Layout | LayoutError:
    """What an operation gives, or its refusal."""
    try:
        return operation(*operands)
    except LayoutError as refusal:
        return refusal


def refused_at(refusal: LayoutError, shape: Nest) -> int:
    """The integer coordinate of a refusal's witness."""
    assert refusal.witness is not None
    return colex(refusal.witness, shape)


@cache
def factorizations(n: int) -> list[tuple[int, ...]]:
    """All ways to write n as an ordered product of factors of at least 2."""
    if n == 1:
        return [()]
    ways: list[tuple[int, ...]] = [(n,)]
    for first in range(2, n):
        if n % first == 0:
            ways += [(first, *rest) for rest in factorizations(n // first)]
    return ways


def longest_fit(values: Sequence[int], extents: Sequence[int]) -> int:
    """How many values, from the front, the best layout has whose modes refine the extents; every one is tried."""
    best = 0
    for refinement in itertools.product(*(factorizations(n) for n in extents)):
        radices = [radix for part in refinement for radix in part]
        weights = [math.prod(radices[:k]) for k in range(len(radices))]
        strides = [values[weight] for weight in weights]
        mine = table(tuple(radices), tuple(strides)) if radices else (0,)
        fits = next((k for k, (x, y) in enumerate(zip(mine, values, strict=True)) if x != y), len(values))
        best = max(best, fits)
    return best


def prime_chains(most: int) -> Iterator[tuple[int, ...]]:
    """All sequences of primes whose product is at most a number."""
    yield ()
    for prime in range(2, most + 1):
        if all(prime % k for k in range(2, prime)):
            for rest in prime_chains(most // prime):
                yield (prime, *rest)


def leads_back(positions: Sequence[int]) -> bool:
    """Whether some layout takes every position to its index: every chain of prime extents is tried.

    A layout's modes can be cut into prime extents; each chain leaves linear equations for the strides, which are
    first solved over the reals and, where that succeeds, over the integers by a mixed-integer solver.
    """
    if len(positions) == 1:
        return True
    for chain in prime_chains(max(positions)):
        rows = []
        for position in positions:
            row = []
            for extent in chain:
                row.append(position % extent)
                position //= extent
            rows.append([*row, position])
        matrix, wanted = np.array(rows, float), np.arange(len(positions), dtype=float)
        solution = np.linalg.lstsq(matrix, wanted, rcond=None)[0]
        if np.abs(matrix @ solution - wanted).max() > 1e-6:
            continue
        whole = np.ones(matrix.shape[1])
        outcome = milp(
            0 * whole, integrality=whole, bounds=(-10_000, 10_000), constraints=LinearConstraint(matrix, wanted, wanted)
        )
        if outcome.success:
            return True
    return False


def nested(pattern: Nest, items: list[int]) -> Nest:
    """Integers taken from a list, nested like a pattern."""
    return items.pop(0) if isinstance(pattern, int) else tuple(nested(part, items) for part in pattern)


PATTERNS: list[Nest] = [
    1, (1, 1), (1, 1, 1), ((1, 1), 1), (1, (1, 1)), ((1, 1), (1, 1)), (1, (1, 1, 1)), ((1, (1, 1)), 1),
    (1, ((1, 1), 1)),
]


@st.composite
def layouts(draw: st.DrawFn, least: int = -7, greatest: int = 12, most: int = 5) -> Layout:
    """Nested layouts of up to 256 coordinates, extents of 1 and strides 0 and negative among them."""
    pattern = draw(st.sampled_from(PATTERNS))
    leaves = len(flat(pattern))
    extents = draw(st.lists(st.integers(1, most), min_size=leaves, max_size=leaves))
    strides = draw(st.lists(st.integers(least, greatest), min_size=leaves, max_size=leaves))
    while math.prod(extents) > 256:
        extents[extents.index(max(extents))] = 1
    return Layout(nested(pattern, extents), nested(pattern, strides))


def rank_1() -> list[Layout]:
    """The 42 layouts ``n:d`` with sizes 1..6 and strides 0..6."""
    return [Layout(n, d) for n in range(1, 7) for d in range(7)]


def rank_2() -> list[Layout]:
    """The 729 layouts ``(m,n):(c,d)`` with extents 2..4 and strides 0..8."""
    return [
        Layout((m, n), (c, d)) for m in range(2, 5) for n in range(2, 5) for c in range(9) for d in range(9)
    ]
