"""Which names steps mention, so that only what is used is declared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields

from layoutc.plan.steps import Let, Step, Steps

NAME = re.compile(r"[A-Za-z_]\w*")


def names_in(steps: Iterable[Step]) -> frozenset[str]:
    """Every word of the steps' text, their bodies included."""
    return frozenset(word for step in steps for f in fields(step) for word in _words(getattr(step, f.name)))


def _words(value: object) -> Iterable[str]:
    if isinstance(value, tuple) and value and all(hasattr(v, "__dataclass_fields__") for v in value):
        return names_in(value)
    return NAME.findall(str(value))


def with_used(declarations: Iterable[Step], body: Steps) -> Steps:
    """The body after those of the declarations that it needs, directly or through others."""
    out: list[Step] = list(body)
    needed = names_in(body)
    for step in reversed(tuple(declarations)):
        assert isinstance(step, Let)
        if step.name in needed:
            out.insert(0, step)
            needed |= names_in((step,))
    return tuple(out)
