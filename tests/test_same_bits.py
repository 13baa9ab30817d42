"""Which outputs have the same bits under every schedule and on every device, and that they do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc import compile, load
from layoutc.backend import Run
from layoutc.module import Kernel
from layoutc.reference.bounded_functions import ULPS
from layoutc.resolve.binding import tensor_shape
from layoutc.resolve.program import Tensor
from layoutc.resolve.same_bits import APPROXIMATE
from layoutc.testing.fills import Fill
from tests.cli_support import invoke

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.layout"))
Array = NDArray[Any]
ALWAYS, HERE, NEVER = (True, True), (True, False), (False, False)

EQUATIONS = {
    "y[i] = x[i] + 1": ALWAYS,
    "y[i] = sqrt(x[i]) / x[i] // 3": ALWAYS,
    "y[i] = x[i]**2": ALWAYS,
    "y[i] = x[i]**3": HERE,
    "y[i] = exp(x[i])": HERE,
    "y[i] = sum(u in -1..=1) x[i + u]": ALWAYS,
    "y[i] = sum(k) w[k] * x[i]": ALWAYS,                    # the extent is a constant
    "y[i] = median(u in 0..3) x[i + u]": ALWAYS,
    "y[i] = sum(j) x[j] + x[i]": NEVER,
    "y[i] = sum(u in 0..3, j in 0..N) x[j + u]": NEVER,
    "y[i] = f32(sum(j) i32(x[j]))": ALWAYS,                 # of integers
    "y[i] = f32(sum(j) i32(exp(x[j])))": HERE,
    "y[i] = prod(j) x[j]": NEVER,
    "y[i] = max(j) x[j]": NEVER,                            # which of two zeros?
    "y[i] = f32(argmax(j) x[j])": ALWAYS,
    "y[i] = f32(count(j) (x[j] > 0))": ALWAYS,
    "y[i] = where(any(j) (sin(x[j]) > 0), 1, 0)": HERE,
    "let g[k] = sum(j) x[j]  let h[k] = g[k]  y[i] = h[i]": NEVER,
    "let g[k] = log(x[k])  y[i] = g[i] + g[i + 1]": HERE,
    "let g[k in 0..N] = x[k]  edge g = constant(exp2(c[]))  y[i] = g[i - 1]": HERE,
    "y[i] = f32(at[i32(cos(x[i]))])": HERE,
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_what_decides(equation: str) -> None:
    """In the language's terms: reductions of floats over what extents decide, and functions that are approximate."""
    kernel = compile(
        "kernel k(x: f32[N], w: f32[3], c: f32[], at: i32[N]) -> (y: f32[N], other: i32[N]) {"
        f" edge x = nearest  edge at = nearest  {equation}  other[i] = at[i] }}").k
    same: Any = kernel.explain()["same_bits"]
    schedules, devices = EQUATIONS[equation]
    assert same == {"y": {"schedules": schedules, "devices": devices}, "other": {"schedules": True, "devices": True}}


def test_what_a_step_hands_on() -> None:
    kernel = compile("""
        kernel k(u: f32[N], x: f32[N]) -> (v: f32[N], seen: f32[N]) {
            seen[i] = u[i]  v[i] = u[i] + exp(x[i])
            step u = v
        }""").k
    same: Any = kernel.explain()["same_bits"]
    assert same["seen"] == {"schedules": True, "devices": False}


def test_functions_that_devices_round_in_their_own_way() -> None:
    """Those that comparisons with NumPy give units in the last place to."""
    assert set(ULPS) == APPROXIMATE


# ---- and they do


KERNELS = [pytest.param(path, module[name], id=f"{path.stem}-{name}")
           for path in EXAMPLES for module in [load(path)] for name in module if isinstance(module[name], Kernel)]


def drawn(tensor: Tensor, extents: dict[str, int], seed: int) -> Array:
    """Numbers that round, and zeros, infinities, NaN and limits among them."""
    return Fill("special" if seed % 2 else "any", seed).values(tensor_shape(tensor, extents), tensor.type)


def assert_same_bits(one: Any, other: Any, wanted: dict[str, bool]) -> None:
    pairs = zip(*(o if isinstance(o, tuple) else (o,) for o in (one, other)), wanted.items(), strict=True)
    for a, b, (name, counts) in pairs:
        if not counts:
            continue
        assert a.shape == b.shape, name
        whole = f"u{a.dtype.itemsize}"
        differ = np.ascontiguousarray(a).view(whole) != np.ascontiguousarray(b).view(whole)
        if a.dtype.kind in "fV":
            differ &= ~(np.isnan(a) & np.isnan(b))
        assert not differ.any(), f"{name}: {a[differ][:3]} and {b[differ][:3]}"


@pytest.mark.parametrize(("path", "kernel"), KERNELS)
def test_schedules_and_devices_agree_on_examples(path: Path, kernel: Kernel, device: str) -> None:
    """Every schedule of the file; the CPU's threads in another order, and on a GPU the CPU's answer."""
    same: Any = kernel.explain()["same_bits"]
    sizes = {"P": 3, "Q": 4}
    extents = {name: sizes.get(name, (13, 37, 9, 5)[n % 4]) for n, name in enumerate(kernel.meaning.extents)}
    for seed in (1, 2):
        inputs = [drawn(t, extents, seed) for t in kernel.meaning.inputs]
        first = kernel(*inputs, device="cpu")
        assert_same_bits(first, kernel(*inputs, device=device, run=Run(7, "descending")),
                         {name: s["devices"] for name, s in same.items()})
        by_schedule = {name: s["schedules"] for name, s in same.items()}
        here = kernel(*inputs, device=device)
        for schedule in kernel.schedules:
            assert_same_bits(here, kernel(*inputs, schedule=schedule, device=device), by_schedule)


@pytest.mark.parametrize(("path", "kernel"), KERNELS)
def test_all_schedules_of_examples_pass_their_test(path: Path, kernel: Kernel, device: str) -> None:
    name = kernel.meaning.name
    result = invoke("test", str(path), name, "--all-schedules", "--examples", "3", "--seed", "1", "--device", device)
    assert result.exit_code == 0, result.output
