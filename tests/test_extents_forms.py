"""Extents and bounds of every form: what Python says of them is what a call allocates and computes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import layoutc
from layoutc.diagnostics import LayoutcError

FORMS: dict[str, Callable[[int, int], int]] = {
    "min(H, W)": min,
    "max(H, W)": max,
    "min(H, W, 2)": lambda h, w: min(h, w, 2),
    "H//W": lambda h, w: h // w if w else 0,
    "H%W": lambda h, w: h % w if w else 0,
    "H//0": lambda h, w: 0,
    "H%0 + 1": lambda h, w: 1,
    "H//(0 - 2) + H": lambda h, w: h // -2 + h,
    "H**0": lambda h, w: 1,
    "H**2": lambda h, w: h * h,
    "abs(H - W)": lambda h, w: abs(h - w),
    "clamp(H, 1, W)": lambda h, w: min(max(h, 1), w),
    "H**5 // (H**4 + 1)": lambda h, w: h**5 // (h**4 + 1),
    "2**W": lambda h, w: 2**w,
    "(0 - 2)**min(W, 3) + 8": lambda h, w: (-2) ** min(w, 3) + 8,
    "min(H, 3)**max(W - 3, 0)": lambda h, w: min(h, 3) ** max(w - 3, 0),
    "sign(H - W) + 1": lambda h, w: (h > w) - (h < w) + 1,
    "where(H < W, H, W)": min,
    "where(not (H == W or W < 2) and H != 0, 2, 1) + H": lambda h, w: h + (2 if not (h == w or w < 2) and h else 1),
    "i64(H > W) + 2*i64(not H > W)": lambda h, w: 1 if h > w else 2,
    "2*max(H, W) - min(H, W)": lambda h, w: 2 * max(h, w) - min(h, w),
}
SHAPES = ((0, 3), (1, 1), (3, 5), (5, 3), (4, 0), (7, 2))


@pytest.mark.parametrize("form", FORMS)
def test_extents_of_outputs_and_bounds_of_sums(form: str) -> None:
    text = f"""
    kernel k(x: f32[H, W]) -> (y: f32[{form}, 2], s: f32[], g: f32[3]) {{
        edge x = constant(7)
        edge let_ = constant(-1)
        let let_[a in 0..{form}] = f32(a) + 1
        y[i, j] = x[i, j] + f32({form})
        s[] = sum(u in 0..{form}) x[u, 1]
        g[m] = let_[2*m - 1]
    }}
    schedule k as tiled {{ tile (i: 2)  stage x in shared }}
    """
    kernel = layoutc.compile(text)["k"]
    for h, w in SHAPES:
        x = np.arange(h * w, dtype=np.float32).reshape(h, w)
        expected = kernel.reference(x)
        assert expected[0].shape == (FORMS[form](h, w), 2)
        for found, wanted in zip(kernel(x, device="cpu"), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "form", ["i64(u8(H))", "i32(H)", "i64(f32(H))", "i64(sqrt(f64(H)))", "where(f32(H) < 2, H, W)"])
def test_other_forms_are_refused_where_they_stand(form: str) -> None:
    for text in (f"kernel k(x: f32[H, W]) -> (y: f32[{form}]) {{ y[i] = 1 }}",
                 f"kernel k(x: f32[H, W]) -> (y: f32[H]) {{ y[i] = sum(u in 0..{form}) 1 }}"):
        with pytest.raises(LayoutcError) as caught:
            _ = layoutc.compile(text)["k"].cuda
        diagnostic, = caught.value.diagnostics
        assert diagnostic.slug == "extent-form"
        assert diagnostic.span is not None
        assert text[diagnostic.span.start:diagnostic.span.end] in form


@pytest.mark.parametrize("extent", ["N + 9223372036854775807", "281474976710656", "(N - 3)//2 + 9223372036854775807"])
def test_an_extent_that_no_array_has_is_refused_at_its_place(extent: str) -> None:
    kernel = layoutc.compile(f"kernel k(x: f32[N]) -> (y: f32[{extent}]) {{ y[i] = 1 }}").k
    with pytest.raises(LayoutcError) as error:
        kernel.cuda  # noqa: B018  # the text is made when it is asked for
    assert [d.slug for d in error.value.diagnostics] == ["extent-too-large"]
    assert error.value.diagnostics[0].span is not None


@pytest.mark.parametrize("text", [
    "(x: f32[H, W]) -> (y: f32[H - H, 3 + W]) { edge x = wrap; y[i, j] = x[i, j] }",
    "(x: f32[H, 0]) -> (y: f32[H, 0]) { edge x = wrap; y[i, j] = x[i, j] + x[i, j + 1] }",
    "(x: f32[0, W]) -> (y: f32[0, W]) { edge x = mirror; y[i, j] = x[i - 1, j] + x[i, j + 1] }",
    "(x: f32[0, W]) -> (y: f32[W]) { y[j] = sum(i in 0..0) x[i, j] }",
    "(x: f32[0, W]) -> (y: f32[W, 0]) { y[j, i] = x[i, j] }",
    "(x: f32[0, W]) -> (y: f32[4, 0]) { edge x = constant(2); y[i, j] = x[i, j - 1] }",
])
def test_an_extent_may_be_the_number_zero(text: str, device: str) -> None:
    kernel = layoutc.compile(f"kernel k{text}").k
    x = np.ones([0 if "0" in extent else 5 for extent in text[8:text.index("]")].split(",")], np.float32)
    np.testing.assert_array_equal(kernel(x, device=device), kernel.reference(x))
