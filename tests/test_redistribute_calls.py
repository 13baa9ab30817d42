"""Redistributions from Python: arguments, outputs, headers, what is derived, and what is refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import layoutc
from layoutc.backend import Run
from layoutc.calling.redistribution_calls import fitted
from layoutc.diagnostics import LayoutcError
from tests.header_support import compile_alone

Array = NDArray[Any]
EXAMPLE = Path(__file__).parent.parent / "examples" / "inside_a_kernel.py"

TEXT = """
kernel twice(x: f32[N]) -> (y: f32[N]) { y[i] = 2 * x[i] }
redistribute deal: i32 = blocked(4, 3) -> striped(4, 3) warp 4
redistribute widen: f32 = (64, 2):(2, 1) -> (64, (2, 2)):(2, (1, 0))
redistribute halves: bf16 = blocked(64, 4) -> striped(64, 4)
redistribute put: f32 = scatter blocked(4, 2) -> blocked(4, 2) warp 4
redistribute get: f32 = gather striped(4, 2) -> blocked(4, 2) warp 4
redistribute for: f32 = blocked(4, 2) -> striped(4, 2)
"""
V = np.arange(12, dtype=np.int32).reshape(4, 3)
DEALT = V.reshape(3, 4).T
M = layoutc.compile(TEXT)


# ---- results


def test_one_tile_or_several(device: str) -> None:
    np.testing.assert_array_equal(M.deal(V, device=device), DEALT)
    many = np.stack([V, V + 100, -V])
    np.testing.assert_array_equal(M.deal(many, device=device), [DEALT, DEALT + 100, -DEALT])
    assert M.deal(many[:0], device=device).shape == (0, 4, 3)
    assert M.deal(many[:1], device=device).shape == (1, 4, 3)


def test_item_counts_may_differ(device: str) -> None:
    v = np.arange(128, dtype=np.float32).reshape(64, 2)
    np.testing.assert_array_equal(M.widen(v, device=device), np.concatenate([v, v], 1))


def test_lists_and_numbers_of_other_packages(device: str) -> None:
    np.testing.assert_array_equal(M.deal(V.tolist(), device=device), DEALT)
    v = np.arange(256).reshape(64, 4).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(M.halves(v, device=device), v.reshape(4, 64).T)


@pytest.mark.parametrize("view", [
    lambda a: np.asfortranarray(a), lambda a: a[::-1, ::-1].copy()[::-1, ::-1], lambda a: np.repeat(a, 2, 1)[:, ::2],
    lambda a: np.pad(a, 3)[3:-3, 3:-3]])
def test_any_strides(view: Any, device: str) -> None:
    np.testing.assert_array_equal(M.deal(view(V), device=device), DEALT)
    tiles = np.broadcast_to(V, (3, 4, 3))
    np.testing.assert_array_equal(M.deal(tiles, device=device), np.broadcast_to(DEALT, (3, 4, 3)))


def test_into_a_given_output(device: str) -> None:
    out = np.zeros((4, 3), np.int32)
    assert M.deal(V, out=out, device=device) is out
    np.testing.assert_array_equal(out, DEALT)
    backwards = np.zeros((4, 3), np.int32)
    M.deal(V, out=backwards[::-1], device=device)
    np.testing.assert_array_equal(backwards[::-1], DEALT)


def test_in_place(device: str) -> None:
    both = V.copy()
    M.deal(both, out=both, device=device)
    np.testing.assert_array_equal(both, DEALT)


@pytest.mark.parametrize("order", ["random", "ascending", "descending"])
def test_any_order_of_threads(order: str) -> None:
    for seed in range(4):
        np.testing.assert_array_equal(M.deal(V, device="cpu", run=Run(seed, order)), DEALT)


def test_arguments_on_the_gpu_stay_there(device: str) -> None:
    if device == "cpu":
        assert isinstance(M.deal(V, device="auto" if device == "cuda" else "cpu"), np.ndarray)
        return
    import cupy

    stream = cupy.cuda.Stream(non_blocking=True)
    v, rank = cupy.asarray(V), cupy.asarray([[7, 0], [6, 1], [5, 2], [4, 3]])
    with stream:
        got = M.deal(v, stream=stream)
        put = M.put(cupy.arange(8, dtype=cupy.float32).reshape(4, 2), rank, stream=stream)
    stream.synchronize()
    assert isinstance(got, cupy.ndarray)
    np.testing.assert_array_equal(got.get(), DEALT)
    np.testing.assert_array_equal(put.get(), [[1, 3], [5, 7], [6, 4], [2, 0]])


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4"])
def test_ranks_of_any_integer_type(dtype: str, device: str) -> None:
    rank = np.array([[7, 0], [6, 1], [5, 2], [4, 3]], dtype)
    v = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.testing.assert_array_equal(M.put(v, rank, device=device), [[1, 3], [5, 7], [6, 4], [2, 0]])
    np.testing.assert_array_equal(M.get(v, rank, device=device), M.get.reference(v, rank))
    np.testing.assert_array_equal(rank, [[7, 0], [6, 1], [5, 2], [4, 3]])


def test_ranks_that_another_type_does_not_hold_are_outside() -> None:
    rank = np.array([0, 2**63 - 1, 2**63, 2**64 - 1], np.uint64)
    least = -(2**63)
    assert fitted(rank, np.dtype(np.int64)).tolist() == [0, 2**63 - 1, least, least]
    assert fitted(np.array([2**32 + 1, -1]), np.dtype(np.int32)).tolist() == [-(2**31), -1]
    assert rank[3] == 2**64 - 1


# ---- names and texts


def test_names() -> None:
    assert list(M) == ["twice", "deal", "widen", "halves", "put", "get", "for"]
    assert {"twice", "deal"} <= set(dir(M))
    assert repr(M.put) == "<layoutc redistribution put(v, rank)>"
    assert M.deal.__name__ == "deal"
    np.testing.assert_array_equal(M["for"].reference(np.zeros((4, 2), np.float32)), np.zeros((4, 2)))
    with pytest.raises(AttributeError, match="did you mean `deal`"):
        _ = M.daal


def test_texts() -> None:
    assert "deal" in M.deal.cuda
    assert M.deal.plan.move is not None
    assert "__device__" in M.deal.header
    assert "deal_shared_bytes" in M.deal.header
    assert "#include" not in M.deal.header


def test_names_that_cuda_reserves(device: str) -> None:
    v = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.testing.assert_array_equal(M["for"](v, device=device), v.reshape(2, 4).T)
    compile_alone(M["for"].header, "sm_90")


def test_explain_says_what_interface_promises() -> None:
    facts = M.deal.explain()
    assert list(facts) == ["name", "kind", "arch", "redistribute"]
    assert (facts["name"], facts["kind"], facts["arch"]) == ("deal", "redistribute", "sm_90")
    move, = facts["redistribute"]
    assert set(move) == {
        "name", "from", "to", "via", "rounds", "selects", "shared_bytes", "write_wavefronts", "read_wavefronts",
        "ideal_wavefronts", "barrier", "rejected"}
    assert (move["from"], move["to"]) == ("(4,3):(3,1)", "(4,3):(1,4)")
    assert {"none", "registers"} <= {r["via"] for r in move["rejected"]}
    for rejected in move["rejected"]:
        assert set(rejected) == {"via", "why", "cost"}


# ---- refusals


def refusal(call: Any) -> tuple[str, str]:
    with pytest.raises(LayoutcError) as caught:
        call()
    return caught.value.diagnostics[0].slug, str(caught.value)


RANK = np.zeros((4, 2), np.int64)
HELD = np.zeros((4, 2), np.float32)


@pytest.mark.parametrize(("name", "arguments", "slug"), [
    ("deal", (), "argument-count"), ("deal", (V, V), "argument-count"), ("put", (HELD,), "argument-count"),
    ("deal", (V.astype(np.float32),), "argument-type"), ("deal", (V.astype(np.int64),), "argument-type"),
    ("deal", ("words",), "argument-type"), ("deal", (V.T,), "extent-mismatch"), ("deal", (V[0],), "extent-mismatch"),
    ("deal", (V[None, None],), "extent-mismatch"), ("put", (HELD, RANK.astype(float)), "argument-type"),
    ("put", (HELD, RANK.astype(bool)), "argument-type"), ("put", (HELD, RANK[:2]), "extent-mismatch"),
    ("put", (HELD[None], RANK), "extent-mismatch"), ("put", (HELD, 0.5), "argument-type"),
])
def test_arguments_that_do_not_fit(name: str, arguments: tuple[Any, ...], slug: str) -> None:
    assert refusal(lambda: M[name](*arguments, device="cpu"))[0] == slug
    assert refusal(lambda: M[name].reference(*arguments))[0] == slug


@pytest.mark.parametrize(("out", "slug"), [
    (np.zeros((4, 2), np.int32), "extent-mismatch"), (np.zeros((4, 3)), "argument-type"), (3, "argument-type"),
    (np.broadcast_to(np.zeros((4, 1), np.int32), (4, 3)), "argument-type"),
    (np.lib.stride_tricks.as_strided(np.zeros(12, np.int32), (4, 3), (4, 4)), "overlapping-output"),
])
def test_outputs_that_do_not_fit(out: Any, slug: str) -> None:
    assert refusal(lambda: M.deal(V, out=out, device="cpu"))[0] == slug


def test_a_device_that_does_not_exist() -> None:
    assert refusal(lambda: M.deal(V, device="tpu"))[0] == "unknown-device"


@pytest.mark.parametrize(("words", "slug"), [({"stream": "x"}, "bad-stream"), ({"run": "x"}, "bad-run")])
def test_how_it_is_launched_is_checked_where_it_is_of_no_effect_too(words: Any, slug: str) -> None:
    assert refusal(lambda: M.deal(V, device="cpu", **words))[0] == slug


@pytest.mark.parametrize(("text", "caret", "witness"), [
    ("f32 = blocked(64, 2) -> striped(64, 2) via shuffle", "shuffle", "item 1 of thread 0 comes from another warp"),
    ("f32 = blocked(4, 2) -> striped(4, 2) via registers warp 4", "registers",
     "item 1 of thread 0 comes from thread 2"),
    ("f32 = blocked(8, 2) -> striped(8, 2) warp 4 via shuffle", "shuffle", "of thread 0 comes from another warp"),
    ("f32 = gather blocked(4, 2) -> striped(4, 2) via registers", "registers", "rank"),
    ("f32 = scatter blocked(64, 2) -> striped(64, 2) via shuffle", "shuffle", "rank"),
])
def test_means_that_cannot_be_right(text: str, caret: str, witness: str) -> None:
    whole = f"redistribute r: {text}"
    r = layoutc.compile(whole).r
    for use in (lambda: r.plan, lambda: r.cuda, lambda: r.header, r.explain, lambda: r(np.zeros(r.meaning.items))):
        with pytest.raises(LayoutcError) as caught:
            use()
        found, = caught.value.diagnostics
        assert found.slug == "bad-via"
        assert found.span is not None
        assert whole[found.span.start:found.span.end] == caret
        assert witness in found.label
        assert "`via shared`" in found.help


# ---- inside a person's kernel


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("inside_a_kernel", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_functions_stand_in_a_hand_written_kernel(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Compiled by NVRTC without a GPU; with one it runs through CuPy's RawKernel."""
    module = example()
    assert compile_alone(module.text(), "sm_90").strip("\0\n ") == ""
    if device == "cuda":
        module.main()
        assert "as cupy.cumsum" in capsys.readouterr().out
