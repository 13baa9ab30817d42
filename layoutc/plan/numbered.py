"""Numbers that tell names apart go where no other name is in sight: ``pack_4`` is ``pack`` if nothing else is."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace
from typing import Any

from layoutc.plan.names import Names
from layoutc.plan.parts import Entry, bodies_of, given_after, given_inside, renamed, words_of
from layoutc.plan.steps import Step, Steps


def numbered_anew(functions: Iterable[Entry], names: Names) -> tuple[Entry, ...]:
    """The functions, every numbered variable under the first name that is free where it is seen."""
    entries = tuple(functions)
    called = frozenset(one.name for one in entries)
    return tuple(replace(one, body=_body(one.body, called | words_of(one.parameters), names)) for one in entries)


def _body(steps: Steps, seen: Set[str], names: Names) -> Steps:
    """``seen``: what is declared above, and around."""
    out: list[Step] = []
    while steps:
        for name in given_after(steps[0]):
            steps = _nearer(steps, name, seen, names)
        for name in given_inside(steps[0]):
            steps = (*_nearer(steps[:1], name, seen, names), *steps[1:])
        step, steps = steps[0], steps[1:]
        seen = seen | frozenset(given_after(step))
        inner = seen | frozenset(given_inside(step))
        bodies: dict[str, Any] = {field: _body(body, inner, names) for field, body in bodies_of(step)}
        out.append(replace(step, **bodies))
    return tuple(out)


def _nearer(scope: Steps, name: str, seen: Set[str], names: Names) -> Steps:
    """The statements that see a variable, with it under the name nearest to what was wanted."""
    free = names.first_free(name, seen | words_of(scope)) if names.wanted(name) != name else name
    made: Steps = renamed(scope, name, free) if free != name else scope
    return made
