"""The CUDA text on a GPU through CuPy; and its PTX through NVRTC alone, which needs no GPU."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from layoutc.backend.errors import BuildError, MissingToolError
from layoutc.backend.headers import device_text
from layoutc.backend.ready import MapSlot, ReadyLaunch
from layoutc.backend.tensor_maps import Mapped, map_of
from layoutc.backend.types import numpy_dtype
from layoutc.cache import cached, key_of
from layoutc.cuda_source import ArrayParam, ConstantParam, CudaSource, Entry, MapParam, Param, ScalarParam

OPTIONS = ("-std=c++17", "--fmad=false")
SPECIFIC = {"sm_90": "sm_90a"}      # architectures whose own instructions (wgmma) must be asked for
OLDEST = 75                 # the oldest architecture that layoutc speaks of, as in sm_75
HOW = "install layoutc with the extra cuda12 or cuda13, whichever the driver speaks"
ON_CPU = "kernels run on the CPU too, but are timed on a GPU alone"


@dataclass(frozen=True, slots=True)
class CudaModule:
    """The entries of a text, compiled for the GPU that is current."""

    source: CudaSource
    entries: dict[str, CudaEntry]

    def launch(self, entry: str, blocks: int, args: Sequence[object], *, stream: object = None) -> None:
        """Launch ``entry`` on ``blocks`` blocks and come back at once.

        ``stream`` is None for CuPy's current one, a CuPy stream, an address, or an object with ``cuda_stream``
        (PyTorch's) or ``__cuda_stream__``.
        """
        self.entries[entry].launch(blocks, args, stream)


@dataclass(frozen=True, slots=True)
class CudaEntry:
    """One kernel and how its arguments are passed."""

    entry: Entry
    kernel: Any             # cupy.cuda.function.Function

    def launch(self, blocks: int, args: Sequence[object], stream: object) -> None:
        """See CudaModule.launch."""
        if len(args) != len(self.entry.params):
            raise TypeError(f"{self.entry.name} takes {len(self.entry.params)} arguments, not {len(args)}")
        values = tuple(map(_passed, self.entry.params, args))
        if blocks == 0:
            return
        grid, block = (blocks, 1, 1), (self.entry.threads, 1, 1)
        if stream is None:
            self.kernel(grid, block, values, shared_mem=self.entry.shared_bytes)
            return
        with as_stream(stream):
            self.kernel(grid, block, values, shared_mem=self.entry.shared_bytes)

    def ready(self, blocks: int, args: Sequence[object], slots: Sequence[tuple[int, int]]) -> ReadyLaunch:
        """The same launch for other arrays: argument ``slots[k][0]`` will be array ``slots[k][1]`` of those given."""
        maps, plain = list[MapSlot](), list[tuple[int, int]]()
        for place, number in slots:
            param, arg = self.entry.params[place], args[place]
            if isinstance(param, MapParam) and isinstance(arg, Mapped):
                maps.append((place, number, param, arg.last))
            else:
                plain.append((place, number))
        arrays = {place for place, _ in slots}
        values = (None if n in arrays else _passed(p, a)
                  for n, (p, a) in enumerate(zip(self.entry.params, args, strict=True)))
        return ReadyLaunch(self.kernel, blocks, self.entry.threads, self.entry.shared_bytes, tuple(values),
                           tuple(plain), tuple(maps))


def _passed(param: Param, arg: Any) -> object:
    match param:
        case ScalarParam(_, type):
            return np.int32(arg) if type == "i32" else np.int64(arg)
        case ConstantParam(name, type, count):
            values = np.ascontiguousarray(arg)
            if values.dtype != numpy_dtype(type) or values.size != count:
                raise TypeError(f"{name} holds {count} values of type {type}, not {values.size} of {values.dtype}")
            return np.frombuffer(values.tobytes(), np.dtype((np.void, values.nbytes)))[0]
        case MapParam():
            return map_of(param, arg)
        case ArrayParam(name, type):
            if arg.dtype != numpy_dtype(type):
                raise TypeError(f"{name} holds {type}, not {arg.dtype}")
            return arg


@dataclass(frozen=True, slots=True)
class ForeignStream:
    """A stream that is known by its address."""

    address: int

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.address


def current_device() -> int:
    """The number of the GPU that CuPy works on."""
    return int(_cupy().cuda.runtime.getDevice())


def current_stream() -> int:
    """The address of the stream that CuPy works in."""
    return int(_cupy().cuda.get_current_stream().ptr)


def current_arch() -> str:
    """The architecture of the GPU that CuPy works on, like ``sm_90``."""
    return f"sm_{_capability(current_device())}"


def current_multiprocessors() -> int:
    """How many multiprocessors the GPU has that CuPy works on."""
    return _multiprocessors(current_device())


@cache
def _multiprocessors(device: int) -> int:
    return int(_cupy().cuda.Device(device).attributes["MultiProcessorCount"])


@cache
def _capability(device: int) -> str:
    return str(_cupy().cuda.Device(device).compute_capability)


def as_stream(stream: Any) -> Any:
    """A CuPy stream from one, from an address, or from an object with ``cuda_stream`` or ``__cuda_stream__``."""
    cupy = _cupy()
    if isinstance(stream, cupy.cuda.stream._BaseStream):
        return stream
    if not hasattr(stream, "__cuda_stream__"):
        stream = ForeignStream(int(getattr(stream, "cuda_stream", stream)))
    if hasattr(cupy.cuda.Stream, "from_external"):
        return cupy.cuda.Stream.from_external(stream)
    return cupy.cuda.ExternalStream(stream.__cuda_stream__()[1])


def load_cuda(source: CudaSource) -> CudaModule:
    """Compile a text for the current GPU, or find it in the cache.

    NVRTC is called here and not through CuPy's RawModule, which always flushes subnormal numbers to zero.
    Raises MissingToolError without CuPy or a GPU, BuildError if the text does not compile.
    """
    problem = cuda_problem()
    if problem:
        raise problem
    cupy = _cupy()
    number = int(cupy.cuda.Device().compute_capability)
    arch = f"sm_{number}" if number in supported() else f"compute_{max(n for n in supported() if n < number)}"
    version = str(_nvrtc().getVersion())
    key = key_of([device_text(source.name, source.text), *OPTIONS, SPECIFIC.get(arch, arch), version])

    def build(target: Path) -> None:
        target.write_bytes(compile_cubin(source, arch) if arch[0] == "s" else compile_ptx(source, arch)[0].encode())

    module = cupy.cuda.function.Module()
    module.load(cached(key, ".gpu", build).read_bytes())
    return CudaModule(source, {entry.name: _entry(module, entry) for entry in source.entries})


def _entry(module: Any, entry: Entry) -> CudaEntry:
    kernel = module.get_function(entry.name)
    if entry.shared_bytes:      # beyond 48 KiB, of which what the text declares is a part, a launch must be allowed it
        driver = importlib.import_module("cupy_backends.cuda.api.driver")
        attribute = driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        driver.funcSetAttribute(kernel.ptr, attribute, entry.shared_bytes)
    return CudaEntry(entry, kernel)


@cache
def cuda_problem() -> MissingToolError | None:
    """Why kernels cannot run on a GPU here, or None if they can."""
    try:
        cupy = _cupy()
    except ImportError as error:
        return MissingToolError(f"CuPy, which runs kernels on the GPU, does not import: {error}", HOW)
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return MissingToolError(f"no GPU can be used: {error}", f"run on a machine with an NVIDIA GPU; {ON_CPU}")
    return None if count else MissingToolError("this machine has no GPU", ON_CPU)


def _cupy() -> ModuleType:
    return importlib.import_module("cupy")


# ---- NVRTC without a GPU


def _nvrtc() -> Any:
    try:
        return importlib.import_module("cupy_backends.cuda.libs.nvrtc")
    except ImportError as error:
        raise MissingToolError(f"NVRTC, which compiles CUDA, does not import: {error}", HOW) from None


def architectures() -> tuple[str, str]:
    """The oldest and the newest architecture that layoutc and the installed NVRTC both speak, like ``sm_75``."""
    known = supported()
    return f"sm_{min(known)}", f"sm_{max(known)}"


def supported() -> list[int]:
    """The numbers of all architectures that layoutc and the installed NVRTC both speak, rising."""
    return [number for number in sorted(_nvrtc().getSupportedArchs()) if number >= OLDEST]


def compile_ptx(source: CudaSource, arch: str) -> tuple[str, str]:
    """The PTX of a text for ``arch`` and what the compiler said; BuildError if it refused."""
    ptx, log = _compile(source, arch, "getPTX")
    return ptx.decode().rstrip("\0"), log


def compile_cubin(source: CudaSource, arch: str) -> bytes:
    """The machine code of a text for ``arch``, as an ELF file; BuildError if the compiler refused."""
    code = _compile(source, arch, "getCUBIN")[0]
    return code + b"\0"     # CuPy drops the last byte as if it ended a string; it is the high one of an alignment


def _compile(source: CudaSource, arch: str, take: str) -> tuple[bytes, str]:
    nvrtc = _nvrtc()
    program = nvrtc.createProgram(device_text(source.name, source.text), source.name, (), ())
    try:
        nvrtc.compileProgram(program, [f"-arch={SPECIFIC.get(arch, arch)}", *OPTIONS])
        return getattr(nvrtc, take)(program), nvrtc.getProgramLog(program)
    except nvrtc.NVRTCError:
        raise BuildError(source.name, nvrtc.getProgramLog(program)) from None
    finally:
        nvrtc.destroyProgram(program)
