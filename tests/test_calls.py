"""Calls: what arguments are taken, where outputs go, and what is refused before anything runs."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from layoutc.calling import calls
from layoutc.compiler import default_signature
from layoutc.diagnostics import LayoutcError
from layoutc.module import Kernel, Module, compile
from layoutc.plan.nodes import Target

TEXT = """
kernel shift(x: f32[H, W]) -> (y: f32[H, W]) {
    edge x = nearest
    y[i, j] = x[i - 1, j + 2] + 2 * x[i, j]
}
kernel scale(x: f32[N], a: f32[]) -> (y: f32[N], z: i32[N]) { y[i] = a[] * x[i]  z[i] = i32(x[i]) }
kernel records(x: f32[N, 3]:(3, 1)) -> (y: f32[N]) { y[i] = x[i, 0] + x[i, 1] * x[i, 2] }
kernel bytes(x: u8[N]) -> (y: u8[N]) { y[i] = u8(x[i] + 1) }
schedule shift { tile (i: 4, j: 8) stage x in shared }
schedule shift as fast { tile (i: 4, j: 16) vector 4 stage x in shared }
"""


@pytest.fixture(scope="module")
def module() -> Module:
    return compile(TEXT)


def shifted(x: Any) -> Any:
    h, w = x.shape
    rows, columns = np.clip(np.arange(h) - 1, 0, max(h - 1, 0)), np.clip(np.arange(w) + 2, 0, max(w - 1, 0))
    return x[rows][:, columns] + np.float32(2) * x


BASE = np.arange(40 * 48, dtype=np.float32).reshape(40, 48)
VIEWS = {
    "contiguous": BASE[:7, :].copy(),
    "rows of another": BASE[3:20:2, 5:30],
    "reversed": BASE[::-1, ::-1],
    "transposed": BASE.T,
    "Fortran": np.asfortranarray(BASE[:9, :11]),
    "every third column": BASE[:, ::3],
    "one row for all": np.broadcast_to(BASE[0], (9, 48)),
    "one number for all": np.broadcast_to(np.float32(3), (5, 6)),
    "overlapping windows": as_strided(BASE, (10, 12), (8, 4)),
    "one element": BASE[:1, :1],
    "nothing": BASE[:0],
    "no columns": BASE[:, :0],
    "not aligned": np.frombuffer(b"x" + BASE[:5].tobytes(), np.uint8)[1:].view(np.float32).reshape(5, 48),
}


@pytest.mark.parametrize("schedule", [None, "fast"])
@pytest.mark.parametrize("name", VIEWS)
def test_views_of_any_strides_are_taken(module: Module, name: str, schedule: str | None, device: str) -> None:
    x = VIEWS[name]
    before = x.copy()
    np.testing.assert_array_equal(module.shift(x, schedule=schedule, device=device), shifted(x))
    np.testing.assert_array_equal(x, before)


def test_numbers_and_lists_take_the_tensor_s_type(module: Module, device: str) -> None:
    y, z = module.scale([1, 2.5, -3], 2, device=device)
    np.testing.assert_array_equal(y, [2, 5, -6])
    np.testing.assert_array_equal(z, [1, 2, -3])
    assert (y.dtype, z.dtype) == (np.float32, np.int32)


@pytest.mark.parametrize("out", [np.zeros((40, 48), np.float32), np.zeros((48, 40), np.float32).T,
                                 np.zeros((80, 96), np.float32)[::-2, ::-2]], ids=["plain", "transposed", "reversed"])
def test_out_is_written_in_place(module: Module, out: Any, device: str) -> None:
    assert module.shift(BASE, out=out, device=device) is out
    np.testing.assert_array_equal(out, shifted(BASE))


def test_only_out_is_written(module: Module, device: str) -> None:
    around = np.full((44, 52), 7, np.float32)
    module.shift(BASE, out=around[2:-2, 2:-2], device=device)
    np.testing.assert_array_equal(around[2:-2, 2:-2], shifted(BASE))
    around[2:-2, 2:-2] = 7
    assert (around == 7).all()


@pytest.mark.parametrize("offset", [0, 1, 47, 48 * 3 + 5])
def test_an_output_may_overlap_an_input(module: Module, offset: int, device: str) -> None:
    memory = np.concatenate([BASE.ravel(), np.zeros(200, np.float32)])
    x = memory[:BASE.size].reshape(BASE.shape)
    out = memory[offset:offset + BASE.size].reshape(BASE.shape)
    wanted = shifted(x.copy())
    module.shift(x, out=out, device=device)
    np.testing.assert_array_equal(out, wanted)


def test_several_outputs_go_where_they_are_told(module: Module, device: str) -> None:
    y, z = np.zeros(3, np.float32), np.zeros(3, np.int32)
    given = module.scale(np.array([1, 2, 3], np.float32), np.float32(4), out=(y, z), device=device)
    assert given[0] is y
    assert given[1] is z
    np.testing.assert_array_equal(y, [4, 8, 12])
    np.testing.assert_array_equal(z, [1, 2, 3])


def test_what_speaks_dlpack_is_taken(module: Module, device: str) -> None:
    class Foreign:
        def __dlpack__(self, **options: Any) -> Any:
            return BASE.__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return BASE.__dlpack_device__()

    np.testing.assert_array_equal(module.shift(Foreign(), device=device), shifted(BASE))


def test_arrays_on_a_gpu_stay_there(module: Module, device: str) -> None:
    if device != "cuda":
        return
    cupy = importlib.import_module("cupy")
    y = module.shift(cupy.asarray(BASE))
    assert isinstance(y, cupy.ndarray)
    np.testing.assert_array_equal(y.get(), shifted(BASE))
    x, out, stream = cupy.asarray(BASE), cupy.zeros((40, 48), cupy.float32), cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()        # another stream waits for nothing
    assert module.shift(x, out=out, stream=stream) is out
    cupy.cuda.Device().synchronize()
    np.testing.assert_array_equal(out.get(), shifted(BASE))


@pytest.mark.parametrize("n", [0, 1, 5])
def test_strides_that_the_kernel_insists_on(module: Module, n: int, device: str) -> None:
    x = np.arange(3 * n, dtype=np.float32).reshape(n, 3)
    np.testing.assert_array_equal(module.records(x, device=device), x[:, 0] + x[:, 1] * x[:, 2])


def test_any_byte_but_zero_is_true(device: str) -> None:
    text = """
    kernel g(x: bool[N]) -> (c: i64[]) { c[] = count(i) x[i] }
    kernel f(x: bool[N], w: bool[3]) -> (z: i32[N], y: bool[N]) {
        edge x = constant(true)
        z[i] = x[i] + x[i]
        y[i] = any(u) (w[u] and x[i + u])
    }
    schedule f { tile (i: 4) stage x in shared stage w in constant }
    """
    x = np.array([0, 1, 2, 255, 0, 0, 0, 0], np.uint8).view(np.bool_)
    z, y = compile(text).f(x, np.array([0, 7, 1], np.uint8).view(np.bool_), device=device)
    np.testing.assert_array_equal(z, [0, 2, 2, 2, 0, 0, 0, 0])
    assert compile(text).g(x, device=device)[()] == 3
    np.testing.assert_array_equal(y, [True, True, True, False, False, False, True, True])


FAR = [
    "edge x = constant(-1)  y[i] = x[10000*i]", "edge x = wrap  y[i] = x[i*i]", "edge x = mirror  y[i] = x[i - N*N]",
    "edge x = nearest  y[i] = x[i + 2147483647]", "edge x = reflect  let g[i] = x[100*i]  y[i] = g[100*i]",
    "edge x = wrap  y[i] = x[9223372036854775*i]",
]


@pytest.mark.parametrize("body", FAR)
def test_subscripts_may_leave_32_bits(body: str, device: str) -> None:
    kernel: Kernel = compile(f"kernel f(x: i32[N]) -> (y: i32[N]) {{ {body} }}").f
    for n in (3, 300_000):
        x: NDArray[np.int32] = np.arange(n, dtype=np.int32)
        if n > 1000 and "9223372036854775*" in body:
            with pytest.raises(LayoutcError) as error:
                kernel(x, device=device)
            assert error.value.diagnostics[0].slug == "subscript-overflow"
            continue
        np.testing.assert_array_equal(kernel(x, device=device), kernel.reference(x))


F, G = np.zeros((4, 5), np.float32), np.zeros(4, np.float32)
REFUSED: dict[str, tuple[str, tuple[Any, ...], dict[str, Any], str]] = {
    "too few": ("shift", (), {}, "argument-count"),
    "too many": ("shift", (F, F), {}, "argument-count"),
    "another type": ("shift", (F.astype(np.float64),), {}, "argument-type"),
    "bytes the other way round": ("shift", (F.astype(">f4"),), {}, "argument-type"),
    "a mask": ("shift", (np.ma.masked_less(BASE, 5),), {}, "argument-type"),
    "a number for a schedule": ("shift", (F,), {"schedule": 3}, "unknown-schedule"),
    "no array": ("shift", ("text",), {}, "argument-type"),
    "nothing at all": ("shift", (None,), {}, "argument-type"),
    "ragged lists": ("shift", ([[1, 2], [3]],), {}, "argument-type"),
    "objects": ("shift", (np.array([[object()]]),), {}, "argument-type"),
    "records": ("shift", (np.zeros((2, 2), [("a", np.float32)]),), {}, "argument-type"),
    "a number too large": ("bytes", ([1, 300],), {}, "argument-type"),
    "a fraction of an integer": ("bytes", ([1.5],), {}, "argument-type"),
    "another rank": ("shift", (G,), {}, "rank-mismatch"),
    "strides it does not insist on": ("records", (np.zeros((3, 4), np.float32).T[:, :3],), {}, "argument-strides"),
    "a wrong extent": ("records", (np.zeros((3, 4), np.float32),), {}, "extent-mismatch"),
    "out of another shape": ("shift", (F,), {"out": np.zeros((5, 4), np.float32)}, "extent-mismatch"),
    "out of another type": ("shift", (F,), {"out": np.zeros((4, 5))}, "argument-type"),
    "out that is a list": ("shift", (F,), {"out": [[0.0]]}, "argument-type"),
    "too few outs": ("scale", (G, 1), {"out": G.copy()}, "argument-count"),
    "an unknown schedule": ("shift", (F,), {"schedule": "fats"}, "unknown-schedule"),
    "an unknown device": ("shift", (F,), {"device": "gpu"}, "unknown-device"),
    "a list for a schedule": ("shift", (F,), {"schedule": ["fast"]}, "unknown-schedule"),
    "a list for a device": ("shift", (F,), {"device": ["cpu"]}, "unknown-device"),
    "a text for a stream": ("shift", (F,), {"stream": "x"}, "bad-stream"),
    "a truth for a stream": ("shift", (F,), {"stream": True}, "bad-stream"),
    "an address below 0": ("shift", (F,), {"stream": -1}, "bad-stream"),
    "a fraction for a stream": ("shift", (F,), {"stream": 1.5}, "bad-stream"),
    "a number for a run": ("shift", (F,), {"run": 3}, "bad-run"),
    "steps of what has none": ("shift", (F,), {"steps": 2}, "no-steps"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(module: Module, name: str, device: str) -> None:
    kernel, arguments, keywords, slug = REFUSED[name]
    with pytest.raises(LayoutcError) as error:
        module[kernel](*arguments, **{"device": device, **keywords})
    assert [d.slug for d in error.value.diagnostics] == [slug]


CONVERTED: dict[str, tuple[Any, str]] = {
    "another type": (G.astype(np.float64), "x.astype(numpy.float32)"),
    "bytes the other way round": (G.astype(">f4"), "x.astype(numpy.float32)"),
    "text that spells numbers": (np.array(["1", "2.5"]), "x.astype(numpy.float32)"),
    "a field of records": (np.zeros(3, [("at", np.float32), ("x", np.int8)]), "x['at']"),
    "bytes without a meaning": (np.zeros(3, "V4"), "x.view(numpy.float32)"),
    "times": (np.zeros(3, "M8[s]"), "x.view(numpy.int64).astype(numpy.float32)"),
    "complex numbers": (np.zeros(3, complex), "x.real.astype(numpy.float32)"),
}


@pytest.mark.parametrize("name", CONVERTED)
def test_the_help_of_another_type_makes_it_one_that_is_taken(module: Module, name: str, device: str) -> None:
    x, wanted = CONVERTED[name]
    with pytest.raises(LayoutcError) as error:
        module.scale(x, 2, device=device)
    written = error.value.diagnostics[0].help.split("`")[1]
    assert written == wanted
    module.scale(eval(written, {"numpy": np, "x": x}), 2, device=device)


def test_the_help_of_fractions_for_integers_makes_them_some(module: Module, device: str) -> None:
    with pytest.raises(LayoutcError) as error:
        module.bytes([1.5, 2], device=device)
    written = error.value.diagnostics[0].help.split("`")[1]
    np.testing.assert_array_equal(
        module.bytes(eval(written, {"numpy": np, "x": [1.5, 2]}), device=device), [2, 3])


def test_an_output_must_be_writable_and_distinct(module: Module, device: str) -> None:
    frozen = np.zeros((4, 5), np.float32)
    frozen.flags.writeable = False
    windows = as_strided(np.zeros(30, np.float32), (4, 5), (8, 4))
    for out in (frozen, np.broadcast_to(np.zeros(5, np.float32), (4, 5)), windows):
        with pytest.raises(LayoutcError):
            module.shift(F, out=out, device=device)


def test_two_outputs_may_be_fields_of_one_record(device: str) -> None:
    kernel: Kernel = compile("kernel two(x: f32[N]) -> (y: f32[N], z: f32[N]) { y[i] = x[i]  z[i] = -x[i] }").two
    records = np.zeros((4, 3), np.float32)
    kernel(records[:, 2] + 1, out=(records[:, 0], records[:, 1]), device=device)
    np.testing.assert_array_equal(records, [[1, -1, 0]] * 4)


def test_two_outputs_may_not_share_memory(device: str) -> None:
    kernel: Kernel = compile("kernel two(x: f32[N]) -> (y: f32[N], z: f32[N]) { y[i] = x[i]  z[i] = -x[i] }").two
    memory = np.zeros(6, np.float32)
    with pytest.raises(LayoutcError) as error:
        kernel(G, out=(memory[:4], memory[2:]), device=device)
    assert error.value.diagnostics[0].slug == "overlapping-output"
    assert not memory.any()


@pytest.mark.parametrize(("arch", "by_matrices"), [
    ("sm_75", False), ("sm_80", True), ("sm_90", True), ("sm_120", True)])
def test_a_run_is_planned_for_the_gpu_that_is_there(
    arch: str, by_matrices: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = compile(
        "kernel k(a: f16[N, K], b: f16[K, M]) -> (y: f32[N, M]) { y[i, j] = sum(k) f32(a[i, k]) * f32(b[k, j]) }").k
    monkeypatch.setattr(calls, "current_arch", lambda: arch)
    monkeypatch.setattr(calls, "current_multiprocessors", lambda: 7)
    caller = kernel.caller()
    target = caller.target_on("cuda")
    assert target.multiprocessors == 7
    _, cuda = caller.text(default_signature(kernel.meaning), target=target)
    assert ("mma<" in cuda.text) == by_matrices
    assert all(entry.shared_bytes <= target.asked_bytes for entry in cuda.entries)
    assert caller.target_on("cpu") == Target()
