"""The parts of statements: what they hold, what they declare, and the same under other names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from layoutc.index import Binary, Expr, Int
from layoutc.plan.steps import (
    DeviceFunction,
    Function,
    Halving,
    Inlined,
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
from layoutc.plan.values import Operation, Variable
from layoutc.resolve.types import Type

Entry = TypeVar("Entry", DeviceFunction, Inlined, Function, DeviceFunction | Inlined | Function)
Counted = Loop | Turns | Strided | Rounds | Halving | Tiles     # their name is seen inside alone


def bodies_of(step: Step) -> Iterator[tuple[str, Steps]]:
    """The fields that hold statements."""
    for field in fields(step):
        value = getattr(step, field.name)
        if isinstance(value, tuple) and value and isinstance(value[0], Step):
            yield field.name, value


def given_inside(step: Step) -> tuple[str, ...]:
    """The names that are declared for its own statements."""
    match step:
        case Routine(parameter=name):
            return (name,)
        case Loop(name=name) | Turns(name=name) | Strided(name=name) | Rounds(name) | Halving(name) | Tiles(name):
            return (name,)
    return ()


def given_after(step: Step) -> tuple[str, ...]:
    """The names that are declared for what follows."""
    return () if isinstance(step, Counted) or not hasattr(step, "name") else (str(step.name),)


def words_of(part: Any) -> frozenset[str]:
    """Every name in a part of a text, and words that are none."""
    if isinstance(part, str):
        return frozenset(re.findall(r"\w+", part))
    if isinstance(part, tuple):
        return frozenset[str]().union(*map(words_of, part))
    if not is_dataclass(part) or isinstance(part, type | Type | Note):
        return frozenset()
    return frozenset[str]().union(*(words_of(getattr(part, f.name)) for f in fields(part)))


def valued(part: Any, name: str, value: Int) -> Any:
    """A part of a text with a number for a variable, index expressions simplified anew."""
    match part:
        case str():
            return re.sub(rf"\b{name}\b", str(value), part)
        case tuple():
            return tuple(valued(one, name, value) for one in part)
        case Expr():
            return part.over({name: value})
        case Variable(held) if held == name:
            return value
    if not is_dataclass(part) or isinstance(part, type | Type | Note):
        return part
    return replace(part, **{f.name: valued(getattr(part, f.name), name, value) for f in fields(part)})


def divides(name: str, part: Any) -> bool:
    """Whether a part of a text divides by what a variable is in, so that no zero may stand for it."""
    match part:
        case str():
            return re.search(rf"[/%] \(?[^)]*\b{name}\b", part) is not None
        case tuple():
            return any(divides(name, one) for one in part)
        case Binary("/" | "%", _, by) | Operation("/" | "%", _, by) if name in words_of(str(by)):
            return True
    if not is_dataclass(part) or isinstance(part, type | Type | Note):
        return False
    return any(divides(name, getattr(part, f.name)) for f in fields(part))


def renamed(part: Any, old: str, new: str) -> Any:
    """A part of a text with a variable under another name; nothing is simplified anew."""
    if isinstance(part, str):
        return re.sub(rf"\b{old}\b", new, part)
    if isinstance(part, tuple):
        return tuple(renamed(one, old, new) for one in part)
    if not is_dataclass(part) or isinstance(part, type | Type | Note):
        return part
    return replace(part, **{f.name: renamed(getattr(part, f.name), old, new) for f in fields(part)})
