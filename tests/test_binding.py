"""From shapes to extents: bound once, agreed everywhere, and refused in words that name the arguments."""

from __future__ import annotations

import pytest

from layoutc.diagnostics import LayoutcError
from layoutc.resolve.binding import bind_extents, check_call, tensor_shape
from tests.reference_support import kernel

TWO = """
kernel two(x: f32[H, W], w: f32[K, K], b: f32[2*H + 1]) -> (y: f32[H - K + 1, W]) {
    require W % 4 == 0, H >= K
    y[i, j] = x[i, j] * w[0, 0] + b[i]
    require K >= 1
}
"""


def refused(text: str, *shapes: tuple[int, ...]) -> list[str]:
    call = kernel(text)
    with pytest.raises(LayoutcError) as caught:
        check_call(call, bind_extents(call, shapes))
    return [f"{d.slug}: {d.message}" for d in caught.value.diagnostics]


def test_names_are_bound_and_shapes_follow() -> None:
    call = kernel(TWO)
    extents = bind_extents(call, [(7, 8), (3, 3), (15,)])
    assert extents == {"H": 7, "W": 8, "K": 3}
    assert tensor_shape(call.outputs[0], extents) == (5, 8)
    check_call(call, extents)


def test_what_disagrees_is_named() -> None:
    assert refused(TWO, (7, 8), (3, 4), (15,)) == ["extent-mismatch: w has K = 3 but w has K = 4"]
    text = "kernel add(x: f32[H], w: f32[H]) -> (y: f32[H]) { y[i] = x[i] + w[i] }"
    assert refused(text, (3,), (4,)) == ["extent-mismatch: x has H = 3 but w has H = 4"]
    assert refused(TWO, (7, 8), (3, 3), (14,)) == [
        "extent-mismatch: b has 14 elements on axis 0, where the kernel asks for 15"
    ]


def test_how_many_arrays_and_axes() -> None:
    assert refused(TWO, (7, 8)) == ["argument-count: `two` takes x, w, b; 1 array was given"]
    assert refused(TWO, (7,), (3, 3), (1, 1)) == [
        "rank-mismatch: x has 2 axes in the kernel, but an array of 1 was given",
        "rank-mismatch: b has 1 axis in the kernel, but an array of 2 was given",
    ]


def test_requirements_are_all_told() -> None:
    found = refused(TWO, (7, 6), (0, 0), (15,))
    assert len(found) == 2
    assert "W % 4 == 0" in found[0]
    assert "K >= 1" in found[1]


def test_an_output_below_nothing_is_a_mismatch() -> None:
    text = "kernel d(x: f32[N]) -> (y: f32[N - 2]) { y[i] = x[i + 2] - x[i] }"
    assert refused(text, (1,)) == ["extent-mismatch: y would have -1 elements on axis 0"]
    call = kernel(text)
    check_call(call, bind_extents(call, [(2,)]))


def test_folds_and_extremes_of_nothing_are_refused_where_they_would_be_read() -> None:
    text = """
    kernel rows(x: f32[H, W]) -> (y: f32[H], z: f32[H]) {
        edge x[1] = (constant(0), nearest)
        y[i] = x[i, 0]
        z[i] = max(j) x[i, j]
    }
    """
    assert refused(text, (2, 0)) == [
        "empty-fold: x has no element on axis 1 for its edge rule `nearest` to repeat",
        "empty-reduction: `max(j)` of nothing has no value",
    ]
    call = kernel(text)
    check_call(call, bind_extents(call, [(0, 0)]))      # nothing is read


def test_lets_pass_on_what_they_read() -> None:
    text = """
    kernel far(x: f32[N]) -> (y: f32[M]) {
        edge g = constant(0)
        edge x = reflect
        let g[k in 0..N] = x[k - 1]
        y[i] = g[i]
    }
    """.replace("x: f32[N]", "x: f32[N], shape: u8[M]")
    call = kernel(text)
    check_call(call, bind_extents(call, [(0,), (3,)]))      # the let's domain is empty: only its constant is read
    assert refused(text.replace("0..N", "0..N + 1"), (0,), (3,))[0].startswith("empty-fold: x ")
