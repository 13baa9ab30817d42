"""Several steps a launch: the bits of one step after the other, at every edge, whatever the sizes."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc.backend.types import numpy_dtype
from layoutc.calling.calls import Caller
from layoutc.diagnostics import LayoutcError
from layoutc.module import Kernel, compile
from layoutc.resolve.program import Extent
from layoutc.testing import check_kernel
from layoutc.testing.ways import random_ways, subject_of
from tests.fused_texts import RULES, FusedText

Array = NDArray[Any]


def random(kernel: Kernel, extents: dict[str, int], seed: int) -> list[Array]:
    """Small whole numbers for every input."""
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 5, [extents[e.name] for e in t.extents if isinstance(e, Extent)]).astype(
        numpy_dtype(t.type.name)) for t in kernel.meaning.inputs]


def check(kernel: Kernel, arrays: list[Array], steps: int, device: str, schedule: str | None = None) -> None:
    wanted, got = kernel.reference(*arrays, steps=steps), kernel(*arrays, steps=steps, device=device, schedule=schedule)
    pairs = zip(got, wanted, strict=True) if isinstance(got, tuple) else [(got, wanted)]
    for a, b in pairs:
        np.testing.assert_array_equal(a, b)


def same_bits(got: Array, wanted: Array) -> None:
    """One NaN is as good as another; the sign of a zero counts."""
    np.testing.assert_array_equal(got, wanted)
    number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(wanted[number]))


# ---- every edge rule


@pytest.mark.parametrize(("steps", "offsets", "tile"), [
    (3, (-1, 2), 4), (5, (-2, 0), 2), (2, (1, 3), 5),
], ids=str)
@pytest.mark.parametrize("low", RULES)
def test_edges_hold_at_every_step(low: str, steps: int, offsets: tuple[int, ...], tile: int, device: str) -> None:
    """Five tensors step at once, each with another rule at its high side."""
    tensors = [f"u{n}: i32[N]" for n in range(5)], [f"v{n}: i32[N]" for n in range(5)]
    clauses = []
    for n, high in enumerate(RULES):
        body = " + ".join(f"{k + 2} * u{n}[i + {o}]" for k, o in enumerate(offsets))
        clauses += [f"edge u{n} = ({low}, {high})", f"v{n}[i] = {body} + i32(i)", f"step u{n} = v{n}"]
    module = compile(f"""
        kernel k({', '.join(tensors[0])}) -> ({', '.join(tensors[1])}) {{ {' '.join(clauses)} }}
        schedule k {{ tile (i: {tile})  threads 3  fuse {steps} }}
    """)
    for n in (1, 2, 3, 4, 5, 7, 9, 17):
        check(module.k, random(module.k, {"N": n}, n), steps, device)


@pytest.mark.parametrize("seed", [*range(8), 17, 18, 19, 22, 24, 25])
def test_random_kernels(seed: int, device: str) -> None:
    text = FusedText(seed)
    kernel: Kernel = compile(text.text()).k
    assert kernel.plan.passes[0].fusing is not None
    r, k = Random(seed), text.steps
    for _ in range(4):
        extents = {e: r.choice((1, 1, 2, 3, 4, 5, 7, 9, 13)) for e in kernel.meaning.extents}
        for steps in (k, 2 * k + 1):
            check(kernel, random(kernel, extents, seed), steps, device)


# ---- counts, sizes, numbers

HEAT = """
kernel heat(u: {0}[H, W], c: {0}[]) -> (v: {0}[H, W]) {{
    edge u = {1}
    v[i, j] = u[i, j] + c[] * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4*u[i, j])
    step u = v
}}
schedule heat {{ tile (i: 8, j: 16)  threads 32  fuse 4 }}
schedule heat as one {{ tile (i: 4, j: 8)  fuse 1 }}
schedule heat as wide {{ tile (i: 4, j: 32)  threads 32  fuse 3  vector 4  stage u in shared }}
schedule heat as dealt {{ tile (i: 4, j: 8)  fuse 2  load u as striped(32, 4)  store v as blocked(32, 1)  threads 32 }}
"""


@pytest.mark.parametrize("type", ["f32", "f16"])
def test_floats_have_the_same_bits(type: str, device: str) -> None:
    module = compile(HEAT.format(type, "mirror"))
    rng = np.random.default_rng(0)
    u = rng.normal(size=(21, 40)).astype(numpy_dtype(type))
    u[3, 5], u[20, 0], u[0, 39] = np.nan, np.inf, -0.0
    single = u
    for steps in range(1, 10):
        single = module.heat(single, 0.1, schedule="one", device=device)
        if steps in (4, 9):
            for schedule in (None, "wide", "dealt"):
                got = module.heat(u, 0.1, steps=steps, schedule=schedule, device=device)
                same_bits(got, single)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 1), (1, 40), (40, 1), (2, 3), (8, 16), (9, 17)])
@pytest.mark.parametrize("steps", [0, 1, 4, 5, 8])
def test_extents_of_any_size(shape: tuple[int, int], steps: int, device: str) -> None:
    module = HEATS["wrap"]
    u = np.random.default_rng(1).normal(size=shape)
    check(module.heat, [u, np.array(0.1)], steps, device)


HEATS = {rule: compile(HEAT.format("f64", rule)) for rule in ("wrap", "constant(1)")}


def test_an_output_over_its_input_is_right(device: str) -> None:
    module = HEATS["constant(1)"]
    for steps in (1, 4, 8, 9):
        u = np.random.default_rng(2).normal(size=(20, 30))
        wanted = module.heat.reference(u, 0.1, steps=steps)
        assert module.heat(u, 0.1, steps=steps, out=u, device=device) is u
        np.testing.assert_array_equal(u, wanted)


def test_a_glider_walks(device: str) -> None:
    module = compile("""
        kernel life(cell: bool[H, W]) -> (after: bool[H, W], born: bool[H, W]) {
            edge cell = wrap
            let around[i, j] = count(u in -1..=1, v in -1..=1) cell[i + u, j + v]
            after[i, j] = around[i, j] == 3 or (around[i, j] == 4 and cell[i, j])
            born[i, j] = around[i, j] == 3 and not cell[i, j]
            step cell = after
        }
        schedule life { tile (i: 4, j: 4)  fuse 4 }
    """)
    cell = np.zeros((7, 9), np.bool_)
    cell[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = True
    for steps in (4, 28, 252):
        after, born = module.life(cell, steps=steps, device=device)
        np.testing.assert_array_equal(after, np.roll(cell, (steps // 4, steps // 4), (0, 1)))
        assert born.sum() == 2      # a glider gains two cells at each step and loses two


def test_a_scalar_may_be_stepped(device: str) -> None:
    module = compile("""
        kernel fibonacci(a: i64[], b: i64[]) -> (c: i64[], d: i64[]) {
            c[] = b[]  d[] = a[] + b[]
            step a = c  step b = d
        }
        schedule fibonacci { fuse 5 }
    """)
    assert module.fibonacci(0, 1, steps=90, device=device)[0] == 2880067194370816120


@pytest.mark.parametrize("text", [
    """kernel k(u: i32[N], x: i32[N]) -> (v: i32[N]) { v[i] = 2 * x[i]  step u = v }
       schedule k { tile (i: 4)  fuse 3 }""",
    """kernel k(u: i32[N], x: i32[N]) -> (v: i32[N]) { v[i] = u[i] + x[i]  step u = v }
       schedule k { fuse 3 }""",
    """kernel k(u: i32[N], x: i32[N]) -> (v: i32[N], n: i64[N]) {
           edge x = mirror
           v[i] = u[i] + x[i + 3]  n[i] = i64(u[i]) + i  step u = v }
       schedule k { tile (i: 3)  fuse 3  stage x in shared }""",
], ids=["not read", "without a halo", "a halo that is not stepped"])
def test_what_needs_no_halo(text: str, device: str) -> None:
    kernel: Kernel = compile(text).k
    for n, steps in ((7, 3), (7, 7), (4, 4)):
        check(kernel, random(kernel, {"N": n}, 0), steps, device)


def test_drawn_calls_agree_with_numpy(device: str) -> None:
    module = compile("""
        kernel k(u: f32[N], w: f32[N], c: f32[N]) -> (v: f32[N], z: f32[N]) {
            edge u = (nearest, constant(2))
            edge c = wrap
            v[i] = u[i - 1] * w[i] + c[i + 1]
            z[i] = w[i] - u[i + 2]
            step u = v  step w = z
        }
        schedule k { tile (i: 8)  fuse 3  stage c in shared }
    """)
    report = check_kernel(module.k, examples=60, seed=4, device=device)
    assert report.ok, report.text()


def test_schedules_that_fuse_are_drawn() -> None:
    ways = random_ways(subject_of(HEATS["wrap"].heat), 24, Random(5), Caller)
    fused = [way for way in ways if "fuse" in str(way.schedule)]
    assert len(fused) >= 6
    assert {way.caller.fused for way in fused} == {2, 3, 4}


def test_what_is_left_over_is_made_whatever_the_staging(device: str) -> None:
    """Of one step, the box of ``c`` has no part inside the tile."""
    kernel: Kernel = compile("""
        kernel k(u: i32[N], c: i32[N]) -> (v: i32[N]) {
            edge u = nearest
            edge c = mirror
            v[i] = u[i - 2] + c[i + 5]
            step u = v
        }
        schedule k { tile (i: 3)  fuse 4  stage c in shared halo global }
    """).k
    check(kernel, random(kernel, {"N": 20}, 0), 9, device)


# ---- what is derived


def test_explain_shows_the_grown_halo_and_what_is_made_twice() -> None:
    facts: Any = compile("""
        kernel k(u: f32[H, W], c: f32[H, W]) -> (v: f32[H, W]) {
            edge u = nearest
            edge c = nearest
            v[i, j] = u[i - 1, j] + u[i, j + 2] * c[i, j - 1]
            step u = v
        }
        schedule k { tile (i: 8, j: 16)  fuse 3  stage c in shared }
    """).k.explain(H=100, W=100)
    assert facts["halo"] == {"u": {"i": [3, 0], "j": [0, 6]}, "c": {"i": [2, 0], "j": [1, 3]}}
    assert facts["footprint"] == {"u": [11, 22], "c": [10, 20]}
    made = (8 + 2) * (16 + 4) + (8 + 1) * (16 + 2) + 8 * 16
    assert facts["fuse"] == {"steps": 3, "halo": {"i": [1, 0], "j": [0, 2]}, "evaluations": made, "outputs": 3 * 128,
                             "redundant": made / 384 - 1}
    boxes = {i["name"]: (i["bytes"], i["copies"]) for i in facts["storage"]["items"] if i["where"] == "shared"}
    assert boxes == {"u": (11 * 22 * 4, 2), "c": (10 * 20 * 4, 1)}
    assert facts["intensity"]["ops"] == 2 * made
    assert facts["intensity"]["bytes"] == 11 * 22 * 4 + 10 * 20 * 4
    assert facts["traffic"]["u"]["unique_bytes"] == 40000 - 8       # two of the last row no output depends on


def test_shared_memory_does_not_grow_with_the_steps_but_for_the_halo() -> None:
    for steps in (2, 3, 9):
        kernel = compile(HEAT.format("f64", "wrap").replace("fuse 4", f"fuse {steps}")).heat
        assert kernel.plan.passes[0].shared_bytes == 2 * (8 + 2*steps) * (16 + 2*steps) * 8
        assert kernel.cuda.count("__syncthreads()") == 2


REFUSED = {
    "other indices": (
        "kernel k(u: f32[N]) -> (v: f32[N], n: f32[N]) { v[i] = u[i]  n[j] = u[j]  step u = v }", "fuse 2",
        "cannot-fuse", "different indices"),
    "places from data": (
        "kernel k(u: f32[N], at: i32[N]) -> (v: f32[N]) { edge u = wrap  v[i] = u[at[i]]  step u = v }", "fuse 2",
        "cannot-fuse", "no integer expression"),
    "transposed": (
        "kernel k(u: f32[N, N]) -> (v: f32[N, N]) { v[i, j] = u[j, i]  step u = v }", "fuse 2",
        "cannot-fuse", "axis 0 of `u`"),
    "every other": (
        "kernel k(u: f32[N]) -> (v: f32[N]) { edge u = wrap  v[i] = u[2*i]  step u = v }", "fuse 2",
        "cannot-fuse", "axis 0 of `u`"),
    "all of it": (
        "kernel k(u: f32[N]) -> (v: f32[N]) { v[i] = u[i] - sum(j) u[j]  step u = v }", "fuse 2",
        "cannot-fuse", "a range that is not constant"),
    "an edge's value": (
        "kernel k(u: f32[N], c: f32[]) -> (v: f32[N], d: f32[]) { edge u = constant(c[])  v[i] = u[i + 1]  d[] = c[]  "
        "step u = v  step c = d }", "fuse 2", "cannot-fuse", "different indices"),
    "an edge's value of one space": (
        "kernel k(u: f32[], c: f32[], x: f32[N]) -> (v: f32[], d: f32[]) { edge x = constant(c[])  v[] = u[] + x[3]  "
        "d[] = 2*c[]  step u = v  step c = d }", "fuse 2", "cannot-fuse", "an edge rule has its value"),
    "a torus beside a line": (
        "kernel k(u: f32[N], w: f32[N]) -> (v: f32[N], z: f32[N]) { edge u = wrap  edge w = mirror  "
        "v[i] = u[i + 1] + w[i]  z[i] = w[i + 1]  step u = v  step w = z }", "fuse 2", "cannot-fuse",
        "`u` wraps along `i`, and `w`"),
    "a let that folds": (
        "kernel k(u: f32[N]) -> (v: f32[N]) { let g[i] = 2*u[i]  edge g = mirror  v[i] = g[i + 1]  step u = v }",
        "fuse 2", "cannot-fuse", "folded by an edge"),
    "in registers": (
        "kernel k(u: f32[N]) -> (v: f32[N]) { v[i] = u[i]  step u = v }", "fuse 2  stage u in registers",
        "cannot-stage", "stays in shared memory"),
    "from memory": (
        "kernel k(u: f32[N]) -> (v: f32[N]) { v[i] = u[i]  step u = v }", "fuse 2  stage u in global",
        "cannot-stage", "stays in shared memory"),
    "a let kept": (
        "kernel k(u: f32[N]) -> (v: f32[N]) { let g[i] = 2*u[i]  v[i] = g[i]  step u = v }",
        "fuse 2  stage g in shared", "cannot-stage", "made where it is read"),
    "a coefficient in registers": (
        "kernel k(u: f32[N], c: f32[N]) -> (v: f32[N]) { v[i] = c[i]*u[i]  step u = v }",
        "fuse 2  stage c in registers", "cannot-stage", "other elements"),
    "a coefficient that does not wrap": (
        "kernel k(u: f32[N], c: f32[N]) -> (v: f32[N]) { edge u = wrap  edge c = mirror  v[i] = c[i + 1]*u[i - 1]  "
        "step u = v }", "fuse 2  stage c in shared", "cannot-stage", "does not wrap"),
    "a thread an input": (
        "kernel k(u: f32[N]) -> (v: f32[N]) { edge u = wrap  v[i] = u[i + 1]  step u = v }",
        "fuse 2  tile (i: 8)  stage u in shared  threads over u", "threads-over", "another at each step"),
    "too much": (
        "kernel k(u: f64[H, W]) -> (v: f64[H, W]) { edge u = wrap  v[i, j] = u[i + 1, j]  step u = v }",
        "fuse 2  tile (i: 64, j: 64)  stage u in shared", "over-budget", "67584"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_share_a_launch_is_refused_at_the_clause(name: str) -> None:
    kernel, clauses, slug, words = REFUSED[name]
    module = compile(f"{kernel}\nschedule k {{ {clauses} }}")
    with pytest.raises(LayoutcError) as error:
        module.k.plan  # noqa: B018
    found = error.value.diagnostics[0]
    assert found.slug == slug
    assert words in found.message
    assert found.span is not None
    assert found.help
