"""What went wrong in others' redistributions, by public report, with the right answers; numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from layoutc.layout import Layout, blocked, mma_c, striped, warp_striped
from layoutc.plan.moves import MOVES, choose, simulate
from layoutc.plan.moves.costs import costs_of
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import Keep, Move, Refusal, RenameRegisters, Shuffle, ThroughShared
from layoutc.plan.moves.search import best_buffer
from layoutc.plan.moves.through_shared import SHARED_BYTES, try_plan
from tests.moves_support import catalogue, catalogue_pairs, held, slow_wavefronts

SM_90 = costs_of("sm_90")


def right_plans(source: Layout | str, destination: Layout | str, bytes: int = 4, warp: int = 32) -> dict[str, Move]:
    """Every possible plan; each brings every value to its place."""
    one, two = (Layout.parse(x) if isinstance(x, str) else x for x in (source, destination))
    exchange = Exchange(one, two, bytes, warp)
    found = {name: plan for name, try_one in MOVES if not isinstance(plan := try_one(exchange), Refusal)}
    for plan in found.values():
        assert simulate(plan, exchange, held(one)) == held(two)
    return found


def chosen(source: Layout | str, destination: Layout | str, bytes: int = 4) -> Move:
    one, two = (Layout.parse(x) if isinstance(x, str) else x for x in (source, destination))
    move, _ = choose(Exchange(one, two, bytes), SM_90)
    assert move is not None
    return move


def test_four_lanes_of_three_items() -> None:
    """0 1 2 / 3 4 5 / 6 7 8 / 9 10 11 becomes 0 4 8 / 1 5 9 / 2 6 10 / 3 7 11; every lane keeps one, so two rounds."""
    exchange = Exchange(blocked(4, 3), striped(4, 3), 4, 4)
    plan = right_plans(blocked(4, 3), striped(4, 3), warp=4)["shuffle"]
    assert isinstance(plan, Shuffle)
    assert len(plan.rounds) == 2
    assert simulate(plan, exchange, [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]) == [
        [0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]


def test_two_warps_of_four_lanes() -> None:
    """Blocked to warp-striped never leaves a warp: 0 4 / 1 5 / 2 6 / 3 7 and 8 12 / 9 13 / 10 14 / 11 15."""
    exchange = Exchange(blocked(8, 2), warp_striped(8, 2, 4), 4, 4)
    plan = right_plans(blocked(8, 2), warp_striped(8, 2, 4), warp=4)["shuffle"]
    assert simulate(plan, exchange, [[2 * t, 2 * t + 1] for t in range(8)]) == [
        [0, 4], [1, 5], [2, 6], [3, 7], [8, 12], [9, 13], [10, 14], [11, 15]]


def test_triton_7899_an_accumulator_of_bytes_to_rows() -> None:
    assert "shuffle" in right_plans(mma_c(16, 8, 16, "f32"), "((8,4),4):((1,8),32)", bytes=1)


def test_triton_9680_bytes_that_share_a_register_and_copies_in_lanes() -> None:
    assert "shuffle" in right_plans("((2,16),8):((8,0),1)", "((4,2,2,2),(2,2)):((0,1,2,0),(8,4))", bytes=1)


def test_triton_1910_from_two_warps_side_by_side_to_copies_in_both() -> None:
    found = right_plans("((32,2),16):((32,16),1)", "((32,2),32):((32,0),1)")
    assert set(found) == {"shared"}


def test_triton_4116_two_values_copied_over_lanes_in_different_orders() -> None:
    found = right_plans("((16,2),1):((0,1),0)", "((2,16),1):((1,0),0)")
    assert isinstance(found["shuffle"], Shuffle)
    assert len(found["shuffle"].rounds) == 1


@pytest.mark.parametrize(("T", "items"), [(33, 64), (64, 33), (48, 5), (257, 3)])
def test_triton_3722_sizes_that_are_no_powers_of_two(T: int, items: int) -> None:
    assert "shared" in right_plans(blocked(T, items), striped(T, items))


def test_fbtriton_1901_nothing_to_do_scrambles_nothing() -> None:
    assert chosen(blocked(48, 5), "((16,3),5):((5,80),1)") == Keep(5)


def test_triton_10342_permutations_of_registers_stay_in_registers() -> None:
    for items in ("(2,2,2,2):(8,4,2,1)", "(4,4):(4,1)", "(2,8):(8,1)"):
        shape, stride = items.split(":")
        move = chosen("(32,16):(16,1)", f"(32,{shape}):(16,{stride})")
        assert isinstance(move, RenameRegisters)
        assert move.selects == 0


@pytest.mark.parametrize("bytes", [4, 8])
def test_triton_7815_a_transpose_of_128_by_128_meets_no_bank_twice(bytes: int) -> None:
    plan = right_plans(blocked(128, 128), striped(128, 128), bytes)["shared"]
    assert isinstance(plan, ThroughShared)
    assert plan.buffer.write.wavefronts == plan.buffer.write.ideal
    assert plan.buffer.read.wavefronts == plan.buffer.read.ideal
    assert plan.buffer.write.wavefronts == plan.buffer.read.wavefronts == 128 * 128 * bytes // 128


@pytest.mark.parametrize("bytes", [1, 2, 4, 8])
def test_triton_8149_a_swizzle_never_costs_more_than_none(bytes: int) -> None:
    """Of the orders and widths in which a pair can wait plainly none takes fewer wavefronts than what is taken."""
    layouts = catalogue()
    for source, destination in catalogue_pairs()[::7]:
        exchange = Exchange(layouts[source], layouts[destination], bytes)
        best = best_buffer(exchange)
        taken = best.write.wavefronts + best.read.wavefronts + best.read.shuffles
        before, after = (np.array(held(layouts[name])) for name in (source, destination))
        least = min(before.min(), after.min())
        plain = sum(slow_wavefronts(((side[first:first + 32, item] - least) * bytes).tolist(), bytes)
                    for side in (before, after) for first in range(0, len(side), 32) for item in range(side.shape[1]))
        assert taken <= plain, (source, destination)


def test_flagtree_1047_the_nearest_copy_first() -> None:
    """16 values in every warp: none is fetched from another warp's copy, nor from a lane's if it is at hand."""
    source, destination = Layout.parse("((16,2,4),1):((1,0,0),0)"), Layout.parse("((2,16,4),1):((0,1,0),0)")
    exchange = Exchange(source, destination, 4)
    for thread, row in enumerate(exchange.came_from):
        assert all(there // 32 == thread // 32 for there, _ in row)
        if source(thread, 0) == destination(thread, 0):
            assert row == ((thread, 0),)
    assert isinstance(right_plans(source, destination)["shuffle"], Shuffle)
    assert isinstance(chosen(source, destination), Shuffle)


@pytest.mark.parametrize("bytes", [1, 2, 4, 8])
@pytest.mark.parametrize(("lanes", "items"), [(32, 4), (16, 5), (8, 8), (4, 7), (2, 3), (32, 1)])
def test_cccl_271_any_lanes_any_items_of_any_size(lanes: int, items: int, bytes: int) -> None:
    found = right_plans(blocked(lanes, items), striped(lanes, items), bytes, lanes)
    assert "shuffle" in found


@pytest.mark.parametrize(("W", "items"), [(2, 2), (4, 3), (8, 2), (16, 16), (32, 32)])
def test_rocprim_and_cub_670_several_logical_warps_in_a_block(W: int, items: int) -> None:
    for warps in (2, 5):
        assert "shuffle" in right_plans(blocked(W * warps, items), warp_striped(W * warps, items, W), warp=W)
        assert "shuffle" in right_plans(warp_striped(W * warps, items, W), blocked(W * warps, items), warp=W)


def test_cub_317_a_tile_beyond_the_budget_is_cut_into_slices_that_fit() -> None:
    exchange = Exchange(blocked(1024, 16), striped(1024, 16), 8)
    plan = try_plan(exchange)
    assert isinstance(plan, ThroughShared)
    assert plan.slices == 3
    assert -(-plan.elements // plan.slices) * 8 <= SHARED_BYTES
    assert simulate(plan, exchange, held(exchange.source)) == held(exchange.destination)


def test_copies_in_a_warp_share_the_showing() -> None:
    """Lanes l and l + 4 hold the same two items: each shows one of them, in one round."""
    plan = right_plans("((4,2),2):((2,0),1)", "(8,1):(1,0)")["shuffle"]
    assert isinstance(plan, Shuffle)
    assert len(plan.rounds) == 1


def test_a_tile_with_gaps_takes_no_more_memory_than_its_items() -> None:
    plan = right_plans("(64,4):(4000,1000)", "(64,(2,2)):(4000,(2000,1000))")["shared"]
    assert isinstance(plan, ThroughShared)
    assert plan.elements == 256
