"""Every size of a walk through planes that a compiler may choose gives what NumPy gives, ragged walks included."""

from __future__ import annotations

from typing import Any

import pytest

from layoutc.module import Kernel, compile
from layoutc.plan.planes.shape import Knobs, shape_of
from layoutc.plan.strategies import planes
from layoutc.testing import assert_matches_numpy
from tests.test_planes import arrays, box, star

STAGED: dict[str, Any] = {"columns": 4, "lines": 2, "warps": 4, "planes": 7, "ahead": 2, "resident": 0}
NEAR: dict[str, Any] = {**STAGED, "lines": 1, "ahead": 1, "cached": True}


def chosen(monkeypatch: pytest.MonkeyPatch, text: str, sizes: dict[str, Any]) -> Kernel:
    """The kernel as it is where these sizes are the compiler's choice."""
    monkeypatch.setattr(planes, "chosen_shape", lambda work: shape_of(work, Knobs(**sizes)))
    kernel = compile(text)[text.split("kernel ")[1].split("(")[0]]
    assert isinstance(kernel, Kernel)
    made, = kernel.plan.passes
    assert (made.strategy, made.tile[0]) == ("planes", 7)
    assert ("copy_async_wait" in kernel.cuda) != sizes.get("cached", False)
    return kernel


@pytest.mark.parametrize(("sizes", "r", "rule"), [
    ({"pace": 2}, 2, "mirror"), ({"pace": 2, "turns": 4}, 3, "constant(0)"),
    ({"pace": 3, "ahead": 3, "turns": 3}, 2, "wrap")])
def test_blocks_wait_for_several_planes_at_once(
    sizes: dict[str, Any], r: int, rule: str, monkeypatch: pytest.MonkeyPatch, device: str,
) -> None:
    kernel = chosen(monkeypatch, star(f"edge x = {rule}", r=r), STAGED | sizes)
    assert f"turn % {sizes['pace']} == 0" in kernel.cuda
    for shape in ((9, 12, 133), (2, 1, 3)):
        assert_matches_numpy(kernel, *arrays(kernel, shape, (r + 1,)), device=device)


@pytest.mark.parametrize("sizes", [
    {"around": 1}, {"around": 1, "ahead": 2, "turns": 2}, {"ahead": 0, "lines": 2}, {"prefetch": 2, "lanes": 16}])
def test_planes_are_asked_for_early(sizes: dict[str, Any], monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    kernel = chosen(monkeypatch, star("edge x = nearest", r=1), NEAR | sizes)
    assert ("prefetch(" in kernel.cuda) == ("prefetch" in sizes)
    assert_matches_numpy(kernel, *arrays(kernel, (16, 9, 133), (2,)), device=device)


@pytest.mark.parametrize("sizes", [
    STAGED | {"pace": 2, "ahead": 4}, NEAR | {"ahead": 0, "around": 1, "lines": 4}, STAGED | {"lanes": 8, "warps": 2},
    NEAR | {"lines": 2, "prefetch": 3}])
def test_sums_that_planes_lead(sizes: dict[str, Any], monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    kernel = chosen(monkeypatch, box("edge x = reflect"), sizes)
    assert_matches_numpy(kernel, *arrays(kernel, (9, 9, 133)), device=device)
