"""Two other layout algebras as oracles; the law decides: where they are right they agree."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pycute
import pytest
import tensor_layouts

from layoutc.layout import (
    Layout,
    LayoutError,
    blocked_product,
    coalesce,
    complement,
    composition,
    left_inverse,
    logical_divide,
    logical_product,
    raked_product,
    right_inverse,
    size,
    tiled_divide,
    tiled_product,
    zipped_divide,
    zipped_product,
)
from tests.layout_support import attempt, rank_1, rank_2, value, values_of

ALL = rank_1() + rank_2()
INJECTIVE = [layout for layout in ALL if len(set(values_of(layout))) == layout.size]

Tiler = int | Layout | tuple["Tiler", ...]


def both(pycute_name: str, tensor_layouts_name: str | None = None) -> pytest.MarkDecorator:
    """A test with the function of either peer."""
    peers = [
        pytest.param((pycute, pycute_name), id="pycute"),
        pytest.param((tensor_layouts, tensor_layouts_name or pycute_name), id="tensor-layouts"),
    ]
    return pytest.mark.parametrize("peer", peers)


def ask(peer: tuple[Any, str], *operands: object) -> Layout | None:
    """What a peer answers, None where it refuses or answers with no layout at all."""
    module, name = peer
    try:
        answer = getattr(module, name)(*(theirs(module, operand) for operand in operands))
        return Layout(answer.shape, answer.stride)
    except (AssertionError, ValueError, TypeError, ZeroDivisionError, IndexError):
        return None


def theirs(module: Any, operand: object) -> Any:
    """An operand in a peer's own classes."""
    if isinstance(operand, Layout):
        return module.Layout(operand.shape, operand.stride)
    if isinstance(operand, tuple):
        return tuple(theirs(module, item) for item in operand)
    return operand


@both("composition", "compose")
def test_compositions_agree_wherever_the_peer_is_right(peer: tuple[Any, str]) -> None:
    right = 0
    pairs = [(a, b) for a, b in itertools.product(rank_2(), rank_1()) if b.cosize <= a.size]
    for a, b in pairs:
        answer = ask(peer, a, b)
        truth = tuple(value(a, position) for position in values_of(b))
        if answer is not None and answer.size == b.size and values_of(answer) == truth:
            assert composition(a, b) == answer
            right += 1
    assert right > len(pairs) // 2


@both("coalesce")
def test_coalesced_forms_agree(peer: tuple[Any, str]) -> None:
    for layout in ALL:
        assert coalesce(layout) == ask(peer, layout)


@both("complement")
def test_complements_agree_wherever_the_peer_is_right(peer: tuple[Any, str]) -> None:
    right = 0
    for layout in INJECTIVE:
        answer = ask(peer, layout, 24)
        if answer is not None:
            sums = {a + r for a in values_of(layout) for r in values_of(answer)}
            if len(sums) == layout.size * answer.size:
                assert complement(layout, 24) == answer
                right += 1
    assert right == 223         # both peers fail on the 250 others, whose modes interlock or lie too close


@both("right_inverse")
def test_right_inverses_agree_or_reach_further(peer: tuple[Any, str]) -> None:
    for layout in ALL:
        answer, own = ask(peer, layout), right_inverse(layout)
        assert answer is not None
        assert answer == own or answer.size < own.size or (answer.size == own.size and 1 in layout.leaves[0])
    # A mode of stride 0 makes pycute give up at once.
    assert right_inverse(Layout((2, 3), (0, 1))) == Layout(3, 2)
    assert ask((pycute, "right_inverse"), Layout((2, 3), (0, 1))) == Layout(1, 0)


@both("left_inverse")
def test_left_inverses_exist_wherever_the_peer_is_right(peer: tuple[Any, str]) -> None:
    right = 0
    for layout in INJECTIVE:
        answer = ask(peer, layout)
        if answer is not None and all(value(answer, v) == k for k, v in enumerate(values_of(layout))):
            own = left_inverse(layout)
            assert [value(own, v) for v in values_of(layout)] == list(range(layout.size))
            right += 1
    assert right > 100


def tilers() -> list[tuple[Layout, Tiler]]:
    """Layouts with tilers, some of which divide them."""
    draw = random.Random(5)
    layouts = [
        Layout((8, 6), (6, 1)), Layout((4, 6), (1, 4)), Layout((4, (2, 6)), (1, (48, 4))),
        Layout((6, 4, 5), (20, 5, 1)), Layout(24, 2),
        Layout((12, (4, 8)), (59, (13, 1))), Layout((8, 8), (1, 9)), Layout(((2, 2), 6), ((3, 1), 8)),
    ]
    parts: list[int | Layout] = [1, 2, 3, 4, 6, Layout(2, 2), Layout(2, 3), Layout((2, 2), (1, 4)), Layout(4, 1)]
    cases: list[tuple[Layout, Tiler]] = []
    for layout in layouts:
        cases += [(layout, part) for part in parts]
        for _ in range(20):
            cases.append((layout, tuple(draw.choice(parts) for _ in range(draw.randint(1, layout.rank)))))
    return cases


def in_full(tiler: Tiler) -> Tiler:
    """The tiler with its integers written as layouts: the peers take a bare integer in other ways."""
    if isinstance(tiler, int):
        return Layout(tiler, 1)
    return tuple(map(in_full, tiler)) if isinstance(tiler, tuple) else tiler


@pytest.mark.parametrize("divide", [logical_divide, zipped_divide, tiled_divide], ids=lambda f: str(f.__name__))
def test_divides_agree_with_pycute_and_are_refused_together(divide: Callable[..., Layout]) -> None:
    outcomes = Counter[bool]()
    for layout, tiler in tilers():
        answer, own = ask((pycute, divide.__name__), layout, tiler), attempt(divide, layout, tiler)
        assert isinstance(own, LayoutError) if answer is None else own == answer, (str(layout), str(tiler))
        outcomes[answer is None] += 1
    assert outcomes == {False: 197, True: 35}


def alone(tiler: Tiler) -> bool:
    """Whether a tiler is a tuple of one, which tensor-layouts gathers in another nesting."""
    return isinstance(tiler, tuple) and len(tiler) == 1


@pytest.mark.parametrize("divide", [logical_divide, zipped_divide], ids=lambda f: str(f.__name__))
def test_divides_agree_with_tensor_layouts(divide: Callable[..., Layout]) -> None:
    for layout, tiler in tilers():
        if alone(tiler):
            continue
        answer, own = ask((tensor_layouts, divide.__name__), layout, in_full(tiler)), attempt(divide, layout, tiler)
        assert isinstance(own, LayoutError) if answer is None else own == answer, (str(layout), str(tiler))


def is_product(answer: Layout, block: Layout, tiler: Tiler) -> bool:
    """Whether an answer holds every copy of every position once."""
    parts = tiler if isinstance(tiler, tuple) else (tiler,)
    copies = math.prod(size(part) for part in parts if not isinstance(part, tuple))
    return answer.size == block.size * copies and len(set(values_of(answer))) == answer.size


@pytest.mark.parametrize("product", [logical_product, zipped_product, tiled_product], ids=lambda f: str(f.__name__))
@both("")
def test_products_agree_wherever_the_peer_keeps_the_copies_apart(
    peer: tuple[Any, str], product: Callable[..., Layout]
) -> None:
    right = 0
    for layout, tiler in tilers():
        answer = ask((peer[0], product.__name__), layout, in_full(tiler))
        if answer is not None and not alone(tiler) and is_product(answer, layout, tiler):
            assert product(layout, tiler) == answer, (str(layout), str(tiler))
            right += 1
    assert right > 50


@pytest.mark.parametrize("product", [blocked_product, raked_product], ids=lambda f: str(f.__name__))
def test_blocked_and_raked_products_agree_up_to_extents_of_1(product: Callable[..., Layout]) -> None:
    right = 0
    for layout, tiler in tilers():
        if product is blocked_product and layout.cosize > layout.size:
            continue        # tensor-layouts sets blocks with gaps a cosize apart, where CuTe fills or keeps the gaps
        answer = None if isinstance(tiler, tuple) else ask((tensor_layouts, product.__name__), layout, in_full(tiler))
        if answer is not None and is_product(answer, layout, tiler):
            own = product(layout, tiler)
            assert own.rank == answer.rank
            assert [coalesce(mode) for mode in own] == [coalesce(mode) for mode in answer]
            right += 1
    assert right > 15


def test_where_the_peers_are_silently_wrong() -> None:
    four_by_three = Layout((4, 3), (3, 1))
    assert ask((pycute, "composition"), four_by_three, Layout(6, 1)) == Layout(4, 3)            # of size 4, not 6
    assert isinstance(attempt(composition, four_by_three, Layout(6, 1)), LayoutError)
    assert ask((pycute, "left_inverse"), Layout((4, 3), (1, 5))) == Layout(4, 1)                # 5 goes to 1, not 4
    assert left_inverse(Layout((4, 3), (1, 5))) == Layout((5, 3), (1, 4))
    assert ask((pycute, "logical_product"), Layout(4, 1), 3) == Layout((3, 2), (1, 3))          # a divide
    assert logical_product(Layout(4, 1), 3) == Layout((4, 3), (1, 4))
    interlocked = Layout(((2, 2), 6), ((3, 1), 8))
    overlapping = ask((tensor_layouts, "logical_product"), interlocked, Layout(2, 1))
    assert overlapping is not None
    assert overlapping.leaves[-1] == (2, 0)                                                     # both copies at 0
    assert logical_product(interlocked, 2).leaves[-1] == (2, 48)
