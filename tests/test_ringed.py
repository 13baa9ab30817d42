"""Walks whose rows pass through shared memory in groups: NumPy's answers, and where they are taken."""

from __future__ import annotations

import re

import numpy as np
import pytest

from layoutc.calling.launches import block_count
from layoutc.compiler import default_signature, read_program
from layoutc.diagnostics import LayoutcError
from layoutc.module import Module, compile
from layoutc.plan.nodes import Target
from layoutc.source import Source
from layoutc.testing import assert_matches_numpy
from tests.test_window import arrays, check, kernel_of, strategies

RULES = ("constant(3)", "nearest", "reflect", "mirror", "wrap")


def box(rows: int, columns: int, edge: str, type: str = "f32") -> str:
    """A correlation whose weights are given at the call."""
    return f"""kernel k(x: {type}[H, W], w: {type}[{rows}, {columns}]) -> (y: {type}[H, W]) {{
    edge x = {edge}
    y[i, j] = sum(u in 0..{rows}, v in 0..{columns}) w[u, v] * x[i + u - {rows // 2}, j + v - {columns // 2}]
}}"""


@pytest.mark.parametrize(("rule", "size", "type"), [
    ("constant(3)", 9, "f32"), ("nearest", 7, "f16"), ("reflect", 9, "f64"), ("mirror", 7, "f64"), ("wrap", 7, "bf16")])
def test_edge_rules_are_applied_on_the_way(rule: str, size: int, type: str, device: str) -> None:
    """Fewer rows than a window has; columns that end amid a block's."""
    kernel = compile(box(size, size, rule, type)).k
    assert strategies(kernel) == ["ringed"]
    for shape in [(1, 8), (3, 16), (45, 1048)]:
        assert_matches_numpy(kernel, *arrays(kernel, [shape, (size, size)]), device=device)


@pytest.mark.parametrize(("rule", "size", "type", "shape"), [
    ("constant(0)", 5, "f32", (19, 3100)), ("mirror", 7, "f64", (190, 776)), ("wrap", 6, "i32", (105, 1540)),
    ("nearest", 8, "f32", (140, 1537)), ("reflect", 3, "f32", (14, 1540)), ("mirror", 4, "f64", (17, 770))])
def test_the_interior_of_a_tile_is_a_text_of_its_own(
    rule: str, size: int, type: str, shape: tuple[int, int], device: str
) -> None:
    """Tiles in the middle and on all sides, whose last rows and columns end amid them; fewer rows than a tile has."""
    kernel = kernel_of(box(size, size, rule, type))
    assert strategies(kernel) == ["ringed"]
    assert "k_walk<true>" in kernel.cuda
    for extents in (shape, (size - 1, 24)):
        check(kernel, arrays(kernel, [extents, (size, size)]), device)


def test_a_let_whose_rows_pass_through_tiles(device: str) -> None:
    kernel = kernel_of("""kernel k(x: f64[N, H, W], w: f64[15]) -> (y: f64[N, H, W]) {
        edge x[0] = wrap
        edge x[1] = reflect
        edge x[2] = constant(1)
        let g[n, i, j] = sum(v in 0..15) w[v] * x[n + 1, i, j + v - 7]
        y[n, i, j] = sum(u in 0..15) w[u] * g[n, i + u - 7, j]
    }""")
    assert "k_walk<true>" in kernel.cuda
    check(kernel, arrays(kernel, [(2, 300, 776), (15,)]), device)


@pytest.mark.parametrize(("text", "together", "weights"), [
    (box(5, 5, "mirror", "f16"), 4, (5, 5)),
    ("""kernel k(x: bf16[H, W], w: bf16[15]) -> (y: bf16[H, W]) {
        edge x = wrap
        let g[i, j] = sum(v in 0..15) w[v] * x[i, j + v - 7]
        y[i, j] = sum(u in 0..15) w[u] * g[i + u - 7, j]
    }""", 16, (15,)),
    ("""kernel k(x: f16[H, W], w: f16[7]) -> (y: f16[H, W]) {
        edge x = constant(0)
        let g[i, j] = sum(v in 0..7) w[v] * x[i, j + v - 3]
        y[i, j] = sum(u in 0..7) w[u] * g[i + u - 3, j]
    }""", 8, (7,))])
def test_rows_of_narrow_types_come_in_groups_as_long_as_windows(
    text: str, together: int, weights: tuple[int, ...], device: str,
) -> None:
    kernel = compile(text).k
    assert f"rows of x come {together} at a time" in kernel.cuda
    for shape in [(3, 16), (45, 1048)]:
        assert_matches_numpy(kernel, *arrays(kernel, [shape, weights]), device=device)


FORMS: dict[str, tuple[str, list[tuple[int, ...]]]] = {
    "nothing outside is read": ("""
        kernel k(x: f32[H, W], w: f32[9, 9]) -> (y: f32[H - 8, W - 8]) {
            y[i, j] = sum(u in 0..9, v in 0..9) w[u, v] * x[i + u, j + v]
        }""", [(31, 532), (9, 9)]),
    "outputs all around": ("""
        kernel k(x: f32[H, W], w: f32[9, 9]) -> (y: f32[H + 8, W + 8]) {
            edge x = constant(0)
            y[i, j] = sum(u in 0..9, v in 0..9) w[u, v] * x[i + u - 7, j + v - 7]
        }""", [(31, 520), (9, 9)]),
    "two tensors, of different rows": ("""
        kernel k(x: f32[H, W], z: f32[H, W], w: f32[9, 9]) -> (y: f32[H, W]) {
            edge x = mirror
            edge z = nearest
            y[i, j] = sum(u in 0..9, v in 0..9) w[u, v] * x[i + u - 3, j + v - 3]
                    - sum(t in 0..3, s in 0..5) z[i + t + 2, j - s]
        }""", [(31, 520), (31, 520), (9, 9)]),
    "two outputs": ("""
        kernel k(x: f32[H, W], w: f32[9, 9]) -> (y: f32[H, W], z: f16[H, W]) {
            edge x = wrap
            y[i, j] = sum(u in 0..9, v in 0..9) w[u, v] * x[i + u - 3, j + v - 3]
            z[i, j] = f16(max(u in 0..9, v in 0..9) (w[v, u] * x[i + u - 3, j + v - 3]))
        }""", [(31, 520), (9, 9)]),
    "what else is read at the output": ("""
        kernel k(x: f32[H, W], w: f32[9, 9], c: f32[], r: f32[W]) -> (y: f32[H, W]) {
            edge x = reflect
            y[i, j] = c[] * (sum(u in 0..9, v in 0..9) w[u, v] * x[i + u - 3, j + v - 3]) + r[j] * f32(i)
        }""", [(31, 520), (9, 9), (), (520,)]),
    "a let in rows": ("""
        kernel k(x: f16[H, W], w: f16[15]) -> (y: f16[H, W]) {
            edge x = reflect
            let g[i, j] = sum(v in 0..15) w[v] * x[i, j + v - 7]
            y[i, j] = sum(u in 0..15) w[u] * g[i + u - 7, j]
        }""", [(31, 520), (15,)]),
    "a batch": ("""
        kernel k(x: f32[N, H, W], w: f32[9, 9]) -> (y: f32[N, H, W]) {
            edge x = mirror
            y[n, i, j] = sum(u in 0..9, v in 0..9) w[u, v] * x[n, i + u - 3, j + v - 3]
        }""", [(3, 31, 520), (9, 9)]),
    "a batch's neighbours": ("""
        kernel k(x: f32[N, H, W], w: f32[9, 9]) -> (y: f32[N, H, W]) {
            edge x = mirror
            y[n, i, j] = sum(u in 0..9, v in 0..9) w[u, v] * x[n - 1, i + u - 3, j + v - 3]
        }""", [(3, 31, 520), (9, 9)]),
    "an edge's value is an element": ("""
        kernel k(x: f32[H, W], w: f32[9, 9], c: f32[]) -> (y: f32[H, W]) {
            edge x = constant(c[])
            y[i, j] = sum(u in 0..9, v in 0..9) w[u, v] * x[i + u - 3, j + v - 3]
        }""", [(31, 520), (9, 9), ()]),
    "names of the text": ("""
        kernel send(group: f32[rows, behind], part: f32[9, 9]) -> (step: f32[rows, behind]) {
            edge group = nearest
            step[first, tile] = sum(u in 0..9, v in 0..9) part[u, v] * group[first + u - 3, tile + v - 3]
        }""", [(31, 520), (9, 9)]),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str, device: str) -> None:
    text, shapes = FORMS[form]
    kernel = kernel_of(text)
    assert "ringed" in strategies(kernel)
    check(kernel, arrays(kernel, shapes), device)


@pytest.mark.parametrize(("shape", "multiprocessors"), [((100, 1100), 1), ((33, 2064), 2), ((70, 8), 1)])
def test_blocks_share_the_rows_however_many_they_are(shape: tuple[int, int], multiprocessors: int, device: str) -> None:
    """A block's rows end inside of columns of blocks, go on in the next ones, and are as many as its neighbours'."""
    module = Module(read_program(Source("box", box(9, 9, "reflect")), {}), Target(multiprocessors=multiprocessors))
    one, = module.k.caller().text(default_signature(module.k.meaning))[0].passes
    tiles = int(np.prod([n.at({"H": shape[0], "W": shape[1]}) for n in one.blocks]))
    assert one.strategy == "ringed"
    assert block_count(one, {"H": shape[0], "W": shape[1]}) == min(tiles, one.most_blocks)
    assert_matches_numpy(module.k, *arrays(module.k, [shape, (9, 9)]), device=device)


def test_rounds_of_blocks_grow_with_the_rows() -> None:
    """As many blocks as the machine holds; more rounds where each block still has many rows; never too many."""
    one, = compile(box(9, 9, "wrap")).k.plan.passes
    few, more, most = (one.launched(one.most_blocks * one.least_tiles * n) for n in (1, 2, 100))
    assert one.launched(5) == 5
    assert (few, more, most) == tuple(one.most_blocks * n for n in (1, 2, one.most_rounds))
    assert one.most_blocks % Target().multiprocessors == 0


@pytest.mark.parametrize(("rows", "columns", "type"), [
    (15, 15, "f32"), (15, 5, "f16"), (9, 9, "i32")])
def test_lines_of_weights_of_any_length_and_type(rows: int, columns: int, type: str, device: str) -> None:
    """The bits of one load a tap; what follows a line's last weight is in no sum."""
    rule = RULES[(rows + columns) % len(RULES)].replace("3", "1")
    kernel = kernel_of(box(rows, columns, rule, type))
    assert strategies(kernel) == ["ringed"]
    assert re.search(r"w_line\[\d+\];", kernel.cuda)
    check(kernel, arrays(kernel, [(21, 272), (rows, columns)]), device)


@pytest.mark.parametrize(("text", "shape"), [
    ("""kernel k(x: f32[H, W], w: f32[A, B]) -> (y: f32[H, W]) {
        require A >= 12, B >= 11
        edge x = wrap
        y[i, j] = sum(u in 1..=9, v in 0..=8) w[u + 2, 10 - v] * x[i + u, j + v]
    }""", (12, 11)),
    ("""kernel k(x: f32[H, W], w: f32[9, 9]) -> (y: f32[H, W]) {
        edge x = nearest
        y[i, j] = sum(u in 0..9, v in 0..9) w[v, u] * x[i + u - 4, j + v - 4] + w[0, 0]
    }""", (9, 9)),
    ("""kernel k(x: f32[H, W], w: f32[7, 2, 7]) -> (y: f32[H, W]) {
        edge x = reflect
        y[i, j] = sum(u in 0..7, t in 0..2, v in 0..7) w[u, t, v] * x[i + u - 3, j + v + t - 3]
    }""", (7, 2, 7)),
], ids=["part of an array", "turned", "three axes"])
def test_what_a_line_is_read_for(text: str, shape: tuple[int, ...], device: str) -> None:
    kernel = compile(text).k
    assert strategies(kernel) == ["ringed"]
    x, w = arrays(kernel, [(25, 272), tuple(3 * n for n in shape)])
    assert_matches_numpy(kernel, x, w[tuple(slice(None, None, 3) for _ in shape)], device=device)


@pytest.mark.parametrize(("clauses", "tile", "threads"), [
    ("march i  stage x in shared", (6, 512), 128),
    ("march i  stage x in shared  tile (i: 40, j: 256)", (40, 256), 64),
    ("march i  stage x in shared  tile (i: 5, j: 64)  threads 64", (5, 64), 64),
    ("march i  stage x in shared  stage w in registers  threads 256", (6, 1024), 256),
])
def test_a_schedule_asks_for_it(clauses: str, tile: tuple[int, int], threads: int, device: str) -> None:
    kernel = compile(f"{box(3, 3, 'nearest')} schedule k {{ {clauses} }}").k
    one, = kernel.plan.passes
    assert (one.strategy, one.tile, one.threads) == ("ringed", tile, threads)
    assert {s.tensor: s.where for s in one.storage} == {"x": "shared", "w": "registers"}
    for shape in [(2, 4), (83, 524)]:
        assert_matches_numpy(kernel, *arrays(kernel, [shape, (3, 3)]), device=device)


def test_a_budget_that_the_rows_do_not_fit_is_refused() -> None:
    with pytest.raises(LayoutcError) as error:
        compile(box(3, 3, "wrap") + "schedule k { march i  stage x in shared  budget shared 1 KiB }").k.plan  # noqa: B018
    assert [d.slug for d in error.value.diagnostics] == ["over-budget"]


@pytest.mark.parametrize(("text", "why"), [
    ("kernel k(x: f32[H, W]) -> (y: f32[H, W]) { edge x = wrap  y[i, j] = x[i - 1, j] + x[i + 1, j] }", "no sums"),
    (box(3, 3, "wrap").replace("sum(", "x[i, j] - sum("), "beside their sums"),
    (box(3, 3, "wrap").replace("j + v - 1", "j + v + 300"), "reach too far"),
    (box(3, 3, "wrap").replace("[H, W]", "[H, 2, W]", 1).replace("u - 1, j", "u - 1, v % 2, j"), "not read in lines"),
])
def test_where_rows_have_no_ring(text: str, why: str) -> None:
    one, = compile(text).k.plan.passes
    refused, = [r.why for r in one.rejected if r.strategy == "ringed"]
    assert why in refused
