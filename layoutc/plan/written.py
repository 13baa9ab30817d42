"""How often text that branches is written out: loops that would copy too much of it are left to turn.

NVVM, the first half of NVRTC, takes minutes over some hundreds of folds or divisions that are written out one after
the other, as loops make them that stand in each other and are all unrolled. Little is lost with the copies: a
division takes far longer than the turn of a loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

from layoutc.index import Int
from layoutc.plan.steps import DeviceFunction, Function, Inlined, Loop, Step, Strided, Turns

Entry = DeviceFunction | Inlined | Function

MOST = 256          # calls of functions that branch that a function may hold when its loops are written out
IN_A_LOOP = (128, 32, 8, 2)     # of them in a loop: the first that keeps the function within that
UNASKED = 4         # turns that the compiler writes out of an innermost loop that says nothing
BRANCHING = re.compile(
    r"\b(?:(reflect|mirror|wrap|power|pow|sin|cos|tan|sinh|acos|atan2|convert<b?f16>)|floor_(?:div|mod))\(")
DIVISION = 12       # calls that a division by a variable counts for: one of floats is loops of its own


def written(functions: Iterable[Entry]) -> tuple[Entry, ...]:
    """The functions, with loops kept from being written out too often, unless the schedule insists."""
    made = [_within(function) for function in functions]
    return tuple(one for one in made if isinstance(one, Entry))


def _within(function: Step) -> Step:
    made = function
    for most in IN_A_LOOP:
        made, calls, _ = _written(function, most)
        if calls <= MOST:
            break
    return made


def _written(step: Step, most: int) -> tuple[Step, int, bool]:
    """The step, the calls that it comes to, and whether a loop is left in it."""
    calls, left = 0, False
    bodies: dict[str, Any] = {}
    for name, value in ((f.name, getattr(step, f.name)) for f in fields(step)):
        if _is_body(value):
            made = [_written(one, most) for one in value]
            bodies[name] = tuple(one for one, _, _ in made)
            calls += sum(count for _, count, _ in made)
            left |= any(turning for _, _, turning in made)
        else:
            calls += _calls(str(value))
    if not calls:
        return step, 0, left or _is_left(step)
    step = replace(step, **bodies)
    turns = _turns(step, left)
    if calls * turns > most:
        match step:
            case Loop(unroll=True | False):
                return Turns("1", step.type, step.name, step.low, step.high, step.body), calls, True
            case Turns():
                return replace(step, times="1"), calls, True
            case Strided():
                return replace(step, unroll=1), calls, True
    return step, calls * turns, left or _is_left(step)


def _calls(text: str) -> int:
    """Of functions that branch; a division by a number is a multiplication."""
    return sum(1 if found[1] else DIVISION * (not _by_number(text[found.end():])) for found in BRANCHING.finditer(text))


def _by_number(arguments: str) -> bool:
    """Whether the second of the two arguments, up to their parenthesis, is a number."""
    depth, second = 0, 0
    for at, sign in enumerate(arguments):
        if sign == ")" and depth == 0:
            return arguments[second:at].lstrip(" -")[:1].isdigit()
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            second = at + 1
    return False


def _is_body(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], Step)


def _turns(step: Step, left: bool) -> int:
    """Of a loop, those that are written out; 1 for any other step."""
    unasked = 1 if left else UNASKED
    match step:
        case Loop(unroll, low=Int(low), high=Int(high)):
            return max(high - low if unroll else min(high - low, unasked), 1)
        case Loop() | Strided(unroll=0):
            return unasked
        case Strided(unroll):
            return unroll
        case Turns(times):
            return int(times) if times.isdigit() else unasked
    return 1


def _is_left(step: Step) -> bool:
    """Whether it is a loop that is still one where it is compiled."""
    match step:
        case Loop(unroll, low=Int(), high=Int()):
            return not unroll
    return isinstance(step, Loop | Strided | Turns)
