"""``layoutc run``: a kernel or a redistribution on real arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from layoutc.calling.devices import choose_device
from layoutc.calling.redistribution_calls import tensor_of
from layoutc.commands.inputs import Array, read_input, read_ranks
from layoutc.commands.interruptible import interruptible
from layoutc.commands.outputs import as_json, as_text, check_places, head_of, write_outputs
from layoutc.commands.selection import Declared, meant, only_one, read, scheduled
from layoutc.commands.settings import Settings, WordsError
from layoutc.module import Kernel
from layoutc.redistribution import Redistribution
from layoutc.resolve.program import Kernel as Meaning
from layoutc.resolve.program import Program, Schedule, Tensor
from layoutc.resolve.tiles import inputs_of


def run(
    settings: Settings, path: str, kernel: str | None, inputs: Mapping[str, str], outputs: Mapping[str, str],
    steps: int, seed: int, as_json_text: bool,
) -> None:
    """Run one kernel or redistribution; write the outputs that have a place, or else print them."""
    program = read(path, settings)
    meaning = only_one(program, kernel)
    (_, schedule), = scheduled((meaning,), settings.schedule)
    takes, gives = _tensors(meaning)
    given = _named("--in", inputs, takes)
    missing = [t.name for t in takes if t.name not in given]
    if missing:
        raise WordsError("missing-input", f"`{meaning.name}` needs {', '.join(missing)} too",
                         f"give {' '.join([f'--in {name}=…' for name in missing])}")
    places = _named("--out", outputs, gives)
    check_places([(t, places[t.name]) for t in gives if t.name in places])
    is_kernel = isinstance(meaning, Meaning)
    arrays = [(read_input if is_kernel or t.name != "rank" else read_ranks)(t, given[t.name], (seed, n))
              for n, t in enumerate(takes)]
    device = choose_device(settings.device, arrays)
    settings.note(f"{meaning.name} runs on {_device_name(device)}")
    found = interruptible(lambda: _call(settings, program, meaning, schedule, arrays, steps, device))
    results = dict(zip([t.name for t in gives], found if isinstance(found, tuple) else (found,), strict=True))
    write_outputs([(places[name], array) for name, array in results.items() if name in places])
    for t in gives:
        if t.name in places:
            settings.tell(f"{head_of(t, results[t.name])} is in {places[t.name]}")
    _show(gives, results, as_json_text, bool(places))


def _tensors(meaning: Declared) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """What goes in and what comes out."""
    if isinstance(meaning, Meaning):
        return meaning.inputs, meaning.outputs
    return tuple(tensor_of(meaning, name) for name in inputs_of(meaning)), (tensor_of(meaning, "out"),)


def _call(
    settings: Settings, program: Program, meaning: Declared, schedule: Schedule | None, arrays: list[Array],
    steps: int, device: str,
) -> Any:
    if isinstance(meaning, Meaning):
        name = None if schedule is None else schedule.name
        return Kernel(program, meaning, settings.target)(*arrays, schedule=name, steps=steps, device=device)
    if steps != 1:
        raise WordsError("no-steps", f"`{meaning.name}` has no `step`; `steps` must be 1")
    return Redistribution(program, meaning, settings.target)(*arrays, device=device)


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
