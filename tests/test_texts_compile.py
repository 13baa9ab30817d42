"""Texts that the host's compiler or NVRTC once refused or warned of, each with all of its kind."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import layoutc
from layoutc.backend.cpu import host_text
from layoutc.backend.cuda import compile_ptx
from layoutc.compiler import default_signature, plan_kernel, read_program
from layoutc.cuda_source import CudaSource
from layoutc.plan.nodes import Target
from layoutc.source import Source
from layoutc.testing import assert_matches_numpy
from tests.fuzz.compilation import refused

TYPES = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64")


def made(text: str) -> CudaSource:
    program = read_program(Source("<text>", text))
    kernel = program.kernels[0]
    return plan_kernel(program, kernel, kernel.schedule(None), default_signature(kernel), Target())[1]


@pytest.mark.parametrize("memory", TYPES)
def test_casts_of_casts_at_the_beginning_of_parentheses(memory: str) -> None:
    """``(float(int(x[i])) + …)`` begins like the type of a function, and with some ``i`` g++ insists that it is one.

    Every pair of casts meets every other type in memory.
    """
    turn = TYPES.index(memory)
    pairs = [(first, second) for a, first in enumerate(TYPES[1:])
             for b, second in enumerate(("i32", "i64", "u32", "f32", "f64", "f16")) if (a + b + turn) % 2]
    outputs = [(f"y{k}", first, second) for k, (first, second) in enumerate(pairs)]
    declared = ", ".join(f"{name}: {second}[N]" for name, _, second in outputs)
    equations = "\n".join(
        f"{name}[i] = ({second}({first}(x[i + 1])) + 1) * ({second}({first}(x[i - 1])) - 2)"
        for name, first, second in outputs)
    text = f"kernel k(x: {memory}[N]) -> ({declared}) {{ edge x = mirror\n{equations} }}"
    inlined = f"""kernel k(x: {memory}[N]) -> (y: f32[N]) {{
        let g[i in 0..N] = (f32(f16(x[i])) + 1) * (f32(i16(x[i])) + 2)
        edge g = mirror
        y[i] = sum(u in 0..N) g[i + 2*u]
    }}"""
    for one in (text, inlined):
        assert not refused(host_text(made(one)))


def test_a_place_that_a_let_does_not_look_at_is_not_computed() -> None:
    text = """kernel k(x: f32[N], at: i64[N]) -> (y: f32[N]) {
        let g[a, b] = x[b] * 2
        let c[a] = f32(3)
        y[i] = g[at[i], i] + g[i64(c[at[i]]), i] + c[at[i] + 1]
    }"""
    source = made(text)
    assert compile_ptx(source, "sm_75")[1].strip("\0 \n") == ""
    x, at = np.arange(5, dtype=np.float32), np.arange(5)
    kernel = layoutc.compile(text)["k"]
    np.testing.assert_array_equal(kernel(x, at, device="cpu"), kernel.reference(x, at))


@pytest.mark.parametrize("wide", [32, 33, 65])
def test_lines_of_weights_of_any_length(wide: int) -> None:
    """Of lines that are longer than registers hold in common, none begins there."""
    text = f"""kernel k(x: f32[H, W], w: f32[3, {wide}]) -> (y: f32[H, W]) {{
        edge x = nearest
        y[i, j] = sum(u in 0..3, v in 0..{wide}) w[u, v] * x[i + u - 1, j + v - 16]
    }}"""
    assert compile_ptx(made(text), "sm_75")[1].strip("\0 \n") == ""
    generator = np.random.default_rng(0)
    x, w = (generator.standard_normal(shape, np.float32) for shape in ((9, 70), (3, wide)))
    assert_matches_numpy(layoutc.compile(text)["k"], x, w, device="cpu")


@pytest.mark.parametrize("where", ["shared", "shared halo global", "registers"])
def test_a_staged_value_is_read_where_it_is_staged(where: str) -> None:
    """At the folded places of a let, too; else nothing reads what every block loads."""
    text = f"""kernel k(a: i64[], x: i8[N]) -> (y: i64[N]) {{
        edge x = wrap
        edge g = wrap
        let g[c in 0..N] = a[] + c
        y[i] = min(u in 0..N) i64(x[i + 3]) * g[3*u]
    }}
    schedule k {{ threads (1, 1):(1, 1)  stage a in {where} }}"""
    assert compile_ptx(made(text), "sm_75")[1].strip("\0 \n") == ""
    kernel = layoutc.compile(text)["k"]
    a, x = np.array(5), np.arange(7, dtype=np.int8)
    np.testing.assert_array_equal(kernel(a, x, device="cpu"), kernel.reference(a, x))


@pytest.mark.parametrize("let", ["g{n}[i] = g{m}[i] + 1", "g{n}[i] = g{m}[i + 1] * 2", "g{n}[i in 0..N] = g{m}[i + 1]"])
def test_lets_through_as_many_lets_as_may_be(let: str) -> None:
    count = 199
    edges = "".join(f"edge g{n} = wrap  " for n in range(1, count)) if " in " in let else ""
    lets = "\n".join(f"let {let.format(n=n, m=n - 1)}" for n in range(1, count))
    body = f"edge x = wrap  {edges}\nlet g0[i] = x[i]\n{lets}\ny[i] = g{count - 1}[i]"
    text = f"kernel k(x: f32[N]) -> (y: f32[N]) {{ {body} }}"
    kernel = layoutc.compile(text)["k"]
    assert "KERNEL" in kernel.cuda
    assert kernel.explain(N=7)["launch"]
    assert kernel.reference(np.ones(7, np.float32)).shape == (7,)


@pytest.mark.parametrize("rule", ["nearest", "reflect", "mirror", "wrap"])
def test_nvrtc_ends_on_places_that_fold_in_loops(rule: str) -> None:
    """NVVM, the first half of NVRTC, never ended where a fold had branches around its divisions."""
    text = f"""kernel k(x: i64[H, W], w: i64[K], p: i64[1]) -> (y: i64[H, W]) {{
        edge x = {rule}
        y[i, j] = sum(u) w[u] * x[i + u - p[0], j]
    }}"""
    program = f"""
from layoutc.backend.cuda import compile_ptx
from layoutc.compiler import default_signature
from layoutc.module import compile
kernel = compile({text!r}).k
print(len(compile_ptx(kernel.caller().text(default_signature(kernel.meaning))[1], "sm_90")[0]))
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


@pytest.mark.parametrize(("types", "tile"), [
    (("i8", "i8"), "i: 8, j: 2, k: 2"), (("u8", "u8"), "i: 4, j: 4, k: 4"), (("i16", "i8"), "i: 2, j: 2, k: 8"),
    (("u8", "i16"), "i: 8, j: 2, k: 2")])
def test_products_of_bytes_are_the_multipliers_own(types: tuple[str, str], tile: str) -> None:
    """NVVM makes dp2a and dp4a of their sums, of which one took two bytes of a word for its halves."""
    text = f"""kernel k(a: {types[0]}[M, 96], b: {types[1]}[96, N]) -> (c: i32[M, N]) {{
        c[i, j] = sum(k in 0..64) i32(a[i, k]) * i32(b[k, j])
    }}
    schedule k {{ tile ({tile})  stage a in shared  stage b in shared  threads 1 }}"""
    ptx, _ = compile_ptx(made(text), "sm_90")
    assert "mul.lo" in ptx
    assert "dp2a" not in ptx
    assert "dp4a" not in ptx
