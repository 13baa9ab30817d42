"""``layoutc bench``: how fast kernels are on the GPU that is here."""

from __future__ import annotations

import json
from dataclasses import asdict

from layoutc.commands.selection import declared, extents_of, known_extents, read, scheduled
from layoutc.commands.settings import Settings, WordsError
from layoutc.module import Kernel
from layoutc.resolve.program import Kernel as Meaning
from layoutc.resolve.program import Program, title_of
from layoutc.tuning.bench import Bench, Figure


def bench(
    settings: Settings, path: str, kernel: str | None, shape: dict[str, int], steps: int, seed: int, as_json: bool
) -> None:
    """Time the kernels of a file, each under its schedule; print a line each."""
    program = read(path, settings)
    figures = []
    for meaning, extents in _timed(program, kernel, shape):
        (_, schedule), = scheduled((meaning,), settings.schedule)
        subject = Kernel(program, meaning, settings.target)
        found = Bench(subject, extents, steps, seed).measure(schedule=None if schedule is None else schedule.name)
        figures.append(found)
        if not as_json:
            settings.show(as_text(found, title_of(schedule)))
    if as_json:
        settings.show(json.dumps({"kernels": [asdict(f) for f in figures]}, indent=2))


def as_text(figure: Figure, schedule: str) -> str:
    """One line of figures; ``schedule`` is its title."""
    shape = ",".join([f"{name}={n}" for name, n in figure.extents.items()])
    title = " ".join(filter(None, (figure.kernel, schedule, shape)))
    return (f"{title}: {figure.milliseconds:.4g} ms, {figure.gigabytes_per_second:.4g} GB/s, "
            f"{figure.of_copy:.3f} of copy ({figure.copy_gigabytes_per_second:.4g} GB/s), {figure.device}")


def _timed(program: Program, name: str | None, shape: dict[str, int]) -> list[tuple[Meaning, dict[str, int]]]:
    """The kernels that are meant and their extents; without a name, those whose extents are all given."""
    chosen = declared(program, name)
    known_extents(shape, chosen)
    kernels = [d for d in chosen if isinstance(d, Meaning)]
    if not kernels:
        raise WordsError("no-kernel", f"`{chosen[0].name}` is a redistribution, and kernels are timed",
                         "`python benchmarks/redistribute.py` times redistributions")
    found = [(k, extents_of(k, shape)) for k in kernels]
    known = [(k, extents) for k, extents in found if extents is not None]
    if not known:
        needed = ",".join([f"{n}=…" for n in kernels[0].extents])
        raise WordsError("missing-extent", f"the extents of `{kernels[0].name}` are not all given",
                         f"write `--shape {needed}`")
    return known
