"""What breaks others: places past 32 bits, many blocks, extents of 0, 1 and primes, strides of all kinds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from layoutc import compile, load
from layoutc.backend.types import numpy_dtype
from layoutc.calling.arguments import NARROW, NARROW_EXTENT
from layoutc.calling.calls import Caller
from layoutc.compare import compare
from layoutc.diagnostics import LayoutcError
from layoutc.module import Kernel
from layoutc.resolve.binding import tensor_shape
from layoutc.testing.cases import insisted
from layoutc.testing.memory import place
from tests.backend_support import numpy_or_cupy

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.layout"))
Array = NDArray[Any]


def repeated(*shape: int) -> Array:
    """Ones that take the room of one."""
    return np.broadcast_to(np.float32(1), shape)


def only(text: str) -> Kernel:
    module = compile(text)
    (name,) = module
    found = module[name]
    assert isinstance(found, Kernel)
    return found


# ---- places past 32 bits


COUNT = "kernel k(x: f32[H, W], z: f32[N]) -> (y: i64[N]) {{ require H >= 1, W >= 1  {} }}"
PAST_32_BITS: dict[str, tuple[str, list[int]]] = {
    "a subscript that comes back": (COUNT.format("edge z = constant(0)  y[i] = i64(z[i + H*W - W*H]) + i"), [1, 2, 3]),
    "terms that are added in another order": (
        COUNT.format("edge z = constant(0)  y[i] = i64(z[i - H*H + W*W]) + i"), [1, 2, 3]),
    "a bound of a range": (COUNT.format("y[i] = i + sum(u in 0..H*W//(H*W)) 1"), [1, 2, 3]),
    "a range far out": (COUNT.format("y[i] = argmin(u in H*W..H*W + 2) u"), [2**34] * 3),
    "a domain": (COUNT.format("let g[a in H*W..H*W + 2] = a  edge g = wrap  y[i] = g[i] - H*W"), [0, 1, 0]),
    "a domain that is read far out": (
        COUNT.format("let g[a in 0..3] = 10*a  edge g = nearest  y[i] = g[i + H*W] + g[i - H*W]"), [20, 20, 20]),
}


@pytest.mark.parametrize("name", PAST_32_BITS)
def test_arithmetic_on_extents_past_32_bits(name: str, device: str) -> None:
    """H and W fit into 32 bits, their product does not."""
    text, wanted = PAST_32_BITS[name]
    inputs = repeated(2**17, 2**17), np.ones(3, np.float32)
    assert only(text).reference(*inputs).tolist() == wanted
    assert only(text)(*inputs, device=device).tolist() == wanted


def test_an_extent_whose_arithmetic_leaves_32_bits(device: str) -> None:
    kernel = only("kernel k(x: f32[H, W]) -> (y: i64[H*W//W - H + 4]) { require H >= 1, W >= 1  y[i] = H*W + i }")
    assert (kernel(repeated(2**17, 2**17), device=device) - 2**34).tolist() == [0, 1, 2, 3]


def test_arithmetic_past_64_bits_is_refused(device: str) -> None:
    for extent in ("H*H*W//(H*W) - H + 2", "H**3//(H*H) - H + 2"):
        kernel = only(f"kernel k(x: f32[H, W]) -> (y: f32[{extent}]) {{ require H >= 1, W >= 1  y[i] = x[0, 0] }}")
        assert kernel(np.ones((2, 3), np.float32), device=device).tolist() == [1, 1]
        with pytest.raises(LayoutcError, match="subscript-overflow"):
            kernel(repeated(2**22, 2**22), device=device)


GATHER = "kernel k(x: f32[N], at: i64[M]) -> (y: f32[M]) { edge x = constant(-1)  y[i] = x[at[i]] }"
FAR = [0, -1, 2**31 - 1, 2**31, 2**32, 2**32 + 10, 2**32 + 11, 2**62, -2**63]


def test_places_from_data_past_32_bits(device: str) -> None:
    """A call and its meaning take no more memory than the elements that there are."""
    inputs = repeated(2**32 + 11), np.array(FAR)
    wanted = [1, -1, 1, 1, 1, 1, -1, -1, -1]
    assert only(GATHER).reference(*inputs).tolist() == wanted
    assert only(GATHER)(*inputs, device=device).tolist() == wanted


def signatures(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the texts of the calls to come have indices of 64 bits."""
    seen: list[bool] = []
    honest = Caller.text

    def text(self: Caller, signature: Any, *rest: Any) -> Any:
        seen.append(signature.wide)
        return honest(self, signature, *rest)

    monkeypatch.setattr(Caller, "text", text)
    return seen


@pytest.mark.parametrize(("make", "wide"), [
    (lambda: repeated(NARROW_EXTENT - 1), False),
    (lambda: repeated(NARROW_EXTENT), True),
    (lambda: as_strided(np.ones(1, np.float32), (1,), (2**40,)), False),
    (lambda: as_strided(np.ones(1, np.float32), (0,), (2**40,)), False),
    (lambda: pitched(2, NARROW // 2), True),
    (lambda: pitched(2, NARROW // 2 - 1), False),
], ids=["extent below", "extent", "stride of one", "stride of none", "span", "span below"])
def test_indices_of_64_bits_just_where_they_are_needed(
    make: Any, wide: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU a NumPy array is copied, and a copy has no pitch."""
    seen = signatures(monkeypatch)
    text = "kernel k(x: i8[N]) -> (y: i64[2]) { edge x = constant(0)  y[i] = i64(x[i]) }"
    array = make() if make().dtype == np.int8 else as_strided(np.ones(1, np.int8), make().shape, make().strides)
    got = only(text)(array, device=device)
    assert got.tolist() == [int(len(array) > 0), int(len(array) > 1)]
    if device == "cpu":
        assert set(seen) == {wide}


def pitched(count: int, pitch: int) -> Array:
    """Ones so many bytes apart in memory of which only their own pages are ever touched."""
    array = np.zeros(count * pitch, np.int8)[::pitch]
    array[...] = 1
    return array


SHIFT = """
kernel shift(x: u8[N]) -> (y: u8[N]) { edge x = wrap  y[i] = u8(x[i - 1] + 2*x[i + 1]) }
schedule shift as staged { tile (i: 4096)  threads 256  stage x in shared  vector 16 }
"""
ROWS = """
kernel rows(x: u8[H, W]) -> (y: u8[H, W]) { edge x = constant(9)  y[i, j] = u8(x[i + 1, j] + x[i, j - 1]) }
schedule rows as staged { tile (i: 8, j: 512)  threads 256  stage x in shared  vector 16 }
"""


@pytest.mark.parametrize("schedule", [None, "staged"])
def test_more_elements_than_32_bits_count(schedule: str | None, device: str) -> None:
    """More than 2**31 of them where there is a GPU to hold them; else the same on a few."""
    xp, n = numpy_or_cupy(device), 2**31 + 5003 if device == "cuda" else 5003
    x = xp.zeros(n, np.uint8)
    x[:3], x[-3:] = xp.array([1, 2, 3], np.uint8), xp.array([4, 5, 6], np.uint8)
    y = compile(SHIFT).shift(x, schedule=schedule, device=device)
    assert y[:4].tolist() == [6 + 2 * 2, 1 + 2 * 3, 2, 3]
    assert y[-4:].tolist() == [2 * 4, 2 * 5, 4 + 2 * 6, 5 + 2 * 1]
    assert int(y[4:-4].max()) == 0


@pytest.mark.parametrize("schedule", [None, "staged"])
@pytest.mark.parametrize("tall", [False, True])
def test_rows_and_columns_past_32_bits(schedule: str | None, tall: bool, device: str) -> None:
    """A span of more than 2**31 bytes where there is a GPU to hold it."""
    xp, long = numpy_or_cupy(device), 2**31 // 40 + 77 if device == "cuda" else 77
    shape = (long, 43) if tall else (43, long)
    x = xp.zeros(shape, np.uint8)
    x[0, 0], x[-1, -1], x[-1, 0], x[0, -1] = 1, 2, 3, 4
    y = compile(ROWS).rows(x, schedule=schedule, device=device)
    assert y[0, :2].tolist() == [9, 1]
    assert [int(y[0, -1]), int(y[-1, 0]), int(y[-1, 1]), int(y[-1, -1]), int(y[-2, -1])] == [0, 9 + 9, 3 + 9, 9, 2]
    assert int(y[1:-2, 1:].max()) == 0
    assert bool((y[1:-2, 0] == 9).all())


# ---- launches of many blocks


@pytest.mark.parametrize("shape", [(70_001, 1, 1), (1, 70_001, 1), (1, 1, 70_001), (3, 70_001, 2)])
def test_more_blocks_than_a_grid_has_in_y_or_z(shape: tuple[int, ...], device: str) -> None:
    kernel = only("""
        kernel turn(x: i32[D, H, W]) -> (y: i32[W, D, H]) { y[k, i, j] = 2*x[i, j, k] }
        schedule turn { tile (k: 1, i: 1, j: 1)  threads 1 }""")
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    np.testing.assert_array_equal(kernel(x, device=device), 2 * x.transpose(2, 0, 1))


# ---- extents of 0 and 1 in every position, and primes


def kernels() -> list[Any]:
    found = []
    for path in EXAMPLES:
        module = load(path)
        found += [pytest.param(module[name], id=f"{path.stem}-{name}") for name in module
                  if isinstance(module[name], Kernel)]
    return found


def extents_in_every_position(names: tuple[str, ...]) -> list[dict[str, int]]:
    """0, 1 and a prime for each; of more than three names one at a time, and all alike."""
    primes = dict(zip(names, (7, 11, 5, 3, 13, 2, 17), strict=False))
    if len(names) <= 3:
        return [dict(zip(names, sizes, strict=True)) for sizes in product(*((0, 1, primes[n]) for n in names))]
    alike = [dict.fromkeys(names, n) for n in (0, 1, 2, 3, 5, 7)]
    return [primes, *alike, *({**primes, name: n} for name in names for n in (0, 1))]


def drawn(kernel: Kernel, extents: dict[str, int]) -> tuple[list[Array], list[Array]]:
    """Inputs and outputs an element past a boundary of every access, so that one text serves all."""
    random = np.random.default_rng(3)
    arrays = []
    for tensor in (*kernel.meaning.inputs, *kernel.meaning.outputs):
        shape, dtype = tensor_shape(tensor, extents), numpy_dtype(tensor.type.name)
        low = 0 if tensor.type.kind in ("uint", "bool") else -9
        values = random.integers(low, 10, tuple(max(n, 0) for n in shape)).astype(dtype)
        contiguous = np.cumprod([1, *values.shape[:0:-1]])[::-1] if values.ndim else ()
        strides = insisted(tensor, extents) or tuple(int(s) for s in contiguous)
        arrays.append(place(values, strides, 1).view())
    count = len(kernel.meaning.inputs)
    return arrays[:count], arrays[count:]


def refusal(call: Callable[..., object], *inputs: Array, **words: Any) -> set[str]:
    """The slugs with which a call is refused, if it is."""
    try:
        call(*inputs, **words)
    except LayoutcError as error:
        return {d.slug for d in error.diagnostics}
    return set()


@pytest.mark.parametrize("kernel", kernels())
def test_extents_of_examples(kernel: Kernel, device: str) -> None:
    """As the NumPy meaning, or refused as it is."""
    for extents in extents_in_every_position(kernel.meaning.extents):
        inputs, outputs = drawn(kernel, extents)
        refused = refusal(kernel.reference, *inputs)
        assert refusal(kernel, *inputs, out=outputs, device=device) == refused, extents
        if not refused:
            assert compare(kernel.meaning, inputs, outputs) == [], extents


# ---- strides and alignment


STENCIL = """
kernel k(x: i16[H, W], c: i16[W]) -> (y: i16[H, W], s: i16[H, W]) {
    edge x = mirror
    y[i, j] = i16(x[i - 1, j] - x[i + 1, j + 2] * c[j])
    s[i, j] = x[i, j]
}
schedule k as staged { tile (i: 4, j: 16)  threads 32  stage x in shared  vector 4 }
schedule k as held { tile (i: 4, j: 16)  threads 16  stage x in registers }
"""
BASE = np.arange(8 * 64, dtype=np.int16).reshape(8, 64)
VIEWS: dict[str, Array] = {
    "plain": BASE, "pitched": BASE[:, :37], "backwards": BASE[::-1, ::-1], "every other": BASE[::2, ::3],
    "one row again and again": np.broadcast_to(BASE[3], (5, 64)),
    "one column again and again": np.broadcast_to(BASE[:, 5:6], (8, 33)),
    "one element again and again": np.broadcast_to(BASE[5, 5], (9, 19)),
    "transposed": BASE.T, "transposed backwards": BASE.T[::-1, 1:], "windows": as_strided(BASE, (60, 9), (2, 2)),
    "off by an element": BASE[:, 1:], "off by three": BASE[1:, 3:62],
    "off by a byte": np.ndarray((6, 30), np.int16, BASE.tobytes(), 1, (128, 2)),
    "a pitch of odd bytes": np.ndarray((6, 30), np.int16, BASE.tobytes(), 2, (127, 2)),
    "a field of a record": np.ndarray((6, 30), np.int16, BASE.tobytes(), 1, (120, 3)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_strides_and_alignment(name: str, device: str) -> None:
    x, kernel = VIEWS[name], only(STENCIL)
    c = np.arange(-3, x.shape[1] - 3, dtype=np.int16)[::-1]
    for schedule in kernel.schedules:
        got = kernel(x, c, schedule=schedule, device=device)
        assert compare(kernel.meaning, [x, c], got) == []


@pytest.mark.parametrize("name", ["off by a byte", "a pitch of odd bytes", "a field of a record"])
def test_outputs_that_are_not_aligned_to_their_elements_are_refused(name: str, device: str) -> None:
    view = VIEWS[name]
    out = np.ndarray(view.shape, np.int16, bytearray(2000), 1 if "byte" in name else 2, view.strides)
    with pytest.raises(LayoutcError, match="not aligned"):
        only("kernel k(x: i16[H, W]) -> (y: i16[H, W]) { y[i, j] = x[i, j] }")(view, out=out, device=device)


def test_elements_off_their_boundaries_are_copied_or_on_a_gpu_refused(device: str) -> None:
    xp, kernel = numpy_or_cupy(device), only("kernel k(x: i32[N]) -> (y: i32[N]) { y[i] = x[i] }")
    buffer = xp.arange(64, dtype=np.uint8)
    view = xp.ndarray((5,), np.int32, buffer.data + 1) if device == "cuda" else np.ndarray(5, np.int32, buffer.data, 1)
    if device == "cuda":
        with pytest.raises(LayoutcError, match="not aligned"):
            kernel(view)
    else:
        assert kernel(view, device=device)[:2].tolist() == [0x04030201, 0x08070605]


def test_a_pitch_of_odd_bytes_does_not_matter_where_there_is_one_row(device: str) -> None:
    out = np.ndarray((1, 5), np.int16, bytearray(2000), 0, (127, 2))
    x = BASE[:1, :5]
    only("kernel k(x: i16[H, W]) -> (y: i16[H, W]) { y[i, j] = x[i, j] }")(x, out=out, device=device)
    np.testing.assert_array_equal(out, x)
