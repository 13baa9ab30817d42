"""Scatter and gather by run-time rank: any integer type, outside the tile, duplicates, copies, several calls."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutc.backend import KernelFault, Run, load_cpu
from layoutc.backend.cpu import CpuModule
from layoutc.backend.cuda import architectures, compile_ptx
from layoutc.backend.types import numpy_dtype
from layoutc.cuda_source import ArrayParam, CudaSource
from layoutc.layout import Layout, blocked, striped
from layoutc.plan.moves.by_rank import ByRank, GatherByShuffles
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.nodes import Target
from layoutc.plan.redistributions.redistribution import RedistributionPlan, plan_redistribution
from layoutc.reference.redistribution import wrong_items
from layoutc.render import render_header, render_redistribution
from layoutc.resolve.program import Redistribute
from layoutc.resolve.types import TYPES
from tests.backend_support import launch, load
from tests.exchange_support import Array
from tests.header_support import caller_of, compile_alone

Kind = Literal["scatter", "gather"]
RANK_TYPES = {
    "i8": "signed char", "u8": "u8", "i16": "i16", "u16": "u16", "i32": "int", "u32": "unsigned", "i64": "i64",
    "u64": "u64",
}
TILES, BLOCKS = 3, 2


def planned(
    kind: Kind, source: Layout, destination: Layout, type: str = "f32", via: str | None = None
) -> RedistributionPlan:
    exchange = Exchange(source, destination, TYPES[type].bytes)
    return plan_redistribution("move", exchange, kind, TYPES[type], via, Target())


def meaning(plan: RedistributionPlan) -> Redistribute:
    return Redistribute("move", plan.type, plan.kind, plan.exchange.source, plan.exchange.destination)


def with_ranks(plan: RedistributionPlan, type: str) -> CudaSource:
    """The kernel with ranks of another type."""
    source = render_redistribution(plan)
    text = source.text.replace("In<i64> ranks", f"In<{RANK_TYPES[type]}> ranks")
    text = re.sub(r"\bi64 rank\[", f"{RANK_TYPES[type]} rank[", text)
    (entry,) = source.entries
    params = tuple(
        replace(p, type=type) if isinstance(p, ArrayParam) and p.name == "ranks" else p for p in entry.params)
    return CudaSource(source.name, text, (replace(entry, params=params),))


def run(device: str, source: CudaSource, plan: RedistributionPlan, values: Array, ranks: Array, how: Run) -> Array:
    module = load(device, source)
    out = np.ones((len(values), plan.exchange.threads, plan.exchange.items_after), values.dtype)
    before = ranks.copy()
    runner = module.with_run(how) if isinstance(module, CpuModule) else module
    launch(runner, device, source.entries[0], BLOCKS, [values, ranks, out, len(values)])
    assert (ranks == before).all()
    return out


def drawn(plan: RedistributionPlan, dtype: str, seed: int) -> tuple[Array, Array]:
    """Values that are never 0; ranks around the tile, with the type's ends among them, many of them twice."""
    rng = np.random.default_rng(seed)
    threads = plan.exchange.threads
    values = rng.integers(1, 100, (TILES, threads, plan.exchange.items_before)).astype(numpy_dtype(plan.type.name))
    limits = np.iinfo(dtype)
    tile = plan.exchange.destination.values
    low, high = max(min(tile) - 4, limits.min), min(max(tile) + 4, limits.max)
    count = plan.exchange.items_before if plan.kind == "scatter" else plan.exchange.items_after
    ranks = rng.integers(low, high, (TILES, threads, count), dtype, endpoint=True)
    ranks[:, 0, 0], ranks[:, -1, -1] = limits.max, limits.min
    return values, ranks


PLANS = [
    planned("scatter", blocked(4, 2), blocked(4, 2)), planned("gather", striped(4, 2), blocked(4, 2)),
    planned("scatter", blocked(128, 4), striped(128, 4), "i16"),
    planned("gather", striped(96, 5), blocked(96, 5), "u8"),
    planned("scatter", blocked(48, 8), blocked(48, 8), "f64"),
    planned("gather", blocked(64, 16), striped(64, 16), "bf16"),
    # copies: the value of any; every copy of a destination
    planned("gather", Layout((64, 4), (0, 1)), Layout((64, (4, 2)), (0, (1, 0)))),
    planned("scatter", Layout((64, 4), (0, 1)), Layout((64, (4, 2)), (0, (1, 0))), "i64"),
    planned("scatter", Layout(((2, 16), 4), ((0, 4), 1)), Layout((32, 2), (1, 32)), "u8"),
    # positions that are not of the tile lie between those that are; least and greatest around zero
    planned("scatter", Layout((32, 2), (-32, 3)), Layout((32, 2), (-32, 3))),
    planned("gather", Layout((32, 2), (3, -96)), Layout((32, 2), (3, -96)), "f16"),
    planned("scatter", Layout((32, 2), (4, 200)), Layout((32, 2), (4, 200))),
    # a tile of one warp by shuffles, whatever would be cheaper, and through shared memory
    *(planned("gather", source, destination, type, "shuffle") for source, destination, type in (
        (blocked(32, 4), striped(32, 4), "i8"), (striped(32, 3), blocked(32, 3), "f64"),
        (blocked(32, 1), blocked(32, 1), "f16"), (striped(7, 5), blocked(7, 5), "u16"),
        (Layout((4, 3), (3, 1)), Layout((4, (3, 2)), (3, (1, 0))), "bool"))),
    planned("gather", striped(4, 2), blocked(4, 2), "i32", "shared"),
]


@pytest.mark.parametrize("number", range(len(PLANS)))
def test_ranks_of_every_type_name_what_they_say(number: int, device: str) -> None:
    plan = PLANS[number]
    types = list(RANK_TYPES)
    for k, type in enumerate(types if number < 2 else (types[number % 8], types[(number + 3) % 8])):
        source = with_ranks(plan, type)
        values, ranks = drawn(plan, np.dtype(type.replace("i", "int").replace("u", "uint")).name, 10 * number + k)
        for how in (Run(seed=1), Run(order="descending")) if device == "cpu" else (Run(),):
            got = run(device, source, plan, values, ranks, how)
            assert wrong_items(meaning(plan), got, values, ranks) == [], (type, how)


def test_worked_examples(device: str) -> None:
    values = np.array([[[1, 2], [3, 4], [5, 6], [7, 8]]], np.float32)
    ranks = np.array([[[7, 0], [6, 1], [5, 2], [4, 3]]], np.int64)
    got = run(device, render_redistribution(PLANS[0]), PLANS[0], values, ranks, Run())
    assert got.tolist() == [[[2, 4], [6, 8], [7, 5], [3, 1]]]
    values = np.array([[[1, 5], [2, 6], [3, 7], [4, 8]]], np.float32)
    ranks = np.array([[[7, 6], [5, 4], [3, 2], [1, 0]]], np.int64)
    got = run(device, render_redistribution(PLANS[1]), PLANS[1], values, ranks, Run())
    assert got.tolist() == [[[8, 7], [6, 5], [4, 3], [2, 1]]]


@pytest.mark.parametrize("kind", ["scatter", "gather"])
def test_a_tile_that_does_not_fit_goes_in_slices(kind: Kind, device: str) -> None:
    plan = planned(kind, striped(1024, 12), blocked(1024, 12), "f64")
    assert plan.function.shared_bytes <= 48 * 1024 < 1024 * 12 * 8
    values, ranks = drawn(plan, "int64", 7)
    got = run(device, render_redistribution(plan), plan, values, ranks, Run(seed=3))
    assert wrong_items(meaning(plan), got, values, ranks) == []


@pytest.mark.parametrize("via", [None, "shared", "shuffle"])
def test_triton_5836_far_more_is_wanted_than_there_is(via: str | None, device: str) -> None:
    """Sixteen values, of which every thread wants sixty-four."""
    plan = planned("gather", Layout((4, 4), (1, 4)), Layout((4, (4, 16)), (1, (4, 0))), "i32", via)
    values, ranks = drawn(plan, "int32", 3)
    got = run(device, render_redistribution(plan), plan, values, ranks.astype(np.int64), Run(seed=3))
    assert wrong_items(meaning(plan), got, values, ranks) == []


def test_all_values_for_one_position_and_none_for_the_others(device: str) -> None:
    plan = planned("scatter", blocked(64, 3), striped(64, 3), "i64")
    values = np.arange(1, 1 + TILES * 192, dtype=np.int64).reshape(TILES, 64, 3)
    got = run(device, render_redistribution(plan), plan, values, np.full_like(values, 100), Run(seed=5))
    assert (np.count_nonzero(got, axis=(1, 2)) == 1).all()
    assert all(one.max() in tile for one, tile in zip(got, values, strict=True))


def test_without_its_first_barrier_a_scatter_races() -> None:
    """What the order of clearing, writing and reading rests on is seen by the race detector."""
    source = render_redistribution(planned("scatter", blocked(64, 3), striped(64, 3)))
    text = source.text.replace("__syncthreads();", ";", 1)
    values, ranks = np.ones((1, 64, 3), np.float32), np.arange(192).reshape(1, 64, 3)[:, ::-1].copy()
    with pytest.raises(KernelFault, match="race"):
        load_cpu(CudaSource(source.name, text, source.entries)).launch(
            "move_test", 1, [values, ranks, np.zeros_like(values), 1])


def test_the_texts_compile_without_a_word() -> None:
    for arch in architectures():
        for plan in PLANS[::3]:
            assert compile_ptx(render_redistribution(plan), arch)[1] == ""
            header = render_header(plan)
            assert "class Rank" in header
            caller = caller_of(plan)
            for rank in ("int", "unsigned char", "unsigned long long"):
                assert compile_alone(header + caller.replace("const int* ranks", f"const {rank}* ranks")
                                     .replace("int rank[", f"{rank} rank["), arch) == ""


def test_a_means_that_cannot_know_the_rank_is_refused() -> None:
    exchange = Exchange(blocked(32, 2), blocked(32, 2), 4)
    tried: tuple[tuple[Kind, str], ...] = (("scatter", "registers"), ("scatter", "shuffle"), ("gather", "registers"))
    for kind, via in tried:
        plan = plan_redistribution("move", exchange, kind, TYPES["f32"], via, Target())
        assert plan.move is None
        assert [r.via for r in plan.refusals] == [via]


def test_a_gather_is_by_shuffles_where_the_tile_is_one_warp_s_and_that_is_cheaper() -> None:
    across = Exchange(blocked(64, 2), blocked(64, 2), 4)
    assert plan_redistribution("move", across, "gather", TYPES["f32"], "shuffle", Target()).move is None
    logical = Exchange(blocked(32, 2), blocked(32, 2), 4, 16)
    assert plan_redistribution("move", logical, "gather", TYPES["f32"], "shuffle", Target()).move is None
    # on an H200 the means meet between 3 and 4 items of 4 bytes: 0.376 and 0.435 ps, 0.631 and 0.462
    few, many = planned("gather", blocked(32, 3), blocked(32, 3)), planned("gather", blocked(32, 4), blocked(32, 4))
    assert isinstance(few.move, GatherByShuffles)
    assert few.function.shared_bytes == 0
    assert isinstance(many.move, ByRank)
    for plan, dearer in ((few, "shared"), (many, "shuffle")):
        (other,) = (r for r in plan.refusals if r.cost is not None)
        assert (other.via, other.why) == (dearer, "costs more")


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(["scatter", "gather"]), st.integers(0, 2**20))
def test_any_ranks(kind: Kind, seed: int) -> None:
    plan = planned(kind, blocked(40, 3), striped(40, 3), "u16")
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 2**16, (2, 40, 3)).astype(np.uint16)
    ranks = rng.integers(-5, 125, (2, 40, 3))
    got = run("cpu", render_redistribution(plan), plan, values, ranks, Run(seed=seed))
    assert wrong_items(meaning(plan), got, values, ranks) == []
