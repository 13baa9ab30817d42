"""What the compiler makes of a text for a GPU that need not be here: PTX, and the machine's own code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from layoutc.backend.cuda import compile_cubin, compile_ptx, supported
from layoutc.backend.errors import BuildError, MissingToolError
from layoutc.cuda_source import CudaSource


def ptx(source: CudaSource, arch: str) -> str:
    """The PTX of a text for ``arch``. Raises MissingToolError without an NVRTC that knows it."""
    _check(arch)
    return compile_ptx(source, arch)[0]


def disassemble(source: CudaSource, arch: str) -> str:
    """The SASS of a text for ``arch``. Raises MissingToolError without NVRTC for it, or without nvdisasm."""
    program = find_disassembler()
    _check(arch)
    with tempfile.TemporaryDirectory(prefix="layoutc-") as folder:
        cubin = Path(folder) / "kernel.cubin"
        cubin.write_bytes(compile_cubin(source, arch))
        words = [program, "-sass"] if Path(program).stem == "cuobjdump" else [program, "-c"]
        done = subprocess.run([*words, str(cubin)], capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        raise BuildError(f"{source.name} for {arch}", done.stderr)
    return done.stdout


def find_disassembler() -> str:
    """Where nvdisasm or cuobjdump lies: on the path, of the CUDA toolkit, or of NVIDIA's wheels."""
    for name in ("nvdisasm", "cuobjdump"):
        for folders in (None, *_folders()):
            program = shutil.which(name, path=folders)
            if program:
                return program
    raise MissingToolError("neither nvdisasm nor cuobjdump was found, which show a GPU's code",
                           "run `pip install nvidia-cuda-nvdisasm`, or install the CUDA toolkit")


def _folders() -> list[str]:
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
    wheels = find_spec("nvidia")
    roots = [Path(root) for root in (wheels.submodule_search_locations or () if wheels else ())]
    return [os.path.join(home, "bin"), *[str(found) for root in roots for found in sorted(root.glob("*/bin"))]]


def _check(arch: str) -> None:
    known = supported()
    if int(re.sub(r"\D", "", arch)) not in known:
        names = ", ".join(f"sm_{number}" for number in known)
        raise MissingToolError(f"the NVRTC of this machine does not compile for {arch}", f"it knows {names}")
