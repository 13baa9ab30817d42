"""The CUDA text on this machine's processor: compiled against the host's header, run thread by thread."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layoutc.backend.compilers import GCC_LEAVES_OUT, UNDEFINED, Compiler, build_library, find_compiler
from layoutc.backend.errors import KernelFault
from layoutc.backend.guarded import Guarded, data_address, element_range
from layoutc.backend.headers import parameter_type, runtime_dir
from layoutc.backend.machine import (
    FAULT,
    MESSAGE_BYTES,
    ORDERS,
    PAUSED,
    REFUSED,
    Launch,
    headers_digest,
    load_runtime,
    one_launch_at_a_time,
    open_library,
)
from layoutc.backend.tensor_maps import RECORD, Mapped, record
from layoutc.backend.types import numpy_dtype
from layoutc.cuda_source import ArrayParam, ConstantParam, CudaSource, Entry, MapParam, Param, ScalarParam
from layoutc.diagnostics import Diagnostic, Label
from layoutc.source import Source, Span

VIEW = struct.Struct("@PqqPPq")         # lc::ArrayView: data, low, high, owner, name, shift
SLICE_MS = 200                          # so often Python may look for an interrupt


@dataclass(frozen=True, slots=True)
class Run:
    """How the threads of a launch are run."""

    seed: int = 0
    order: str = "random"               # of threads and blocks; or "ascending", "descending"
    fuel: int = 1 << 40                 # synchronisations that one block may spend
    block_seconds: float = 300.0        # the longest that one block may take


@dataclass(frozen=True, slots=True)
class CpuModule:
    """The entries of a text, compiled for this processor."""

    source: CudaSource
    run: Run
    entries: dict[str, CpuEntry]
    runtime: ctypes.CDLL

    def with_run(self, run: Run) -> CpuModule:
        """The same kernels, run otherwise."""
        return replace(self, run=run)

    def launch(self, entry: str, blocks: int, args: Sequence[object], *, stream: object = None) -> None:
        """Run ``entry`` on ``blocks`` blocks and come back when they are done; KernelFault if it goes wrong.

        An array's address is that of its element (0, 0, …), whatever its strides; a ``Guarded`` stands for its
        array and is checked more closely. There are no streams here, so ``stream`` is of no effect.
        """
        with one_launch_at_a_time:
            self._launch(self.entries[entry], blocks, args)

    def _launch(self, entry: CpuEntry, blocks: int, args: Sequence[object]) -> None:
        kept = entry.fill(args)         # alive until the launch is over
        message = ctypes.create_string_buffer(MESSAGE_BYTES)
        launch = Launch(
            grid=(blocks, 1, 1),
            block=(entry.entry.threads, 1, 1),
            seed=self.run.seed,
            last=blocks,
            fuel=self.run.fuel,
            block_ms=int(self.run.block_seconds * 1000),
            slice_ms=SLICE_MS,
            order=ORDERS[self.run.order],
            shared_bytes=entry.entry.shared_bytes,
            body=entry.body,
            args=ctypes.addressof(entry.addresses),
            state=entry.state,
            message=ctypes.addressof(message),
            message_room=MESSAGE_BYTES,
        )
        status = PAUSED
        while status == PAUSED:
            status = self.runtime.layoutc_launch(launch)
        del kept
        if status == FAULT:
            raise KernelFault([self._diagnostic(launch, message.value.decode(), entry, args)])
        if status == REFUSED:
            raise ValueError(f"{entry.entry.name}: no GPU runs {entry.entry.threads} threads a block")

    def _diagnostic(self, launch: Launch, message: str, entry: CpuEntry, args: Sequence[object]) -> Diagnostic:
        text = Source(self.source.name, self.source.text)
        here = _line_span(text, launch.line)
        other = _line_span(text, launch.other_line)
        notes = [f"thread {launch.thread_idx.x} of block {launch.block_idx.x}"]
        name = launch.array.decode() if launch.array else None
        for param, arg in zip(entry.entry.params, args, strict=True):
            if param.name == name:
                notes.append(_shape_note(param.name, _plain(arg.array if isinstance(arg, Mapped) else arg)))
        if self.run.order == "random":
            notes.append(f"threads and blocks ran in the random order of seed {self.run.seed}")
        others = (Label(other, launch.other_label.decode()),) if other else ()
        return Diagnostic("kernel-fault", message, text if here else None, here, "", others, tuple(notes))


def _plain(arg: object) -> NDArray[Any]:
    array = arg.array if isinstance(arg, Guarded) else arg
    if not isinstance(array, np.ndarray):
        raise TypeError(f"a launch on the CPU takes NumPy arrays, not {type(arg).__name__}")
    return array


def _shape_note(name: str, array: NDArray[Any]) -> str:
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return f"`{name}` has shape {array.shape} and strides {strides} in elements"


def _line_span(text: Source, number: int) -> Span | None:
    lines = text.text.split("\n")
    if not 1 <= number <= len(lines):
        return None
    line = lines[number - 1]
    start = sum(len(before) + 1 for before in lines[: number - 1])
    return Span(start + len(line) - len(line.lstrip()), start + len(line.rstrip()))


# ---- Arguments, laid out as the library's trampoline expects them


class CpuEntry:
    """An entry of a library, and the room in which its arguments are laid out; one launch at a time uses it."""

    def __init__(self, entry: Entry, library: ctypes.CDLL, checked: bool) -> None:
        self.entry = entry
        self.checked = checked
        self.body = _address(getattr(library, f"layoutc_body_{entry.name}"))
        state = library.layoutc_state
        state.restype = ctypes.c_void_p
        self.state: int = state()
        self._names = [ctypes.create_string_buffer(param.name.encode()) for param in entry.params]
        self._rooms = [ctypes.create_string_buffer(_bytes_of(param)) for param in entry.params]
        self.addresses = (ctypes.c_void_p * len(self._rooms))(*[ctypes.addressof(room) for room in self._rooms])

    def fill(self, args: Sequence[object]) -> list[object]:
        """Lay out the arguments; what is returned must live as long as the launch."""
        if len(args) != len(self.entry.params):
            raise TypeError(f"{self.entry.name} takes {len(self.entry.params)} arguments, not {len(args)}")
        return [self._fill_one(k, param, args[k]) for k, param in enumerate(self.entry.params)]

    def _fill_one(self, k: int, param: Param, arg: object) -> object:
        match param:
            case ScalarParam(_, type):
                struct.pack_into("@i" if type == "i32" else "@q", self._rooms[k], 0, arg)
                return None
            case ConstantParam(name, type, count):
                array = np.ascontiguousarray(_typed(name, type, arg))
                if array.size != count:
                    raise TypeError(f"{name} holds {count} values, not {array.size}")
                ctypes.memmove(self._rooms[k], data_address(array), array.nbytes)
                return None
            case ArrayParam(name, type, writes):
                array = _typed(name, type, arg)
                low, high = element_range(array.shape, array.strides, array.itemsize)
                owner = self._owner(arg, writes, high - low)
                owner_data = 0 if owner is None else data_address(owner)
                values = data_address(array), low, high, owner_data, ctypes.addressof(self._names[k]), 0
                VIEW.pack_into(self._rooms[k], 0, *values)
                return owner
            case MapParam(name, type):
                assert isinstance(arg, Mapped)
                array = _typed(name, type, arg.array)
                low, high = element_range(array.shape, array.strides, array.itemsize)
                values = data_address(array), low, high, 0, ctypes.addressof(self._names[k]), 0
                VIEW.pack_into(self._rooms[k], 0, *values)
                ctypes.memmove(ctypes.addressof(self._rooms[k]) + VIEW.size, record(param, arg, array), RECORD.size)
                return None

    def _owner(self, arg: object, writes: bool, count: int) -> NDArray[np.uint32] | None:
        if isinstance(arg, Guarded):
            return arg.owner
        return np.zeros(count, np.uint32) if writes and self.checked else None


def _typed(name: str, type: str, arg: object) -> NDArray[Any]:
    array = _plain(arg)
    if array.dtype != numpy_dtype(type):
        raise TypeError(f"{name} holds {type}, not {array.dtype}")
    return array


def _bytes_of(param: Param) -> int:
    match param:
        case ArrayParam():
            return VIEW.size
        case ConstantParam(_, type, count):
            return numpy_dtype(type).itemsize * count
        case ScalarParam():
            return 8
        case MapParam():
            return VIEW.size + RECORD.size


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


# ---- Loading


def load_cpu(source: CudaSource, *, checked: bool = True, seed: int = 0) -> CpuModule:
    """Compile a text for this processor, or find it compiled.

    ``checked`` has every access to memory checked, races and missing barriers found, at about twice the time.
    ``seed`` draws the order of threads and blocks; ``CpuModule.with_run`` changes that and more.
    Raises MissingToolError without a compiler, BuildError if the text does not compile.
    """
    compiler = find_compiler()
    runtime = load_runtime(compiler)
    library = open_library(
        build_library(compiler, source.name, host_text(source), _flags(checked, compiler), headers_digest())
    )
    entries = {entry.name: CpuEntry(entry, library, checked) for entry in source.entries}
    return CpuModule(source, Run(seed), entries, runtime)


def _flags(checked: bool, compiler: Compiler) -> tuple[str, ...]:
    quick = GCC_LEAVES_OUT if compiler.is_gcc else ()
    return (f"-I{runtime_dir() / 'cpu'}", "-O1", *quick, *(UNDEFINED if checked else ("-DLC_UNCHECKED",)))


def host_text(source: CudaSource) -> str:
    """The text as the host's compiler gets it: its own lines under its own name, then a trampoline for each entry."""
    parts = [f'#line 1 "{source.name}"', source.text, '#line 1 "launch"', "#define LC_EXPORT \\"]
    parts.append('extern "C" __attribute__((visibility("default")))')
    parts.append("LC_EXPORT lc::State** layoutc_state() { return &lc::state; }")
    for entry in source.entries:
        values = [f"*static_cast<{parameter_type(p)}*>(args[{k}])" for k, p in enumerate(entry.params)]
        call = f"::{entry.name}({', '.join(values)});"       # whatever else has its name: `args`
        parts.append(f"LC_EXPORT void layoutc_body_{entry.name}(void** args) {{ {call} }}")
    return "\n".join(parts) + "\n"
