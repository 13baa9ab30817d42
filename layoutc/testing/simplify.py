"""What Hypothesis cannot make smaller, since it was drawn beforehand: schedules, forms, extents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from layoutc.resolve.program import Kernel
from layoutc.testing.cases import Case, Out
from layoutc.testing.extents import accepts
from layoutc.testing.fills import Fill
from layoutc.testing.memory import Form


def simpler_cases(case: Case, kernel: Kernel) -> Iterator[Case]:
    """The same case with one thing about it simpler; what helps a reader most comes first."""
    yield from (replace(case, schedule=s) for s in simpler_schedules(case.schedule, kernel))
    yield from (replace(case, steps=n) for n in sorted({1, case.steps - 1}) if 0 < n < case.steps)
    yield from _with_forms(case)
    for k, fill in enumerate(case.fills):
        if fill != Fill():
            yield replace(case, fills=(*case.fills[:k], Fill(), *case.fills[k + 1:]))
    if case.out != Out(True):
        yield replace(case, out=Out(True))
    if (case.seed, case.order) != (0, "random"):
        yield replace(case, seed=0, order="random")
    yield from _with_extents(case, kernel)


def simpler_schedules(schedule: str | None, kernel: Kernel) -> list[str | None]:
    """For a named schedule the default; for a random one those of the file, then itself with one clause less."""
    if schedule is None:
        return []
    if not schedule.startswith("{"):
        return [None]
    parts = [part for part in schedule.strip("{} ").split("  ") if part]
    fewer = ["{ " + "  ".join((*parts[:k], *parts[k + 1:])) + " }" for k in range(len(parts))]
    return [None, *(s.name for s in kernel.schedules if s.name is not None), *fewer]


def _with_forms(case: Case) -> Iterator[Case]:
    if any(form != Form() for form in case.forms):
        yield replace(case, forms=(Form(),) * len(case.forms))
    for k, form in enumerate(case.forms):
        if form != Form():
            yield replace(case, forms=(*case.forms[:k], Form(), *case.forms[k + 1:]))


def _with_extents(case: Case, kernel: Kernel) -> Iterator[Case]:
    for k, (name, n) in enumerate(case.extents):
        for less in sorted({n // 2, n - 1}):
            extents = (*case.extents[:k], (name, less), *case.extents[k + 1:])
            if 0 <= less < n and accepts(kernel, dict(extents)):
                yield replace(case, extents=extents)
