"""``layoutc tune``: a kernel's best schedule on the GPU that is here, or what the parts of a redistribution cost."""

from __future__ import annotations

import json
from dataclasses import asdict
from random import Random

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from layoutc.commands.selection import extents_of, known_extents, only_one, read
from layoutc.commands.settings import Settings, WordsError
from layoutc.module import Kernel
from layoutc.plan.moves.costs import Costs, store_costs
from layoutc.resolve.program import Kernel as Meaning
from layoutc.tuning.bench import Bench, Figure, device_name
from layoutc.tuning.costs import measure_costs
from layoutc.tuning.memory import place_of, remember, remembered
from layoutc.tuning.search import Search, Tuned

LAUNCHES = 9        # timed for each schedule: many are compared, and most are far from the best

_WORDS = {"select": "one select of 32 bits", "shuffle": "one shuffle of 32 bits",
          "wavefront": "one wavefront of shared memory, a lane's share", "warp_barrier": "one barrier of a warp",
          "block_barrier": "one barrier of a block of 256 threads"}


def tune(
    settings: Settings, path: str, kernel: str | None, shape: dict[str, int], budget: int, seed: int, as_json: bool
) -> None:
    """Search, print the best schedule as a block to paste, and keep it for the next search.

    Raises MissingToolError without a GPU; LayoutcError where schedules do not agree.
    """
    program = read(path, settings)
    meaning = only_one(program, kernel)
    if not isinstance(meaning, Meaning):
        raise WordsError("no-kernel", f"`{meaning.name}` is a redistribution, and has no schedule",
                         "`layoutc tune --costs` measures what redistributions are chosen by")
    known_extents(shape, [meaning])
    extents = extents_of(meaning, shape)
    if extents is None:
        raise WordsError("missing-extent", f"the extents of `{meaning.name}` are not all given",
                         f"write `--shape {','.join([f'{n}=…' for n in meaning.extents])}`")
    subject = Kernel(program, meaning, settings.target)
    bench = Bench(subject, extents, seed=seed, launches=LAUNCHES)
    found = _search(settings, bench, budget, seed)
    if as_json:
        settings.show(json.dumps(asdict(found), indent=2))
        return
    settings.show(as_block(meaning.name, found))


def _search(settings: Settings, bench: Bench, budget: int, seed: int) -> Tuned:
    console = Console(stderr=True, quiet=settings.quiet)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(bench.kernel.meaning.name, total=budget)

        def tell(count: int, best: Figure) -> None:
            progress.update(task, completed=count, description=f"{best.milliseconds:.4g} ms")

        place = place_of(bench.kernel, bench.extents, device_name())
        found = Search(bench, budget, Random(seed), tell).run(remembered(place))
    remember(place, found.clauses)
    return found


def as_block(name: str, found: Tuned) -> str:
    """A schedule to paste, and how far it is from the limit."""
    best, default = found.best, found.default
    shape = ",".join([f"{n}={v}" for n, v in best.extents.items()])
    lines = [
        f"# {best.device}, {shape}: {best.milliseconds:.4g} ms, {best.of_copy:.3f} of copy "
        f"({best.copy_gigabytes_per_second:.4g} GB/s)",
        f"# the compiler's own choice: {default.milliseconds:.4g} ms, {default.of_copy:.3f} of copy; "
        f"{found.tried} schedules timed, {found.refused} refused",
        f"schedule {name} {found.clauses}"]
    return "\n".join(lines)


def tune_costs(settings: Settings, as_json: bool) -> None:
    """Measure, print and keep the table. Raises MissingToolError without a GPU."""
    arch, costs = measure_costs()
    path = store_costs(arch, costs)
    if as_json:
        settings.show(json.dumps({"arch": arch, "costs": asdict(costs), "file": str(path)}))
        return
    settings.show(as_text(arch, costs))
    settings.summary(f"kept in {path}; redistributions for {arch} are chosen by it from now on")


def as_text(arch: str, costs: Costs) -> str:
    """The table for a person."""
    lines = [f"  {name:<14} {value:7.4f}  {_WORDS[name]}" for name, value in asdict(costs).items()]
    return "\n".join([f"{arch}: picoseconds of a thread's instruction, over the whole GPU", *lines])
