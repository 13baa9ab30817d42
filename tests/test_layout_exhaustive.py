"""Every small layout: 42 of rank 1 (sizes 1..6, strides 0..6) and 729 of rank 2 (extents 2..4, strides 0..8)."""

from __future__ import annotations

import itertools
import random

from layoutc.layout import Layout, LayoutError, complement, composition, left_inverse, right_inverse
from tests.layout_support import (
    attempt,
    flat,
    leads_back,
    longest_fit,
    rank_1,
    rank_2,
    refused_at,
    table,
    value,
    values_of,
)

ALL = rank_1() + rank_2()
INJECTIVE = [layout for layout in ALL if len(set(values_of(layout))) == layout.size]


def test_there_are_as_many_as_the_study_of_the_peers_had() -> None:
    assert len(ALL) == 771
    assert len(INJECTIVE) == 473


def test_values_image_and_spans_are_those_of_the_definition() -> None:
    for layout in ALL:
        values = values_of(layout)
        assert layout.values == values
        assert [layout(i) for i in range(len(values) + 7)] == [value(layout, i) for i in range(len(values) + 7)]
        assert list(layout.image) == sorted(set(values))
        assert (layout.size, layout.cosize) == (len(values), max(values) - min(values) + 1)


def check_composition(left: Layout, right: Layout) -> bool:
    """Whether the composition exists; asserts that it is right, or that no refinement of the right has its values."""
    truth = [value(left, position) for position in values_of(right)]
    result = attempt(composition, left, right)
    if isinstance(result, LayoutError):
        assert refused_at(result, right.shape) == longest_fit(truth, flat(right.shape)) < right.size
        return False
    assert list(values_of(result)) == truth, (left, right, result)
    assert refines(result, right)
    return True


def refines(fine: Layout, coarse: Layout) -> bool:
    """Whether every extent of the coarse layout is an extent or a flat tuple of the fine one, of equal size."""
    if isinstance(coarse.shape, int):
        return fine.size == coarse.size and fine.depth <= 1
    return fine.rank == coarse.rank and all(map(refines, fine.modes, coarse.modes))


def inside(left: Layout, right: Layout) -> bool:
    return max(values_of(right)) < left.size


def test_compositions_of_rank_2_with_rank_1_are_exact_or_impossible() -> None:
    pairs = [(a, b) for a, b in itertools.product(rank_2(), rank_1()) if b.cosize <= a.size]
    accepted = sum(check_composition(a, b) for a, b in pairs)
    assert (len(pairs), accepted) == (18_873, 15_765)


def test_random_compositions_are_exact_or_impossible() -> None:
    draw = random.Random(2)
    pairs: list[tuple[Layout, Layout]] = []
    while len(pairs) < 20_000:
        left, right = draw.choice(ALL), draw.choice(ALL)
        if inside(left, right):
            pairs.append((left, right))
    accepted = sum(check_composition(a, b) for a, b in pairs)
    assert accepted == 12_944


def test_right_inverses_lead_from_every_index_and_reach_as_far_as_an_injective_layout_does() -> None:
    for layout in ALL:
        values, inverse = values_of(layout), right_inverse(layout)
        reached = values_of(inverse)
        assert [values[index] for index in reached] == list(range(len(reached)))
        if layout in INJECTIVE:
            gap = next(k for k in itertools.count() if k not in values)
            assert len(reached) == gap


def test_left_inverses_lead_back_from_every_value_or_do_not_exist() -> None:
    refused = 0
    for layout in INJECTIVE:
        values = values_of(layout)
        inverse = attempt(left_inverse, layout)
        if isinstance(inverse, LayoutError):
            last = refused_at(inverse, layout.shape)
            assert leads_back(values[:last])
            assert not leads_back(values[: last + 1])
            refused += 1
            continue
        assert [value(inverse, v) for v in values] == list(range(layout.size))
        assert inverse.size >= layout.cosize
    assert refused == 30


def test_layouts_that_take_a_value_twice_have_no_left_inverse() -> None:
    for layout in ALL:
        values = values_of(layout)
        twice = next((k for k, v in enumerate(values) if v in values[:k]), None)
        if twice is not None:
            refusal = attempt(left_inverse, layout)
            assert isinstance(refusal, LayoutError)
            assert refused_at(refusal, layout.shape) == twice


def test_complements_rise_never_meet_and_cover() -> None:
    divisible = 0
    for layout, n in itertools.product(INJECTIVE, (1, 7, 24)):
        values, result = values_of(layout), complement(layout, n)
        starts = values_of(result)
        assert all(a < b for a, b in itertools.pairwise(starts))
        positions = {v + start for v in values for start in starts}
        assert len(positions) == len(values) * len(starts)      # no position twice; with it, disjoint images
        further = values_of(complement(layout, 4 * n + 100))
        gaps = len(values_of(complement(layout)))
        assert starts == further[: len(starts)]
        assert len(starts) == gaps * -(-n // further[gaps])     # as many periods as begin below n
        if is_divisible(layout):
            divisible += n == 24
            assert set(range(n)) <= positions
    assert divisible == 121


def is_divisible(layout: Layout) -> bool:
    """Whether each stride is a multiple of extent times stride of the mode below it."""
    below = 1
    for stride, extent in sorted(zip(flat(layout.stride), flat(layout.shape), strict=True)):
        if extent > 1:
            if stride % below:
                return False
            below = stride * extent
    return True


def test_non_injective_layouts_have_no_complement_unless_strides_of_0_are_all_that_repeats() -> None:
    for layout in ALL:
        moving = [(n, d) for n, d in layout.leaves if d] or [(1, 0)]
        values = table(tuple(n for n, _ in moving), tuple(d for _, d in moving))
        assert isinstance(attempt(complement, layout, 24), LayoutError) == (len(set(values)) < len(values))
