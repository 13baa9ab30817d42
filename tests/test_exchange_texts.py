"""Generated redistributions run under several orders of threads and compile everywhere, by every means."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from layoutc.backend import KernelFault, Run
from layoutc.backend.cpu import CpuModule
from layoutc.backend.cuda import architectures, compile_ptx
from layoutc.cuda_source import ArrayParam, CudaSource, Entry
from layoutc.layout import Layout, blocked, striped, warp_striped
from layoutc.lines import fold_lines
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.moves.nodes import RenameRegisters, Shuffle, ThroughShared
from layoutc.plan.nodes import Target
from layoutc.plan.redistributions.redistribution import RedistributionPlan, header_of, plan_redistribution
from layoutc.plan.steps import File
from layoutc.render import render_header, render_redistribution, render_step
from layoutc.resolve.types import TYPES
from tests.backend_support import entry_of, launch, load
from tests.exchange_support import (
    BY_COLUMNS,
    CASES,
    MEANS,
    Case,
    by_columns,
    by_every_means,
    case,
    held,
    in_place,
    planned,
    random_tiles,
    same_bits,
    together,
)
from tests.header_support import caller_of, compile_alone

CHUNKS = 8          # texts that hold all of them
RUNS = (Run(order="ascending"), Run(order="descending"), Run(seed=1), Run(seed=2))
TILES, BLOCKS = 5, 2        # so that calls follow one another in a block
ARCHITECTURES = architectures()


@cache
def chunks() -> list[list[RedistributionPlan]]:
    plans = [*by_every_means(CASES), *by_columns()]
    return [plans[k::CHUNKS] for k in range(CHUNKS)]


def check(device: str, source: CudaSource, plans: list[RedistributionPlan], runs: tuple[Run, ...] = RUNS) -> None:
    """What arrives is the permutation, bit for bit, whatever the order of the threads."""
    module = load(device, source)
    for seed, plan in enumerate(plans):
        before, after = plan.exchange.source, plan.exchange.destination
        assert isinstance(before, Layout)
        assert isinstance(after, Layout)
        tiles = random_tiles(plan.type.name, TILES, before, seed)
        wanted = held(after, tiles)
        for run in runs if device == "cpu" else runs[:1]:
            got = np.zeros_like(wanted)
            runner = module.with_run(run) if isinstance(module, CpuModule) else module
            launch(runner, device, entry_of(source, plan.entry), BLOCKS, [held(before, tiles), got, TILES])
            assert same_bits(got, wanted), (plan.name, str(before), str(after), run)


@pytest.mark.parametrize("number", range(CHUNKS))
def test_what_arrives_is_the_permutation(number: int, device: str) -> None:
    check(device, together(f"exchanges_{number}.cu", chunks()[number]), chunks()[number])


def test_every_means_is_tried_by_many() -> None:
    plans = [plan for chunk in chunks() for plan in chunk]
    counts = [sum(plan.name.endswith(means) for plan in plans) for means in MEANS]
    assert counts[0] >= 8
    assert counts[1] >= 35
    assert counts[2] == len(CASES)
    assert {plan.type.bytes for plan in plans if plan.name.endswith("shuffle")} == {1, 2, 4, 8}


def test_columns_are_of_every_count_on_both_sides() -> None:
    sides = []
    for plan in by_columns():
        assert isinstance(plan.move, ThroughShared), plan.name
        write, read = plan.move.buffer.write, plan.move.buffer.read
        assert write.columns or read.columns, plan.name
        verb, side = ("store", write) if write.columns else ("load", read)
        sides.append((plan.type.bytes, verb, side.vector))
    assert set(sides) >= {(2, "store", 2), (2, "store", 4), (2, "store", 8), (2, "load", 4), (2, "load", 8),
                          (1, "load", 2), (1, "load", 4), (1, "load", 8), (1, "load", 16)}


def test_an_architecture_without_the_accesses_is_planned_without_columns() -> None:
    for arch, loads, stores in (("sm_70", False, False), ("sm_75", True, False), ("sm_89", True, False),
                                ("sm_90", True, True), ("sm_100", True, True)):
        found = set()
        for type, one in BY_COLUMNS:
            exchange = Exchange(one.source, one.destination, TYPES[type].bytes)
            plan = plan_redistribution("r", exchange, "exchange", TYPES[type], "shared", Target(arch))
            assert isinstance(plan.move, ThroughShared)
            found |= {("stores", plan.move.buffer.write.columns), ("loads", plan.move.buffer.read.columns)}
        assert (("loads", True) in found, ("stores", True) in found) == (loads, stores), arch


def test_stores_by_columns_where_the_architecture_has_none(device: str) -> None:
    """A header is for older architectures too than the one that it was planned for."""
    for plan in by_columns():
        assert isinstance(plan.move, ThroughShared)
        if not plan.move.buffer.write.columns or plan.type.name in ("f16", "bf16"):
            continue
        older = render_header(plan).replace("__CUDA_ARCH__ >= 900", "__CUDA_ARCH__ >= 9999")
        assert "9999" in older
        text, threads = older + caller_of(plan), plan.exchange.threads
        if device == "cpu":
            assert compile_alone(text, ARCHITECTURES[0]) == ""
            continue
        params = (ArrayParam("x", plan.type.name, False), ArrayParam("y", plan.type.name, True))
        source = CudaSource("older.cu", text, (Entry(f"{header_of(plan).functions[0].name}_caller", threads, params),))
        assert isinstance(plan.exchange.source, Layout)
        assert isinstance(plan.exchange.destination, Layout)
        tiles = random_tiles(plan.type.name, TILES, plan.exchange.source, 1)
        wanted = held(plan.exchange.destination, tiles)
        got = np.zeros_like(wanted)
        launch(load(device, source), device, source.entries[0], TILES, [held(plan.exchange.source, tiles), got])
        assert same_bits(got, wanted), plan.name


@pytest.mark.parametrize("number", range(CHUNKS))
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_texts_compile_without_a_word(number: int, arch: str) -> None:
    _, log = compile_ptx(together(f"exchanges_{number}.cu", chunks()[number]), arch)
    assert log == ""


# ---- one array for what is held before and afterwards


def test_before_and_after_may_be_one_array(device: str) -> None:
    plans = [plan for chunk in chunks() for plan in chunk if plan.exchange.items_before == plan.exchange.items_after]
    plans.append(planned("sliced", Case(blocked(1024, 16), striped(1024, 16)), "f32", "shared"))
    chosen = [*plans[:-1:3], plans[-1]]
    source = together("in_place.cu", chosen)
    text, count = re.subn(*in_place(), source.text)
    assert count == len(chosen)
    check(device, CudaSource("in_place.cu", text, source.entries), chosen, RUNS[2:3])


# ---- two buffers in turns


def in_turns(plans: list[RedistributionPlan]) -> CudaSource:
    """The kernels with the functions of two buffers; a block's tiles take turns."""
    source = together("turns.cu", plans)
    functions = tuple(header_of(plan).functions[1] for plan in plans)
    text = source.text.replace("KERNEL(", fold_lines(render_step(functions)) + "\nKERNEL(", 1)
    for plan in plans:
        name = plan.function.name
        text = text.replace(f" {name}(before, after);", f" {name}_in_turns(before, after, unsigned(tile / gridDim.x));")
    return CudaSource(source.name, text, source.entries)


def turning() -> list[RedistributionPlan]:
    plans = [plan for chunk in chunks() for plan in chunk if plan.type.name not in ("f16", "bf16")]
    return [plan for plan in plans if len(header_of(plan).functions) == 2]


def test_calls_in_turns_need_one_barrier(device: str) -> None:
    plans = turning()
    assert len(plans) >= 8
    source = in_turns(plans)
    assert source.text.count("__syncthreads()") == 3 * len(plans)
    check(device, source, plans)


def test_calls_out_of_turn_are_seen_to_race() -> None:
    (plan, *_) = turning()
    source = in_turns([plan])
    text = source.text.replace("unsigned(tile / gridDim.x)", "0u")
    with pytest.raises(KernelFault, match="race"):
        check("cpu", CudaSource(source.name, text, source.entries), [plan])


# ---- several tiles in one block


def in_one_block(plans: list[RedistributionPlan], times: int) -> CudaSource:
    """The kernels with the headers' functions, for ``times`` tiles a block."""
    source = together("tiles.cu", plans)
    functions = []
    for plan in plans:
        assert plan.file is not None
        functions += [header_of(plan).functions[0], plan.file.functions[1]]
    text = fold_lines(render_step(File((), "i64", tuple(functions)))) + "\n"
    for plan in plans:
        name = plan.function.name
        text = text.replace(f" {name}(before, after);", f" {name}<{times}>(before, after);")
    text = re.sub(r"KERNEL\((\d+)\)", lambda found: f"KERNEL({int(found[1]) * times})", text)
    text = re.sub(r"\[tile \* (\d+)", lambda found: f"[tile * {int(found[1]) * times}", text)
    entries = tuple(replace(entry, threads=entry.threads * times) for entry in source.entries)
    return CudaSource(source.name, text, entries)


def test_a_block_may_be_of_several_tiles(device: str) -> None:
    """Whole warps each: what a tile's threads take is of their own tile, under any order of the threads."""
    times = 3
    plans = [plan for chunk in chunks() for plan in chunk
             if plan.exchange.threads % 32 == 0 and plan.exchange.threads * times <= 1024][::2]
    assert {type(plan.move) for plan in plans} >= {RenameRegisters, Shuffle, ThroughShared}
    assert {plan.move.barrier for plan in plans if isinstance(plan.move, ThroughShared)} == {"warp", "block"}
    source = in_one_block(plans, times)
    module = load(device, source)
    for seed, plan in enumerate(plans):
        before, after = plan.exchange.source, plan.exchange.destination
        assert isinstance(before, Layout)
        assert isinstance(after, Layout)
        tiles = random_tiles(plan.type.name, 2 * times, before, seed)
        wanted = held(after, tiles)
        runner = module.with_run(Run(seed=seed)) if isinstance(module, CpuModule) else module
        got = np.zeros_like(wanted)
        launch(runner, device, entry_of(source, plan.entry), 1, [held(before, tiles), got, 2])
        assert same_bits(got, wanted), plan.name


# ---- more than shared memory holds at once


@pytest.mark.parametrize("one", [
    Case(blocked(512, 40), striped(512, 40)), Case(striped(1024, 7), blocked(1024, 7)),
    Case(blocked(256, 32), warp_striped(256, 32, 32)),
], ids=str)
def test_a_tile_that_does_not_fit_goes_in_slices(one: Case, device: str) -> None:
    plan = planned("slices", one, "f64", "shared")
    assert plan.function.shared_bytes <= 48 * 1024 < one.source.size * 8
    check(device, render_redistribution(plan), [plan], RUNS[2:3])


# ---- what the text says


def test_blocked_to_striped_reads_as_a_person_would_write_it() -> None:
    text = render_redistribution(planned("b2s", Case(blocked(128, 4), striped(128, 4)), "f32", None)).text
    function = text[text.index("// b2s"):text.index("KERNEL")].strip()
    assert function == """\
// b2s: f32, (128,4):(4,1) -> (128,4):(1,128)
// Through 2048 bytes of shared memory: 4 items a store, 1 a load;
// wavefronts of the block: 16 to write (ideal 16), 16 to read (ideal 16).
// Call it with all of a one-dimensional block of 128 threads; thread t is threadIdx.x.
// It synchronises the block before it writes and before it reads: calls may follow one another,
// and nothing else need be synchronised for it.
inline constexpr int b2s_shared_bytes = 2048;
DEVICE void b2s(const float (&before)[4], float (&after)[4]) {
    const int thread = threadIdx.x;
    SHARED(float, b2s_buffer, 512);
    __syncthreads();
    store(b2s_buffer + thread * 4, Pack<float, 4>{{before[0], before[1], before[2], before[3]}});
    __syncthreads();
    UNROLL
    for (int group = 0; group < 4; ++group) {
        after[group] = b2s_buffer[thread + group * 128];
    }
}"""


@pytest.mark.parametrize(("one", "shared", "barriers", "shuffles"), [
    (Case(blocked(128, 4), striped(128, 4)), 2048, ("__syncthreads();", 2), 0),
    (Case(blocked(128, 4), warp_striped(128, 4, 32)), 2048, ("__syncwarp();", 2), 0),
    (Case(blocked(128, 4), blocked(128, 4)), 0, ("__sync", 0), 0),
    # each warp holds all values, but one of them writes for all: a warp's barrier would not do
    (case("(64,4):(0,1)", "((32,2),2):((0,0),1)"), 0, ("__sync", 0), 0),
], ids=str)
def test_what_is_shared_and_synchronised(
    one: Case, shared: int, barriers: tuple[str, int], shuffles: int
) -> None:
    via = "shared" if shared else None
    source = render_redistribution(planned("move", one, "f32", via))
    assert f"move_shared_bytes = {shared};" in source.text
    assert source.text.count(barriers[0]) == barriers[1]
    assert source.text.count(" shuffle(") == shuffles


def test_a_name_of_the_language_or_the_runtime_steps_aside() -> None:
    for name in ("thread", "before", "switch", "load", "item", "T"):
        plan = planned(name, Case(blocked(32, 4), striped(32, 4)), "f32", None)
        assert plan.function.name != name
        assert compile_ptx(render_redistribution(plan), ARCHITECTURES[0])[1] == ""


# ---- public reports: shuffles for any count of items and lanes, several logical warps in a block


LOGICAL = [(128, 7, 32), (64, 4, 8), (96, 3, 4), (64, 2, 2), (32, 12, 16)]


@pytest.mark.parametrize(("threads", "items", "lanes"), LOGICAL)
def test_logical_warps_keep_their_values_apart(threads: int, items: int, lanes: int, device: str) -> None:
    plans = [planned(f"logical_{type}_{number}", one, type, "shuffle")
             for number, one in enumerate(both_ways(threads, items, lanes)) for type in ("f64", "u8")]
    check(device, together("logical.cu", plans), plans, RUNS[2:3])


def both_ways(threads: int, items: int, lanes: int) -> list[Case]:
    sides = blocked(threads, items), warp_striped(threads, items, lanes)
    return [Case(sides[0], sides[1], lanes), Case(sides[1], sides[0], lanes)]


# ---- headers stand alone


@cache
def headed() -> list[RedistributionPlan]:
    return [plan for chunk in chunks() for plan in chunk][::4]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_headers_compile_alone_and_together(arch: str) -> None:
    texts = [render_header(plan) for plan in headed()]
    assert all("#include" not in text and "layoutc.cuh" not in text for text in texts)
    for plan, text in list(zip(headed(), texts, strict=True))[::6]:
        assert compile_alone(text + caller_of(plan), arch) == ""
    assert compile_alone("\n".join([*texts, *texts[:2], *map(caller_of, headed())]), arch) == ""


def test_headers_compile_with_nvcc(tmp_path: Path) -> None:
    nvcc = shutil.which("nvcc")
    text = "\n".join([*map(render_header, headed()[:12]), *map(caller_of, headed()[:12])])
    (tmp_path / "headers.cu").write_text(text)
    if nvcc is None:
        assert compile_alone(text, ARCHITECTURES[1]) == ""
        return
    words = [nvcc, "-arch=sm_80", "-Xcompiler=-Wall,-Wextra", "-ptx", "headers.cu"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
