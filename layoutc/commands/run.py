"""``layoutc run``: a kernel on real arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from layoutc.calls import choose_device
from layoutc.commands.inputs import Array, read_input
from layoutc.commands.interruptible import interruptible
from layoutc.commands.outputs import as_json, as_text, check_places, write_outputs
from layoutc.commands.selection import meant, only_kernel, read, scheduled
from layoutc.commands.settings import Settings, WordsError
from layoutc.module import Kernel
from layoutc.resolve.program import Tensor


def run(
    settings: Settings, path: str, kernel: str | None, inputs: Mapping[str, str], outputs: Mapping[str, str],
    steps: int, seed: int, as_json_text: bool,
) -> None:
    """Run one kernel; write the outputs that have a place, or else print them."""
    program = read(path, settings)
    meaning = only_kernel(program, kernel)
    (_, schedule), = scheduled((meaning,), settings.schedule)
    given = _named("--in", inputs, meaning.inputs)
    missing = [t.name for t in meaning.inputs if t.name not in given]
    if missing:
        raise WordsError("missing-input", f"`{meaning.name}` needs {', '.join(missing)} too",
                         f"give {' '.join([f'--in {name}=…' for name in missing])}")
    places = _named("--out", outputs, meaning.outputs)
    check_places([(t, places[t.name]) for t in meaning.outputs if t.name in places])
    arrays = [read_input(t, given[t.name], (seed, n)) for n, t in enumerate(meaning.inputs)]
    device = choose_device(settings.device, arrays)
    settings.note(f"{meaning.name} runs on {_device_name(device)}")
    name = None if schedule is None else schedule.name
    compiled = Kernel(program, meaning, settings.target)
    found = interruptible(lambda: compiled(*arrays, schedule=name, steps=steps, device=device))
    results = dict(zip([t.name for t in meaning.outputs], found if isinstance(found, tuple) else (found,), strict=True))
    write_outputs([(places[name], array) for name, array in results.items() if name in places])
    _show(meaning.outputs, results, as_json_text, bool(places))


def _named(option: str, words: Mapping[str, str], tensors: tuple[Tensor, ...]) -> Mapping[str, str]:
    known = [t.name for t in tensors]
    for name in words:
        if name not in known:
            raise WordsError("unknown-tensor", f"`{option} {name}=…` names no {option[2:]}put of the kernel",
                             meant(name, known))
    return words


def _device_name(device: str) -> str:
    if device == "cpu":
        return "the CPU"
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    return f"the GPU ({name})"


def _show(tensors: tuple[Tensor, ...], results: dict[str, Array], as_json_text: bool, written: bool) -> None:
    if as_json_text:
        print(as_json(results))
    elif not written:
        print("\n".join([as_text(t, np.asarray(results[t.name])) for t in tensors]))
