"""Compiled objects are found again, rebuilt when damaged, and do without a folder that can be written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from layoutc.backend import load_cpu
from layoutc.cache import cache_dir, cached, key_of
from tests.backend_support import kernels


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("LAYOUTC_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Builder:
    """Writes what it was made with and counts how often."""

    def __init__(self, content: bytes = b"object") -> None:
        self.content = content
        self.times = 0

    def __call__(self, path: Path) -> None:
        self.times += 1
        path.write_bytes(self.content)


def test_built_once_and_found_again(own_folder: Path) -> None:
    build = Builder()
    first = cached("k" * 64, ".so", build)
    assert first.parent == own_folder
    assert cached("k" * 64, ".so", build) == first
    assert first.read_bytes() == b"object"
    assert build.times == 1


@pytest.mark.parametrize("damage", [b"", b"objecx", b"object and more"])
def test_damaged_objects_are_built_again(damage: bytes) -> None:
    build = Builder()
    path = cached("k" * 64, ".so", build)
    path.write_bytes(damage)
    assert cached("k" * 64, ".so", build).read_bytes() == b"object"
    assert build.times == 2


def test_a_lost_digest_is_damage_too() -> None:
    build = Builder()
    path = cached("k" * 64, ".so", build)
    path.with_name(path.name + ".sha256").unlink()
    cached("k" * 64, ".so", build)
    assert build.times == 2


def test_a_folder_that_goes_away_comes_back(own_folder: Path) -> None:
    build = Builder()
    cached("k" * 64, ".so", build)
    shutil.rmtree(own_folder)
    assert cached("k" * 64, ".so", build).read_bytes() == b"object"
    assert build.times == 2


def test_a_full_disk_sends_the_object_elsewhere(own_folder: Path) -> None:
    def build(path: Path) -> None:
        if own_folder in path.parents:
            raise OSError("no space left")
        path.write_bytes(b"object")

    path = cached("k" * 64, ".so", build)
    assert path.read_bytes() == b"object"
    assert own_folder not in path.parents


def test_a_failing_build_leaves_nothing(own_folder: Path) -> None:
    def fail(path: Path) -> None:
        path.write_bytes(b"half")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cached("k" * 64, ".so", fail)
    assert [path for path in own_folder.iterdir() if path.suffix != ".lock"] == []


def test_keys_tell_part_lists_apart() -> None:
    lists: list[list[str | bytes]] = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], [b"ab", "c ", ""]]
    assert len({key_of(parts) for parts in lists}) == len(lists)


def test_without_a_writable_folder_a_temporary_one_serves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("LAYOUTC_CACHE_DIR", str(blocked / "cache"))
    folder = cache_dir()
    assert folder.is_dir()
    assert blocked not in folder.parents
    y = np.zeros(256)
    load_cpu(kernels("regions")).launch("regions", 4, [np.ones(256), y.astype(np.int16)])


def test_the_temporary_folder_goes_with_the_process(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    code = "from layoutc.cache import cache_dir; print(cache_dir())"
    environment = {**os.environ, "LAYOUTC_CACHE_DIR": str(blocked)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert not Path(done.stdout.strip()).exists()


def test_a_kernel_is_compiled_once_and_again_after_damage(own_folder: Path) -> None:
    source = kernels("regions")
    module = load_cpu(source)
    (made,) = [path for path in own_folder.glob("*.so") if b"layoutc_body_regions" in path.read_bytes()]
    before = made.stat().st_mtime_ns
    load_cpu(source)
    assert made.stat().st_mtime_ns == before
    damaged = own_folder / "damaged"
    damaged.write_bytes(made.read_bytes()[:100])
    os.replace(damaged, made)           # what is mapped by the first module stays whole
    again = load_cpu(source)
    for loaded in (module, again):
        y = np.zeros(256, np.int16)
        loaded.launch("regions", 4, [np.ones(256), y])
        assert y[:64].tolist() == list(range(64, 0, -1))


def test_each_way_to_compile_has_its_own_object(own_folder: Path) -> None:
    load_cpu(kernels("regions"))
    count = len(list(own_folder.glob("*.so")))
    load_cpu(kernels("regions"), checked=False)
    assert len(list(own_folder.glob("*.so"))) == count + 1


def test_templates_are_kept_as_well_and_a_damaged_one_is_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYOUTC_CACHE_DIR", str(tmp_path))
    program = "kernel k(x: f32[N]) -> (y: f32[N]) { y[i] = 2 * x[i] }"
    command = [sys.executable, "-c", f"import layoutc; print(layoutc.compile({program!r}).k.cuda)"]

    def text() -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    first = text()
    kept = list(tmp_path.glob("templates-*/*"))
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes()[:-40])
    assert text() == first
