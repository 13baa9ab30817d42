"""What a call reads: for every tensor and let the hull of the places that are read, at given extents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from layoutc.resolve.extents import Extents, evaluate_index, integer_power
from layoutc.resolve.program import (
    MOST_TILE,
    Binary,
    Call,
    Cast,
    Compare,
    Const,
    Extent,
    Index,
    Kernel,
    Logic,
    Read,
    Reduce,
    Sides,
    Stage,
    Tensor,
    Unary,
    Value,
    Where,
)
from layoutc.resolve.types import Type, integer_range
from layoutc.source import NOWHERE
from layoutc.source import Span as Place


class Span(NamedTuple):
    """The values that an integer may have, and how far its arithmetic goes."""

    low: int
    high: int           # included
    size: int           # no sum of some of its terms, in whatever order, is of a greater magnitude


Interval = Span | None                  # None: not known
Hull = tuple[Interval, ...]             # per axis, as subscripted: before any edge rule

SUBSCRIPT = 2**63 - 2**32       # the rest is room for tiles and halos
WITHOUT_IDENTITY = ("min", "max", "argmin", "argmax", "median")


@dataclass(frozen=True, slots=True)
class Demand:
    """What is read at all. A tensor or let that nothing reads (every index range empty) is absent."""

    hulls: Mapping[str, Hull]
    inside: Mapping[str, Hull]          # of lets: where the formula itself is needed, folded into the domain
    empty: tuple[Reduce, ...]           # reductions without an identity that have nothing to reduce
    past: Place | None                  # the first place where arithmetic on indices and extents leaves SUBSCRIPT
    size: int                           # the greatest magnitude of sums in any order, past the end of the last tile too


def demand(kernel: Kernel, extents: Extents) -> Demand:
    """The hulls of all reads of a kernel, lets after their readers, so that a chain is walked once."""
    walk = _Walk(kernel, extents)
    for tensor in (*kernel.inputs, *kernel.outputs):
        for n in tensor.extents:
            walk.known(n)
    for output, equation in zip(kernel.outputs, kernel.equations, strict=True):
        lengths = [walk.known(n).high for n in output.extents]
        if all(n > 0 for n in lengths):
            box = [Span(0, n - 1, n + MOST_TILE) for n in lengths]      # the last tile goes on past the end
            walk.visit(equation.value, dict(zip(equation.indices, box, strict=True)))
    return _through_lets(walk, kernel)


def demand_of_let(kernel: Kernel, extents: Extents, name: str, hull: tuple[tuple[int, int], ...]) -> Demand:
    """The hulls of all that one let reads, itself read at ``hull``."""
    walk = _Walk(kernel, extents)
    walk.hulls[name] = tuple(Span(low, high, max(-low, high)) for low, high in hull)
    return _through_lets(walk, kernel)


def _through_lets(walk: _Walk, kernel: Kernel) -> Demand:
    inside: dict[str, Hull] = {}
    for stage in reversed(kernel.stages):
        if stage.name in walk.hulls:
            inside[stage.name] = walk.inside(stage)
            if all(i is None or i.low <= i.high for i in inside[stage.name]):
                walk.visit(stage.value, dict(zip(stage.indices, inside[stage.name], strict=True)))
    return Demand(walk.hulls, inside, tuple(walk.empty), walk.past, walk.size)


class _Walk:
    def __init__(self, kernel: Kernel, extents: Extents) -> None:
        self.hulls: dict[str, Hull] = {}
        self.empty: list[Reduce] = []
        self.size = 0
        self.past: Place | None = None
        self._kernel = kernel.span
        self._subscripts = 0            # how deep the walk is in subscripts
        self._extents = extents
        holders: list[Tensor | Stage] = [*kernel.inputs, *kernel.stages]
        self._edges: dict[str, tuple[Sides, ...]] = {h.name: h.edges for h in holders}

    def inside(self, stage: Stage) -> Hull:
        """Where the let's own formula is needed: its hull, folded into the domain if it has one."""
        hull = self.hulls[stage.name]
        if stage.domain is None:
            return hull
        ends = [(self.known(low), self.known(high)) for low, high in stage.domain]
        return tuple(self._folded(i, low, high) for i, (low, high) in zip(hull, ends, strict=True))

    def _folded(self, at: Interval, low: Span, high: Span) -> Span:
        """A subscript folded into a half-open range; folding doubles what it counts from the range's beginning."""
        size = max(abs(low.high), abs(high.high - 1))
        self.size = max(self.size, 2 * (low.size + high.size) + low.size + (at.size if at is not None else 0))
        if at is not None and low.low <= at.low and at.high < high.high:
            return at._replace(size=max(size, at.size))
        return Span(low.low, high.high - 1, max(size, at.size if at is not None else 0))

    def known(self, value: Value) -> Span:
        """What extents alone decide: an extent, a bound of a range."""
        self._subscripts += 1
        span = self.visit(value, {})
        self._subscripts -= 1
        number = int(evaluate_index(value, self._extents))
        known = Span(number, number, max(abs(number), span.size if span is not None else 0))
        self._note(known, value.span)
        return known

    def visit(self, value: Value, env: Mapping[str, Interval]) -> Interval:
        """Notes every read below a value and gives the span of an integer value, where it is known."""
        span = self._visit(value, env)
        if self._subscripts and span is not None:
            self._note(span, value.span)
        return span

    def _note(self, span: Span, place: Place) -> None:
        if self.past is None and max(-span.low, span.high) >= SUBSCRIPT:
            self.past = place if place != NOWHERE else self._kernel
        self.size = max(self.size, span.size)

    def _visit(self, value: Value, env: Mapping[str, Interval]) -> Interval:
        match value:
            case Const(number, type):
                return Span(int(number), int(number), abs(int(number))) if type.is_integer else None
            case Extent(name, type):
                n = self._extents[name]
                return Span(n, n, n) if type.is_integer else None
            case Index(name):
                return env[name]
            case Read(tensor, indices):
                self._subscripts += 1
                hull = tuple(self.visit(i, env) for i in indices)
                self._subscripts -= 1
                self._read(tensor, hull)
            case Unary() | Binary():
                return self._computed(value, env)
            case Compare(_, left, right) | Logic(_, left, right):
                self.visit(left, env)
                self.visit(right, env)
            case Where(test, yes, no):
                self.visit(test, env)
                return _join(self.visit(yes, env), self.visit(no, env))
            case Call(function, arguments):
                return _call(function, [self.visit(a, env) for a in arguments])
            case Cast(operand, type):
                return _held(self.visit(operand, env), type)
            case Reduce():
                self._reduce(value, env)
        return None

    def _computed(self, value: Unary | Binary, env: Mapping[str, Interval]) -> Interval:
        match value:
            case Unary(op, operand):
                inner = self.visit(operand, env)
                exact = Span(-inner.high, -inner.low, inner.size) if op == "-" and inner is not None else None
            case Binary(op, left, right):
                exact = _arithmetic(op, self.visit(left, env), self.visit(right, env))
        if self._subscripts and exact is not None:
            self._note(exact, value.span)
        return _held(exact, value.type)

    def _read(self, name: str, hull: Hull) -> None:
        known = self.hulls.get(name)
        self.hulls[name] = hull if known is None else tuple(
            _join(a, b) for a, b in zip(known, hull, strict=True)
        )
        if known is None:
            for rule in (rule for sides in self._edges[name] for rule in sides):
                if rule is not None and rule.value is not None:
                    self.visit(rule.value, {})

    def _reduce(self, reduce: Reduce, env: Mapping[str, Interval]) -> None:
        inner = dict(env)
        for binder in reduce.binders:
            low, high = self.known(binder.low), self.known(binder.high)
            if low.low >= high.low:
                if reduce.op in WITHOUT_IDENTITY:
                    self.empty.append(reduce)
                return
            inner[binder.name] = Span(low.low, high.high - 1, max(low.size, high.size))
        self.visit(reduce.body, inner)


def _join(a: Interval, b: Interval) -> Interval:
    return None if a is None or b is None else Span(min(a.low, b.low), max(a.high, b.high), max(a.size, b.size))


def _arithmetic(op: str, a: Interval, b: Interval) -> Interval:
    if a is None or b is None:
        return None
    match op:
        case "+":
            return Span(a.low + b.low, a.high + b.high, a.size + b.size)
        case "-":
            return Span(a.low - b.high, a.high - b.low, a.size + b.size)
        case "*":
            products = [x * y for x in a[:2] for y in b[:2]]
            return Span(min(products), max(products), a.size * b.size)
        case "//" | "%" if b.low == b.high:
            return _division(op, a, b)
        case "**" if a.low == a.high and b.low == b.high:
            power = integer_power(a.low, b.low)
            return Span(power, power, integer_power(a.size, b.low))
    return None


def _division(op: str, a: Span, b: Span) -> Span:
    """By one number."""
    size, n = max(a.size, b.size), b.low
    if n == 0:
        return Span(0, 0, size)
    if op == "//":
        return _span(a.low // n, a.high // n, size)
    if a.low // n == a.high // n:
        return _span(a.low % n, a.high % n, size)
    return Span(0, n - 1, size) if n > 0 else Span(n + 1, 0, size)


def _span(one: int, other: int, size: int) -> Span:
    return Span(min(one, other), max(one, other), size)


def _call(function: str, arguments: list[Interval]) -> Interval:
    known = [a for a in arguments if a is not None]
    if len(known) < len(arguments):
        return None
    size = max((a.size for a in known), default=0)
    match function, known:
        case ("min", [a, b]):
            return Span(min(a.low, b.low), min(a.high, b.high), size)
        case ("max", [a, b]):
            return Span(max(a.low, b.low), max(a.high, b.high), size)
        case ("clamp", [a, low, high]):
            return Span(min(max(a.low, low.low), high.low), min(max(a.high, low.high), high.high), size)
        case ("abs", [a]):
            return Span(max(a.low, -a.high, 0), max(-a.low, a.high), size)
    return None


def _held(span: Interval, type: Type) -> Interval:
    """The span, unless values of it would wrap in the type."""
    if span is None or not type.is_integer:
        return None
    low, high = integer_range(type)
    return span if low <= span.low and span.high <= high else None
