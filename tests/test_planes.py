"""Planes that pass through shared memory: every edge rule, type, stride and extent gives what NumPy gives."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from layoutc.backend.types import numpy_dtype
from layoutc.diagnostics import LayoutcError
from layoutc.module import Kernel, compile
from layoutc.testing import assert_matches_numpy

RULES = ("constant(0)", "constant(1.5)", "nearest", "reflect", "mirror", "wrap")


def star(edges: str, type: str = "f32", r: int = 2) -> str:
    return f"""kernel star(x: {type}[D, H, W], w: {type}[{r + 1}]) -> (y: {type}[D, H, W]) {{
    {edges}
    y[i, j, l] = w[0] * x[i, j, l] + sum(u in 1..={r}) w[u] * (x[i-u, j, l] + x[i+u, j, l] + x[i, j-u, l]
        + x[i, j+u, l] + x[i, j, l-u] + x[i, j, l+u])
}}"""


def box(edges: str, type: str = "f32", reduction: str = "sum") -> str:
    return f"""kernel box(x: {type}[D, H, W]) -> (y: {type}[D, H, W]) {{
    {edges}
    y[i, j, l] = {reduction}(t in 0..3, u in -1..=1, v in 0..2) x[i + t - 2, j + u, l + v]
}}"""


WAVE = """kernel wave(u: f32[D, H, W], before: f32[D, H, W], c: f32[H, W], dt: f32[]) -> (next: f32[D, H, W],
    change: f32[D, H, W]) {
    edge u = nearest
    next[i, j, l] = 2*u[i, j, l] - before[i, j, l] + dt[] * c[j, l] * (u[i-1, j, l] + u[i+1, j, l] + u[i, j-1, l]
        + u[i, j+1, l] + u[i, j, l-1] + u[i, j, l+1] - 6*u[i, j, l])
    change[i, j, l] = u[i, j, l] - before[i, j, l]
}"""
INNER = """kernel inner(x: f32[B, D, H, W]) -> (y: f32[B, D - 2, H - 2, W - 2]) {
    require D >= 2, H >= 2, W >= 2
    y[b, i, j, l] = x[b, i + 1, j + 1, l + 1] - x[b, i, j + 1, l + 1] * x[b, i + 2, j + 1, l + 1]
        + x[b, i + 1, j, l + 1] - x[b, i + 1, j + 2, l + 1] + x[b, i + 1, j + 1, l] - f32(b + i * j - l)
}"""


def kernel_of(text: str, clauses: str = "march i  stage x in shared") -> Kernel:
    name = text.split("kernel ")[1].split("(")[0]
    found = compile(f"{text}\nschedule {name} {{ {clauses} }}" if clauses else text)[name]
    assert isinstance(found, Kernel)
    assert [one.strategy for one in found.plan.passes] == ["planes"]
    return found


def arrays(kernel: Kernel, *shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(sum(map(sum, shapes)))
    return [np.asarray(rng.standard_normal(shape) * 4).astype(numpy_dtype(t.type.name))
            for t, shape in zip(kernel.meaning.inputs, shapes, strict=True)]


@pytest.mark.parametrize("r", [2, 3, 5])
def test_every_reach_of_narrow_types(r: int, device: str) -> None:
    """However many lines and turns registers hold."""
    kernel = kernel_of(star("edge x = mirror", "f16", r), "")
    assert kernel.plan.passes[0].tile[1:] == (16, 128)
    assert_matches_numpy(kernel, *arrays(kernel, (7, 19, 136), (r + 1,)), device=device)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule(rule: str, device: str) -> None:
    kernel = kernel_of(star(f"edge x = {rule}"), "")
    for shape in ((5, 19, 133), (2, 1, 3)):
        assert_matches_numpy(kernel, *arrays(kernel, shape, (3,)), device=device)


@pytest.mark.parametrize("edges", [
    "edge x[0] = (wrap, constant(2))  edge x[1] = nearest  edge x[2] = (reflect, mirror)",
    "edge x[0] = mirror  edge x[1] = (constant(0), wrap)  edge x[2] = (constant(0), constant(-1))",
    "edge x[0] = (nearest, reflect)  edge x[1] = constant(0)  edge x[2] = (wrap, nearest)"])
def test_every_rule_beside_another(edges: str, device: str) -> None:
    kernel = kernel_of(box(edges))
    for shape in ((4, 18, 133), (1, 1, 1)):
        assert_matches_numpy(kernel, *arrays(kernel, shape), device=device)


@pytest.mark.parametrize(("type", "reduction", "rule"), [
    ("f64", "sum", "mirror"), ("f16", "max", "constant(0)"), ("bf16", "sum", "wrap"), ("u8", "max", "constant(7)"),
    ("i64", "min", "constant(0)")])
def test_every_width(type: str, reduction: str, rule: str, device: str) -> None:
    kernel = kernel_of(box(f"edge x = {rule}", type, reduction))
    assert_matches_numpy(kernel, *arrays(kernel, (3, 17, 150)), device=device)
    assert_matches_numpy(kernel, *(a[::2, ::-1, 1:] for a in arrays(kernel, (5, 3, 130))), device=device)


@pytest.mark.parametrize(("sides", "beyond"), [("l-1 l+1", "j+1 l"), ("l-1 l+1", "j-1 l"), ("l-2", "j+1 l+1")])
def test_queues_that_overlap_do_not_take_from_each_other_what_neither_has(sides: str, beyond: str, device: str) -> None:
    """Several queues of the same planes; of what two hold, the one that is taken first brings it."""
    row, column = beyond.split()
    terms = [f"{n}*x[i{sign}1, j, {s}]" for n, (s, sign) in enumerate(((s, g) for s in sides.split() for g in "-+"), 2)]
    terms += [f"{n}*x[i{sign}1, {row}, {column}]" for n, sign in ((7, "-"), (9, "+"))]
    kernel = kernel_of(f"""kernel k(x: f32[D, H, W]) -> (y: f32[D, H, W]) {{
        edge x = nearest
        y[i, j, l] = {" + ".join(terms)}
    }}""")
    assert_matches_numpy(kernel, *arrays(kernel, (6, 18, 131)), device=device)


@pytest.mark.parametrize("rule", ["nearest", "constant(0)"])
@pytest.mark.parametrize(("value", "clauses"), [
    ("(sum(u in 0..=2) p[z + u, y, x]) + p[z, y - 1, x]", ""),
    ("(sum(u in -3..=3) p[z + u, y, x]) + (sum(v in -3..=3) p[z, y + v, x]) + (sum(v in -3..=3) p[z, y, x + v])", ""),
    ("(max(u in -1..=3) p[z + u, y, x]) - p[z + 1, y, x + 2] * p[z - 2, y + 1, x]", ""),
    ("(sum(u in 0..=3) p[z + u, y, x]) + (sum(v in -2..=0) p[z + v, y - 1, x])", ""),
    ("(sum(u in 0..=2) p[z + u, y, x]) + (sum(v in -1..=0) r[z + v, y - 1, x] * p[z + v, y, x + 1]) + r[z + 3, y, x]"
     " - (sum(t in 0..=1) p[z + t, y - 1, x])",
     "march z  stage p in shared  stage r in shared"),
    ("(sum(u in 0..=3) p[z + u, y, x]) - (sum(v in 0..=1, s in -1..=1) p[z + v, y + s, x]) * p[z + 1, y - 1, x - 7]"
     " + p[z + 1, y - 1, x + 7]", ""),
    ("p[z + 2, y, x] - p[z - 1, y, x] + p[z - 3, y - 1, x] + p[z - 2, y - 1, x]", "")])
def test_planes_are_read_once_they_have_come(value: str, clauses: str, rule: str, device: str) -> None:
    """What stands beside a column is read in older planes than the newest: in the first turns there are none."""
    tensors = [t for t in "pr" if f"{t}[" in value]
    kernel = kernel_of(f"""kernel k({", ".join(f"{t}: f32[D, H, W]" for t in tensors)}) -> (q: f32[D, H, W]) {{
        {" ".join(f"edge {t} = {rule}" for t in tensors)}
        q[z, y, x] = {value}
    }}""", clauses)
    for shape in ((3, 17, 131), (131, 2, 3), (1, 1, 1)):
        assert_matches_numpy(kernel, *arrays(kernel, *[shape] * len(tensors)), device=device)


def test_several_tensors_and_outputs(device: str) -> None:
    kernel = kernel_of(WAVE, "march i  stage u in shared")
    shape = (7, 18, 140)
    assert_matches_numpy(kernel, *arrays(kernel, shape, shape, shape[1:], ()), device=device)


@pytest.mark.parametrize("shape", [(2, 4, 20, 140), (1, 2, 9, 9), (1, 150, 3, 4)])
def test_without_a_rule_nothing_outside_is_read(shape: tuple[int, ...], device: str) -> None:
    kernel = kernel_of(INNER)
    assert_matches_numpy(kernel, *arrays(kernel, shape), device=device)


def test_columns_that_are_no_neighbours_in_memory(device: str) -> None:
    kernel = kernel_of(star("edge x = reflect"))
    x, w = arrays(kernel, (6, 20, 2 * 70), (3,))
    for view in (x[:3, :, ::-2], x.transpose(2, 0, 1)[:4], np.broadcast_to(x[:1], (3, *x.shape[1:]))):
        assert_matches_numpy(kernel, view, w, device=device)


@pytest.mark.parametrize("clauses", [
    "tile (i: 4, j: 16, l: 128)  march i", "tile (i: 3, j: 8, l: 64)  threads 128  march i  stage x in shared",
    "tile (i: 8, j: 3, l: 32)  threads 96  march i", "march i  vector 2  stage x in shared",
    "tile (i: 6, j: 8, l: 128)  threads ((32, 4), (4, 2)):((4, 256), (1, 128))  march i  stage w in registers"])
def test_what_a_schedule_says_is_done(clauses: str, device: str) -> None:
    kernel = kernel_of(star("edge x = nearest", r=3), clauses)
    if "tile" in clauses:
        tile = {k.strip(): int(v) for k, v in (p.split(":") for p in clauses.split("(")[1].split(")")[0].split(","))}
        assert kernel.plan.passes[0].sizes == tile
    assert_matches_numpy(kernel, *arrays(kernel, (10, 19, 70), (4,)), device=device)


@pytest.mark.parametrize(("clauses", "slug"), [
    ("march i  stage x in shared  budget shared 16 KiB", "over-budget"),
    ("tile (i: 8, j: 8, l: 100)  march i  stage x in shared", "cannot-march"),
    ("march i  stage x in global", "cannot-march")])
def test_what_cannot_be_honoured_is_said(clauses: str, slug: str) -> None:
    with pytest.raises(LayoutcError) as caught:
        compile(f"{star('edge x = wrap', r=4)}\nschedule star {{ {clauses} }}").star.plan  # noqa: B018
    assert caught.value.diagnostics[0].slug == slug


def test_a_star_of_any_radius_takes_no_more_than_a_multiprocessor_has() -> None:
    for r in (1, 2, 4, 6):
        kernel = kernel_of(star("edge x = constant(0)", r=r))
        made, resident = kernel.plan.passes[0], re.search(r"KERNEL\((\d+)(?:, (\d+))?\)", kernel.cuda)
        assert resident is not None
        assert made.dynamic_bytes * int(resident[2] or 1) <= 227 * 1024
        assert made.threads * int(resident[2] or 1) <= 2048
