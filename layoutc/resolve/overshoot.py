"""What to say of a read that leaves its tensor: where, how far, and what would mend it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Literal

from layoutc.resolve.errors import Errors
from layoutc.resolve.linear import Facts, about, holds, lower_bounds
from layoutc.resolve.polynomials import Form, constant, minus, variable
from layoutc.resolve.program import Kernel, Read
from layoutc.resolve.trees import parts

_NOTES = {
    "let": "a `let` without an edge rule is a formula: this holds for the places where it is read",
    "rule": "the value of an edge rule is read inside its tensor, without an edge rule of its own",
}
Place = Literal["equation", "domain", "let", "rule"]

MOST_TOLD = 2**10        # how far data may go and be worth a number: the range of a byte, not of an i32


@dataclass(frozen=True, slots=True)
class Miss:
    """A read that is not proved to stay inside on one side of one axis."""

    read: Read
    axis: int
    side: int               # 0: before the start, 1: past the end
    least: float            # the proved lower bound of the gap, below 0; -inf: none
    gap: Form               # what must not be negative
    facts: Facts
    place: Place            # what reads: an equation, a let over its domain or as a formula, the value of an edge rule
    guarded: bool           # whether it stands in a `where`


def report_misses(kernel: Kernel, misses: Iterable[Miss], errors: Errors) -> None:
    """One error for each tensor, axis, side and mending: its worst read, and how many others there are."""
    groups: dict[tuple[str, int, int, str], list[Miss]] = {}
    for miss in misses:
        mending = _mending(kernel, miss, _needs(kernel, miss))
        groups.setdefault((miss.read.tensor, miss.axis, miss.side, mending), []).append(miss)
    for group in groups.values():
        worst = min(group, key=lambda m: (m.least, m.read.span))
        others = len({m.read.span for m in group}) - 1
        _report(kernel, worst, others, errors)


def _report(kernel: Kernel, miss: Miss, others: int, errors: Errors) -> None:
    read, tensor = errors.text(miss.read.span), miss.read.tensor
    side = ("before the start", "past the end")[miss.side]
    where = f"{side} of axis {miss.axis} of `{tensor}`"
    needs = _needs(kernel, miss)
    told = miss.least > -inf and not (_is_data(miss) and miss.least < -MOST_TOLD)
    far = f"{int(-miss.least)} " if told else ""
    label = f"as far as {far}{side}" if told else _unknown(miss, side, needs)
    if _is_exact(miss) and (told or needs):
        message = f"`{read}` can read {far}{where}"
    else:
        message = f"`{read}` is not proved to stay inside: it may read {far}{where}"
    notes = [_NOTES[miss.place]] if miss.place in _NOTES else []
    if miss.guarded:
        notes.append("`where` chooses between values that are both computed; it does not guard a read")
    if miss.facts.fuel.left <= 0:
        notes.append("the proof was given up: this file asks for too many")
    if others:
        notes.append(f"{others} more {'read' if others == 1 else 'reads'} of `{tensor}` can leave it there")
    errors.report(
        "out-of-bounds", miss.read.indices[miss.axis].span, message, label, notes=notes,
        help=_help(errors, kernel, miss, needs),
    )


def _unknown(miss: Miss, side: str, needs: list[tuple[str, str]]) -> str:
    """How far, where it is no number."""
    if _is_data(miss):
        return "data decides how far"
    if not needs:
        return f"how far {side} is not known"
    return f"{needs[0][0]} {side}" if _is_exact(miss) else f"at most {needs[0][0]} {side}"


def _help(errors: Errors, kernel: Kernel, miss: Miss, needs: list[tuple[str, str]]) -> str:
    tensor = miss.read.tensor
    edge = f"give `{tensor}` an edge rule, such as `edge {tensor} = nearest`"
    requirement = _mending(kernel, miss, needs)
    if _is_data(miss):
        written = errors.text(miss.read.indices[miss.axis].span)
        return f"keep it inside, such as `clamp({written}, 0, {_last(errors, kernel, miss)})`, or {edge}"
    if miss.place == "rule":
        return f"`{requirement}`" if requirement else ""
    if requirement:
        return f"`{requirement}`, or {edge}"
    shorter = _shorter(kernel, miss, errors)
    return f"{edge}, or {shorter}" if shorter else edge


def _is_exact(miss: Miss) -> bool:
    """Whether the bound is reached: the forms are linear in indices and extents, with nothing in between."""
    near = about([miss.gap], miss.facts)
    return not near.choices and all(
        len(m) <= 1 and not any(name.startswith("?") for name in m)
        for form in (miss.gap, *near.at_least_zero, *near.zero)
        for m in form
    )


def _is_data(miss: Miss) -> bool:
    """Whether the subscript is read from a tensor."""
    return any(isinstance(value, Read) for value in parts(miss.read.indices[miss.axis]))


def _last(errors: Errors, kernel: Kernel, miss: Miss) -> str:
    """The last index of the axis, as one would write it."""
    extents = next((t.extents for t in kernel.inputs if t.name == miss.read.tensor), ())
    return f"{errors.text(extents[miss.axis].span)} - 1" if extents else "n - 1"


def _shorter(kernel: Kernel, miss: Miss, errors: Errors) -> str:
    """By how much an output would have to end earlier, where that alone keeps the read in."""
    for output, equation in zip(kernel.outputs, kernel.equations, strict=True):
        for axis, name in enumerate(equation.indices):
            step = -miss.gap.get((name,), 0)
            if miss.side == 1 and step > 0 and miss.place == "equation" and miss.least > -inf:
                less = -(int(miss.least) // step)
                return f"end axis {axis} of `{output.name}` at `{errors.text(output.extents[axis].span)} - {less}`"
    return ""


def _needs(kernel: Kernel, miss: Miss) -> list[tuple[str, str]]:
    """How far the read goes in terms of the extents, and the requirement that would keep it in; simplest first."""
    bounds = lower_bounds(miss.gap, miss.facts, set(kernel.extents))
    plain = [b for b in bounds if any(b) and all(len(m) <= 1 for m in b)]
    plain.sort(key=lambda b: (len(b), sorted(b)))
    return [(_show({m: -c for m, c in b.items()}), _requirement(b)) for b in plain]


def _mending(kernel: Kernel, miss: Miss, needs: list[tuple[str, str]]) -> str:
    """A requirement that keeps the read in: of extents to each other, or that one of them is not 0."""
    known = (require for _, require in needs if require)
    return next(known, "") or next(
        (f"require {extent} > 0" for extent in kernel.extents if _holds_without_zero(extent, miss)), "")


def _holds_without_zero(extent: str, miss: Miss) -> bool:
    facts = miss.facts.copy()
    facts.at_least_zero.append(minus(variable(extent), constant(1)))
    return holds(miss.gap, facts)


def _requirement(form: Form) -> str:
    """``require H >= W + 1`` of ``H - W - 1 >= 0``; nothing where only an extent of 0 would do."""
    left = {m: c for m, c in form.items() if c > 0}
    right = {m: -c for m, c in form.items() if c < 0}
    return f"require {_show(left)} >= {_show(right)}" if any(left) else ""


def _show(form: Form) -> str:
    """A linear form as one would write it, variables first."""
    text = ""
    for monomial, factor in sorted(form.items(), key=lambda term: (term[0] == (), term[1] < 0, term[0])):
        name, size = "*".join(monomial), abs(factor)
        term = name if name and size == 1 else f"{size}*{name}" if name else str(size)
        text += f" {'-' if factor < 0 else '+'} {term}" if text else f"{'-' if factor < 0 else ''}{term}"
    return text or "0"
