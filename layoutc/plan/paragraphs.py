"""Where a text has empty lines: what a function does is told from what it declares next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from layoutc.plan.parts import Entry
from layoutc.plan.steps import (
    Blank,
    Let,
    Note,
    PanelAt,
    Registers,
    Routine,
    Shared,
    SharedAt,
    Step,
    Steps,
    Table,
    Variable,
)

Declaration = Let | Variable | Registers | Shared | SharedAt | PanelAt | Table | Routine


def in_paragraphs(functions: Iterable[Entry]) -> tuple[Entry, ...]:
    """The functions, an empty line before declarations that follow what is done."""
    return tuple(replace(one, body=_paragraphs(one.body)) for one in functions)


def _paragraphs(steps: Steps) -> Steps:
    out: list[Step] = []
    for step in steps:
        if out and isinstance(step, Declaration) and not isinstance(out[-1], Declaration | Note):
            out.append(Blank())
        out.append(step)
    return tuple(out)
