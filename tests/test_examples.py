"""Every example: one idea in its first line, and under every schedule what the NumPy meaning gives."""

from __future__ import annotations

import re
import shlex
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from scipy import ndimage

from layoutc import load
from layoutc.backend.types import numpy_dtype
from layoutc.cli import main
from layoutc.compare import compare
from layoutc.explain import explain_text
from layoutc.module import Kernel
from layoutc.parse.formatter import format_text
from layoutc.parse.reading import read_source
from layoutc.redistribution import Redistribution
from layoutc.resolve.binding import tensor_shape
from layoutc.resolve.program import Tensor, title_of
from layoutc.testing import check_redistribution

EXAMPLES = Path(__file__).parent.parent / "examples"
PATHS = sorted(EXAMPLES.glob("*.layout"))
SIZES = (21, 70, 9, 5)      # of extents in the order of their names: ragged, more than a tile and less than one
Array = NDArray[Any]
loaded = cache(load)


def each() -> Iterator[Any]:
    for path in PATHS:
        module = loaded(path)
        for kernel in module:
            for schedule in module[kernel].schedules if isinstance(module[kernel], Kernel) else ():
                yield pytest.param(path, kernel, schedule, id=f"{path.stem}-{kernel}-{schedule or 'default'}")


KERNELS = list(each())
REDISTRIBUTIONS = [(path, name) for path in PATHS for module in [loaded(path)] for name in module
                   if isinstance(module[name], Redistribution)]


def extents_of(kernel: Any) -> dict[str, int]:
    """P and Q fit into H and W."""
    small = {"P": 3, "Q": 4}
    return {name: small.get(name, SIZES[n % len(SIZES)]) for n, name in enumerate(kernel.meaning.extents)}


def array(tensor: Tensor, extents: dict[str, int], seed: int) -> Array:
    random = np.random.default_rng(seed)
    shape = tensor_shape(tensor, extents)
    if tensor.type.is_float:
        return (random.integers(-64, 65, shape) / 16).astype(numpy_dtype(tensor.type.name))
    low = 0 if tensor.type.kind in ("uint", "bool") else -100
    return random.integers(low, 101, shape).astype(numpy_dtype(tensor.type.name))


@pytest.mark.parametrize(("path", "name", "schedule"), KERNELS)
def test_agrees_with_numpy(path: Path, name: str, schedule: str | None, device: str) -> None:
    kernel = loaded(path)[name]
    extents = extents_of(kernel)
    inputs = [array(t, extents, zlib.crc32(t.name.encode())) for t in kernel.meaning.inputs]
    got = kernel(*inputs, schedule=schedule, device=device)
    outputs = got if isinstance(got, tuple) else (got,)
    assert compare(kernel.meaning, inputs, outputs) == []


@pytest.mark.parametrize(("path", "name", "schedule"), KERNELS)
def test_explains_itself(path: Path, name: str, schedule: str | None) -> None:
    kernel = loaded(path)[name]
    for extents in (None, extents_of(kernel)):
        facts: Any = kernel.explain(extents, schedule=schedule)
        title = title_of(kernel.meaning.schedule(schedule))
        assert explain_text(facts).startswith(f"{name}, schedule: {title}, for ")
    assert facts["launch"]["blocks"] is not None


@pytest.mark.parametrize(("path", "name"), REDISTRIBUTIONS)
def test_redistributions_agree_with_numpy(path: Path, name: str, device: str) -> None:
    found = loaded(path)[name]
    report = check_redistribution(found, examples=12, seed=1, device=device)
    assert report.ok, report.text()
    assert explain_text(found.explain()).startswith(f"{name}, a redistribution")


def test_numbered_and_introduced() -> None:
    numbers = [int(p.name[:2]) for p in PATHS]
    assert numbers == sorted(set(numbers))
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for path in PATHS:
        assert f"`{path.stem}`" in readme
        assert re.match(r"# [A-Z0-9].*[a-z].*\S\n", path.read_text(encoding="utf-8")), path


def test_in_canonical_form() -> None:
    """``layoutc fmt examples/*.layout`` writes it."""
    for path in PATHS:
        assert format_text(read_source(str(path))) == path.read_text(encoding="utf-8"), path.name


COMMANDS = [
    pytest.param(shlex.split(line)[1:], id=path.stem)
    for path in PATHS for line in re.findall(r"^#   (layoutc .+)$", path.read_text(encoding="utf-8"), re.MULTILINE)]


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_in_comments_run(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As from the checkout's root; what they write goes elsewhere."""
    (tmp_path / "examples").symlink_to(EXAMPLES)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, [words[0], "--device", "cpu", *words[1:]] if words[0] == "run" else words)
    assert result.exit_code == 0, result.output
    if "--out" in words:
        assert (tmp_path / "shade.png").read_bytes().startswith(b"\x89PNG")
    else:
        assert result.output.strip()


def test_hillshade_is_what_scipy_gives(device: str) -> None:
    """Esri's formula with its aspect, in double precision; the kernel multiplies the angle out."""
    z = np.load(EXAMPLES / "data" / "jacksboro_dem.npy")
    horn = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]) / (8 * 90)
    dzdx = ndimage.correlate(z.astype(float), horn, mode="nearest")
    dzdy = ndimage.correlate(z.astype(float), horn.T, mode="nearest")
    slope = np.arctan(np.hypot(dzdx, dzdy))
    zenith, azimuth, aspect = np.radians(90 - 45), np.radians(360 - 315 + 90), np.arctan2(dzdy, -dzdx)
    light = 255 * (np.cos(zenith) * np.cos(slope) + np.sin(zenith) * np.sin(slope) * np.cos(azimuth - aspect))
    module = load(EXAMPLES / "25_hillshade.layout")
    for schedule in module.hillshade.schedules:
        got_slope, got_light, got_shade = module.hillshade(z, schedule=schedule, device=device)
        np.testing.assert_allclose(got_slope, slope, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(got_light, light, rtol=1e-5)
        near_half = abs(light % 1 - 0.5) < 1e-3
        np.testing.assert_array_equal(got_shade[~near_half], np.rint(np.clip(light, 0, 255))[~near_half])
        assert np.abs(got_shade - light).max() < 0.501


def test_flat_ground_and_its_sun() -> None:
    """Flat: 255 sin(altitude) and no slope. A plane that faces the sun square on: 255."""
    module = load(EXAMPLES / "25_hillshade.layout")
    slope, light, _ = module.hillshade.reference(np.full((5, 5), 300, np.int16))
    np.testing.assert_allclose(slope, 0)
    np.testing.assert_allclose(light, 255 * np.sin(np.radians(45)), rtol=1e-6)
    across = np.arange(9) * 7.0
    facing = np.rint(across[None, :] + across[:, None]).astype(np.int16)       # falls to the north-west
    turned = facing[::-1, ::-1].copy()
    lit = [module.hillshade.reference(z)[1][4, 4] for z in (facing, turned)]
    assert lit[0] > 255 * np.sin(np.radians(45)) > lit[1]
