"""What explain counts is what a person counts, element by element and thread by thread."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutc.compiler import default_signature, plan_kernel, read_program
from layoutc.diagnostics import LayoutcError
from layoutc.explain import explain, explain_text
from layoutc.layout import Layout
from layoutc.module import compile as compile_text
from layoutc.parse.reading import read_source
from layoutc.plan.nodes import Target
from tests.golden_texts import examples

Point = tuple[int, ...]
Taps = Callable[[Point], Iterable[Point]]       # the elements that an output reads, inside the tensor or not


def facts_of(text: str, extents: dict[str, int] | None = None, schedule: str | None = None, **options: int) -> Any:
    module = compile_text(text)
    kernel = module[next(iter(module))]
    return explain(kernel.program, kernel.meaning, kernel.meaning.schedule(schedule), Target(), extents, **options)


def points(shape: Iterable[int]) -> Iterator[Point]:
    return product(*map(range, shape))


def inside(at: Point, shape: Point) -> bool:
    return all(0 <= i < n for i, n in zip(at, shape, strict=True))


def tiles(shape: Point, tile: Point) -> Iterator[Point]:
    """The first output of each."""
    return product(*(range(0, n, t) for n, t in zip(shape, tile, strict=True)))


def box(taps: Taps, begin: Point, tile: Point) -> Iterator[Point]:
    """The box around all that a full tile reads."""
    read = [at for place in points(tile) for at in taps(tuple(map(sum, zip(begin, place, strict=True))))]
    return product(*(range(min(axis), max(axis) + 1) for axis in zip(*read, strict=True)))


def counted(taps: Taps, outputs: Point, tensor: Point, tile: Point) -> tuple[int, int, int]:
    """Distinct elements, elements in the clipped boxes of all tiles, and reads; inside the tensor."""
    reads = [at for o in points(outputs) for at in taps(o) if inside(at, tensor)]
    loaded = sum(inside(at, tensor) for begin in tiles(outputs, tile) for at in box(taps, begin, tile))
    return len(set(reads)), loaded, len(reads)


# ---- traffic


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(0, 23), s=st.integers(1, 3), d=st.integers(1, 3), k=st.integers(1, 4), p=st.integers(-2, 5),
    tile=st.integers(1, 7))
def test_one_dimension(n: int, s: int, d: int, k: int, p: int, tile: int) -> None:
    """Any stride, dilation, padding and tile; M outputs, as many as the extent of z."""
    text = f"""
    kernel f(x: f32[N], z: f32[M]) -> (y: f32[M]) {{
        edge x = constant(0)
        y[i] = z[i] + sum(u in 0..{k}) x[{s}*i + {d}*u - {p}]
    }}
    schedule f {{ tile (i: {tile}) stage x in shared }}
    schedule f as direct {{ tile (i: {tile}) stage x in global }}"""
    outputs = 13

    def taps(o: Point) -> list[Point]:
        return [(s * o[0] + d * u - p,) for u in range(k)]

    unique, loaded, reads = counted(taps, (outputs,), (n,), (tile,))
    for schedule, moved in ((None, loaded), ("direct", reads)):
        facts = facts_of(text, {"N": n, "M": outputs}, schedule)
        traffic = facts["traffic"]["x"]
        assert (traffic["unique_bytes"], traffic["loaded_bytes"], traffic["reads_untiled"]) == (
            4 * unique, 4 * moved, reads)
        assert facts["footprint"]["x"] == [s * (tile - 1) + d * (k - 1) + 1]
        assert facts["halo"]["x"] == {"i": [p, d * (k - 1) - p]}


STAR = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)]


@pytest.mark.parametrize("shape", [(1, 1), (2, 5), (9, 7), (16, 33)])
def test_star(shape: Point) -> None:
    """A star is no box: the corners of a valid-size star are never read."""
    text = """
    kernel star(u: f32[H + 2, W + 2], like: f32[H, W]) -> (v: f32[H, W]) {
        v[i, j] = u[i+1, j+1] + u[i, j+1] + u[i+2, j+1] + u[i+1, j] + u[i+1, j+2] - 4*u[i+1, j+1]
    }
    schedule star { tile (i: 4, j: 8) stage u in shared }"""
    traffic = facts_of(text, {"H": shape[0], "W": shape[1]})["traffic"]["u"]
    large = (shape[0] + 2, shape[1] + 2)
    unique, loaded, reads = counted(
        lambda o: [(o[0] + 1 + a, o[1] + 1 + b) for a, b in STAR], shape, large, (4, 8))
    assert unique == prod(large) - 4
    assert (traffic["unique_bytes"], traffic["loaded_bytes"], traffic["reads_untiled"]) == (
        4 * unique, 4 * loaded, reads)


def test_what_each_thread_holds() -> None:
    text = """
    kernel blur(x: f32[H, W]) -> (y: f32[H, W]) {
        edge x = nearest
        y[i, j] = sum(u in -1..=1, v in -1..=1) x[i + u, j + v]
    }
    schedule blur { tile (i: 4, j: 16) threads (16, 4):(4, 1) stage x in registers }"""
    facts = facts_of(text, {"H": 10, "W": 21})
    each = [at for begin in tiles((10, 21), (4, 16)) for thread in range(16)
            for at in product(range(begin[0] + thread // 4 - 1, begin[0] + thread // 4 + 2),
                              range(begin[1] + thread % 4 * 4 - 1, begin[1] + thread % 4 * 4 + 5))]
    assert facts["traffic"]["x"]["loaded_bytes"] == 4 * sum(inside(at, (10, 21)) for at in each)
    assert facts["storage"]["items"][0] == {"name": "x", "where": "registers", "bytes": 3 * 6 * 4, "copies": 16}


def test_rows_on_their_way_in_shared_memory() -> None:
    """Rows of 128 columns, with one 16-byte vector more on either side, in three groups of four; 64 + 2 rows pass.

    Columns begin at whole lines of 128 bytes, behind one that holds what lies beside them.
    """
    text = """
    kernel blur(x: f32[H, W]) -> (y: f32[H, W]) {
        edge x = nearest
        y[i, j] = sum(u in -1..=1, v in -1..=1) x[i + u, j + v]
    }
    schedule blur { tile (i: 64, j: 128)  march i  stage x in shared }"""
    facts = facts_of(text, {"H": 200, "W": 300})
    rings = [i for i in facts["storage"]["items"] if i["where"] == "shared"]
    assert rings == [{"name": "x", "where": "shared", "bytes": 12 * (32 + 128) * 4, "copies": 1}]
    assert facts["storage"]["shared_bytes"] == 12 * (32 + 128) * 4
    each = [at for i, j in tiles((200, 300), (64, 128)) for at in product(range(i - 1, i + 65), range(j - 4, j + 132))]
    assert facts["traffic"]["x"]["loaded_bytes"] == 4 * sum(inside(at, (200, 300)) for at in each)
    assert facts["intensity"]["bytes"] == 4 * 66 * 136


@pytest.mark.parametrize("example", examples(), ids=lambda path: path.stem)
def test_what_a_text_has_in_shared_memory_is_listed(example: Path) -> None:
    """All of it but padding: boxes, rings, partial results, what redistributions go through."""
    program = read_program(read_source(str(example)))
    for kernel, schedule in ((k, s) for k in program.kernels for s in k.schedules or (None,)):
        plan, _ = plan_kernel(program, kernel, schedule, default_signature(kernel), Target())
        facts: Any = explain(program, kernel, schedule, Target())
        for made, told in zip(plan.passes, facts.get("passes", [facts]), strict=True):
            listed = told["storage"]["shared_bytes"]
            moved = sum(move["shared_bytes"] for move in told["redistribute"])
            assert listed <= made.shared_bytes <= 1.5 * (listed + moved)


@settings(max_examples=30, deadline=None)
@given(h=st.integers(1, 13), w=st.integers(1, 21), s=st.integers(1, 2), p=st.integers(-1, 6))
def test_the_halo_from_memory(h: int, w: int, s: int, p: int) -> None:
    """The part of its box that belongs to each tile once, and every read that leaves it."""
    text = f"""
    kernel blur(x: f32[H, W], like: f32[9, 10]) -> (y: f32[9, 10]) {{
        edge x = wrap
        y[i, j] = sum(u in -1..=1, v in -2..=2) x[i + u, {s}*j + v - {p}]
    }}
    schedule blur {{ tile (i: 4, j: 8) stage x in shared halo global }}"""
    outputs, tile, shape = (9, 10), (4, 8), (h, w)
    first, last = max(-2 - p, 0), min(2 - p, s - 1)
    if first > last:
        return      # no part of the box belongs to the tile; such a schedule is refused

    def core(begin: Point) -> list[Point]:
        ends = s * begin[1] + first, s * (begin[1] + tile[1] - 1) + last
        return list(product(range(begin[0], begin[0] + tile[0]), range(ends[0], ends[1] + 1)))

    loaded = 0
    for begin in tiles(outputs, tile):
        staged = set(core(begin))
        loaded += sum(inside(at, shape) for at in staged)
        loaded += sum(inside(at, shape) and at not in staged
                      for place in points(tile) for i, j in [(begin[0] + place[0], begin[1] + place[1])]
                      if inside((i, j), outputs)
                      for u in (-1, 0, 1) for v in range(-2, 3) for at in [(i + u, s * j + v - p)])
    facts = facts_of(text, {"H": h, "W": w})
    assert facts["traffic"]["x"]["loaded_bytes"] == 4 * loaded


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 17), m=st.integers(0, 19), tile=st.integers(1, 6), s=st.sampled_from([-2, -1, 1, 3]),
       a=st.integers(-3, 0), b=st.integers(1, 4), p=st.integers(-3, 20))
def test_what_a_kept_let_reads(n: int, m: int, tile: int, s: int, a: int, b: int, p: int) -> None:
    """At every place of each tile's box that a valid output needs, whichever way it walks the tensor."""
    text = f"""
    kernel f(x: f32[N], like: f32[M]) -> (y: f32[M]) {{
        edge x = constant(0)
        let g[i] = x[{s}*i + {p}] + x[{s}*i + {p + 2}]
        y[i] = like[i] + sum(u in {a}..={b}) g[2*i + u]
    }}
    schedule f {{ tile (i: {tile}) stage g in shared stage x in global }}"""
    made = [g for begin in range(0, m, tile)
            for g in range(2 * begin + a, 2 * (min(begin + tile, m) - 1) + b + 1)]
    loaded = sum(inside((s * g + q,), (n,)) for g in made for q in (p, p + 2))
    assert facts_of(text, {"N": n, "M": m})["traffic"]["x"]["loaded_bytes"] == 4 * loaded


def test_through_stages() -> None:
    """A let that is kept reads its own box once; inlined, every output reads through it, x[i - 1] on two ways once."""
    text = """
    kernel twice(x: f32[N]) -> (y: f32[N]) {
        edge x = constant(0)
        let g[i] = x[i - 1] + x[i + 1]
        y[i] = g[i - 2] + g[i] + g[i + 3]
    }
    schedule twice { tile (i: 5) stage g in shared stage x in global }
    schedule twice as both { tile (i: 5) stage g in shared stage x in shared }
    schedule twice as inlined { tile (i: 5) stage x in global }"""
    n, tile = 12, 5

    def taps(o: Point) -> set[Point]:
        return {(o[0] + a + b,) for a in (-2, 0, 3) for b in (-1, 1)}

    unique, boxes, reads = counted(taps, (n,), (n,), (tile,))
    made = [g for begin in range(0, n, tile) for g in range(begin - 2, min(begin + tile - 1, n - 1) + 4)]
    by_let = sum(inside((g + b,), (n,)) for g in made for b in (-1, 1))
    for schedule, loaded in ((None, by_let), ("both", boxes), ("inlined", reads)):
        facts = facts_of(text, {"N": n}, schedule)
        traffic = facts["traffic"]["x"]
        assert facts["halo"]["x"] == {"i": [3, 4]}
        assert (traffic["unique_bytes"], traffic["loaded_bytes"], traffic["reads_untiled"]) == (
            4 * unique, 4 * loaded, reads)
    assert facts_of(text, {"N": n})["footprint"]["g"] == [tile + 5]


def test_a_let_at_one_place_is_read_once() -> None:
    text = """
    kernel f(x: f32[N]) -> (y: f32[N], z: f32[N]) {
        edge x = nearest
        let g[i] = x[i + 1] - x[i - 1]
        y[i] = g[i] * g[i] + g[i]
        z[i] = g[i]
    }"""
    facts = facts_of(text, {"N": 10})
    assert facts["traffic"]["x"]["reads_untiled"] == 2 * 10 - 2
    assert facts["intensity"]["ops"] == (1 + 2) * facts["tile"]["i"]


def test_an_operand_without_the_index_is_loaded_by_every_block() -> None:
    text = """
    kernel f(x: f32[H, W], row: f32[W]) -> (y: f32[H, W]) { y[i, j] = x[i, j] * row[j] }
    schedule f { tile (i: 4, j: 8) stage row in shared }"""
    traffic = facts_of(text, {"H": 10, "W": 21})["traffic"]["row"]
    assert (traffic["unique_bytes"], traffic["loaded_bytes"], traffic["reads_untiled"]) == (4 * 21, 4 * 21 * 3, 210)


def test_reductions_over_extents_have_boxes_once_they_are_known() -> None:
    text = "kernel f(x: f32[H, W]) -> (m: f32[H]) { m[i] = sum(j) x[i, j] } schedule f { tile (i: 4) }"
    unknown, known = facts_of(text), facts_of(text, {"H": 10, "W": 7})
    assert unknown["footprint"]["x"] is None
    assert unknown["intensity"]["ops"] is None
    assert known["footprint"]["x"] == [4, 7]
    assert known["traffic"]["x"]["reads_untiled"] == 70
    assert known["intensity"]["ops"] == 4 * 7


def test_what_cannot_be_counted_is_null_not_wrong() -> None:
    text = """
    kernel f(table: f32[M], at: i32[N], x: f32[H]) -> (y: f32[N]) {
        edge table = nearest
        edge x = nearest
        y[i] = table[at[i]] + x[i // 2]
    }"""
    traffic = facts_of(text, {"M": 5, "N": 12, "H": 6})["traffic"]
    assert traffic["table"]["unique_bytes"] is traffic["table"]["loaded_bytes"] is None
    assert traffic["at"]["reads_untiled"] == 12


def test_a_proved_read_is_inside_whatever_its_subscript() -> None:
    text = "kernel f(x: f32[N]) -> (y: f32[2*N]) { y[i] = x[i // 2] }"
    assert facts_of(text, {"N": 7})["traffic"]["x"]["reads_untiled"] == 14


def test_reversed_and_diagonal_reads() -> None:
    text = """
    kernel f(x: f32[N, N], z: f32[N]) -> (y: f32[N]) {
        edge x = constant(0)
        y[i] = z[N - 1 - i] + sum(u in 0..3) x[i + u, u]
    }"""
    traffic = facts_of(text, {"N": 7})["traffic"]
    unique, _, reads = counted(lambda o: [(o[0] + u, u) for u in range(3)], (7,), (7, 7), (7,))
    assert (traffic["x"]["unique_bytes"], traffic["x"]["reads_untiled"]) == (4 * unique, reads)
    assert (traffic["z"]["unique_bytes"], traffic["z"]["reads_untiled"]) == (28, 7)


# ---- launch


@settings(max_examples=40, deadline=None)
@given(h=st.integers(0, 20), w=st.integers(0, 20), which=st.integers(0, 3))
def test_idle_threads_have_no_valid_output(h: int, w: int, which: int) -> None:
    layouts = ["(32,1):(1,32)", "(8,4):(4,1)", "((4,2),4):((1,16),4)", "(16,2):(1,16)"]
    text = f"""
    kernel copy(x: f32[H, W]) -> (y: f32[H, W]) {{ y[i, j] = x[i, j] }}
    schedule copy {{ tile (i: 4, j: 8) threads {layouts[which]} }}"""
    layout = Layout.parse(layouts[which])
    threads, items = layout[0].size, layout[1].size
    active = {}
    for begin in tiles((h, w), (4, 8)):
        at = [[layout(t, r) for r in range(items)] for t in range(threads)]
        active[begin] = sum(any(inside((begin[0] + p // 8, begin[1] + p % 8), (h, w)) for p in own) for own in at)
    launch = facts_of(text, {"H": h, "W": w})["launch"]
    assert launch["grid"] == [-(-h // 4), -(-w // 8)]
    assert launch["block"] == [threads]
    assert launch["blocks"] == len(active)
    assert launch["idle_threads"] == launch["threads"] - sum(active.values())
    assert launch["active_in_last_block"] == (active[max(active)] if active else 0)


def test_one_thread_for_each_input() -> None:
    text = """
    kernel blur(x: f32[H, W]) -> (y: f32[H, W]) {
        edge x = nearest
        y[i, j] = sum(u in -1..=1, v in -1..=1) x[i + u, j + v]
    }
    schedule blur { tile (i: 6, j: 14) threads over x stage x in shared }"""
    facts = facts_of(text, {"H": 12, "W": 14})
    assert facts["threads"] == {"count": 8 * 16, "layout": None, "over": "x"}
    assert facts["launch"]["idle_threads"] == 2 * (8 * 16 - 6 * 14)


# ---- transactions


@pytest.mark.parametrize(
    ("type", "index", "sectors", "used"),
    [("f32", "i", 4, 1.0), ("f64", "i", 8, 1.0), ("f16", "i", 2, 1.0), ("u8", "i", 1, 1.0), ("f32", "2*i", 8, 0.5),
     ("f32", "i + 1", 5, 0.8), ("f32", "8*i", 32, 0.125), ("f32", "31", 1, 0.125)],
)
def test_sectors_of_a_warp(type: str, index: str, sectors: int, used: float) -> None:
    text = f"kernel f(x: {type}[N]) -> (y: {type}[N]) {{ edge x = nearest; y[i] = x[{index}] }}"
    traffic = facts_of(text, {"N": 4096})["traffic"]["x"]
    assert (traffic["transactions_per_warp"], traffic["utilization"]) == (sectors, used)


def test_a_thread_that_owns_neighbours_strides_its_warp() -> None:
    text = """
    kernel f(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }
    schedule f { tile (i: 1024) threads blocked(256, 4) }
    schedule f as dealt { tile (i: 1024) threads striped(256, 4) }"""
    assert facts_of(text, {"N": 4096})["traffic"]["y"]["utilization"] == 0.25
    assert facts_of(text, {"N": 4096}, "dealt")["traffic"]["y"]["utilization"] == 1


def test_strides_that_the_kernel_insists_on() -> None:
    text = "kernel f(z: f32[N, 8]:(1, N)) -> (y: f32[N]) { y[i] = z[i, 3] }"
    assert facts_of(text, {"N": 256})["traffic"]["z"]["transactions_per_warp"] == 4


def test_vectors_move_whole_sectors() -> None:
    text = """
    kernel f(x: f32[N]) -> (y: f32[N]) { edge x = nearest; y[i] = x[i - 1] + x[i + 1] }
    schedule f { tile (i: 1024) threads 256 stage x in shared vector 4 }"""
    traffic = facts_of(text, {"N": 1 << 20})["traffic"]
    assert (traffic["x"]["transactions_per_warp"], traffic["x"]["utilization"]) == (17, 16 / 17)
    assert (traffic["y"]["transactions_per_warp"], traffic["y"]["utilization"]) == (16, 1)


# ---- the object


SMALL = "kernel f(x: f32[N]) -> (y: f32[N]) { edge x = nearest; y[i] = x[i + 1] }"
KEYS = ["name", "kind", "schedule", "arch", "tile", "threads", "halo", "footprint", "launch", "masks", "storage",
        "traffic", "intensity", "redistribute", "strategy", "same_bits"]


def test_is_plain_json_with_the_names_of_the_interface() -> None:
    for extents in (None, {"N": 100}):
        facts = facts_of(SMALL, extents)
        assert list(facts) == KEYS
        assert json.loads(json.dumps(facts)) == facts
        assert list(facts["launch"]) == [
            "grid", "block", "blocks", "threads", "idle_threads", "active_in_last_block"]
        assert list(facts["storage"]) == ["shared_bytes", "register_bytes", "items", "total_bytes"]
        assert list(facts["traffic"]["x"]) == [
            "unique_bytes", "loaded_bytes", "reads_untiled", "transactions_per_warp", "transaction_bytes",
            "utilization"]
        assert list(facts["intensity"]) == ["ops", "bytes", "ops_per_byte", "upper_bound"]


def test_what_needs_extents_is_null_without_them() -> None:
    facts = facts_of(SMALL)
    assert facts["launch"]["blocks"] is facts["traffic"]["x"]["unique_bytes"] is None
    assert facts_of(SMALL, {"M": 3})["launch"]["blocks"] is None
    assert facts_of("kernel f(x: f32[7]) -> (y: f32[7]) { y[i] = x[i] }")["launch"]["blocks"] == 1


def test_masks_say_which_side_and_why() -> None:
    assert facts_of(SMALL)["masks"] == [
        {"tensor": "y", "axis": 0, "side": "high", "kind": "ragged", "test": "i < N"},
        {"tensor": "x", "axis": 0, "side": "high", "kind": "edge", "test": "i + 1 < N"}]


def test_two_index_spaces_are_two_passes() -> None:
    text = """
    kernel f(x: f32[H, W]) -> (y: f32[H, W], top: f32[H]) {
        edge x = nearest
        y[i, j] = x[i, j - 2]
        top[i] = max(j) x[i, j]
    }
    schedule f { tile (i: 4, j: 8) }"""
    facts = facts_of(text, {"H": 10, "W": 20})
    first, second = facts["passes"]
    assert (first["outputs"], second["outputs"]) == (["y"], ["top"])
    assert facts["launch"] == first["launch"]
    assert facts["halo"]["x"] == second["halo"]["x"] | first["halo"]["x"]
    assert facts["traffic"]["x"]["reads_untiled"] == 10 * 18 + 200
    assert facts["traffic"]["x"]["unique_bytes"] == 4 * 200
    assert {i["name"] for i in facts["storage"]["items"]} == {"y", "top"}
    assert "pass 2 of 2: top" in explain_text(facts)


def test_accumulators_have_the_type_of_the_sum() -> None:
    text = """
    kernel f(x: f16[N], b: f16[]) -> (y: f16[N]) { edge x = nearest; y[i] = b[] + sum(u in 0..3) x[i + u] }
    schedule f { tile (i: 10) stage x in shared }"""
    assert facts_of(text)["storage"]["items"] == [
        {"name": "x", "where": "shared", "bytes": 24, "copies": 1},
        {"name": "b", "where": "registers", "bytes": 2, "copies": 1},
        {"name": "y", "where": "registers", "bytes": 40, "copies": 1}]


def test_text_says_every_number() -> None:
    facts = facts_of(SMALL, {"N": 3000})
    text = explain_text(facts)
    for number in (facts["launch"]["threads"], facts["launch"]["idle_threads"], facts["storage"]["total_bytes"],
                   facts["traffic"]["x"]["loaded_bytes"], facts["intensity"]["ops"]):
        assert f"{number}" in text
    assert "i [0, 1]" not in text
    assert "i [-1, 1]" in text
    assert "--shape" in explain_text(facts_of(SMALL))


def test_large_arrays_are_counted_not_walked() -> None:
    """2**40 elements: a walk would not end."""
    text = """
    kernel blur(x: f32[H, W], w: f32[5, 5]) -> (y: f32[H, W]) {
        edge x = nearest
        y[i, j] = sum(u in 0..5, v in 0..5) w[u, v] * x[i + u - 2, j + v - 2]
    }
    kernel sum(x: f32[N]) -> (s: f32[]) { s[] = sum(i) x[i] }"""
    module = compile_text(text)
    facts: Any = module.blur.explain(H=1 << 20, W=1 << 20)
    total: Any = module["sum"].explain(N=1 << 40)
    n = 1 << 20
    assert facts["traffic"]["x"]["reads_untiled"] == (5 * n - 6) ** 2
    assert facts["traffic"]["x"]["unique_bytes"] == 4 * n * n
    assert total["traffic"]["x"]["unique_bytes"] == 4 << 40


@pytest.mark.parametrize("extent", ["a", -1, 2.5, None, [3]])
def test_an_extent_that_is_none_is_refused(extent: Any) -> None:
    kernel = compile_text("kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = x[i] }").k
    with pytest.raises(LayoutcError, match="bad-extent"):
        kernel.explain(N=extent)
    assert kernel.explain(N=np.int64(5)) == kernel.explain({"N": 5})


@pytest.mark.parametrize(("name", "help"), [("height", "did you mean `Height`"), ("N", "there is: Height")])
def test_an_extent_that_the_kernel_has_not_is_refused(name: str, help: str) -> None:
    kernel = compile_text("kernel k(x: f32[Height]) -> (y: f32[Height]) { y[i] = x[i] }").k
    with pytest.raises(LayoutcError, match="unknown-extent") as caught:
        kernel.explain({name: 3})
    assert help in str(caught.value)


@pytest.mark.parametrize(("reads", "kind"), [("x[i]", "ragged"), ("x[i - 1]", "ragged"), ("x[i + 1]", "edge")])
@pytest.mark.parametrize("edge", ["nearest", "constant(0)"])
def test_what_lies_past_the_end_is_an_edge_only_where_an_output_reads_it(reads: str, kind: str, edge: str) -> None:
    """The box of the last tile goes past the end of the data anyway."""
    facts = facts_of(f"""
        kernel k(x: f32[N]) -> (y: f32[N]) {{ edge x = {edge}  y[i] = {reads} }}
        schedule k {{ tile (i: 16)  stage x in shared }}""")
    assert [m["kind"] for m in facts["masks"] if (m["tensor"], m["side"]) == ("x", "high")] == [kind]
