"""``layoutc explain``: everything that was derived."""

from __future__ import annotations

import json

from layoutc.commands.selection import kernels, meant, read, scheduled
from layoutc.commands.settings import Settings, WordsError
from layoutc.resolve.program import Kernel


def explain(
    settings: Settings, path: str, kernel: str | None, shape: dict[str, int], as_json: bool, lanes: int,
    transaction: int,
) -> None:
    """Print what was derived of the chosen kernels, for extents where they are given."""
    from layoutc.explain import explain as explain_kernel
    from layoutc.explain import explain_text

    program = read(path, settings)
    chosen = scheduled(() if kernel is None and not program.kernels else kernels(program, kernel), settings.schedule)
    _check_names(shape, [k for k, _ in chosen])
    found = [
        explain_kernel(program, k, s, settings.target, _extents(k, shape, len(chosen) == 1), lanes, transaction)
        for k, s in chosen
    ]
    if as_json:
        print(json.dumps({"kernels": found}, indent=2))
    else:
        print("\n\n".join([explain_text(one).rstrip("\n") for one in found]))


def _check_names(shape: dict[str, int], chosen: list[Kernel]) -> None:
    known = list(dict.fromkeys(name for k in chosen for name in k.extents))
    for name in shape:
        if name not in known:
            who = f"`{chosen[0].name}` has" if len(chosen) == 1 else "the file has"
            raise WordsError("unknown-extent", f"{who} no extent `{name}`", meant(name, known))


def _extents(kernel: Kernel, shape: dict[str, int], is_only: bool) -> dict[str, int] | None:
    """A kernel's extents, or None where they are not given; some of them are not enough."""
    missing = [name for name in kernel.extents if name not in shape]
    if not missing:
        return {name: shape[name] for name in kernel.extents}
    if is_only and shape:
        raise WordsError("missing-extent", f"`{kernel.name}` needs {', '.join(missing)} too",
                         f"write `--shape {','.join([f'{n}=…' for n in kernel.extents])}`")
    return None
