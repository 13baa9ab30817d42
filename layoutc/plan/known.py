"""Variables of one known value, and loops of one turn: the text has the number, and what the turn does."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import dataclass, fields, replace
from typing import Any

from layoutc.index import Int
from layoutc.plan.names import Names
from layoutc.plan.parts import Entry, bodies_of, divides, given_after, given_inside, renamed, valued, words_of
from layoutc.plan.steps import Let, Loop, Step, Steps


def without_known(functions: Iterable[Entry], kept: Set[str], wide: bool, names: Names) -> tuple[Entry, ...]:
    """The functions with numbers for ``const int warp_rows = 0;`` and for what counts one turn.

    ``kept``: names that a reader looks for. Where an Index is wider than an int, the type of a number matters and
    stays.
    """
    known = _Known(kept, ("int",) if wide else ("int", "Index"), names)
    return tuple(replace(one, body=known.without(one.body)) for one in functions)


@dataclass(frozen=True, slots=True)
class _Known:
    """Which of them go."""

    kept: Set[str]
    types: tuple[str, ...]
    names: Names

    def without(self, steps: Steps) -> Steps:
        """The statements of a block without them."""
        out: list[Step] = []
        while steps:
            step, steps = steps[0], steps[1:]
            match step:
                case Let(type, name, Int() as value) if (
                        type in self.types and name not in self.kept and (value.value or not divides(name, steps))):
                    steps = valued(steps, name, value)
                    continue
                case Loop(True | False, type, name, Int(low), Int(high), body) if (
                        high - low == 1 and type in self.types):
                    turn = self._beside(valued(body, name, Int(low)), tuple(out), steps)
                    if turn is not None:
                        steps = (*turn, *steps)
                        continue
            bodies: dict[str, Any] = {name: self.without(body) for name, body in bodies_of(step)}
            out.append(replace(step, **bodies))
        return tuple(out)

    def _beside(self, body: Steps, before: Steps, after: Steps) -> Steps | None:
        """What the turn does as it may stand in the block around it; None: that would declare a spec's name twice."""
        given = {name for step in body for name in given_after(step)}
        beside = {name for step in (*before, *after) for name in given_after(step)}
        for name in sorted(name for name in given if name in beside or _is_seen(name, after)):
            if name in self.kept:
                return None
            body = renamed(body, name, self._other(name, words_of((*before, *body, *after))))
        return body

    def _other(self, name: str, taken: Set[str]) -> str:
        """Another name for the same; it may have been given back, and stand in the text all the same."""
        wanted = self.names.wanted(name)
        return next(made for made in iter(lambda: self.names.take(wanted), None) if made not in taken)


def _is_seen(name: str, steps: Steps) -> bool:
    """Whether the statements speak of a variable that they do not declare themselves."""
    for step in steps:
        if name in given_after(step):
            return False
        bodies = dict(bodies_of(step))
        own = tuple(getattr(step, f.name) for f in fields(step) if f.name not in bodies and f.name != "name")
        inside = name not in given_inside(step) and any(_is_seen(name, body) for body in bodies.values())
        if inside or name in words_of(own):
            return True
    return False
