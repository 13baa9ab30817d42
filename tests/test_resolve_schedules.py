"""Schedules: what each clause may ask for."""

from __future__ import annotations

import pytest

from layoutc.layout import Layout
from layoutc.resolve.program import Schedule, StageChoice, Threads
from tests.resolve_support import refusals, resolved

KERNEL = """
    const T = 16
    kernel k(x: f32[H, W], w: f32[3, 3], c: f32[]) -> (y: f32[H, W]) {
        edge x = nearest
        let g[i, j] = x[i, j]
        y[i, j] = sum(u, v) w[u, v] * g[i + u, j + v]
    }
    kernel total(x: f32[N]) -> (s: f32[]) { s[] = sum(i) x[i] }
"""


def schedule(clauses: str, kernel: str = "k") -> Schedule:
    program = resolved(f"{KERNEL}\nschedule {kernel} {{ {clauses} }}")
    (found,) = next(k for k in program.kernels if k.name == kernel).schedules
    return found


def found(clauses: str, kernel: str = "k") -> list[str]:
    return [slug for slug, _ in refusals(f"{KERNEL}\nschedule {kernel} {{ {clauses} }}")]


def test_every_clause_is_kept() -> None:
    read = schedule(
        "threads (256, 4):(4, 1) tile (i: T, j: 4*T) "
        "stage x in shared halo global stage w in constant stage g in registers "
        "vector 4 budget shared 48 KiB unroll v unroll u"
    )
    assert read == Schedule(
        tile=(("i", 16), ("j", 64)),
        threads=Threads(layout=Layout((256, 4), (4, 1))),
        stages=(StageChoice("x", "shared", True), StageChoice("w", "constant"), StageChoice("g", "registers")),
        vector=4,
        shared_budget=48 * 1024,
        unroll=("v", "u"),
    )
    assert {word for word, _ in read.clause_spans} == {"threads", "tile", "vector", "budget", "unroll"}


def test_a_tile_may_name_a_reduction_index_and_a_stage_two_buffers() -> None:
    read = schedule("tile (i: 4, u: 2) stage x in shared double stage w in shared halo global double")
    assert read.tile == (("i", 4), ("u", 2))
    assert read.stages == (StageChoice("x", "shared", double=True), StageChoice("w", "shared", True, True))


def test_nothing_asked_is_nothing_kept() -> None:
    assert schedule("") == Schedule()
    assert schedule("threads T * 8").threads == Threads(count=128)
    assert schedule("threads over x").threads == Threads(over="x")
    assert schedule("budget shared 100").shared_budget == 100
    assert schedule("threads 256", "total").threads == Threads(count=256)


def test_schedules_have_names_and_one_has_none() -> None:
    program = resolved(f"{KERNEL} schedule k as a {{ vector 2 }} schedule k {{ vector 4 }} schedule k as b {{}}")
    assert [s.name for s in program.kernels[0].schedules] == ["a", None, "b"]
    default = program.kernels[0].schedule()
    assert default is not None
    assert default.vector == 4
    again = refusals(f"{KERNEL} schedule k {{}} schedule k {{}} schedule k as a {{}} schedule k as a {{}}")
    assert [slug for slug, _ in again] == ["duplicate-schedule"] * 2


@pytest.mark.parametrize("layout", ["(256, 4):(4, 1)", "(256, 4):(1, 256)", "blocked(256, 4)", "striped(256, 4)",
                                    "warp_striped(256, 4, 32)", "composition(swizzle(2, 0, 5), (256, 4):(4, 1))"])
def test_a_layout_of_threads_is_a_bijection_onto_the_tile(layout: str) -> None:
    assert found(f"tile (i: 16, j: 64) threads {layout}") == []
    assert found(f"tile (i: 16, j: 32) threads {layout}") == ["bad-threads"]


@pytest.mark.parametrize("clauses", [
    "tile (i: 4, j: 4) threads (4, 4):(1, 3)", "tile (i: 4, j: 4) threads (4, 4):(1, 0)", "threads (4, 4):(1, 5)",
    "threads 16:1", "threads 0", "threads 1025", "threads (2048, 1):(1, 1)", "tile (i: 4) threads (4, 4):(4, -1)",
])
def test_threads_that_are_refused(clauses: str) -> None:
    assert found(clauses) == ["bad-threads"]


def test_an_output_without_indices_takes_a_count_of_threads() -> None:
    assert found("threads (32, 1):(1, 1)", "total") == ["bad-threads"]


@pytest.mark.parametrize(("clauses", "slugs"), [
    ("tile (i: 0)", ["bad-tile"]), ("tile (i: 1024, j: 1024)", ["bad-tile"]), ("tile (q: 4)", ["unknown-name"]),
    ("tile (i: 4, i: 4)", ["duplicate-clause"]), ("tile (i: 4) tile (j: 4)", ["duplicate-clause"]),
    ("tile (u: 0)", ["bad-tile"]), ("tile (u: 2, u: 2)", ["duplicate-clause"]), ("stage q in shared", ["unknown-name"]),
    ("stage y in shared", ["unknown-name"]),
    ("stage x in local", ["bad-stage"]), ("stage x in constant", ["bad-stage"]), ("stage g in constant", ["bad-stage"]),
    ("stage x in shared stage x in global", ["duplicate-clause"]), ("stage x in global halo global", ["bad-stage"]),
    ("vector 3", ["bad-vector"]), ("vector 32", ["bad-vector"]), ("vector 0", ["bad-vector"]),
    ("vector H", ["unknown-name"]),
    ("budget local 3", ["bad-budget"]), ("budget shared 3 MB", ["bad-budget"]), ("budget shared -1", ["bad-budget"]),
    ("unroll q", ["unknown-name"]), ("unroll u unroll u", ["duplicate-clause"]), ("threads over q", ["unknown-name"]),
    ("threads 4 threads over x", ["duplicate-clause"]), ("march u", ["unknown-name"]),
    ("fuse 2", ["bad-fuse"]),
    ("stage g in shared double", ["bad-stage"]), ("stage x in registers double", ["bad-stage"]),
    ("tile (i: 0) vector 3 march u", ["bad-tile", "bad-vector", "unknown-name"]),
])
def test_clauses_that_are_refused(clauses: str, slugs: list[str]) -> None:
    assert found(clauses) == slugs


def test_a_schedule_of_no_kernel() -> None:
    assert refusals(f"{KERNEL} schedule kk {{}}") == [("unknown-name", "kk")]
