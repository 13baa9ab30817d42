"""Which outputs have the same bits however a kernel is run; a NaN counts as any other NaN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from layoutc.resolve.matrices import may_multiply_matrices
from layoutc.resolve.program import Binary, Call, Const, Kernel, Read, Reduce, Sides, Value
from layoutc.resolve.trees import parts

ORDERED = ("sum", "prod", "min", "max")     # of floats the order shows: in a rounding, in which of two zeros it is
APPROXIMATE = frozenset({
    "rsqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh",
    "erf", "hypot", "pow",
})
"""Functions of floats that devices round each in their own way; all others are rounded as IEEE 754 says."""


@dataclass(frozen=True, slots=True)
class SameBits:
    """Of one output."""

    schedules: bool     # under every schedule, for any order of threads, on one device
    devices: bool       # on the CPU's run and every GPU too


def same_bits(kernel: Kernel) -> dict[str, SameBits]:
    """Per output what the order of arithmetic and the functions that it is made of decide.

    The order is fixed where no sum, product, least or greatest of floats runs over a range that extents decide, and no
    sum may be made by tensor cores.
    """
    found: dict[str, SameBits] = {}
    for output in kernel.outputs:
        values = [part for value in _values(kernel, output.name) for part in parts(value)]
        ordered = all(map(_is_ordered, values))
        found[output.name] = SameBits(ordered, ordered and not any(map(_is_approximate, values)))
    return found


def has_constant_ranges(reduce: Reduce) -> bool:
    """Whether a reduction runs in the order of its indices, by the language's rule."""
    return all(isinstance(b.low, Const) and isinstance(b.high, Const) for b in reduce.binders)


def _is_ordered(value: Value) -> bool:
    if not isinstance(value, Reduce) or value.op not in ORDERED or not value.body.type.is_float:
        return True
    return has_constant_ranges(value) and not may_multiply_matrices(value)


def _is_approximate(value: Value) -> bool:
    match value:
        case Call(function):
            return function in APPROXIMATE and value.type.is_float
        case Binary("**", _, Const(2)):
            return False        # a product
        case Binary("**"):
            return value.type.is_float
    return False


def _values(kernel: Kernel, output: str) -> Iterator[Value]:
    """All that an output is computed from, through lets, edge rules and the steps before."""
    formulas = {e.output: e.value for e in kernel.equations} | {s.name: s.value for s in kernel.stages}
    edges: dict[str, tuple[Sides, ...]] = {t.name: t.edges for t in kernel.inputs}
    edges |= {s.name: s.edges for s in kernel.stages}
    formulas |= {u: formulas[v] for u, v in kernel.steps}
    seen: set[str] = set()
    waiting = [formulas[output]]
    while waiting:
        value = waiting.pop()
        yield value
        for name in {part.tensor for part in parts(value) if isinstance(part, Read)} - seen:
            seen.add(name)
            rules = [rule for sides in edges[name] for rule in sides if rule is not None]
            waiting += [rule.value for rule in rules if rule.value is not None]
            waiting += [formulas[name]] if name in formulas else []
