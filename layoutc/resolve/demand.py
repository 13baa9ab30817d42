"""What a call reads: for every tensor and let the hull of the places that are read, at given extents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from layoutc.resolve.extents import Extents, evaluate_index
from layoutc.resolve.program import (
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
from layoutc.resolve.types import Type

Interval = tuple[int, int] | None       # smallest and largest, both included; None: not known
Hull = tuple[Interval, ...]             # per axis, as subscripted: before any edge rule

WITHOUT_IDENTITY = ("min", "max", "argmin", "argmax", "median")


@dataclass(frozen=True, slots=True)
class Demand:
    """What is read at all. A tensor or let that nothing reads (every index range empty) is absent."""

    hulls: Mapping[str, Hull]
    inside: Mapping[str, Hull]          # of lets: where the formula itself is needed, folded into the domain
    empty: tuple[Reduce, ...]           # reductions without an identity that have nothing to reduce


def demand(kernel: Kernel, extents: Extents) -> Demand:
    """The hulls of all reads of a kernel, lets after their readers, so that a chain is walked once."""
    walk = _Walk(kernel, extents)
    for output, equation in zip(kernel.outputs, kernel.equations, strict=True):
        box = [(0, int(evaluate_index(n, extents)) - 1) for n in output.extents]
        if all(low <= high for low, high in box):
            walk.visit(equation.value, dict(zip(equation.indices, box, strict=True)))
    return _through_lets(walk, kernel)


def demand_of_let(kernel: Kernel, extents: Extents, name: str, hull: Hull) -> Demand:
    """The hulls of all that one let reads, itself read at ``hull``."""
    walk = _Walk(kernel, extents)
    walk.hulls[name] = hull
    return _through_lets(walk, kernel)


def _through_lets(walk: _Walk, kernel: Kernel) -> Demand:
    inside: dict[str, Hull] = {}
    for stage in reversed(kernel.stages):
        if stage.name in walk.hulls:
            inside[stage.name] = walk.inside(stage)
            if all(i is None or i[0] <= i[1] for i in inside[stage.name]):
                walk.visit(stage.value, dict(zip(stage.indices, inside[stage.name], strict=True)))
    return Demand(walk.hulls, inside, tuple(walk.empty))


class _Walk:
    def __init__(self, kernel: Kernel, extents: Extents) -> None:
        self.hulls: dict[str, Hull] = {}
        self.empty: list[Reduce] = []
        self._extents = extents
        holders: list[Tensor | Stage] = [*kernel.inputs, *kernel.stages]
        self._edges: dict[str, tuple[Sides, ...]] = {h.name: h.edges for h in holders}

    def inside(self, stage: Stage) -> Hull:
        """Where the let's own formula is needed: its hull, folded into the domain if it has one."""
        hull = self.hulls[stage.name]
        if stage.domain is None:
            return hull
        domain = [(int(evaluate_index(a, self._extents)), int(evaluate_index(b, self._extents)) - 1)
                  for a, b in stage.domain]
        return tuple(
            i if i is not None and low <= i[0] and i[1] <= high else (low, high)
            for i, (low, high) in zip(hull, domain, strict=True)
        )

    def visit(self, value: Value, env: Mapping[str, Interval]) -> Interval:
        """Notes every read below a value and gives the interval of an integer value, where it is known."""
        match value:
            case Const(number, type):
                return (int(number), int(number)) if type.is_integer else None
            case Extent(name, type):
                return (self._extents[name],) * 2 if type.is_integer else None
            case Index(name):
                return env[name]
            case Read(tensor, indices):
                self._read(tensor, tuple(self.visit(i, env) for i in indices))
            case Unary(op, operand):
                inner = self.visit(operand, env)
                return _held((-inner[1], -inner[0]), value.type) if op == "-" and inner is not None else None
            case Binary(op, left, right):
                return _held(_arithmetic(op, self.visit(left, env), self.visit(right, env)), value.type)
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
            low = int(evaluate_index(binder.low, self._extents))
            high = int(evaluate_index(binder.high, self._extents))
            if low >= high:
                if reduce.op in WITHOUT_IDENTITY:
                    self.empty.append(reduce)
                return
            inner[binder.name] = (low, high - 1)
        self.visit(reduce.body, inner)


def _join(a: Interval, b: Interval) -> Interval:
    return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))


def _arithmetic(op: str, a: Interval, b: Interval) -> Interval:
    if a is None or b is None:
        return None
    match op:
        case "+":
            return a[0] + b[0], a[1] + b[1]
        case "-":
            return a[0] - b[1], a[1] - b[0]
        case "*":
            products = [x * y for x in a for y in b]
            return min(products), max(products)
        case "//" if b[0] == b[1] > 0:
            return a[0] // b[0], a[1] // b[0]
        case "%" if b[0] == b[1] > 0:
            same = a[0] // b[0] == a[1] // b[0]
            return (a[0] % b[0], a[1] % b[0]) if same else (0, b[0] - 1)
    return None


def _call(function: str, arguments: list[Interval]) -> Interval:
    match function, arguments:
        case ("min", [(a, b), (c, d)]):
            return min(a, c), min(b, d)
        case ("max", [(a, b), (c, d)]):
            return max(a, c), max(b, d)
        case ("clamp", [(a, b), (c, d), (e, f)]):
            return min(max(a, c), e), min(max(b, d), f)
    return None


def _held(interval: Interval, type: Type) -> Interval:
    """The interval, unless values of it would wrap in the type."""
    if interval is None or not type.is_integer:
        return None
    low, high = (-(2 ** (type.bits - 1)), 2 ** (type.bits - 1) - 1) if type.kind == "int" else (0, 2**type.bits - 1)
    return interval if low <= interval[0] and interval[1] <= high else None
