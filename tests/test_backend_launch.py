"""What a launch takes and gives, on either device; how runs on the CPU are ordered, bounded and broken off."""

from __future__ import annotations

import importlib
import os
import signal
import threading
import time
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from layoutc.backend import CudaModule, KernelFault, MissingToolError, Run, load_cpu, load_cuda, problem_with
from tests.backend_support import Array, entry_of, kernels, launch, load, source_of
from tests.test_backend_kernels import CASES, Case

VIEWS = kernels("views")


def strides_of(*arrays: Array) -> list[int]:
    return [stride // array.itemsize for array in arrays for stride in array.strides]


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a, lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a[::2, 3::3], lambda a: a.T, lambda a: a[5:6],
        lambda a: np.broadcast_to(a[:, :1], (40, 50)), lambda a: np.broadcast_to(a[3], (4, 50)), lambda a: a[:, :0],
    ],
)  # fmt: skip
def test_views_need_no_copy(view: Any, device: str) -> None:
    x = view(np.arange(2000, dtype=np.int16).reshape(40, 50))
    y = np.zeros(x.shape, np.int16)
    module = load(device, VIEWS)
    if device == "cpu":
        module.launch("copy", x.shape[0], [x, y, *x.shape, *strides_of(x, y)])
    else:
        cupy = importlib.import_module("cupy")
        there = view(cupy.arange(2000, dtype=np.int16).reshape(40, 50)) if x.strides[-1] else cupy.asarray(x)
        result = cupy.zeros(x.shape, np.int16)
        module.launch("copy", x.shape[0], [there, result, *x.shape, *strides_of(there, result)])
        y = cupy.asnumpy(result)
    np.testing.assert_array_equal(y, x)


def test_scalars_and_constants_arrive(device: str) -> None:
    y = np.zeros(4)
    w = np.array([1, 2, 0.5], ml_dtypes.bfloat16)
    args = [w, np.array([True, False]), 2**40 + 1, -7, y]
    launch(load(device, VIEWS), device, entry_of(VIEWS, "scalars"), 1, args)
    assert y.tolist() == [2, 2**40 + 1, -7, 2]


def test_elements_of_shared_memory_are_operands_of_everything(device: str) -> None:
    whole, real = np.zeros(6, np.int32), np.zeros(5, np.float32)
    launch(load(device, VIEWS), device, entry_of(VIEWS, "elements"), 1, [whole, real])
    assert whole.tolist() == [8, 13, 18, 2, 2, 8]
    assert real.tolist() == [0.625, 3.5, -0.25, 0.875, 2.25]


def test_no_blocks_do_nothing(device: str) -> None:
    winner = np.full(3, -1, np.int32)
    launch(load(device, VIEWS), device, entry_of(VIEWS, "last"), 0, [winner])
    assert winner.tolist() == [-1, -1, -1]


@pytest.mark.parametrize(
    ("entry", "args", "message"),
    [
        ("last", [np.zeros(1, np.int64)], "winner holds i32, not int64"),
        ("last", [], "takes 1 arguments, not 0"),
        ("scalars", [np.zeros(4, ml_dtypes.bfloat16), np.zeros(2, np.bool_), 1, 1, np.zeros(4)], "3 values"),
    ],
)
def test_what_does_not_fit_is_refused(entry: str, args: list[Any], message: str, device: str) -> None:
    with pytest.raises(TypeError, match=message):
        launch(load(device, VIEWS), device, entry_of(VIEWS, entry), 1, args)


def test_streams_of_all_kinds(device: str) -> None:
    """On the CPU a stream is of no effect."""
    source, x, y = kernels("regions"), np.ones(256), np.zeros(256, np.int16)
    module = load(device, source)
    if device == "cpu":
        module.launch("regions", 4, [x, y], stream=object())
        return
    cupy = importlib.import_module("cupy")
    own = cupy.cuda.Stream(non_blocking=True)
    torch_like = type("TorchStream", (), {"cuda_stream": own.ptr})()
    protocol = type("AnyStream", (), {"__cuda_stream__": lambda _: (0, own.ptr)})()
    for stream in (None, own, own.ptr, torch_like, protocol):
        given, there = cupy.asarray(x), cupy.zeros(256, np.int16)
        cupy.cuda.Device().synchronize()        # other streams do not wait for them
        module.launch("regions", 4, [given, there], stream=stream)
        cupy.cuda.Device().synchronize()
        assert there[:64].tolist() == list(range(64, 0, -1))


def test_without_a_gpu_the_reason_is_told(device: str) -> None:
    problem = problem_with("cuda")
    if device == "cuda":
        assert problem is None
        assert isinstance(load_cuda(VIEWS), CudaModule)
    elif problem is not None:
        assert problem.diagnostics[0].help
        with pytest.raises(MissingToolError):
            load_cuda(VIEWS)


# ---- Runs on the CPU


def winners(run: Run) -> list[int]:
    winner = np.zeros(4, np.int32)
    load_cpu(VIEWS).with_run(run).launch("last", 4, [winner])
    return winner.tolist()


def test_the_seed_draws_the_order() -> None:
    assert winners(Run(order="ascending")) == [127] * 4
    assert winners(Run(order="descending")) == [0] * 4
    assert winners(Run(seed=1)) == winners(Run(seed=1))
    assert len({thread for seed in range(20) for thread in winners(Run(seed=seed))}) > 40


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.entry)
def test_unchecked_runs_give_the_same(case: Case) -> None:
    source = kernels(case.file)
    args = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in case.args]
    load_cpu(source, checked=False).launch(case.entry, case.blocks, args)
    params = entry_of(source, case.entry).params
    outputs = [arg for param, arg in zip(params, args, strict=True) if getattr(param, "writes", False)]
    for output, wanted in zip(outputs, case.wanted, strict=True):
        np.testing.assert_array_equal(output, wanted)


def test_a_run_after_a_fault_is_sound() -> None:
    source, x = kernels("chunked"), np.ones((7, 512), np.float32)
    module = load_cpu(source)
    for _ in range(3):
        with pytest.raises(KernelFault):
            module.launch("chunked", 1, [x[:3], np.zeros_like(x), 7])
        y = np.zeros_like(x)
        module.launch("chunked", 1, [x, y, 7])
        assert (y == 2).all()


def test_an_interrupt_breaks_a_long_run_off() -> None:
    text = (
        '#include "layoutc.cuh"\nKERNEL(256) slow(Out<int> y) {\n'
        "    for (int k = 0; k < 100; ++k) __syncthreads();\n    if (threadIdx.x == 0) y[blockIdx.x] = 1;\n}\n"
    )
    module = load_cpu(source_of("slow.cu", text))
    y = np.zeros(1 << 20, np.int32)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        module.launch("slow", y.size, [y])
    assert time.monotonic() - begin < 5
    assert 0 < y.sum() < y.size


def test_launches_from_several_threads_do_not_meet() -> None:
    x = np.arange(256.0)
    wanted = np.zeros(256, np.int16)
    module = load_cpu(kernels("regions"))
    module.launch("regions", 4, [x, wanted])
    results = [np.zeros(256, np.int16) for _ in range(8)]
    workers = [threading.Thread(target=module.launch, args=("regions", 4, [x, result])) for result in results]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all((result == wanted).all() for result in results)


def test_time_for_a_block_is_not_time_for_all() -> None:
    """A block that ends in time is no runaway, however many there are."""
    winner = np.zeros(20_000, np.int32)
    load_cpu(VIEWS).with_run(Run(block_seconds=0.05)).launch("last", winner.size, [winner])
    assert len(set(winner.tolist())) > 100
