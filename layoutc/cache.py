"""Compiled objects on disk, keyed by everything that can change them."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import platformdirs
from filelock import FileLock

Build = Callable[[Path], None]      # writes the object to the path


def key_of(parts: Iterable[str | bytes]) -> str:
    """The sha256 of the parts, each with its length, so that no two lists share a key by shifting a border."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


def cache_dir() -> Path:
    """``$LAYOUTC_CACHE_DIR``, else the user's cache folder; a temporary one where neither can be written."""
    return _writable(os.environ.get("LAYOUTC_CACHE_DIR") or platformdirs.user_cache_dir("layoutc"))


@cache
def _writable(wanted: str) -> Path:
    path = Path(wanted)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError:
        return _temporary()


@cache
def _temporary() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="layoutc-")
    _kept_alive.append(folder)
    return Path(folder.name)


_kept_alive: list[tempfile.TemporaryDirectory[str]] = []    # removed when the process ends


def cached(key: str, suffix: str, build: Build) -> Path:
    """The object of this key, built by one process and at most once; a damaged one is built again.

    The object appears by a rename, so nobody sees half of one; beside it lies its sha256. Where the folder fails
    (full, or gone), a temporary one takes its place.
    """
    name = f"{key[:40]}{suffix}"
    try:
        return _found_or_built(cache_dir() / name, build)
    except OSError:
        return _found_or_built(_temporary() / name, build)


def _found_or_built(path: Path, build: Build) -> Path:
    if _is_whole(path):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{path}.lock"):
        if not _is_whole(path):
            _build_beside(path, build)
    return path


def _is_whole(path: Path) -> bool:
    try:
        return _digest_path(path).read_text() == hashlib.sha256(path.read_bytes()).hexdigest()
    except (OSError, UnicodeDecodeError):
        return False


def _digest_path(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


def _build_beside(path: Path, build: Build) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix="build-") as folder:
        made = Path(folder) / path.name
        build(made)
        digest = Path(folder) / "digest"
        digest.write_text(hashlib.sha256(made.read_bytes()).hexdigest())
        os.replace(made, path)
        os.replace(digest, _digest_path(path))
