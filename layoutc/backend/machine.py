"""The runtime that runs a kernel's threads on this processor: its library, and the twins of its records."""

from __future__ import annotations

import ctypes
import threading
from functools import cache
from pathlib import Path

from layoutc.backend.compilers import Compiler, build_library
from layoutc.backend.headers import runtime_dir
from layoutc.cache import key_of

FINISHED, FAULT, PAUSED, REFUSED = range(4)
ORDERS = {"ascending": 0, "descending": 1, "random": 2}
MESSAGE_BYTES = 1024

one_launch_at_a_time = threading.Lock()     # the runtime's threads are the library's own


class Dim(ctypes.Structure):
    """``lc::Dim``."""

    _fields_ = (("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32))


class Launch(ctypes.Structure):
    """``lc::Launch`` of templates/runtime/cpu/state.h, which says what the fields mean."""

    _fields_ = (
        ("grid", Dim),
        ("block", Dim),
        ("seed", ctypes.c_uint64),
        ("first", ctypes.c_uint64),
        ("last", ctypes.c_uint64),
        ("fuel", ctypes.c_int64),
        ("block_ms", ctypes.c_uint32),
        ("slice_ms", ctypes.c_uint32),
        ("order", ctypes.c_uint32),
        ("shared_bytes", ctypes.c_uint32),
        ("body", ctypes.c_void_p),
        ("args", ctypes.c_void_p),
        ("state", ctypes.c_void_p),
        ("message", ctypes.c_void_p),
        ("message_room", ctypes.c_uint32),
        ("line", ctypes.c_int),
        ("other_line", ctypes.c_int),
        ("other_label", ctypes.c_char_p),
        ("array", ctypes.c_char_p),
        ("element", ctypes.c_int64),
        ("thread_idx", Dim),
        ("block_idx", Dim),
    )


@cache
def headers_digest() -> str:
    """What every file of the runtime says, as one digest."""
    files = sorted(path for path in runtime_dir().rglob("*") if path.is_file() and path.parent.name != "cuda")
    return key_of([part for path in files for part in (path.name, path.read_bytes())])


@cache
def load_runtime(compiler: Compiler, flags: tuple[str, ...] = ()) -> ctypes.CDLL:
    """The runtime's library, compiled once for each compiler; LC_UCONTEXT is the one flag that it knows."""
    folder = runtime_dir() / "cpu" / "runtime"
    text = "".join(f'#include "{path}"\n' for path in sorted(folder.glob("*.cpp")))
    library = open_library(build_library(compiler, "runtime", text, ("-O2", *flags), headers_digest()))
    library.layoutc_launch.argtypes = (ctypes.POINTER(Launch),)
    library.layoutc_launch.restype = ctypes.c_int
    return library


def open_library(path: Path) -> ctypes.CDLL:
    """A library of the cache, opened for this process alone."""
    return ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
