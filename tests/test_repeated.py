"""A call made again: recognised by the form of its arrays, launched only where no output shares memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from layoutc.calling import repeated, stepping
from layoutc.calling.repeated import Ready, Repeated, Stepped, form_of
from layoutc.calling.stepping import Launches, Spare, Turns
from layoutc.calling.workspaces import Rooms
from layoutc.diagnostics import LayoutcError
from layoutc.module import compile


@dataclass
class Memory:
    ptr: int
    device_id: int = 0


class OnGpu:
    """What is asked of an array on a GPU, without one."""

    def __init__(self, at: int, shape: tuple[int, ...], strides: tuple[int, ...], device: int = 0) -> None:
        self.data, self.shape, self.strides, self.dtype, self.itemsize = Memory(at, device), shape, strides, "f4", 4
        self.size = int(np.prod(shape))


X = OnGpu(4096, (8, 8), (32, 4))


@pytest.mark.parametrize("other", [
    OnGpu(4100, (8, 8), (32, 4)), OnGpu(4096, (8, 7), (32, 4)), OnGpu(4096, (8, 8), (64, 4)),
    OnGpu(4096, (8, 8), (32, 4), device=1),
], ids=["alignment", "shape", "strides", "device"])
def test_another_form_is_another_call(other: OnGpu) -> None:
    assert form_of([X]) != form_of([other])


def test_another_address_of_the_same_alignment_is_the_same_call() -> None:
    assert form_of([X]) == form_of([OnGpu(8192 + 4096, (8, 8), (32, 4))])


@pytest.mark.parametrize("value", [np.zeros(3, np.float32), np.zeros(3, ml_dtypes.bfloat16), 2.5, [1, 2], None])
def test_what_is_no_array_on_a_gpu_has_no_form(value: Any) -> None:
    assert form_of([X, value]) is None


@pytest.mark.parametrize(("at", "launched"), [
    (4096, False), (4096 + 4, False), (4096 + 252, False), (4096 - 252, False), (4096 + 256, True), (4096 - 256, True),
])
def test_an_output_that_touches_an_input_is_not_launched(
    at: int, launched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeated, "current_device", lambda: 0)
    seen: list[Any] = []
    monkeypatch.setattr(repeated, "current_stream", lambda: 0)
    launches: Any = (lambda arrays, stream: seen.append(arrays),)
    call = Repeated.of(Ready(launches, (), Rooms()), [X, OnGpu(65536, (8, 8), (32, 4))], 1)
    assert call.launch([X, OnGpu(at, (8, 8), (32, 4))], None) is launched
    assert len(seen) == launched


def test_reversed_arrays_span_what_lies_before_their_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated, "current_device", lambda: 0)
    monkeypatch.setattr(repeated, "current_stream", lambda: 0)
    back = (-32, -4)
    call = Repeated.of(Ready((), (), Rooms()), [OnGpu(4096, (8, 8), back), OnGpu(65536, (8, 8), (32, 4))], 1)
    assert not call.launch([OnGpu(4096, (8, 8), back), OnGpu(4096 - 256, (8, 8), (32, 4))], None)
    assert call.launch([OnGpu(4096, (8, 8), back), OnGpu(4096 + 4, (8, 8), (32, 4))], None)


def test_the_same_call_again_gives_the_new_arrays_results(device: str) -> None:
    kernel = compile("kernel k(x: f32[N]) -> (y: f32[N]) { edge x = wrap  y[i] = x[i + 1] - x[i] }").k
    arrays: Any = np
    if device == "cuda":
        import cupy

        arrays = cupy
    for seed in range(4):
        for n in (7, 8):
            x = np.random.default_rng(seed).standard_normal(n).astype(np.float32)
            given, out = arrays.asarray(x), arrays.empty(n, np.float32)
            assert kernel(given, out=out, device=device) is out
            np.testing.assert_array_equal(out if device == "cpu" else out.get(), np.roll(x, -1) - x)
            made = kernel(given, device=device)
            assert made is not out
            np.testing.assert_array_equal(made if device == "cpu" else made.get(), np.roll(x, -1) - x)
    same = arrays.asarray(np.arange(8, dtype=np.float32))
    assert kernel(same, out=same, device=device) is same
    np.testing.assert_array_equal(same if device == "cpu" else same.get(), [1, 1, 1, 1, 1, 1, 1, -7])


STEPPED = {
    "one": "kernel k(u: f32[N], c: f32[]) -> (v: f32[N]) { edge u = wrap  v[i] = c[] * (u[i + 1] - u[i])  step u = v }",
    "swapped": """kernel k(a: f32[N], b: f32[N]) -> (c: f32[N], d: f32[N]) {
        c[i] = b[i] + 1 d[i] = a[i] * 2 step a = d step b = c
    }""",
}


@pytest.mark.parametrize("count", range(1, 7))
@pytest.mark.parametrize("name", STEPPED)
@pytest.mark.parametrize("rest", [False, True])
def test_steps_again_read_what_the_launch_before_wrote(
    name: str, count: int, rest: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is told by address how many steps made it; what is given stays, the last launch writes to the outputs."""
    kernel = compile(STEPPED[name]).k.meaning
    launches = Launches(2 * count - rest, 2)
    turns = Turns.of(kernel, count)
    inputs, outputs = len(kernel.inputs), len(kernel.outputs)
    fresh, spare = iter(range(2**20, 2**30, 4096)), Spare()
    monkeypatch.setattr(stepping, "twin", lambda array: OnGpu(next(fresh), array.shape, array.strides))
    monkeypatch.setattr(repeated, "current_device", lambda: 0)
    monkeypatch.setattr(repeated, "current_stream", lambda: 0)
    for call in range(3):
        memory: dict[int, int] = {}
        at = [OnGpu(4096 * (1 + n + 16 * call), (8,), (4,)) for n in range(inputs + outputs)]
        stepped = {a.data.ptr for k, a in enumerate(at[:inputs]) if k in turns.inputs}
        given = {a.data.ptr for a in at[:inputs]}

        def launch(steps: int, arrays: Any, memory: dict[int, int] = memory, stepped: set[int] = stepped,
                   given: set[int] = given) -> None:
            before = {memory.get(a.data.ptr, 0) for k, a in enumerate(arrays[:inputs]) if k in turns.inputs}
            assert len(before) == 1
            assert all(a.data.ptr in given for k, a in enumerate(arrays[:inputs]) if k not in turns.inputs)
            for a in arrays[inputs:]:
                assert a.data.ptr not in {b.data.ptr for b in arrays[:inputs]} | given
                memory[a.data.ptr] = min(before) + steps

        known: Any = {(*turns.kind(n), k): lambda arrays, stream, k=k: launch(k, arrays)
                      for n, k in enumerate(launches)}
        again = Repeated.of(Stepped(launches, turns, known, inputs, spare), at, inputs)
        assert again.launch(at, None)
        assert [memory[a.data.ptr] for a in at[inputs:]] == [launches.steps] * outputs
    assert next(fresh) == 2**20 + 4096 * outputs        # the second places are made once


@pytest.mark.parametrize("name", STEPPED)
def test_the_same_steps_again_give_the_new_arrays_results(name: str, device: str) -> None:
    kernel = compile(STEPPED[name]).k
    arrays: Any = np
    if device == "cuda":
        import cupy

        arrays = cupy
    shapes = [tuple(8 for _ in t.extents) for t in kernel.meaning.inputs]
    for seed in range(3):
        for steps in (2, 5, 1, 2):
            rng = np.random.default_rng(seed + steps)
            given = [rng.integers(-9, 9, s).astype(np.float32) for s in shapes]
            wanted = kernel.reference(*given, steps=steps)
            there = [arrays.asarray(g) for g in given]
            out = tuple(arrays.empty(8, np.float32) for _ in kernel.meaning.outputs)
            kernel(*there, out=out, steps=steps, device=device)
            for g, t in zip(given, there, strict=True):
                np.testing.assert_array_equal(t if device == "cpu" else t.get(), g)
            for o, w in zip(out, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
                np.testing.assert_array_equal(o if device == "cpu" else o.get(), w)


def test_a_call_that_is_refused_is_refused_again(device: str) -> None:
    kernel = compile("kernel k(x: f32[N]) -> (y: f32[N]) { require N >= 4  edge x = wrap  y[i] = x[i + 1] - x[i] }").k
    for _ in range(2):
        kernel(np.zeros(4, np.float32), device=device)
        with pytest.raises(LayoutcError) as refused:
            kernel(np.zeros(3, np.float32), device=device)
        assert refused.value.diagnostics[0].slug == "requirement"
