"""Redistributions as they run: worked numbers, public reports with their right answers, drawn pairs of layouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from layoutc import load
from layoutc.backend import Run
from layoutc.diagnostics import LayoutcError
from layoutc.layout import Layout
from layoutc.module import compile as compile_text
from layoutc.redistribution import Redistribution
from layoutc.reference import wrong_items
from layoutc.testing.fills import Fill
from tests.redistribution_support import pairs

EXAMPLES = Path(__file__).parent.parent / "examples"
Array = NDArray[Any]
VIA = ("registers", "shuffle", "shared")


def declared(text: str) -> Redistribution:
    found: Redistribution = compile_text(f"redistribute r: {text}").r
    return found


def means_of(text: str) -> list[Redistribution]:
    """The declaration as it stands, and under every means that can be right."""
    found = [declared(text)]
    for via in VIA:
        other = declared(f"{text} via {via}")
        try:
            other.plan      # noqa: B018
        except LayoutcError:
            continue
        found.append(other)
    return found


def via(r: Redistribution) -> dict[str, Any]:
    facts: Any = r.explain()
    return dict(facts["redistribute"][0])


def agrees(r: Redistribution, device: str, tiles: int = 3, seed: int = 0) -> None:
    """Values of every kind, bit for bit, under another order of threads for each."""
    meaning = r.meaning
    shape = (tiles, meaning.threads, meaning.items[0])
    for number, fill in enumerate((Fill(), Fill("special", seed))):
        v = fill.values(shape, meaning.type)
        assert wrong_items(meaning, r(v, device=device, run=Run(seed + number)), v) == []


def letters(text: str) -> Array:
    return np.array([[ord(letter) for letter in row] for row in text.split()], np.float32)


# ---- worked numbers


class TestWorkedNumbers:
    BLOCKED = np.arange(12, dtype=np.int32).reshape(4, 3)

    def test_blocked_and_striped(self, device: str) -> None:
        m = load(EXAMPLES / "31_redistribute.layout")
        striped = [[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]
        np.testing.assert_array_equal(m.deal(self.BLOCKED, device=device), striped)
        np.testing.assert_array_equal(m.collect(np.array(striped, np.int32), device=device), self.BLOCKED)

    @pytest.mark.parametrize("name", ["deal", "collect"])
    def test_two_rounds_in_a_warp_of_four(self, name: str) -> None:
        """Each lane keeps one item at least, so the most that any sends or receives is two."""
        m = load(EXAMPLES / "31_redistribute.layout")
        sides = m[name].meaning
        found = via(declared(f"i32 = {sides.source} -> {sides.destination} warp 4 via shuffle"))
        assert (found["via"], found["rounds"], found["shared_bytes"]) == ("shuffle", 2, 0)

    def test_warp_striped_never_leaves_a_warp(self, device: str) -> None:
        r = load(EXAMPLES / "31_redistribute.layout").two_warps
        held = [[0, 4], [1, 5], [2, 6], [3, 7], [8, 12], [9, 13], [10, 14], [11, 15]]
        np.testing.assert_array_equal(r(np.arange(16, dtype=np.int32).reshape(8, 2), device=device), held)
        assert via(r)["barrier"] in ("none", "warp")
        assert declared("i32 = blocked(8, 2) -> warp_striped(8, 2, 4) warp 4 via shuffle").plan.move is not None

    def test_a_block_of_stripes(self, device: str) -> None:
        r = load(EXAMPLES / "31_redistribute.layout").block_to_stripes
        v = np.arange(512, dtype=np.float32).reshape(128, 4)
        out = r(v, device=device)
        np.testing.assert_array_equal(out[:2], [[0, 128, 256, 384], [1, 129, 257, 385]])
        np.testing.assert_array_equal(out, v.reshape(4, 128).T)

    def test_scatter_to_blocked(self, device: str) -> None:
        put = load(EXAMPLES / "34_ranks.layout").put
        rank = np.array([[7, 0], [6, 1], [5, 2], [4, 3]])
        got = put(letters("AB CD EF GH"), rank, device=device)
        np.testing.assert_array_equal(got, letters("BD FH GE CA"))
        np.testing.assert_array_equal(rank, [[7, 0], [6, 1], [5, 2], [4, 3]])

    def test_gather_from_striped(self, device: str) -> None:
        get = load(EXAMPLES / "34_ranks.layout").get
        rank = np.array([[7, 6], [5, 4], [3, 2], [1, 0]])
        got = get(letters("AE BF CG DH"), rank, device=device)
        np.testing.assert_array_equal(got, letters("HG FE DC BA"))
        np.testing.assert_array_equal(rank, [[7, 6], [5, 4], [3, 2], [1, 0]])

    def test_fragments_that_follow_one_another(self) -> None:
        """The accumulators of two m16n8k16 side by side are the next operand A."""
        assert via(load(EXAMPLES / "32_fragments.layout").chain)["via"] == "none"

    def test_copies_are_taken_from_the_nearest(self) -> None:
        m = load(EXAMPLES / "33_copies.layout")
        assert via(m.each_its_own)["via"] == "none"
        for name in ("spread", "choose"):
            assert via(m[name])["via"] == "registers"


# ---- public reports; the numbers are those of facts/layouts.md

PACKED = "((2, 16), (2, 2, 2)):((8, 0), (1, 2, 4)) -> ((4, 2, 2, 2), (2, 2)):((0, 1, 2, 0), (8, 4))"
BESIDE, BOTH = "((8, 4, 2), (2, 8)):((2, 32, 16), (1, 128))", "((8, 4, 2), (2, 2, 8)):((2, 32, 0), (1, 16, 128))"
REPORTS = {
    # 16x8 bytes, accumulators of an mma to 4x8 lanes of one element (triton 7899: packed bytes went wrong)
    "15-mma-to-blocked": "u8 = mma_c(16, 8, 16, f16) -> ((8, 4), 4):((1, 8), 32)",
    # two bits of a register change places with lanes, halves packed (triton 9680)
    "15-packed-halves": f"f16 = {PACKED}",
    "15-packed-bytes": f"i8 = {PACKED}",
    # 32x32, two warps side by side to both holding all (triton 1910), and back
    "16-to-copies": f"f32 = {BESIDE} -> {BOTH}",
    "16-from-copies": f"f32 = {BOTH} -> {BESIDE}",
    # two values, a slice of a slice of 2x2x8 lanes, to one a lane (triton 4116)
    "17-slices": "f32 = ((16, 2), 1):((0, 1), 0) -> ((2, 16), 1):((1, 0), 0)",
    # sizes that are not powers of two (triton 3722, 8898)
    "18-33-threads": "f32 = blocked(33, 64) -> striped(33, 64)",
    "18-257-threads": "f64 = blocked(257, 3) -> striped(257, 3)",
    # 48 wide (facebookexperimental 1901, 2237)
    "19-48": "i32 = blocked(48, 5) -> striped(48, 5)",
    "19-48-nested": "f16 = ((6, 8), 3):((24, 3), 1) -> ((6, 8), 3):((1, 6), 48)",
    # lanes by items of any number, 64 bits (cccl 271, 3760)
    "26-5-items": "i64 = blocked(32, 5) -> striped(32, 5)",
    "26-16-lanes": "u64 = blocked(16, 3) -> striped(16, 3) warp 16",
    # several logical warps a block (rocPRIM's change log; cub 670)
    "27-warps-of-8": "f32 = blocked(64, 4) -> warp_striped(64, 4, 8) warp 8",
    "27-warps-of-8-back": "f32 = warp_striped(64, 4, 8) -> blocked(64, 4) warp 8",
    "28-warps-of-2": "i32 = blocked(64, 2) -> warp_striped(64, 2, 2) warp 2",
}


@pytest.mark.parametrize("text", REPORTS.values(), ids=REPORTS)
def test_reports_of_wrong_values(text: str, device: str) -> None:
    for r in means_of(text):
        agrees(r, device)


@pytest.mark.parametrize("name", ["26-5-items", "26-16-lanes", "27-warps-of-8", "27-warps-of-8-back", "28-warps-of-2",
                                  "15-packed-halves", "17-slices"])
def test_reports_that_ask_for_shuffles(name: str) -> None:
    assert via(declared(f"{REPORTS[name]} via shuffle"))["shared_bytes"] == 0


def test_a_layout_to_itself_moves_nothing() -> None:
    """Of 48 wide too (facebookexperimental 1901)."""
    for layout in ("blocked(48, 5)", "striped(48, 5)", "((6, 8), 3):((24, 3), 1)"):
        assert via(declared(f"f16 = {layout} -> {layout}"))["via"] == "none"


def test_a_permutation_of_registers_stays_in_registers(device: str) -> None:
    """Triton 10342: it went through shared memory."""
    r = declared("f32 = (32, (2, 2)):(4, (1, 2)) -> (32, (2, 2)):(4, (2, 1))")
    assert (via(r)["via"], via(r)["selects"]) == ("registers", 0)
    agrees(r, device)


def test_a_large_transposition_has_no_conflicts(device: str) -> None:
    """Triton 7815: 128x128; more than the shared memory of a block, so in slices."""
    r = declared("f32 = blocked(128, 128) -> striped(128, 128)")
    found = via(r)
    assert found["write_wavefronts"] == found["read_wavefronts"] == found["ideal_wavefronts"] == 128 * 128 * 4 // 128
    assert found["shared_bytes"] <= 48 * 1024
    agrees(r, device, tiles=1)


def test_the_copy_of_the_own_warp_is_taken(device: str) -> None:
    """FlagTree 1047: 16 values that every warp holds; the copy of warp 0 would need shared memory."""
    r = declared("f32 = ((16, 8), 1):((1, 0), 0) -> ((2, 16, 4), 1):((0, 1, 0), 0)")
    found = via(r)
    assert (found["via"], found["rounds"]) == ("shuffle", 1)
    agrees(r, device)


def test_gathers_across_warps(device: str) -> None:
    """Triton 11600: indices that leave the warp."""
    r = declared("i32 = gather blocked(64, 4) -> striped(64, 4)")
    random = np.random.default_rng(0)
    v = np.arange(3 * 256, dtype=np.int32).reshape(3, 64, 4)
    for rank in (random.integers(0, 256, (3, 64, 4)), np.full((3, 64, 4), 255), random.integers(-9, 265, (3, 64, 4))):
        assert wrong_items(r.meaning, r(v, rank, device=device), v, rank) == []


@pytest.mark.parametrize("kind", ["scatter", "gather"])
def test_ranks_in_slices(kind: str, device: str) -> None:
    """cccl 870: a guarded scatter in time slices wrote outside its buffer."""
    r = declared(f"f32 = {kind} blocked(256, 64) -> striped(256, 64)")
    random = np.random.default_rng(1)
    v = np.arange(1, 2**14 + 1, dtype=np.float32).reshape(256, 64)
    rank = random.permutation(2**14).reshape(256, 64)
    rank[random.random((256, 64)) < 0.2] = -1
    assert wrong_items(r.meaning, r(v, rank, device=device), v, rank) == []


# ---- ranks


@pytest.mark.parametrize("text", [
    "f32 = scatter blocked(4, 2) -> blocked(4, 2) warp 4", "i64 = scatter blocked(96, 3) -> striped(96, 3)",
    "u8 = scatter striped(64, 5) -> blocked(64, 5)", "f16 = gather striped(4, 2) -> blocked(4, 2) warp 4",
    "f64 = gather blocked(40, 3) -> blocked(40, 3)", "i8 = gather (32, 2):(0, 1) -> ((2, 16), 1):((1, 0), 0)",
    "i16 = scatter (32, 2):(2, 1) -> (32, (2, 2)):(2, (1, 0))", "i32 = gather (32, 2):(6, 3) -> (32, 2):(3, 96)",
])
@pytest.mark.parametrize("dtype", ["i1", "i4", "i8", "u1", "u4", "u8"])
def test_ranks(text: str, dtype: str, device: str) -> None:
    """In the tile, outside it, many alike, none inside; of any integer type."""
    r = declared(text)
    meaning = r.meaning
    items = meaning.items[0 if meaning.kind == "scatter" else 1]
    limits = np.iinfo(dtype)
    positions = np.array(meaning.source.image)
    random = np.random.default_rng(0)
    v = Fill("any", 3).values((4, meaning.threads, meaning.items[0]), meaning.type)
    rank = random.choice(positions, (4, meaning.threads, items)).clip(limits.min, limits.max).astype(dtype)
    rank[0] = np.resize(random.permutation(positions), rank[0].shape).clip(limits.min, limits.max)
    rank[2] = random.integers(limits.min, limits.max, rank[2].shape, dtype, endpoint=True)
    rank[3] = limits.max
    assert wrong_items(meaning, r(v, rank, device=device), v, rank) == []


# ---- drawn pairs


@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
@given(pairs(), st.sampled_from(("i8", "f16", "f32", "f64", "bool", "u64", "bf16")), st.sampled_from((2, 4, 8, 32)),
       st.sampled_from((None, *VIA)), st.integers(0, 99))
def test_any_pair(device: str, pair: tuple[Layout, Layout], type: str, warp: int, means: str | None, seed: int) -> None:
    text = f"{type} = {pair[0]} -> {pair[1]} warp {warp}"
    r = declared(f"{text} via {means}") if means else declared(text)
    try:
        r.plan      # noqa: B018
    except LayoutcError:
        assert means in ("registers", "shuffle")
        return
    agrees(r, device, seed=seed)
