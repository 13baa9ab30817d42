"""The host's C++ compiler: which one, with what flags, and what it makes of a text."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from layoutc.backend.errors import BuildError, MissingToolError
from layoutc.cache import cached, key_of

# -ffp-contract=off: only written fmas; -fno-math-errno: sqrt is an instruction. Kernels use no C++ library.
COMMON = (
    "-std=c++17", "-fPIC", "-shared", "-fno-exceptions", "-fno-rtti", "-ffp-contract=off", "-fno-math-errno",
    "-fno-strict-aliasing", "-fno-stack-protector", "-fvisibility=hidden", "-U_FORTIFY_SOURCE", "-w",
)
UNDEFINED = (
    "-fsanitize=bounds,shift-exponent,signed-integer-overflow,integer-divide-by-zero,float-cast-overflow",
    "-DLC_UNDEFINED",
)
# Passes of GCC that take longer than a text that runs a few times ever wins by them.
GCC_LEAVES_OUT = (
    "-fno-tree-dominator-opts", "-fno-tree-pta", "-fira-region=one", "-fno-forward-propagate", "-fno-dse",
    "-fno-shrink-wrap", "-fno-if-conversion", "-fno-if-conversion2", "-fno-split-wide-types", "-fno-compare-elim",
)


@dataclass(frozen=True, slots=True)
class Compiler:
    """A command that compiles C++, and what its result depends on besides text and flags."""

    command: tuple[str, ...]
    identity: str           # path, size and date of the program

    @property
    def is_zig(self) -> bool:
        """Whether it is ``zig cc``, which links what it needs and adds sanitizers of its own."""
        return os.path.basename(self.command[0]).startswith("zig")

    @property
    def is_gcc(self) -> bool:
        """Whether it is surely GCC; Apple's ``g++`` is Clang."""
        program = os.path.basename(os.path.realpath(self.command[0]))
        return sys.platform == "linux" and re.search(r"(^|-)g\+\+(-\d+)?$", program) is not None

    def build(self, name: str, source: Path, target: Path, flags: tuple[str, ...]) -> None:
        """Compile ``source`` to the shared library ``target``; BuildError says what the compiler said."""
        command = [*self.command, *COMMON, *self._own_flags(), *flags, str(source), "-o", str(target)]
        command += () if self.is_zig else ("-nostdlib", "-lm", "-lc")
        command += ("-lpthread", "-lrt") if sys.platform == "linux" else ()
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode != 0:
            raise BuildError(name, done.stderr)

    def _own_flags(self) -> tuple[str, ...]:
        fma = ("-mfma",) if processor_has_fma() else ()
        return (*fma, "-fno-sanitize=undefined") if self.is_zig else fma


@cache
def processor_has_fma() -> bool:
    """Whether an x86-64 processor multiplies and adds in one instruction; others need no flag for it."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            flags = next((line for line in file if line.startswith("flags")), "")
    except OSError:
        return False
    return "fma" in flags.split()


def find_compiler() -> Compiler:
    """``$CXX``, c++, g++, clang++, or the ziglang wheel; MissingToolError where there is none."""
    if os.name != "posix":
        raise MissingToolError("kernels run on the CPU of Linux and macOS only", "use WSL, or a GPU")
    return _find(os.environ.get("CXX", ""), os.environ.get("PATH", ""))


@cache
def _find(wanted: str, path: str) -> Compiler:
    for words in (shlex.split(wanted), ["c++"], ["g++"], ["clang++"]):
        program = shutil.which(words[0], path=path) if words else None
        if program:
            return Compiler((program, *words[1:]), _identity(program))
    zig = _zig()
    if zig is None:
        raise MissingToolError(
            "no C++ compiler was found to run kernels on the CPU",
            "install g++ or clang++, set CXX, or run `pip install 'layoutc[cpu]'`",
        )
    return zig


def _zig() -> Compiler | None:
    found = importlib.util.find_spec("ziglang")
    for folder in found.submodule_search_locations or () if found else ():
        program = os.path.join(folder, "zig")
        if os.path.exists(program):
            return Compiler((program, "cc", "-x", "c++"), _identity(program))
    return None


def _identity(program: str) -> str:
    real = os.path.realpath(program)
    state = os.stat(real)
    return f"{program} {real} {state.st_size} {state.st_mtime_ns}"


def build_library(compiler: Compiler, name: str, text: str, flags: tuple[str, ...], depends: str) -> Path:
    """The shared library of a C++ text, from the cache if it is there; ``depends`` digests what it includes."""
    fma = str(processor_has_fma())
    key = key_of([text, depends, *COMMON, *flags, *compiler.command, compiler.identity, platform.machine(), fma])

    def build(target: Path) -> None:
        source = target.with_suffix(".cpp")
        source.write_text(text, encoding="utf-8")
        compiler.build(name, source, target, flags)

    return cached(key, ".so", build)
