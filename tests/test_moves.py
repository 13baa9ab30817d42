"""Plans of redistributions, simulated for all threads: what arrives, in how many rounds and wavefronts."""

from __future__ import annotations

import time
from collections import Counter
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutc.layout import Layout, blocked, striped, warp_striped
from layoutc.plan.moves import MOVES, choose, simulate
from layoutc.plan.moves.banks import wavefronts
from layoutc.plan.moves.costs import cost, costs_of
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import Keep, Move, Refusal, RenameRegisters, Shuffle, ThroughShared
from layoutc.plan.moves.placement import positions
from layoutc.plan.moves.search import PLAIN_ORDERS, best_buffer
from tests.moves_support import (
    catalogue,
    catalogue_pairs,
    edges_bound,
    fewest_rounds,
    held,
    slow_wavefronts,
    warp_local,
)
from tests.redistribution_support import pairs

ITEM_SIZES = (1, 2, 4, 8)
SM_90 = costs_of("sm_90")


@cache
def by_name() -> dict[str, Layout]:
    return catalogue()


def plans(exchange: Exchange) -> dict[str, Move]:
    """Every means that is possible."""
    found = {name: try_plan(exchange) for name, try_plan in MOVES}
    return {name: plan for name, plan in found.items() if not isinstance(plan, Refusal)}


def copied(exchange: Exchange) -> bool:
    return any(max(Counter(layout.values).values()) > 1 for layout in (exchange.source, exchange.destination))


def check(exchange: Exchange) -> None:
    """Whatever is planned does it; what must be possible is; shuffles are as few as can be."""
    found = plans(exchange)
    for plan in found.values():
        assert simulate(plan, exchange, held(exchange.source)) == held(exchange.destination), plan
    if exchange.bytes == 4:
        check_choice(exchange, found)
    assert "shared" in found
    assert ("shuffle" in found) == warp_local(exchange)
    own = [set(row) for row in held(exchange.source)]
    assert ("registers" in found) == all(set(row) <= own[t] for t, row in enumerate(held(exchange.destination)))
    shuffle, shared = found.get("shuffle"), found["shared"]
    assert isinstance(shared, ThroughShared)
    check_placement(exchange, shared)
    if isinstance(shuffle, Shuffle):
        if copied(exchange):
            assert len(shuffle.rounds) <= edges_bound(exchange)
        elif shuffle.packed == 1:
            assert len(shuffle.rounds) == fewest_rounds(exchange)
        else:
            assert len(shuffle.rounds) < fewest_rounds(exchange)
            assert shuffle.packed * exchange.bytes <= 4
        check_shuffle(exchange, shuffle)


def check_choice(exchange: Exchange, found: dict[str, Move]) -> None:
    """The cheapest is taken, and every other says why not or what it costs."""
    move, refusals = choose(exchange, SM_90)
    assert move is not None
    priced = {name: cost(plan, exchange, SM_90) for name, plan in found.items()}
    assert cost(move, exchange, SM_90) == min(priced.values())
    assert len(refusals) == len(MOVES) - 1
    for refusal in refusals:
        assert refusal.cost == priced.get(refusal.via)


def check_shuffle(exchange: Exchange, plan: Shuffle) -> None:
    """No lane reads outside its warp or past the block, and none takes two values at once."""
    for one in plan.rounds:
        assert all(0 <= lane < exchange.warp for lane in one.lane)
        assert all(t - t % exchange.warp + lane < exchange.threads for t, lane in enumerate(one.lane))
    assert sorted({len(word) for word in plan.words}) == [plan.packed]


def check_placement(exchange: Exchange, plan: ThroughShared) -> None:
    """One place for each element, none beyond those that the elements' numbers need, wavefronts as counted apart."""
    placement = plan.buffer.placement
    for side, numbers in zip((plan.buffer.write, plan.buffer.read), positions(exchange, placement.order), strict=True):
        places = placement.addresses(numbers)
        pairs_of = np.unique(np.stack([numbers.ravel(), places.ravel()]), axis=1)
        assert len(np.unique(pairs_of[0])) == len(np.unique(pairs_of[1])) == pairs_of.shape[1]
        whole = -(-plan.elements // placement.vector) * placement.vector
        assert places.min() >= 0
        assert places.max() < whole
        if side.columns:
            assert check_columns(exchange, side.groups, places) == side.wavefronts
            continue
        for group in side.groups:
            assert (places[:, list(group)] == places[:, [group[0]]] + np.arange(len(group))).all()
            assert (places[:, group[0]] % len(group) == 0).all()
        total = sum(
            slow_wavefronts((places[first:first + 32, group[0]] * exchange.bytes).tolist(), len(group) * exchange.bytes)
            for group in side.groups for first in range(0, exchange.threads, 32)
        )
        assert total == side.wavefronts


def check_columns(exchange: Exchange, groups: tuple[tuple[int, ...], ...], places: np.ndarray) -> int:
    """What an access by columns can take: of a matrix's every row one item of the eight lanes ``4 * c + row // 2``.

    Their elements of 16 bits lie side by side in 16 aligned bytes. Bytes: two lanes have an element, and where they
    exchange halves rows 0 1 4 5 are of the first two of four items and rows 2 3 6 7 of the others. Returns the
    wavefronts, counted apart.
    """
    pair = 2 // exchange.bytes
    each = 4 if pair == 2 and len(groups[0]) % 8 == 0 else 2        # items of a matrix
    total = 0
    for group in groups:
        for warp in range(0, exchange.threads, 32):
            for first in range(0, len(group), each):
                rows = []
                for row in range(8):
                    item = row % 2 + (row // 2 % 2 * 2 if each == 4 else 0)
                    lanes = warp + 4 * np.arange(8) + (row // 2 if pair == 1 else row // 4 * 2)
                    found = places[lanes, group[first + item]]
                    rows.append(int(found[0]))
                    assert rows[-1] * exchange.bytes % 16 == 0
                    assert (found == rows[-1] + pair * np.arange(8)).all()
                    if pair == 2:
                        assert (places[lanes + 1, group[first + item]] == found + 1).all()
                total += slow_wavefronts([row * exchange.bytes for row in rows], 16)
    return total


def test_the_catalogue_is_as_large_as_promised() -> None:
    layouts = [by_name()[name] for name in {name for pair in catalogue_pairs() for name in pair}]
    assert len(layouts) >= 60
    assert max(layout[0].size for layout in layouts) == 128
    assert max(layout[1].size for layout in layouts) == 16
    assert sum(layout[0].size & (layout[0].size - 1) > 0 or layout[1].size & (layout[1].size - 1) > 0
               for layout in layouts) >= 20
    assert any(layout[0].size % 32 and layout[0].size > 32 for layout in layouts)


@pytest.mark.parametrize("bytes", ITEM_SIZES)
def test_every_plan_for_every_pair_of_the_catalogue_brings_each_value_to_its_place(bytes: int) -> None:
    for source, destination in catalogue_pairs():
        check(Exchange(by_name()[source], by_name()[destination], bytes))


def test_a_layout_to_itself_moves_nothing() -> None:
    for layout in by_name().values():
        exchange = Exchange(layout, layout, 4)
        assert choose(exchange, SM_90)[0] == Keep(layout[1].size)


@pytest.mark.parametrize("W", [2, 4, 8, 16, 32])
@pytest.mark.parametrize("items", [1, 2, 3, 4, 5, 8, 12, 16])
def test_logical_warps_of_any_size_and_several_in_a_block(W: int, items: int) -> None:
    for warps in (1, 3, 128 // W):
        T = W * warps
        for source, destination in (
            (blocked(T, items), warp_striped(T, items, W)), (warp_striped(T, items, W), blocked(T, items)),
        ):
            exchange = Exchange(source, destination, 4, W)
            plan = plans(exchange)["shuffle"]
            assert isinstance(plan, Shuffle)
            assert simulate(plan, exchange, held(source)) == held(destination)
            assert len(plan.rounds) == fewest_rounds(exchange)


@settings(max_examples=150, deadline=None)
@given(pairs(copies=False), st.sampled_from(ITEM_SIZES), st.sampled_from((2, 4, 8, 16, 32)))
def test_any_two_bijections(pair: tuple[Layout, Layout], bytes: int, warp: int) -> None:
    check(Exchange(*pair, bytes, warp))


@settings(max_examples=150, deadline=None)
@given(pairs(), st.sampled_from(ITEM_SIZES), st.sampled_from((2, 4, 8, 16, 32)))
def test_any_two_layouts_with_copies(pair: tuple[Layout, Layout], bytes: int, warp: int) -> None:
    check(Exchange(*pair, bytes, warp))


# Rounds of blocked -> striped inside a warp of 32, by degree: an item stays in its lane where I is W or W - 1.
@pytest.mark.parametrize(("T", "items", "rounds"), [
    (4, 3, 2), (32, 2, 2), (32, 3, 3), (32, 5, 5), (32, 7, 7), (32, 24, 24), (32, 31, 30), (32, 32, 31),
])
def test_rounds_that_were_worked_out_by_hand(T: int, items: int, rounds: int) -> None:
    for source, destination in ((blocked(T, items), striped(T, items)), (striped(T, items), blocked(T, items))):
        plan = plans(Exchange(source, destination, 4, T))["shuffle"]
        assert isinstance(plan, Shuffle)
        assert len(plan.rounds) == rounds


@pytest.mark.parametrize("items", [n for n in range(2, 25) if n != 17])
def test_transposes_take_few_selects(items: int) -> None:
    """A rotation by the lane takes ceil(log2 I) selects an item, a factor shared with 32 another turn of its size.

    Not where all lanes keep an item, as of 17: there a round fewer than items counts for more than selects.
    """
    common = items & -items
    turns = [items, common] if common < items else [common, common]
    most = items * sum((count - 1).bit_length() for count in turns)
    for source, destination in ((blocked(32, items), striped(32, items)), (striped(32, items), blocked(32, items))):
        plan = plans(Exchange(source, destination, 4))["shuffle"]
        assert isinstance(plan, Shuffle)
        assert plan.selects <= most


@pytest.mark.parametrize("items", [2, 4, 8, 16])
def test_a_lane_bit_for_a_register_bit_ships_half_the_registers(items: int) -> None:
    """Triton's count for one such swap: items/2 shuffles, 1.5 * items selects."""
    half = items // 2
    source, destination = (
        Layout.parse(f"((2,16),(2,{half})):(({lane},4),({register},64))") for lane, register in ((1, 2), (2, 1)))
    plan = plans(Exchange(source, destination, 4))["shuffle"]
    assert isinstance(plan, Shuffle)
    assert len(plan.rounds) == half
    assert plan.selects == half + items


def test_narrow_items_that_travel_together_share_shuffles() -> None:
    """Pairs or fours of neighbours from one lane to one other: 32 bits at a time."""
    whole = Exchange(Layout.parse("(32,4):(4,1)"), Layout.parse("((2,16),4):((64,4),1)"), 4)
    for bytes, rounds, packed in ((1, 1, 4), (2, 2, 2), (4, 4, 1), (8, 4, 1)):
        exchange = Exchange(whole.source, whole.destination, bytes)
        plan = plans(exchange)["shuffle"]
        assert isinstance(plan, Shuffle)
        assert (len(plan.rounds), plan.packed) == (rounds, packed)
        assert simulate(plan, exchange, held(exchange.source)) == held(exchange.destination)


@pytest.mark.parametrize("bytes", ITEM_SIZES)
def test_blocked_and_striped_meet_no_bank_twice(bytes: int) -> None:
    """Of 2^k bytes an access, at least 4 on the blocked side: no access waits for a bank. Columns only save more."""
    for items in range(1, 65):
        vector = min(items & -items, 16 // bytes)
        for T in (32, 64, 96, 128) if vector * bytes >= 4 else ():
            for source, destination in ((blocked(T, items), striped(T, items)), (striped(T, items), blocked(T, items))):
                exchange = Exchange(source, destination, bytes)
                found = best_buffer(exchange, PLAIN_ORDERS)
                assert best_buffer(exchange).cost <= found.cost
                for side in (found.write, found.read):
                    width = side.vector * bytes
                    assert side.wavefronts == T // 32 * (items // side.vector) * max(1, width // 4)
                assert max(found.write.vector, found.read.vector) * bytes >= 4


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_wavefronts_agree_with_a_count_lane_by_lane(width: int) -> None:
    random = np.random.default_rng(width)
    for lanes in (1, 7, 16, 31, 32):
        for spread in (4, 40, 400):
            addresses = random.integers(0, spread, (20, lanes)) * width
            assert wavefronts(addresses, width).tolist() == [slow_wavefronts(row, width) for row in addresses.tolist()]


def test_known_bank_conflicts() -> None:
    """Strides in words: 1 and odd ones are free, 2^k meets 2^k times, one word for all is free."""
    lanes = np.arange(32)
    for stride, expected in ((0, 1), (1, 1), (2, 2), (3, 1), (8, 8), (32, 32), (33, 1)):
        assert wavefronts(lanes * stride * 4, 4) == expected
    assert wavefronts(lanes * 16, 16) == 4
    assert wavefronts(lanes * 8, 8) == 2
    assert wavefronts(lanes, 1) == 1


def test_insisting_is_refused_with_a_witness() -> None:
    across = Exchange(blocked(64, 2), striped(64, 2), 4)
    move, refusals = choose(across, SM_90, "shuffle")
    assert move is None
    assert [refusal.why for refusal in refusals] == ["item 1 of thread 0 comes from another warp"]
    move, refusals = choose(across, SM_90, "registers")
    assert move is None
    assert refusals[-1].why == "item 1 of thread 0 comes from thread 32"
    assert isinstance(choose(across, SM_90, "shared")[0], ThroughShared)


def test_a_warp_barrier_where_no_value_leaves_its_warp() -> None:
    for source, destination, barrier in (
        (blocked(64, 4), warp_striped(64, 4, 32), "warp"), (blocked(64, 4), striped(64, 4), "block"),
        (blocked(48, 4), striped(48, 4), "block"),
    ):
        plan = plans(Exchange(source, destination, 4))["shared"]
        assert isinstance(plan, ThroughShared)
        assert plan.barrier == barrier


def test_a_register_permutation_that_is_the_same_for_all_is_free() -> None:
    exchange = Exchange(Layout.parse("(32,(2,2,2)):(8,(1,2,4))"), Layout.parse("(32,(2,2,2)):(8,(4,1,2))"), 4)
    move, _ = choose(exchange, SM_90)
    assert isinstance(move, RenameRegisters)
    assert move.selects == 0
    assert cost(move, exchange, SM_90) == 0


@pytest.mark.parametrize("text", ["(256,16):(16,1) -> (256,16):(1,256)", "(256,16):(16,1) -> ((32,8),16):((1,512),32)"])
def test_choosing_is_fast(text: str) -> None:
    source, destination = map(Layout.parse, text.split(" -> "))
    choose(Exchange(source, destination, 4), SM_90)
    start = time.process_time()
    choose(Exchange(source, destination, 4), SM_90)
    assert time.process_time() - start < 0.25       # 0.05 on a quiet machine


def test_most_pairs_meet_no_bank_twice() -> None:
    """Wavefronts over the ideal for all pairs of the catalogue, printed with ``-s``."""
    for bytes in ITEM_SIZES:
        ratios = []
        for source, destination in catalogue_pairs():
            exchange = Exchange(by_name()[source], by_name()[destination], bytes)
            found = best_buffer(exchange, PLAIN_ORDERS)
            assert best_buffer(exchange).cost <= found.cost
            ratios.append((found.write.wavefronts + found.read.wavefronts) / (found.write.ideal + found.read.ideal))
        shares = [sum(ratio <= most for ratio in ratios) / len(ratios) for most in (1, 1.25, 1.5, 2)]
        print(f"{bytes} bytes: ideal, within 1.25, 1.5, 2:", *(f"{share:.1%}" for share in shares))
        assert shares[0] >= 0.9
        assert shares[3] == 1


def test_costs_of_what_was_measured() -> None:
    """Through shared memory two wavefronts an item of 4 bytes, and barriers; shuffles or selects, whichever is more."""
    assert costs_of("sm_90") == costs_of("sm_90a") == costs_of("sm_120") == SM_90
    exchange = Exchange(blocked(256, 8), striped(256, 8), 4)
    shared = plans(exchange)["shared"]
    assert cost(shared, exchange, SM_90) == pytest.approx(2 * SM_90.wavefront + 2 * SM_90.block_barrier / 8)
    three = Exchange(blocked(32, 3), striped(32, 3), 4)
    shuffle = plans(three)["shuffle"]
    assert isinstance(shuffle, Shuffle)
    assert cost(shuffle, three, SM_90) == pytest.approx(max(SM_90.shuffle, 2 * SM_90.select))
    wide = Exchange(blocked(32, 3), striped(32, 3), 8)
    assert cost(plans(wide)["shuffle"], wide, SM_90) == pytest.approx(2 * cost(shuffle, three, SM_90))
