"""What to say of a read that leaves its tensor: where, how far, and what would mend it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

from layoutc.resolve.errors import Errors
from layoutc.resolve.linear import Facts, Form, lower_bounds
from layoutc.resolve.program import Kernel, Read


@dataclass(frozen=True, slots=True)
class Miss:
    """A read that is not proved to stay inside on one side of one axis."""

    read: Read
    axis: int
    side: int               # 0: before the start, 1: past the end
    least: float            # the proved lower bound of the gap, below 0; -inf: none
    gap: Form               # what must not be negative
    facts: Facts
    let: str                # the let whose formula reads, or ""


def report_misses(kernel: Kernel, misses: Iterable[Miss], errors: Errors) -> None:
    """One error for each tensor, axis and side: its worst read, and how many others there are."""
    groups: dict[tuple[str, int, int], list[Miss]] = {}
    for miss in misses:
        groups.setdefault((miss.read.tensor, miss.axis, miss.side), []).append(miss)
    for group in groups.values():
        worst = min(group, key=lambda m: (m.least, m.read.span))
        others = len({m.read.span for m in group}) - 1
        _report(kernel, worst, others, errors)


def _report(kernel: Kernel, miss: Miss, others: int, errors: Errors) -> None:
    read, tensor = errors.text(miss.read.span), miss.read.tensor
    side = ("before the start", "past the end")[miss.side]
    where = f"{side} of axis {miss.axis} of `{tensor}`"
    needs = [] if miss.least > -inf else _needs(kernel, miss)
    if miss.least > -inf:
        message = f"`{read}` can read {int(-miss.least)} {where}"
        label = f"as far as {int(-miss.least)} {side}"
    elif needs:
        message = f"`{read}` can read {where}"
        label = f"{needs[0][0]} {side}"
    else:
        message = f"`{read}` is not proved to stay inside: it may read {where}"
        label = f"how far {side} is not known"
    notes = [f"the let `{miss.let}` is a formula: this holds for the places where it is read"] if miss.let else []
    if others:
        notes.append(f"{others} more {'read' if others == 1 else 'reads'} of `{tensor}` can leave it there")
    errors.report(
        "out-of-bounds", miss.read.indices[miss.axis].span, message, label, notes=notes, help=_help(kernel, miss, needs)
    )


def _help(kernel: Kernel, miss: Miss, needs: list[tuple[str, str]]) -> str:
    tensor = miss.read.tensor
    edge = f"give it an edge rule, such as `edge {tensor} = nearest`"
    if needs:
        return f"`{needs[0][1]}`, or {edge}"
    if miss.least > -inf:
        outputs = ", ".join(o.name for o in kernel.outputs if o.extents)
        return f"{edge}, or compute less: make {outputs} shorter" if outputs else edge
    return edge


def _needs(kernel: Kernel, miss: Miss) -> list[tuple[str, str]]:
    """How far the read goes in terms of the extents, and the requirement that would keep it in; simplest first."""
    bounds = lower_bounds(miss.gap, miss.facts, set(kernel.extents))
    plain = [b for b in bounds if b and all(len(m) <= 1 for m in b)]
    plain.sort(key=lambda b: (len(b), sorted(b)))
    return [(_show({m: -c for m, c in b.items()}), _requirement(b)) for b in plain]


def _requirement(form: Form) -> str:
    """``require H >= W + 1`` of ``H - W - 1 >= 0``."""
    left = {m: c for m, c in form.items() if c > 0}
    right = {m: -c for m, c in form.items() if c < 0}
    return f"require {_show(left)} >= {_show(right)}"


def _show(form: Form) -> str:
    """A linear form as one would write it, variables first."""
    text = ""
    for monomial, factor in sorted(form.items(), key=lambda term: (term[0] == (), term[1] < 0, term[0])):
        name, size = "*".join(monomial), abs(factor)
        term = name if name and size == 1 else f"{size}*{name}" if name else str(size)
        text += f" {'-' if factor < 0 else '+'} {term}" if text else f"{'-' if factor < 0 else ''}{term}"
    return text or "0"
