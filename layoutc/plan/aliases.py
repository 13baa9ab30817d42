"""Variables that are only another name of one at hand: a reader meets the one alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from layoutc.index import Name
from layoutc.plan.steps import (
    Assign,
    DeviceFunction,
    Function,
    Halving,
    Inlined,
    Let,
    Loop,
    Note,
    Rounds,
    Routine,
    Step,
    Steps,
    Strided,
    Tiles,
    Turns,
)
from layoutc.plan.values import Variable
from layoutc.resolve.types import Type

Entry = TypeVar("Entry", DeviceFunction, Inlined, Function, DeviceFunction | Inlined | Function)
Types = Mapping[str, str]       # of the integers in sight that never change

INTEGERS = ("int", "Index")


def without_aliases(functions: Iterable[Entry], kept: Set[str], wide: bool) -> tuple[Entry, ...]:
    """The functions without ``const Index x_i = i;``.

    ``kept``: names that a reader looks for, as the spec gives them. Where an Index is wider than an int, one of the
    other is a conversion and stays.
    """
    return tuple(replace(one, body=_Aliases(kept, wide).without(one.body, _parameters(one))) for one in functions)


@dataclass(frozen=True, slots=True)
class _Aliases:
    """Which of them go."""

    kept: Set[str]
    wide: bool

    def without(self, steps: Steps, types: Types) -> Steps:
        """The statements of a block without them."""
        out: list[Step] = []
        while steps:
            step, steps = steps[0], steps[1:]
            source = self._source(step, types)
            if isinstance(step, Let) and source is not None and _may_stand_for(source, step.name, steps):
                steps = tuple(_renamed(one, step.name, source) for one in steps)
                continue
            inner = {**types, **_integer(step)}
            bodies: dict[str, Any] = {name: self.without(body, inner) for name, body in _bodies(step)}
            out.append(replace(step, **bodies))
            types = inner if isinstance(step, Let) else types
        return tuple(out)

    def _source(self, step: Step, types: Types) -> str | None:
        """What the variable is another name of, if it is no more than that."""
        if not isinstance(step, Let) or step.type not in INTEGERS or not isinstance(step.value, Name | Variable):
            return None
        source = str(step.value)
        if step.name in self.kept or source not in types or (self.wide and types[source] != step.type):
            return None
        return source


def _parameters(function: DeviceFunction | Inlined | Function) -> Types:
    found = re.findall(r"\b(int|Index) (\w+)", ", ".join(function.parameters))
    return {name: type for type, name in found}


def _may_stand_for(source: str, name: str, steps: Steps) -> bool:
    """Whether both mean the same wherever the name occurs in what follows."""
    for at, step in enumerate(steps):
        bodies = [body for _, body in _bodies(step)]
        given = _given(step)
        if name in given or (isinstance(step, Assign) and str(step.target) == source):
            return False
        if source in given:     # from here on, or in its own body, it means something else
            hidden = (step,) if bodies else steps[at:]
            if _occurs(name, hidden):
                return False
            if not bodies:
                return True
        elif not all(_may_stand_for(source, name, body) for body in bodies):
            return False
    return True


def _given(step: Step) -> tuple[str, ...]:
    """The names that it declares."""
    return tuple(str(getattr(step, field)) for field in ("name", "parameter") if hasattr(step, field))


def _occurs(name: str, steps: Steps) -> bool:
    """Whether it may; the words of the records themselves are taken for it too."""
    return re.search(rf"\b{name}\b", repr(steps)) is not None


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


def _bodies(step: Step) -> Iterator[tuple[str, Steps]]:
    for field in fields(step):
        value = getattr(step, field.name)
        if isinstance(value, tuple) and value and isinstance(value[0], Step):
            yield field.name, value


def _renamed(part: Any, old: str, new: str) -> Any:
    """A part of a text with a variable under another name; nothing is simplified anew."""
    if isinstance(part, str):
        return re.sub(rf"\b{old}\b", new, part)
    if isinstance(part, tuple):
        return tuple(_renamed(one, old, new) for one in part)
    if not is_dataclass(part) or isinstance(part, type | Type | Note):
        return part
    return replace(part, **{f.name: _renamed(getattr(part, f.name), old, new) for f in fields(part)})
