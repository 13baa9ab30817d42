"""``layoutc tune --costs``: what the parts of a redistribution cost on the GPU that is here."""

from __future__ import annotations

import json
from dataclasses import asdict

from layoutc.commands.settings import Settings
from layoutc.plan.moves.costs import Costs, store_costs
from layoutc.tuning.costs import measure_costs

_WORDS = {"select": "one select of 32 bits", "shuffle": "one shuffle of 32 bits",
          "wavefront": "one wavefront of shared memory, a lane's share", "warp_barrier": "one barrier of a warp",
          "block_barrier": "one barrier of a block of 256 threads"}


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
