"""From the words KERNEL and --schedule to what a file declares: kernels with schedules, and redistributions."""

from __future__ import annotations

from collections.abc import Iterable

from layoutc.commands.settings import Settings, WordsError
from layoutc.diagnostics import Diagnostic, LayoutcError, did_you_mean
from layoutc.parse.reading import read_source
from layoutc.resolve.program import Kernel, Program, Redistribute, Schedule

Declared = Kernel | Redistribute


def read(path: str, settings: Settings) -> Program:
    """What a file means, with the constants that the command sets."""
    from layoutc.compiler import read_program

    return read_program(read_source(path), settings.defines)


def declared(program: Program, name: str | None) -> tuple[Declared, ...]:
    """The kernel or redistribution of that name, or all of the file, kernels first.

    Raises WordsError where there is none of that name, LayoutcError where the file holds none at all.
    """
    everything: tuple[Declared, ...] = (*program.kernels, *program.redistributes)
    if name is None:
        if not everything:
            raise LayoutcError([Diagnostic("no-kernel", f"`{program.source.name}` holds no kernel")])
        return everything
    found = tuple(d for d in everything if d.name == name)
    if not found:
        raise WordsError("unknown-kernel", f"`{program.source.name}` has no kernel `{name}`",
                         meant(name, (d.name for d in everything)))
    return found


def only_one(program: Program, name: str | None) -> Declared:
    """The kernel or redistribution of that name, or the only one of the file."""
    found = declared(program, name)
    if len(found) > 1:
        names = ", ".join(d.name for d in found)
        what = "kernels" if not program.redistributes else "kernels and redistributions"
        raise WordsError("which-kernel", f"`{program.source.name}` has {len(found)} {what}", f"name one of {names}")
    return found[0]


def scheduled(chosen: tuple[Declared, ...], schedule: str | None) -> list[tuple[Declared, Schedule | None]]:
    """Each kernel with its schedule of that name; without a name, with its default one (None: the compiler's own).

    A redistribution has no schedule. Raises WordsError where none of the kernels has it.
    """
    if schedule is None:
        return [(d, d.schedule() if isinstance(d, Kernel) else None) for d in chosen]
    kernels = [d for d in chosen if isinstance(d, Kernel)]
    found: list[tuple[Declared, Schedule | None]] = [
        (k, s) for k in kernels if (s := k.schedule(schedule)) is not None]
    if not found:
        names = sorted({s.name for k in kernels for s in k.schedules if s.name is not None})
        who = f"`{chosen[0].name}` has no" if len(chosen) == 1 else "no kernel of the file has a"
        raise WordsError("unknown-schedule", f"{who} schedule `{schedule}`", meant(schedule, names))
    return found


def known_extents(shape: dict[str, int], chosen: Iterable[Declared]) -> None:
    """Refuse names that are extents of none of them."""
    some = list(chosen)
    known = list(dict.fromkeys(name for d in some if isinstance(d, Kernel) for name in d.extents))
    for name in shape:
        if name not in known:
            who = f"`{some[0].name}` has" if len(some) == 1 else "the file has"
            raise WordsError("unknown-extent", f"{who} no extent `{name}`", meant(name, known))


def extents_of(kernel: Kernel, shape: dict[str, int]) -> dict[str, int] | None:
    """A kernel's extents, or None where they are not all given."""
    if any(name not in shape for name in kernel.extents):
        return None
    return {name: shape[name] for name in kernel.extents}


def meant(name: str, known: Iterable[str]) -> str:
    """What a wrong name may have meant, or all that there are."""
    names = list(known)
    return did_you_mean(name, names) or f"there {'is' if len(names) == 1 else 'are'}: {', '.join(names) or 'none'}"
