"""What each launch of several steps reads and writes: nothing that a later launch still needs, and no more arrays."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from layoutc.calling.stepping import Launches, Spare, Turns, twin
from layoutc.module import compile

KERNELS = {
    "one": "kernel k(u: i32[N]) -> (v: i32[N]) { v[i] = u[i]  step u = v }",
    "two": "kernel k(a: i32[N], b: i32[N]) -> (c: i32[N], d: i32[N]) { c[i] = b[i] d[i] = a[i] step a = d step b = c }",
    "others": """kernel k(x: i32[N], u: i32[N]) -> (n: i32[N], v: i32[N]) { n[i] = u[i] v[i] = x[i] step u = v }""",
}


@pytest.mark.parametrize(("steps", "fused"), list(product(range(12), range(1, 6))))
def test_launches_make_all_steps(steps: int, fused: int) -> None:
    launches = Launches(steps, fused)
    assert sum(launches) == steps
    assert all(0 < n <= fused for n in launches)
    assert len(launches) == -(-steps // fused)


def test_as_many_launches_as_64_bits_count_take_no_memory() -> None:
    launches = Launches(2**63 - 1, 4)
    assert len(launches) == 2**61
    assert [n for n, _ in zip(launches, range(3), strict=False)] == [4, 4, 4]


@pytest.mark.parametrize("count", range(1, 8))
@pytest.mark.parametrize("name", KERNELS)
def test_a_launch_reads_what_the_last_one_wrote(name: str, count: int) -> None:
    """Places hold (tensor, how many launches made it); an input over an output that may be there is gone with it."""
    kernel = compile(KERNELS[name])["k"].meaning
    turns = Turns.of(kernel, count)
    inputs, outputs = [t.name for t in kernel.inputs], [t.name for t in kernel.outputs]
    first, second = [f"{v} 1" for v in outputs], [f"{v} 2" for v in outputs]
    memory: dict[str, tuple[str, int]] = {place: (place, 0) for place in inputs}
    over = {first[k]: [u for u in inputs if u not in turns.alive(k, inputs)] for k in range(len(outputs))}
    for launch in range(count):
        sources, targets = turns.sources(launch, inputs, first, second), turns.targets(launch, first, second)
        assert not set(sources) & set(targets)
        steps = dict(kernel.steps)
        for u, place in zip(inputs, sources, strict=True):
            assert memory[place] == ((steps[u], launch) if launch and u in steps else (u, 0))
        for v, place in zip(outputs, targets, strict=True):
            for gone in over.get(place, []):
                memory.pop(gone, None)
            memory[place] = (v, launch + 1)
    assert [memory[place] for place in first] == [(v, count) for v in outputs]
    assert set(turns.inputs.values()) == {outputs.index(v) for _, v in kernel.steps}


def test_an_output_may_lie_over_a_stepped_input_where_the_first_launch_writes_elsewhere() -> None:
    kernel = compile(KERNELS["others"])["k"].meaning
    assert Turns.of(kernel, 2).alive(1, ["x", "u"]) == ["x"]
    assert Turns.of(kernel, 3).alive(1, ["x", "u"]) == ["x", "u"]
    assert Turns.of(kernel, 2).alive(0, ["x", "u"]) == ["x", "u"]


def test_second_places_are_made_once_for_calls_alike() -> None:
    spare, arrays = Spare(), [np.zeros((3, 4), np.float32), np.zeros(5, np.int8)]
    first = spare.take((0, 7), arrays)
    others = spare.take((0, 7), arrays)         # a call in another thread meanwhile
    assert not any(a is b for a, b in zip(first, others, strict=True))
    spare.keep((0, 7), first)
    spare.keep((0, 7), others)
    again = spare.take((0, 7), arrays)
    assert all(a is b for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize("key", [(0, 8), (1, 7)], ids=["another stream", "another device"])
def test_second_places_stay_where_they_are_ordered(key: tuple[int, int]) -> None:
    spare, arrays = Spare(), [np.zeros((3, 4), np.float32)]
    first = spare.take((0, 7), arrays)
    spare.keep((0, 7), first)
    assert spare.take(key, arrays)[0] is not first[0]


def test_second_places_fit() -> None:
    spare, arrays = Spare(), [np.zeros((3, 4)), np.zeros(5)]
    spare.keep((0, 7), spare.take((0, 7), arrays))
    assert spare.take((0, 7), [arrays[0][:2], arrays[1]])[0].shape == (2, 4)


BASE = np.zeros((24, 40), np.int16)


@pytest.mark.parametrize("array", [
    BASE, BASE.T, BASE[::-1, ::-1], BASE[:5, ::-2], BASE[::2, 3:], BASE[:0], BASE[:, :0], BASE[0, 0, ...],
    BASE[:, ::20],
], ids=["plain", "transposed", "reversed", "both", "rows", "none", "no columns", "one", "sparse"])
def test_a_twin_is_an_array_of_its_own_with_the_same_form(array: NDArray[Any]) -> None:
    made = twin(array)
    assert (made.shape, made.dtype) == (array.shape, array.dtype)
    assert not np.shares_memory(made, array)
    made[...] = np.arange(array.size).reshape(array.shape)
    np.testing.assert_array_equal(made.ravel(), np.arange(array.size))
    spanned = 2 * array.nbytes
    assert made.base is None or getattr(made.base, "nbytes", 0) <= max(spanned, 1)
