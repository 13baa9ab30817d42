"""A kernel evaluated point by point over arrays: the meaning of the language, stated once for every arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.reference.arithmetic import Arithmetic, Block, Plain, Reduction
from layoutc.reference.boxes import (
    POINTS,
    Box,
    binder_ranges,
    children,
    domain_box,
    hull_of,
    mesh,
    pieces,
    points_at_once,
    stage_boxes,
)
from layoutc.reference.edges import gather, locate
from layoutc.reference.numbers import store, stored_dtype
from layoutc.resolve.binding import Extents, bind_extents, check_call, check_steps, tensor_shape
from layoutc.resolve.demand import WITHOUT_IDENTITY, demand, demand_of_let
from layoutc.resolve.matrices import may_multiply_matrices
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
    Unary,
    Value,
    Where,
)
from layoutc.resolve.sharing import over_extents, shares_terms
from layoutc.resolve.types import BOOL, I64

Array = NDArray[Any]
Operation = Unary | Binary | Compare | Logic | Where | Call | Cast
V = TypeVar("V")

IDENTITIES = {"sum": 0, "prod": 1, "any": False, "all": True, "count": 0}


def evaluate(kernel: Kernel, inputs: Sequence[Array], steps: int = 1) -> tuple[Array, ...]:
    """The outputs of a kernel after ``steps`` applications, from NumPy arrays in the order of its inputs.

    Input arrays have the kernel's element types and any strides; outputs are new and C-contiguous.
    Raises LayoutcError where the call is refused (see ``check_call`` and ``check_steps``), an array has another type
    (``type-mismatch``), or a min, max or median is over nothing.
    """
    extents = bind_call(kernel, inputs)
    with np.errstate(all="ignore"):
        values = values_after(kernel, extents, inputs, Plain(), steps)
        return tuple(store(v, tensor.type) for v, tensor in zip(values, kernel.outputs, strict=True))


def values_after(
    kernel: Kernel, extents: Extents, inputs: Sequence[Array], arithmetic: Arithmetic[V], steps: int
) -> list[V]:
    """The held values of each output after ``steps`` applications, each of them to what the one before stored."""
    values = {t.name: arithmetic.load(a, t.type) for t, a in zip(kernel.inputs, inputs, strict=True)}
    made = {v: values[u] for u, v in kernel.steps}
    for _ in range(check_steps(kernel, steps)):
        before = {u: made[v] for u, v in kernel.steps}
        values |= before
        found = Evaluation(kernel, extents, values, arithmetic).outputs()
        made = {t.name: arithmetic.stored(v, t.type) for t, v in zip(kernel.outputs, found, strict=True)}
    return [made[t.name] for t in kernel.outputs]


def bind_call(kernel: Kernel, inputs: Sequence[Array]) -> dict[str, int]:
    """The extents of a call, after everything that can be refused about it has been looked at."""
    extents = bind_extents(kernel, [i.shape for i in inputs])
    wrong = [
        Diagnostic("type-mismatch", f"{tensor.name} is {tensor.type}, but an array of {array.dtype} was given")
        for tensor, array in zip(kernel.inputs, inputs, strict=True)
        if array.dtype != stored_dtype(tensor.type)
    ]
    if wrong:
        raise LayoutcError(wrong)
    check_call(kernel, extents)
    return extents


@dataclass(frozen=True, slots=True)
class Scope:
    """What the names stand for: an index array each, all of them broadcasting within ``rank`` axes."""

    indices: Mapping[str, Array]
    rank: int


@dataclass(frozen=True, slots=True)
class Held(Generic[V]):
    """A tensor, or a let evaluated over a box."""

    values: V
    begin: tuple[int, ...]      # the index of the first element held, counted from ``low``
    low: tuple[int, ...]        # where the extents begin
    extents: tuple[int, ...] | None     # None: it has no ends
    edges: tuple[Sides, ...]


class Evaluation(Generic[V]):
    """One call of one kernel. Lets are evaluated once, over the box that is read of them."""

    def __init__(
        self, kernel: Kernel, extents: Extents, inputs: Mapping[str, V], arithmetic: Arithmetic[V]
    ) -> None:
        self._kernel = kernel
        self._extents = extents
        self._arithmetic = arithmetic
        self._stages = {s.name: s for s in kernel.stages}
        self._held: dict[str, Held[V]] = {}
        for tensor in kernel.inputs:
            shape = tensor_shape(tensor, extents)
            origin = (0,) * len(shape)
            self._held[tensor.name] = Held(inputs[tensor.name], origin, origin, shape, tensor.edges)

    def outputs(self) -> list[V]:
        """The held values of each output, over its extents."""
        self._hold_all(stage_boxes(demand(self._kernel, self._extents)))
        shapes = [tensor_shape(output, self._extents) for output in self._kernel.outputs]
        return [
            self._fill(equation.indices, tuple((0, n) for n in shape), equation.value)
            for equation, shape in zip(self._kernel.equations, shapes, strict=True)
        ]

    def _hold_all(self, boxes: Mapping[str, Box]) -> None:
        for stage in self._kernel.stages:
            if stage.name in boxes and stage.name not in self._held:
                self._hold(stage, boxes[stage.name])

    def _hold(self, stage: Stage, box: Box) -> None:
        values = self._fill(stage.indices, box, stage.value)
        begin = tuple(low for low, _ in box)
        if stage.domain is None:
            self._held[stage.name] = Held(values, begin, (0,) * len(box), None, ())
            return
        domain = domain_box(stage, self._extents)
        low = tuple(a for a, _ in domain)
        begin = tuple(b - a for b, a in zip(begin, low, strict=True))
        extents = tuple(max(b - a, 0) for a, b in domain)
        self._held[stage.name] = Held(values, begin, low, extents, stage.edges)

    def _fill(self, names: tuple[str, ...], box: Box, value: Value) -> V:
        """A value over a box of index points, in pieces that fit into the caches."""
        parts = []
        for piece in pieces(box, points_at_once(value, self._extents)):
            scope = Scope(mesh(names, piece), len(piece))
            where = tuple(slice(a - low, b - low) for (a, b), (low, _) in zip(piece, box, strict=True))
            parts.append((where, self._value(value, scope)))
        return self._arithmetic.assemble(tuple(b - a for a, b in box), value.type, parts)

    def _value(self, value: Value, scope: Scope) -> V:
        do = self._arithmetic
        match value:
            case Const(number, type):
                return do.constant(number, type)
            case Index(name):
                return do.load(scope.indices[name], I64)
            case Extent(name, type):
                return do.constant(self._extents[name], type)
            case Read(_, indices):
                return self._read(value, tuple(self._value(i, scope) for i in indices), scope)
            case Reduce():
                return self._reduce(value, scope)
        return self._operation(value, scope)

    def _operation(self, value: Operation, scope: Scope) -> V:
        do = self._arithmetic
        operands = tuple(self._value(operand, scope) for operand in children(value))
        match value:
            case Unary(op):
                return do.unary(op, operands[0], value.type)
            case Binary("**", _, Const(2)):
                return do.binary("*", operands[0], operands[0], value.type)     # the language's rule
            case Binary(op):
                return do.binary(op, operands[0], operands[1], value.type)
            case Compare(op):
                return do.compare(op, *operands)
            case Logic(op):
                return do.logic(op, *operands)
            case Where():
                return do.where(*operands)
            case Call(function, arguments):
                return do.call(function, operands, arguments[0].type)
            case Cast(operand, type):
                return do.cast(operands[0], operand.type, type)

    def _read(self, read: Read, subscripts: tuple[V, ...], scope: Scope) -> V:
        do = self._arithmetic
        located = [do.positions(s) for s in subscripts]
        places = tuple(place for place, _ in located)
        if read.tensor in self._held:
            value = self._element(read, self._held[read.tensor], places, scope)
        else:
            value = self._here(read, places, scope)
        for _, doubtful in located:
            if doubtful is not None:
                value = do.doubt(value, doubtful, read.type)
        return value

    def _element(self, read: Read, held: Held[V], places: tuple[Array, ...], scope: Scope) -> V:
        do = self._arithmetic
        places = tuple(np.asarray(place - low) for place, low in zip(places, held.low, strict=True))
        constants: tuple[tuple[Array, Value], ...] = ()
        nothing = False
        if held.extents is not None:
            located = locate(read.tensor, places, held.extents, held.edges)
            places, constants, nothing = located.positions, located.constants, located.nothing
        if nothing:
            value = do.constant(0, read.type)
        else:
            inside = tuple(np.asarray(place - begin) for place, begin in zip(places, held.begin, strict=True))
            value = do.pick(held.values, lambda array: gather(array, inside, scope.rank))
        for where, constant in constants:
            value = do.where(do.load(where, BOOL), self._value(constant, Scope({}, scope.rank)), value)
        return value

    def _here(self, read: Read, places: tuple[Array, ...], scope: Scope) -> V:
        """A let of which no box was known beforehand: evaluated over the box of these places, or place by place."""
        stage = self._stages[read.tensor]
        hull = hull_of(places) if stage.domain is None else None
        if hull is None:
            return self._formula(stage, places, scope)
        below = copy(self)
        below._held = dict(self._held)
        below._hold_all(stage_boxes(demand_of_let(self._kernel, self._extents, stage.name, hull)))
        return below._element(read, below._held[stage.name], places, scope)

    def _formula(self, stage: Stage, places: tuple[Array, ...], scope: Scope) -> V:
        """A let evaluated at the very places where it is read."""
        if stage.domain is None:
            return self._value(stage.value, Scope(dict(zip(stage.indices, places, strict=True)), scope.rank))
        domain = domain_box(stage, self._extents)
        low = [a for a, _ in domain]
        extents = tuple(max(b - a, 0) for a, b in domain)
        local = tuple(np.asarray(place - a) for place, a in zip(places, low, strict=True))
        located = locate(stage.name, local, extents, stage.edges)
        inner = {n: np.asarray(p + a) for n, p, a in zip(stage.indices, located.positions, low, strict=True)}
        value = (self._arithmetic.constant(0, stage.type) if located.nothing
                 else self._value(stage.value, Scope(inner, scope.rank)))
        for where, constant in located.constants:
            test = self._arithmetic.load(where, BOOL)
            value = self._arithmetic.where(test, self._value(constant, Scope({}, scope.rank)), value)
        return value

    def _reduce(self, reduce: Reduce, scope: Scope) -> V:
        ranges = binder_ranges(reduce, self._extents)
        if any(low >= high for low, high in ranges):
            if reduce.op in WITHOUT_IDENTITY:
                raise LayoutcError([Diagnostic("empty-reduction", f"`{reduce.op}` of nothing has no value")])
            return self._arithmetic.constant(IDENTITIES[reduce.op], reduce.type)
        cut = may_multiply_matrices(reduce)
        ordered = not over_extents(reduce) and not cut
        paired = not ordered and not cut and not shares_terms(reduce)
        blocks = self._blocks(reduce, ranges, scope)
        return self._arithmetic.reduce(
            Reduction(reduce.op, reduce.body.type, reduce.type, ordered, blocks, paired, cut))

    def _blocks(self, reduce: Reduce, ranges: list[tuple[int, int]], scope: Scope) -> Iterator[Block[V]]:
        lengths = [high - low for low, high in ranges]
        total = prod(lengths)
        grid = prod(np.broadcast_shapes(*(a.shape for a in scope.indices.values()))) if scope.indices else 1
        size = max(1, POINTS // grid)
        for first, last in pairwise([*range(0, total, size), total]):
            numbers = np.arange(first, last)
            places = np.unravel_index(numbers, lengths)
            values = [np.asarray(place + low) for place, (low, _) in zip(places, ranges, strict=True)]
            shape = (len(numbers),) + (1,) * scope.rank
            inner = {b.name: v.reshape(shape) for b, v in zip(reduce.binders, values, strict=True)}
            labels = values[0] if len(values) == 1 else numbers
            points = Scope({**scope.indices, **inner}, scope.rank + 1)
            factors = tuple(self._value(f, points) for f in _factors(reduce))
            yield Block(labels, factors, scope.rank)


def _factors(reduce: Reduce) -> tuple[Value, ...]:
    """The two operands of the product that a sum's body is, or the body."""
    match reduce.body:
        case Binary("*", left, right) if reduce.op == "sum" and reduce.body.type == reduce.type:
            return left, right
    return (reduce.body,)
