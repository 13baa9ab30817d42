"""From the words KERNEL and --schedule to kernels and schedules of a file."""

from __future__ import annotations

from collections.abc import Iterable

from layoutc.commands.settings import Settings, WordsError
from layoutc.diagnostics import Diagnostic, LayoutcError, did_you_mean
from layoutc.parse.reading import read_source
from layoutc.resolve.program import Kernel, Program, Schedule


def read(path: str, settings: Settings) -> Program:
    """What a file means, with the constants that the command sets."""
    from layoutc.compiler import read_program

    return read_program(read_source(path), settings.defines)


def kernels(program: Program, name: str | None) -> tuple[Kernel, ...]:
    """The kernel of that name, or all of the file.

    Raises WordsError where there is no such kernel, LayoutcError where the file holds none at all.
    """
    if name is None:
        if not program.kernels:
            raise LayoutcError([Diagnostic("no-kernel", f"`{program.source.name}` holds no kernel")])
        return program.kernels
    found = tuple(k for k in program.kernels if k.name == name)
    if not found:
        raise WordsError("unknown-kernel", f"`{program.source.name}` has no kernel `{name}`",
                         meant(name, (k.name for k in program.kernels)))
    return found


def only_kernel(program: Program, name: str | None) -> Kernel:
    """The kernel of that name, or the only one of the file."""
    found = kernels(program, name)
    if len(found) > 1:
        names = ", ".join(k.name for k in found)
        raise WordsError("which-kernel", f"`{program.source.name}` has {len(found)} kernels", f"name one of {names}")
    return found[0]


def scheduled(chosen: tuple[Kernel, ...], schedule: str | None) -> list[tuple[Kernel, Schedule | None]]:
    """Each kernel with its schedule of that name; without a name, with its default one (None: the compiler's own).

    Raises WordsError where none of the kernels has it.
    """
    if schedule is None:
        return [(k, k.schedule()) for k in chosen]
    found = [(k, s) for k in chosen if (s := k.schedule(schedule)) is not None]
    if not found:
        names = sorted({s.name for k in chosen for s in k.schedules if s.name is not None})
        who = f"`{chosen[0].name}` has no" if len(chosen) == 1 else "no kernel of the file has a"
        raise WordsError("unknown-schedule", f"{who} schedule `{schedule}`", meant(schedule, names))
    return list(found)


def meant(name: str, known: Iterable[str]) -> str:
    """What a wrong name may have meant, or all that there are."""
    names = list(known)
    return did_you_mean(name, names) or f"there {'is' if len(names) == 1 else 'are'}: {', '.join(names) or 'none'}"
