"""``layoutc explain``: everything that was derived."""

from __future__ import annotations

import json

from layoutc.commands.selection import declared, extents_of, known_extents, read, scheduled
from layoutc.commands.settings import Settings, WordsError
from layoutc.resolve.program import Kernel


def explain(
    settings: Settings, path: str, kernel: str | None, shape: dict[str, int], as_json: bool, lanes: int,
    transaction: int,
) -> None:
    """Print what was derived of what is chosen, for extents where they are given."""
    from layoutc.explain import explain as explain_kernel
    from layoutc.explain import explain_redistribution, explain_text
    from layoutc.plan.redistributions.declared import plan_declared

    program = read(path, settings)
    is_empty = not (program.kernels or program.redistributes)
    chosen = scheduled(() if kernel is None and is_empty else declared(program, kernel), settings.schedule)
    known_extents(shape, [d for d, _ in chosen])
    target = settings.target
    found = [
        explain_kernel(program, d, s, target, _extents(d, shape, len(chosen) == 1), lanes, transaction)
        if isinstance(d, Kernel) else explain_redistribution(plan_declared(program, d, target), target)
        for d, s in chosen
    ]
    if as_json:
        print(json.dumps({"kernels": found}, indent=2))
    else:
        print("\n\n".join([explain_text(one).rstrip("\n") for one in found]))


def _extents(kernel: Kernel, shape: dict[str, int], is_only: bool) -> dict[str, int] | None:
    """A kernel's extents, or None where they are not given; some of them are not enough."""
    found = extents_of(kernel, shape)
    if found is None and is_only and shape:
        missing = [name for name in kernel.extents if name not in shape]
        raise WordsError("missing-extent", f"`{kernel.name}` needs {', '.join(missing)} too",
                         f"write `--shape {','.join([f'{n}=…' for n in kernel.extents])}`")
    return found
