"""What a test runs: a kernel under other constants, and each of them under its schedules and random ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random

from layoutc.calling.calls import Caller
from layoutc.compiler import default_signature, read_program, with_schedule
from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.module import Kernel as ModuleKernel
from layoutc.parse.parser import parse
from layoutc.parse.syntax import Constant
from layoutc.plan.nodes import Plan, Target
from layoutc.resolve.program import Kernel, Program, Schedule, title_of
from layoutc.source import Source
from layoutc.testing.schedules import INTENTS, random_clauses

MOST_TRIES = 12             # random schedules looked at for one that can be honoured
MakeCaller = Callable[[Program, Kernel, Schedule | None, Target], Caller]
"""How a kernel under a schedule becomes something to call; tests of the tests put faults in here."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel of a file under some constants."""

    program: Program
    kernel: Kernel
    constants: tuple[tuple[str, int], ...]      # those that differ from the file's own
    target: Target


@dataclass(frozen=True, eq=False, slots=True)
class Way:
    """A subject under one schedule, ready to be called."""

    subject: Subject
    schedule: str | None        # a name, clauses in braces, or None for the default
    caller: Caller

    @property
    def kernel(self) -> Kernel:
        """The kernel as resolved."""
        return self.subject.kernel

    @property
    def plan(self) -> Plan:
        """The plan for contiguous arrays."""
        return self.caller.text(default_signature(self.kernel))[0]

    def __str__(self) -> str:
        said = [f"{name} = {value}" for name, value in self.subject.constants]
        return ", ".join([self.schedule or title_of(self.plan.schedule), *said])


def subject_of(kernel: ModuleKernel) -> Subject:
    """The kernel as it was compiled, and which constants were set from outside."""
    program = kernel.program
    return Subject(program, kernel.meaning, tuple(_overrides(program).items()), kernel.target)


def written_ways(subject: Subject, make: MakeCaller) -> list[Way]:
    """The default schedule, written or not, and every named one.

    Raises LayoutcError where one cannot be honoured.
    """
    names = (None, *(s.name for s in subject.kernel.schedules if s.name is not None))
    return [way_of(subject, name, make) for name in names]


def way_of(subject: Subject, schedule: str | None, make: MakeCaller) -> Way:
    """A subject under a schedule: a name, clauses in braces, or None for the default.

    Raises LayoutcError where there is no such schedule or it cannot be honoured.
    """
    program, kernel = subject.program, subject.kernel
    if schedule is not None and schedule.startswith("{"):
        return _generated(subject, schedule, make)
    found = kernel.schedule(schedule)
    if found is None and schedule is not None:
        raise LayoutcError([Diagnostic("unknown-schedule", f"`{kernel.name}` has no schedule `{schedule}`")])
    way = Way(subject, schedule, make(program, kernel, found, subject.target))
    way.plan        # noqa: B018 (what cannot be honoured is found here)
    return way


def _generated(subject: Subject, clauses: str, make: MakeCaller) -> Way:
    program, kernel = subject.program, subject.kernel
    schedule = with_schedule(program, kernel, clauses, dict(subject.constants))
    way = Way(subject, clauses, make(program, kernel, schedule, subject.target))
    way.plan        # noqa: B018 (what cannot be honoured is found here)
    return way


def random_ways(subject: Subject, count: int, random: Random, make: MakeCaller) -> list[Way]:
    """Up to ``count`` different schedules that can be honoured, about different things in turn."""
    found: dict[str, Way] = {}
    intents = random.sample(INTENTS, len(INTENTS))
    for number in range(count):
        way = _random_way(subject, intents[number % len(intents)], random, make)
        if way is not None:
            found.setdefault(str(way.schedule), way)
    return list(found.values())


def _random_way(subject: Subject, intent: str, random: Random, make: MakeCaller) -> Way | None:
    for _ in range(MOST_TRIES):
        try:
            return way_of(subject, random_clauses(subject.kernel, intent, random), make)
        except LayoutcError:
            continue
    return None


def other_subjects(subject: Subject, count: int, random: Random) -> list[Subject]:
    """The kernel under other constants, where they matter to it and the file stays valid."""
    found: list[Subject] = []
    tries = [(name, value + by) for name, value in subject.program.constants for by in (1, -1)]
    for name, value in random.sample(tries, len(tries)):
        if len(found) == count:
            break
        other = with_constants(subject, {name: value})
        if other is not None and other.kernel != subject.kernel and other.kernel not in [f.kernel for f in found]:
            found.append(other)
    return found


def with_constants(subject: Subject, changes: Mapping[str, int]) -> Subject | None:
    """The kernel under changed constants; None where the file is wrong under them."""
    constants = dict(subject.constants) | dict(changes)
    try:
        program = read_program(subject.program.source, constants)
        return Subject(program, kernel_named(program, subject.kernel.name), tuple(constants.items()), subject.target)
    except LayoutcError:
        return None


def kernel_named(program: Program, name: str) -> Kernel:
    """The kernel of a name that is known to be there."""
    return next(k for k in program.kernels if k.name == name)


def _overrides(program: Program) -> dict[str, int]:
    """The constants set from outside: with them, and no others, the file gives the program's constants."""
    found: dict[str, int] = {}
    for name in _declared(program.source):
        value = dict(program.constants)[name]
        if dict(read_program(program.source, found).constants)[name] != value:
            found[name] = value
    return found


def _declared(source: Source) -> Iterator[str]:
    """Constants in the order in which they are written."""
    return (d.name.id for d in parse(source).declarations if isinstance(d, Constant))
