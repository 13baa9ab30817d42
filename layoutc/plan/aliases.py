"""Variables that are only another name of one at hand: a reader meets the one alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

from layoutc.index import Expr, Name, names_in
from layoutc.plan.names import Names
from layoutc.plan.parts import Entry, bodies_of, given_after, given_inside, renamed, words_of
from layoutc.plan.steps import (
    Assign,
    DeviceFunction,
    Function,
    Halving,
    Inlined,
    Let,
    Loop,
    Rounds,
    Routine,
    Step,
    Steps,
    Strided,
    Tiles,
    Turns,
)
from layoutc.plan.values import Variable

Types = Mapping[str, str]       # of the integers in sight that never change

INTEGERS = ("int", "Index")


@dataclass(frozen=True, slots=True)
class _Said:
    """An integer that stands above, and the names with which it says its value, its own among them."""

    let: Let
    words: Set[str]


def without_aliases(functions: Iterable[Entry], kept: Set[str], wide: bool, names: Names) -> tuple[Entry, ...]:
    """The functions without ``const Index x_i = i;``, and without ``j_whole_2`` that says what ``j_whole`` says.

    ``kept``: names that a reader looks for, as the spec gives them. Where an Index is wider than an int, one of the
    other is a conversion and stays.
    """
    aliases = _Aliases(kept, wide, names)
    return tuple(replace(one, body=aliases.without(one.body, _parameters(one), ())) for one in functions)


@dataclass(frozen=True, slots=True)
class _Aliases:
    """Which of them go."""

    kept: Set[str]
    wide: bool
    names: Names

    def without(self, steps: Steps, types: Types, said: tuple[_Said, ...]) -> Steps:
        """The statements of a block without them; ``said``: what blocks around have named."""
        out: list[Step] = []
        while steps:
            step, steps = steps[0], steps[1:]
            source = self._source(step, types) or self._same(step, types, said)
            if isinstance(step, Let) and source is not None and _may_stand_for(source, step.name, steps):
                steps = tuple(renamed(one, step.name, source) for one in steps)
                continue
            inner = {**types, **_integer(step)}
            around = _but(said, given_inside(step))
            bodies: dict[str, Any] = {name: self.without(body, inner, around) for name, body in bodies_of(step)}
            out.append(replace(step, **bodies))
            if isinstance(step, Let):
                types, said = inner, _but(said, (step.name,))
                if isinstance(step.value, Expr):
                    said = (*said, _Said(step, names_in(step.value) | {step.name}))
        return tuple(out)

    def _source(self, step: Step, types: Types) -> str | None:
        """What the variable is another name of, if it is no more than that."""
        if not isinstance(step, Let) or step.type not in INTEGERS or not isinstance(step.value, Name | Variable):
            return None
        source = str(step.value)
        if step.name in self.kept or source not in types or (self.wide and types[source] != step.type):
            return None
        return source

    def _same(self, step: Step, types: Types, said: tuple[_Said, ...]) -> str | None:
        """The variable that was made for the same and has the same value."""
        if not isinstance(step, Let) or not isinstance(step.value, Expr) or not names_in(step.value) <= set(types):
            return None
        wanted = self.names.wanted(step.name)
        same = (one.let.name for one in said if (one.let.type, one.let.value) == (step.type, step.value))
        return next((name for name in same if wanted != step.name and self.names.wanted(name) == wanted), None)


def _but(said: tuple[_Said, ...], names: tuple[str, ...]) -> tuple[_Said, ...]:
    """Those that still say the same where the names mean something else."""
    return tuple(one for one in said if one.words.isdisjoint(names)) if names else said


def _parameters(function: DeviceFunction | Inlined | Function) -> Types:
    found = re.findall(r"\b(int|Index) (\w+)", ", ".join(function.parameters))
    return {name: type for type, name in found}


def _may_stand_for(source: str, name: str, steps: Steps) -> bool:
    """Whether both mean the same wherever the name occurs in what follows."""
    for at, step in enumerate(steps):
        bodies = [body for _, body in bodies_of(step)]
        inside, after = given_inside(step), given_after(step)
        if name in (*inside, *after) or (isinstance(step, Assign) and str(step.target) == source):
            return False
        if source in after:     # from here on it means something else
            return name not in words_of(steps[at:])
        if source in inside:
            if name in words_of(step):
                return False
        elif not all(_may_stand_for(source, name, body) for body in bodies):
            return False
    return True


def _integer(step: Step) -> dict[str, str]:
    """The integer that it declares, and its type."""
    match step:
        case Rounds(name) | Halving(name):
            return {name: "int"}
        case Tiles(name):
            return {name: "Index"}
        case Routine(type, _, name):
            return {name: type}
        case Let(type, name) if type in INTEGERS:
            return {name: type}
        case Loop(type=type, name=name) | Turns(type=type, name=name) | Strided(type=type, name=name):
            return {name: type}
    return {}
