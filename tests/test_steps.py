"""Kernels applied several times: what NumPy gives written by hand, and what repeated calls give, bit for bit."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc.diagnostics import LayoutcError
from layoutc.module import Module, compile
from tests.padding import padded

Array = NDArray[Any]

TEXT = """
kernel heat(u: f64[H, W], c: f64[]) -> (v: f64[H, W]) {
    edge u = constant(0)
    v[i, j] = u[i, j] + c[] * (u[i-1, j] + u[i+1, j] + u[i, j-1] + u[i, j+1] - 4*u[i, j])
    step u = v
}
kernel wave(u: f32[N], before: f32[N], speed: f32[N]) -> (next: f32[N], now: f32[N]) {
    edge u = mirror
    next[i] = 2*u[i] - before[i] + speed[i] * (u[i-1] - 2*u[i] + u[i+1])
    now[i] = u[i]
    step u = next
    step before = now
}
kernel life(cell: u8[H, W]) -> (after: u8[H, W]) {
    edge cell = wrap
    let around[i, j] = sum(u in -1..=1, v in -1..=1) cell[i + u, j + v]
    after[i, j] = u8(where(around[i, j] == 3 or (around[i, j] == 4 and cell[i, j] == 1), 1, 0))
    step cell = after
}
kernel rule(u: bool[N]) -> (v: bool[N], count: i64[]) {
    edge u = constant(false)
    v[i] = u[i-1] != u[i+1]
    count[] = count(i) u[i]
    step u = v
}
kernel half(u: f16[N]) -> (v: f16[N]) { edge u = wrap  v[i] = u[i] + u[i-1] / 3  step u = v }
kernel swap(a: i32[N], b: i32[N]) -> (c: i32[N], d: i32[N]) { c[i] = b[i]  d[i] = a[i]  step a = c  step b = d }
kernel once(u: f32[N]) -> (v: f32[N]) { v[i] = 2*u[i] }
kernel halves(u: i32[N]) -> (v: i32[2*(N//2)]) { require N >= 1  v[i] = u[i] + 1  step u = v }
"""


@pytest.fixture(scope="module")
def module() -> Module:
    return compile(TEXT)


def random(*shape: int, seed: int = 0, dtype: Any = np.float64) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("shape", [(13, 70), (1, 1), (1, 5), (0, 4), (4, 0)])
def test_heat_is_what_numpy_gives(module: Module, shape: tuple[int, int], steps: int, device: str) -> None:
    u = wanted = random(*shape)
    for _ in range(steps):
        p = np.pad(wanted, 1)
        around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4*wanted
        wanted = wanted + 0.1*around
    before = u.copy()
    got = module.heat(u, 0.1, steps=steps, device=device)
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(module.heat.reference(u, 0.1, steps=steps), wanted)
    np.testing.assert_array_equal(u, before)
    assert got is not u


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_two_tensors_step_at_once(module: Module, steps: int, device: str) -> None:
    u, before, speed = random(40, dtype=np.float32), random(40, seed=1, dtype=np.float32), np.full(40, 0.25, np.float32)
    now, last = u, before
    for _ in range(steps):
        p = np.pad(now, 1, "reflect")
        now, last = 2*now - last + speed * (p[:-2] - 2*now + p[2:]), now
    got = module.wave(u, before, speed, steps=steps, device=device)
    for a, b in zip(got, (now, last), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("steps", range(5))
def test_steps_happen_at_once(module: Module, steps: int, device: str) -> None:
    a, b = np.arange(5, dtype=np.int32), np.arange(5, 10, dtype=np.int32)
    got = module.swap(a, b, steps=steps, device=device)
    for array, wanted in zip(got, (a, b) if steps % 2 == 0 else (b, a), strict=True):
        np.testing.assert_array_equal(array, wanted)


def test_a_glider_comes_back_one_further_after_four_steps(module: Module, device: str) -> None:
    cell = np.zeros((6, 9), np.uint8)
    cell[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = 1
    for steps in (4, 24, 36):
        wanted = np.roll(cell, (steps // 4, steps // 4), (0, 1))
        np.testing.assert_array_equal(module.life(cell, steps=steps, device=device), wanted)


def test_what_is_not_stepped_holds_the_last_step_s_values(module: Module, device: str) -> None:
    u = np.zeros(31, np.bool_)
    u[15] = True
    counts = [1, 2, 2, 4, 2, 4, 4, 8]         # before each step: the odd numbers in a row of Pascal's triangle
    for steps in range(1, 9):
        v, count = module.rule(u, steps=steps, device=device)
        assert count == counts[steps - 1]
        np.testing.assert_array_equal(v, module.rule.reference(u, steps=steps)[0])


def test_bools_of_any_byte_are_true(module: Module, device: str) -> None:
    u = np.array([0, 2, 0, 0, 255, 0], np.uint8).view(np.bool_)
    v, count = module.rule(u, steps=2, device=device)
    np.testing.assert_array_equal(v, module.rule.reference(u != 0, steps=2)[0])
    assert count == 4


def test_a_half_is_rounded_at_every_step(module: Module, device: str) -> None:
    u = wanted = random(50, dtype=np.float16)
    for _ in range(3):
        wide = wanted.astype(np.float32)
        wanted = (wide + np.roll(wide, 1) / np.float32(3)).astype(np.float16)
    np.testing.assert_array_equal(module.half(u, steps=3, device=device), wanted)


RULES = ["constant(7)", "nearest", "reflect", "mirror", "wrap"]


def extended(x: Array, rules: tuple[str, str]) -> Array:
    """Three elements more on each side, each side by its own rule."""
    return np.concatenate([padded(x, 3, rules[0])[:3], x, padded(x, 3, rules[1])[-3:]])


@pytest.mark.parametrize("rules", list(product(RULES, RULES)), ids="-".join)
def test_edges_hold_at_every_step(rules: tuple[str, str], device: str) -> None:
    module = compile(f"""
        kernel k(u: i32[N]) -> (v: i32[N]) {{
            edge u = ({', '.join(rules)})
            v[i] = u[i - 3] - 2*u[i] + 3*u[i + 1] * u[i + 3]
            step u = v
        }}
    """)
    for n in (1, 2, 3, 4, 9):
        u = wanted = np.arange(1, n + 1, dtype=np.int32)
        for steps in range(1, 4):
            p = extended(wanted, rules)
            wanted = p[:n] - 2*p[3:n + 3] + 3*p[4:n + 4] * p[6:n + 6]
            np.testing.assert_array_equal(module.k(u, steps=steps, device=device), wanted)
            np.testing.assert_array_equal(module.k.reference(u, steps=steps), wanted)


# ---- where outputs go


@pytest.mark.parametrize("steps", range(5))
def test_an_output_over_its_input_is_right(module: Module, steps: int, device: str) -> None:
    wanted = module.heat(random(9, 40), 0.1, steps=steps, device="cpu")
    u = random(9, 40)
    assert module.heat(u, 0.1, steps=steps, out=u, device=device) is u
    np.testing.assert_array_equal(u, wanted)


@pytest.mark.parametrize("steps", range(5))
def test_outputs_over_each_other_s_inputs_are_right(module: Module, steps: int, device: str) -> None:
    a, b = np.arange(8, dtype=np.int32), np.arange(8, 16, dtype=np.int32)
    wanted = module.swap(a, b, steps=steps, device="cpu")
    memory = np.concatenate([a, b, b])
    x, y, ahead = memory[:8], memory[8:16], memory[3:11]
    module.swap(x, y, steps=steps, out=(ahead, memory[16:]), device=device)
    np.testing.assert_array_equal(ahead, wanted[0])
    np.testing.assert_array_equal(memory[16:], wanted[1])


@pytest.mark.parametrize("steps", range(4))
@pytest.mark.parametrize("out", [
    np.zeros((70, 13)).T, np.zeros((26, 140))[::-2, ::2], np.zeros((13, 13 * 70))[:, ::13],
], ids=["transposed", "reversed", "sparse"])
def test_out_may_have_any_strides(module: Module, out: Array, steps: int, device: str) -> None:
    u = random(13, 70)
    assert module.heat(u, 0.1, steps=steps, out=out, device=device) is out
    np.testing.assert_array_equal(out, module.heat.reference(u, 0.1, steps=steps))


# ---- what is refused


def test_steps_of_nothing_take_no_time(module: Module) -> None:
    """However many there are: none has an element to make."""
    for shape in ((0, 0), (0, 5), (5, 0)):
        assert module.heat(np.zeros(shape), 0.1, steps=2**63 - 1).shape == shape


@pytest.mark.parametrize("steps", [-1, 1.0, 2.5, True, "2", None, np.float64(2), 2**63])
def test_steps_are_an_integer_from_0_on(module: Module, steps: Any) -> None:
    for call in (module.heat, module.heat.reference):
        with pytest.raises(LayoutcError) as error:
            call(random(3, 3), 0.1, steps=steps)
        assert error.value.diagnostics[0].slug == "bad-steps"


@pytest.mark.parametrize("steps", [2, np.int64(2)])
def test_integers_of_any_kind_are_steps(module: Module, steps: Any, device: str) -> None:
    u = random(3, 3)
    wanted = module.heat.reference(u, 0.1, steps=2)
    np.testing.assert_array_equal(module.heat(u, 0.1, steps=steps, device=device), wanted)


@pytest.mark.parametrize("steps", [0, 2])
def test_a_kernel_without_step_is_applied_once(module: Module, steps: int) -> None:
    for call in (module.once, module.once.reference):
        with pytest.raises(LayoutcError) as error:
            call(np.ones(3, np.float32), steps=steps)
        assert error.value.diagnostics[0].slug == "no-steps"


def test_no_step_leaves_what_is_not_stepped_without_a_value(module: Module) -> None:
    with pytest.raises(LayoutcError) as error:
        module.rule(np.zeros(3, np.bool_), steps=0)
    assert "`count`" in error.value.diagnostics[0].message


def test_shapes_that_need_not_agree_must_do_so_at_the_call(module: Module, device: str) -> None:
    np.testing.assert_array_equal(module.halves(np.arange(4, dtype=np.int32), steps=3, device=device), [3, 4, 5, 6])
    with pytest.raises(LayoutcError) as error:
        module.halves(np.arange(5, dtype=np.int32), steps=3, device=device)
    assert error.value.diagnostics[0].slug == "requirement"
