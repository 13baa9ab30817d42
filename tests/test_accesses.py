"""``load x as L`` and ``store y as L``: the answers are NumPy's, and values move only where layouts differ."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from numpy.typing import NDArray

from layoutc import compile as compile_text
from layoutc.backend.types import numpy_dtype
from layoutc.compare import compare
from layoutc.diagnostics import LayoutcError

TYPES = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64")
EDGES = ("nearest", "wrap", "mirror", "reflect", "(constant(0), nearest)")


def counted(type: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """Small numbers, neighbours different."""
    return (np.arange(prod(shape)) * 7 % 101).reshape(shape).astype(numpy_dtype(type))


def disagreements(text: str, shapes: list[tuple[int, ...]], type: str, device: str) -> list[object]:
    """What the default schedule of the one kernel gives otherwise than NumPy."""
    kernel = compile_text(text)["k"]
    found: list[object] = []
    for shape in shapes:
        x = counted(type, shape)
        got = kernel(x, device=device)
        found += compare(kernel.meaning, [x], got if isinstance(got, tuple) else (got,))
    return found


def moves(text: str) -> list[Any]:
    facts: Any = compile_text(text)["k"].explain(None)
    return list(facts["redistribute"])


def refusal(clauses: str) -> str:
    with pytest.raises(LayoutcError) as caught:
        compile_text(STENCIL + f"schedule k {{ {clauses} }}")["k"].explain(None)
    return str(caught.value)


STENCIL = "kernel k(x: f32[N]) -> (y: f32[N]) { edge x = nearest y[i] = x[i - 1] + 2 * x[i] + x[i + 1] }\n"


# ---- any schedule gives what NumPy says


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("where", ["registers", "shared"])
def test_every_item_type(type: str, where: str, device: str) -> None:
    joined = {"bool": "x[i - 1] or x[i + 2]"}.get(type, f"{type}(x[i - 1] + x[i + 2])")
    text = f"""kernel k(x: {type}[N]) -> (y: {type}[N]) {{ edge x = mirror  y[i] = {joined} }}
        schedule k {{ tile (i: 99) threads blocked(33, 3) stage x in {where}
            load x as striped(33, 4) store y as striped(33, 3) }}"""
    shapes: list[tuple[int, ...]] = [(n,) for n in (1, 2, 98, 99, 100, 250)]
    assert disagreements(text, shapes, type, device) == []


@st.composite
def layouts(draw: DrawFn, threads: int, items: int) -> str:
    """A bijection: blocked, striped, or striped inside groups of threads."""
    group = draw(st.sampled_from([n for n in range(1, threads + 1) if threads % n == 0]))
    return draw(st.sampled_from((
        f"blocked({threads}, {items})", f"striped({threads}, {items})",
        f"(({group}, {threads // group}), {items}):((1, {group * items}), {group})")))


@st.composite
def scheduled(draw: DrawFn) -> tuple[str, list[tuple[int, ...]], str]:
    """A stencil of one or two dimensions, its schedule, and extents around the tile."""
    type = draw(st.sampled_from(TYPES[1:]))
    threads, items = draw(st.sampled_from((1, 2, 3, 5, 8, 31, 32, 33, 48))), draw(st.integers(1, 5))
    count = threads * items
    rows = draw(st.sampled_from([n for n in range(1, count + 1) if count % n == 0])) if draw(st.booleans()) else 0
    tile = (rows, count // rows) if rows else (count,)
    indices, dims = ("i", "j")[-len(tile):], ("H", "W")[-len(tile):]
    low, high = draw(st.integers(-2, 0)), draw(st.integers(0, 2))
    reads = " + ".join(f"x[{', '.join((*indices[:-1], f'j + {o}'))}]" for o in (low, high))
    extents = ", ".join(dims)
    edge = draw(st.sampled_from(EDGES))
    box = prod(tile[:-1]) * (tile[-1] + high - low)
    loaded = draw(layouts(threads, -(-box // threads) + draw(st.integers(0, 1))))
    stored = draw(layouts(threads, items + draw(st.integers(0, 1))))
    clauses = [
        f"tile ({', '.join(f'{i}: {n}' for i, n in zip(indices, tile, strict=True))})",
        draw(st.sampled_from((f"threads {threads}", f"threads {draw(layouts(threads, items))}"))),
        draw(st.sampled_from(("", "stage x in shared"))),
        draw(st.sampled_from(("", f"load x as {loaded}"))), draw(st.sampled_from(("", f"store y as {stored}"))),
        draw(st.sampled_from(("", "vector 4")))]
    text = f"""kernel k(x: {type}[{extents}]) -> (y: {type}[{extents}], z: {type}[{extents}]) {{
        edge x = {edge}  y[{', '.join(indices)}] = {type}({reads})  z[{', '.join(indices)}] = x[{', '.join(indices)}] }}
        schedule k {{ {'  '.join(clauses)} }}"""
    shapes = [tuple(draw(st.sampled_from((1, 2, n - 1, n, n + 1, 2 * n + 3))) or 1 for n in tile) for _ in range(3)]
    return text, shapes, type


@settings(max_examples=40, deadline=None)
@given(drawn=scheduled())
def test_any_layouts(drawn: tuple[str, list[tuple[int, ...]], str]) -> None:
    assert disagreements(*drawn, "cpu") == []


@pytest.mark.parametrize("threads", [3, 5, 7, 33, 37])
def test_last_warps_that_are_not_whole(threads: int, device: str) -> None:
    """Shuffles name lanes that exist only; the CPU run says where not."""
    for first, second in (("striped", "blocked"), ("blocked", "striped")):
        text = f"""kernel k(x: f16[N]) -> (y: f16[N]) {{ edge x = wrap  y[i] = x[i - 1] + x[i + 1] }}
            schedule k {{ tile (i: {threads * 2}) threads {second}({threads}, 2)
                load x as {first}({threads}, 3) store y as {first}({threads}, 2) }}"""
        assert disagreements(text, [(threads * 5,)], "f16", device) == []


def test_small_tensors_are_spread_by_the_threads_that_load_them(device: str) -> None:
    text = """kernel k(x: f32[3]) -> (y: f32[64]) { y[m] = sum(u in 0..3) x[u] * f32(u + m) }
        schedule k { tile (m: 64) threads 32 stage x in registers load x as striped(32, 1) }"""
    kernel = compile_text(text)["k"]
    x = counted("f32", (3,))
    assert compare(kernel.meaning, [x], (kernel(x, device=device),)) == []
    facts: Any = kernel.explain(None)
    move, = facts["redistribute"]
    assert (move["from"], move["to"]) == ("(32,1):(1,32)", "(32,3):(0,1)")


def test_moves_take_turns_in_what_shared_memory_there_is(device: str) -> None:
    """36 KiB for the load and 32 for the store, of 48."""
    text = STENCIL + """schedule k { tile (i: 8192) threads blocked(1024, 8)
        load x as striped(1024, 9) store y as striped(1024, 8) }"""
    assert sum(m["shared_bytes"] for m in moves(text)) <= 48 * 1024
    assert disagreements(text, [(20000,)], "f32", device) == []
    small = text.replace("store", "budget shared 4 KiB store")
    assert sum(m["shared_bytes"] for m in moves(small)) <= 4 * 1024
    assert disagreements(small, [(9000,)], "f32", device) == []


def test_an_output_may_be_its_input(device: str) -> None:
    text = """kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = 2 * x[i] }
        schedule k { tile (i: 128) threads blocked(32, 4) load x as striped(32, 4) store y as striped(32, 4) }"""
    x = counted("f32", (300,))
    wanted = 2 * x
    compile_text(text)["k"](x, out=x, device=device)
    assert (x == wanted).all()


# ---- what moves, and what does not


def test_neighbours_come_from_registers() -> None:
    """Six elements of which a thread's four outputs are made, in registers, after one move each way."""
    text = STENCIL + """schedule k { tile (i: 128) threads blocked(32, 4)
        load x as striped(32, 5) store y as striped(32, 4) }"""
    kernel = compile_text(text)["k"]
    assert [(m["name"], m["from"], m["to"]) for m in moves(text)] == [
        ("k_load_x", "(32,5):(1,32)", "(32,6):(4,1)"), ("k_store_y", "(32,4):(4,1)", "(32,4):(1,32)")]
    assert [m["barrier"] for m in moves(text)] == ["warp", "warp"]      # none for the block: it is one warp
    lines = kernel.cuda.splitlines()
    assert "    float x_held[6];" in lines
    assert "// x: loaded as (32,5):(1,32), then by k_load_x" in lines
    assert "// y: stored as (32,4):(1,32), after k_store_y" in lines


@pytest.mark.parametrize("clauses", [
    "threads striped(32, 4) store y as striped(32, 4)", "threads blocked(32, 4) store y as (32, 4):(4, 1)",
    "threads 32 store y as striped(32, 5)", "threads 32 stage x in shared load x as blocked(32, 5)",
])
def test_nothing_moves_where_the_layouts_agree(clauses: str) -> None:
    assert moves(STENCIL + f"schedule k {{ tile (i: 128) {clauses} }}") == []


def test_a_load_stages_where_the_schedule_does_not_say() -> None:
    """In registers where a thread needs little, in shared memory where its outputs lie far apart."""
    for owner, where in (("blocked(32, 4)", "registers"), ("striped(32, 4)", "shared")):
        facts: Any = compile_text(
            STENCIL + f"schedule k {{ tile (i: 128) threads {owner} load x as striped(32, 5) }}")["k"].explain(None)
        assert [i["where"] for i in facts["storage"]["items"] if i["name"] == "x"] == [where]


def test_the_block_has_the_threads_of_its_layouts() -> None:
    facts: Any = compile_text(STENCIL + "schedule k { tile (i: 128) store y as blocked(64, 2) }")["k"].explain(None)
    assert facts["threads"]["count"] == 64


def test_sectors_of_a_warp() -> None:
    """32 neighbouring floats are 4 sectors of 32 bytes, a float of every 16 bytes 16; of the load, 1 element early."""
    for layout, sectors in (("striped", 4), ("blocked", 16)):
        facts: Any = compile_text(STENCIL + f"""schedule k {{ tile (i: 128) threads blocked(32, 4) stage x in shared
            load x as striped(32, 5) store y as {layout}(32, 4) }}""")["k"].explain({"N": 1024})
        assert facts["traffic"]["y"]["transactions_per_warp"] == sectors
        assert facts["traffic"]["x"]["transactions_per_warp"] == 5


# ---- what is refused


def test_too_small_says_both_numbers() -> None:
    said = refusal("tile (i: 128) threads blocked(32, 4) load x as striped(32, 4)")
    assert "(32,4):(1,32) moves 128 elements, the box of `x` has 130" in said
    assert "load x as striped(32, 4)" in said
    said = refusal("tile (i: 128) store y as striped(16, 7)")
    assert "(16,7):(1,16) moves 112 elements, the tile of `y` has 128" in said


@pytest.mark.parametrize(("clauses", "why"), [
    ("stage x in global load x as striped(8, 2)", "nothing of `x` is staged"),
    ("load x as (8, 2):(1, 7)", "position 7 of the box of `x` is loaded twice, by item 0 of thread 7 and item 1 of"),
    ("load x as (8, 2):(1, 9)", "position 8 of the box of `x` is left out"),
    ("load x as (8, 2):(-1, 8)", "item 0 of thread 1 is at -1, before the box of `x`"),
    ("store y as (8, 2):(0, 1)", "position 0 of the tile of `y` is stored twice"),
    ("store y as striped(8, 300)", "300 items in registers, more than 255"),
    ("threads over x stage x in shared store y as striped(10, 1)", "owned as the box of an input"),
    ("threads over x stage x in shared load x as striped(8, 2)", "the block has 10 threads, and (8,2):(1,8) is for 8"),
    ("threads 3 stage x in registers load x as striped(3, 5)", "do not lie alike"),
    ("budget shared 20 stage x in shared load x as striped(8, 2)", "a block needs 40 bytes of shared memory"),
])
def test_what_cannot_be_honoured(clauses: str, why: str) -> None:
    assert why in refusal(f"tile (i: 8) {clauses}")
