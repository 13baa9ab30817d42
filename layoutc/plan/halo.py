"""What a tile reads: the offsets of every access around its outputs, through lets, and the boxes that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import count

from layoutc.index import Binary as Operation
from layoutc.index import Call as FunctionOf
from layoutc.index import Expr, Int, Name, Select, divide, multiply, remainder, terms, wrap
from layoutc.plan.folding import Range, folded_subscript, is_folded
from layoutc.resolve.program import (
    Binary,
    Call,
    Cast,
    Compare,
    Const,
    Equation,
    Extent,
    Index,
    Kernel,
    Logic,
    Read,
    Reduce,
    Sides,
    Stage,
    Unary,
    Value,
    Where,
)
from layoutc.resolve.ranges import Ranges
from layoutc.resolve.trees import children
from layoutc.resolve.types import BOOL, I64

Env = Mapping[str, Expr]    # what stands for an index or an extent
MOST_FACTORS = 4            # of a power that is written out
MOST_FOLDS = 64             # places that are followed through the edges of lets
OPPOSITE = {"<": ">=", ">=": "<", "<=": ">", ">": "<=", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Access:
    """One read of a tensor or a let, its subscripts over the tile's indices and reduction indices.

    A subscript that is no integer expression (``x[idx[i]]``) or stands at a folded place is None.
    """

    tensor: str
    indices: tuple[Expr | None, ...]
    certain: bool           # made for every output: not only where a range holds something, or a let's edges let it


@dataclass(frozen=True, slots=True)
class Axis:
    """How a box lies along one axis of its tensor: from ``scale * index + low`` to ``scale * index + high``."""

    index: str | None       # the tile's index that moves it, or one of a reduction in chunks; None: it stays
    scale: int
    low: int                # least offset, in elements
    high: int               # greatest offset, inclusive

    def extent(self, tile: int) -> int:
        """Elements that a tile of ``tile`` outputs reads along the axis."""
        return self.scale * (tile - 1) + 1 + self.high - self.low


@dataclass(frozen=True, slots=True)
class Footprint:
    """All that a tile reads of one tensor as a box; ``axes`` is None where it is none, and ``why`` says so."""

    tensor: str
    axes: tuple[Axis, ...] | None
    reads: int              # accesses an output makes, each point of each reduction counted; 0: unknown
    why: str = ""
    certain: bool = True    # whether every output reads some of it, so that a call that reads nothing has no block


def as_index(value: Value, env: Env) -> Expr | None:
    """A subscript or an extent as an index expression, or None where it holds more than integer arithmetic on indices.

    What only extents decide may also divide by them, take least and greatest ones, powers and signs, and choose.
    """
    match value:
        case Const(number):
            return Int(int(number))
        case Index(name) | Extent(name):
            return env.get(name)
        case Cast(operand, type) if type == I64 and operand.type.is_integer:
            return as_index(operand, env)
        case Unary("-", operand):
            inner = as_index(operand, env)
            return None if inner is None else -inner
        case Binary("+" | "-" | "*" | "//" | "%", left, right):
            a, b = as_index(left, env), as_index(right, env)
            return None if a is None or b is None else _arithmetic(value.op, a, b, fixed=is_over_extents(value))
        case Call() | Binary() | Where() if is_over_extents(value):
            return _of_extents(value, env)
        case Cast(operand, type) if type == I64 and operand.type == BOOL and is_over_extents(operand):
            test = _test(operand, env)
            return None if test is None else Select(test, Int(1), Int(0))
    return None


def is_over_extents(value: Value) -> bool:
    """Whether constants and extents alone decide it."""
    return not isinstance(value, Index | Read | Reduce) and all(map(is_over_extents, children(value)))


def _arithmetic(op: str, a: Expr, b: Expr, *, fixed: bool) -> Expr | None:
    match op:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return multiply(a, b)
    if isinstance(b, Int) and b.value > 0:
        return divide(a, b) if op == "//" else remainder(a, b)
    return FunctionOf("floor_div" if op == "//" else "floor_mod", (a, b)) if fixed else None


def _test(value: Value, env: Env, outcome: bool = True) -> Expr | None:
    """Whether a condition on extents has an outcome."""
    match value:
        case Const(bool(known)):
            return Int(int(known == outcome))
        case Unary("not", operand):
            return _test(operand, env, not outcome)
        case Logic(op, left, right):
            a, b = _test(left, env, outcome), _test(right, env, outcome)
            return None if a is None or b is None else Operation("&&" if (op == "and") == outcome else "||", a, b)
        case Compare(op, left, right):
            one, two = as_index(left, env), as_index(right, env)
            return None if one is None or two is None else Operation(op if outcome else OPPOSITE[op], one, two)
    return None


def _of_extents(value: Call | Binary | Where, env: Env) -> Expr | None:
    match value:
        case Where(_, yes, no):
            operands: tuple[Value, ...] = (yes, no)
        case Binary("**", base, Cast(exponent)):    # which is not negative: the call is refused else
            operands = (base, exponent)
        case _:
            operands = children(value)
    parts = [as_index(v, env) for v in operands]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    match value:
        case Where(condition):
            test = _test(condition, env)
            return None if test is None else Select(test, found[0], found[1])
        case Call("sign", _):
            return FunctionOf("sign", (found[0],))
        case Call("min" | "max", _):
            return reduce(lambda a, b: FunctionOf(f"{value.function}imum", (a, b)), found)
        case Call("abs", _):
            return FunctionOf("maximum", (found[0], -found[0]))
        case Call("clamp", _):
            return FunctionOf("minimum", (FunctionOf("maximum", (found[0], found[1])), found[2]))
        case Binary("**", _, Const(int(power))) if 0 <= power <= MOST_FACTORS:
            return reduce(multiply, [found[0]] * power, wrap(1))
        case Binary("**"):
            return FunctionOf("power", (found[0], found[1]))
    return None


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Of an access: whether an edge folds its place, and whether every output makes it."""

    folded: bool
    certain: bool


class Accesses:
    """Collects every access that the equations make, lets expanded where ``inlined`` says so.

    ``chunked`` are reduction indices that are walked in chunks: they stand in subscripts under their own names.
    """

    def __init__(
        self,
        kernel: Kernel,
        kept: frozenset[str] = frozenset(),
        extents: Mapping[str, Expr] | None = None,
        outputs: Iterable[str] = (),
        chunked: Iterable[str] = (),
        near: bool = False,
    ) -> None:
        self._ranges = Ranges(kernel, outputs)      # outputs that have elements, or there is nothing to run
        self._stages = {s.name: s for s in kernel.stages}
        self._edges: dict[str, tuple[Sides, ...]] = {t.name: t.edges for t in kernel.inputs}
        self._edges |= {s.name: s.edges for s in kernel.stages}
        self._kept = kept           # lets that are held in memory: an access of them, not of what they read
        self._chunked = frozenset(chunked)
        self._fresh = count()
        self._extents: dict[str, Expr] = {name: Name(name, 0) for name in kernel.extents} | dict(extents or {})
        self._is_near = near        # whether a place that a let's edge folds to is known nearly; else it is not at all
        self._outputs = {t.name: t for t in kernel.outputs}
        self._folds = 0             # places followed through an edge; of lets in a row they double with every let
        self._near: dict[str, Range] = {}           # of the reader's indices, where they stay in a known range

    def of(self, equation: Equation | Stage) -> Iterator[tuple[Access, int]]:
        """Each access and how often one evaluation makes it (0: unknown); a let at a place already seen makes none."""
        guarded = isinstance(equation, Stage) and bool(equation.edges)
        self._near = self.ranges_of(equation) if self._is_near else {}
        return self.within(equation.value, {i: Name(i) for i in equation.indices}, certain=not guarded)

    def within(self, value: Value, env: Env, *, certain: bool = True) -> Iterator[tuple[Access, int]]:
        """The same of a value, with what stands for its indices."""
        return self._walk(value, {**self._extents, **env}, 1, Circumstances(False, certain), set())

    def _walk(
        self, value: Value, env: Env, times: int, under: Circumstances, seen: set[object]
    ) -> Iterator[tuple[Access, int]]:
        match value:
            case Read(tensor, indices):
                for index in indices:
                    yield from self._walk(index, env, times, under, seen)
                subscripts = tuple(None if under.folded else as_index(i, env) for i in indices)
                for sides in self._edges[tensor]:
                    yield from self._edge_values(sides, env, times, seen)
                if tensor in self._stages and tensor not in self._kept:
                    yield from self._expand(self._stages[tensor], subscripts, times, under, seen)
                else:
                    yield Access(tensor, subscripts, under.certain), times
            case Reduce(_, binders, body):
                inner = dict(env)
                for binder in binders:
                    low, high = as_index(binder.low, env), as_index(binder.high, env)
                    first, end = _number(low), _number(high)
                    last = None if end is None else end - 1
                    name = binder.name if binder.name in self._chunked else f"{binder.name}#{next(self._fresh)}"
                    inner[binder.name] = Name(name, first, last)
                    times *= 0 if first is None or end is None else max(end - first, 0)
                certain = under.certain and (times > 0 or self._ranges.hold_something(binders))
                inside = replace(under, certain=certain)
                yield from self._walk(body, inner, times, inside, set(seen))
            case _:
                for child in children(value):
                    yield from self._walk(child, env, times, under, seen)

    def _edge_values(
        self, sides: Sides, env: Env, times: int, seen: set[object]
    ) -> Iterator[tuple[Access, int]]:
        for rule in sides:
            if rule is not None and rule.value is not None:
                yield from self._walk(rule.value, env, times, Circumstances(False, False), seen)

    def _expand(
        self, stage: Stage, at: tuple[Expr | None, ...], times: int, under: Circumstances, seen: set[object]
    ) -> Iterator[tuple[Access, int]]:
        key = (stage.name, at, under)
        if (None not in at or under.folded) and key in seen:
            return
        seen.add(key)
        at = self._folded(stage, at)
        folds = None in at
        inside = Circumstances(under.folded or folds, under.certain and not stage.edges)
        env: dict[str, Expr] = dict(self._extents)
        env |= {name: index if index is not None else Name(f"{name}#{next(self._fresh)}")
                for name, index in zip(stage.indices, at, strict=True)}
        yield from self._walk(stage.value, env, times, inside, seen)

    def _folded(self, stage: Stage, at: tuple[Expr | None, ...]) -> tuple[Expr | None, ...]:
        """The places after their folds; None where one is not known to be near."""
        out = []
        for e, sides, domain in zip(at, stage.edges, self.domain_of(stage), strict=False):
            if e is not None and is_folded(sides):
                self._folds += 1
                fresh = f"{stage.name}#{next(self._fresh)}"
                e = folded_subscript(sides, e, self._near, domain, fresh) if self._folds <= MOST_FOLDS else None
            out.append(e)
        return tuple(out) if stage.edges else at

    def domain_of(self, stage: Stage) -> list[Range]:
        """Where a let lives, an index; nothing of one that lives everywhere."""
        ends = [(as_index(low, self._extents), as_index(high, self._extents)) for low, high in stage.domain or ()]
        return [(low, high) for low, high in ends if low is not None and high is not None]

    def ranges_of(self, reader: Equation | Stage) -> dict[str, Range]:
        """Where a reader's indices run, if they stay in their ranges."""
        if isinstance(reader, Stage):
            return dict(zip(reader.indices, self.domain_of(reader), strict=False))
        lengths = [as_index(n, self._extents) for n in self._outputs[reader.output].extents]
        return {i: (Int(0), n) for i, n in zip(reader.indices, lengths, strict=True) if n is not None}


def _number(e: Expr | None) -> int | None:
    return e.value if isinstance(e, Int) else None


def footprints(
    kernel: Kernel,
    readers: tuple[Equation | Stage, ...],
    kept: frozenset[str] = frozenset(),
    extents: Mapping[str, Expr] | None = None,
    outputs: Iterable[str] = (),
    chunked: tuple[str, ...] = (),
    near: bool = False,
) -> dict[str, Footprint]:
    """The box of every tensor (and kept let) that the readers access, per output of theirs; extents as far as known.

    ``outputs``, and those of the readers, have elements: where they have none, there is nothing to run.
    ``chunked`` reduction indices move the boxes as the outputs' own do. ``near``: boxes hold what edges of lets fold
    to, where that stays near.
    """
    own = (reader.output for reader in readers if isinstance(reader, Equation))
    accesses = Accesses(kernel, kept, extents, (*outputs, *own), chunked, near)
    return boxes_around(kernel, ((access, reader.indices, times) for reader in readers
                                 for access, times in accesses.of(reader)), chunked)


def boxes_around(
    kernel: Kernel, accesses: Iterable[tuple[Access, tuple[str, ...], int]], chunked: tuple[str, ...] = ()
) -> dict[str, Footprint]:
    """The box of every tensor that is accessed; with each access the indices of the tile, and how often it is made."""
    found: dict[str, list[tuple[Access, tuple[str, ...], int]]] = {}
    for access, indices, times in accesses:
        found.setdefault(access.tensor, []).append((access, indices, times))
    bare = {s.name for s in kernel.stages if not s.edges}
    return {tensor: _footprint(tensor, list_, tensor in bare, chunked) for tensor, list_ in found.items()}


def _footprint(
    tensor: str, found: list[tuple[Access, tuple[str, ...], int]], is_bare_let: bool, chunked: tuple[str, ...]
) -> Footprint:
    reads = 0 if any(times == 0 for *_, times in found) else sum(times for *_, times in found)
    if is_bare_let and not all(access.certain for access, *_ in found):
        return Footprint(tensor, None, reads, f"`{tensor}` is not defined wherever the tile would need it")
    axes: list[Axis] | None = None
    for access, indices, _ in found:
        here: list[Axis] = []
        for number, subscript in enumerate(access.indices):
            axis = _axis(subscript, indices, chunked)
            if isinstance(axis, str):
                return Footprint(tensor, None, reads, f"axis {number} of `{tensor}` {axis}")
            here.append(axis)
        if axes is None:
            axes = here
            continue
        for number, (a, b) in enumerate(zip(axes, here, strict=True)):
            if (a.index, a.scale) != (b.index, b.scale):
                return Footprint(tensor, None, reads, f"axis {number} of `{tensor}` is read along different indices")
            axes[number] = Axis(a.index, a.scale, min(a.low, b.low), max(a.high, b.high))
    return Footprint(tensor, tuple(axes or ()), reads, certain=any(access.certain for access, *_ in found))


def _axis(subscript: Expr | None, indices: tuple[str, ...], chunked: tuple[str, ...]) -> Axis | str:
    """Along one axis a box moves with an output's index, or else with one that is walked in chunks."""
    if subscript is None:
        return "is read at places that are no integer expression of the indices, or are folded by an edge"
    index, scale, rest = None, 1, []
    factors = terms(subscript)
    if not any(isinstance(factor, Name) and factor.id in indices for factor, _ in factors):
        indices = tuple(f.id for f, c in factors if isinstance(f, Name) and f.id in chunked and c > 0)[:1]
    for factor, coefficient in factors:
        if isinstance(factor, Name) and factor.id in indices:
            if index is not None or coefficient < 1:
                return "is read at a sum of indices or against an index's direction"
            index, scale = factor.id, coefficient
        else:
            rest.append((factor, coefficient))
    low = high = 0
    for factor, coefficient in rest:
        ends = factor.interval
        if ends[0] is None or ends[1] is None:
            return "is read over a range that is not constant"
        low += min(ends[0] * coefficient, ends[1] * coefficient)
        high += max(ends[0] * coefficient, ends[1] * coefficient)
    return Axis(index, scale, low, high)
