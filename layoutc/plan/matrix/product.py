"""Which sums of products tensor cores can make: two factors, each moved by outputs' indices of its own.

Along every axis a factor's subscript falls into a part that the outputs' indices decide and one that the sum's do, so
that an address is a number of the row (or the column) plus a number of the step: an implicit matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from layoutc.index import Expr, Int, Name, names_in, terms, total
from layoutc.plan.chunks import Chunk
from layoutc.plan.halo import as_index
from layoutc.plan.strategies.nodes import Work
from layoutc.resolve.program import (
    Binary,
    Call,
    Cast,
    Compare,
    Const,
    Equation,
    Index,
    Kernel,
    Read,
    Reduce,
    Tensor,
    Value,
    Where,
)
from layoutc.resolve.trees import children
from layoutc.resolve.types import BF16, F16, F32, I8, I32, U8, Type

DEPTHS = {F16: 16, BF16: 16, I8: 32, U8: 32}        # elements of the sum that one instruction takes
LEAST_SIDE = 4          # outputs on a side below which tensor cores have too little to do


class NoProductError(Exception):
    """Why a sum is none that tensor cores make; which clause of a schedule asks for it, and what would mend that."""

    def __init__(self, why: str, clause: str = "mma", help: str = "") -> None:
        super().__init__(why)
        self.clause, self.help = clause, help


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of a factor: the subscript is ``outer + inner``, over the kernel's names."""

    outer: Expr             # of the outputs' indices
    inner: Expr             # of the sum's, of extents and constants


@dataclass(frozen=True, slots=True)
class Factor:
    """One of the two."""

    tensor: Tensor
    axes: tuple[Axis, ...]
    side: tuple[str, ...]   # outputs' indices that move it alone, in the outputs' order
    by_depth: bool          # neighbours in memory are neighbours along the sum; else along the last index of the side

    @property
    def type(self) -> Type:
        """Of its elements."""
        return self.tensor.type


@dataclass(frozen=True, slots=True)
class Product:
    """A sum of products of two factors, and what is made of it."""

    equations: tuple[Equation, ...]     # lets put in their places
    sum: Reduce
    batch: tuple[str, ...]              # outputs' indices that move both factors, or none
    rows: Factor
    columns: Factor                     # moved by the outputs' last index
    taps: tuple[Chunk, ...]             # the sum's other indices, one value a step
    low: int                            # of the depth
    depth: Chunk                        # the sum's index that the instructions run along


def product_of(work: Work) -> Product:
    """The sum of products that the equations are.

    Raises NoProductError.
    """
    if not work.indices:
        raise NoProductError("there is one output")
    equations = tuple(replace(e, value=_without_lets(e.value, work.kernel)) for e in work.equations)
    sum = _sum_of(equations)
    reads = _factors_of(sum, work.kernel)
    reduced = {b.name for b in sum.binders}
    split = [_axes(read, work, reduced) for read in reads]
    moving = [{i for a in axes for i in names_in(a.outer)} for axes in split]
    last = work.indices[-1]
    if (last in moving[0] and last in moving[1]) or last not in moving[0] | moving[1]:
        raise NoProductError(f"`{last}` does not move one factor alone")
    order = (0, 1) if last in moving[1] else (1, 0)
    own = [moving[n] - moving[1 - n] for n in (0, 1)]
    sides = [tuple(i for i in work.indices if i in own[n]) for n in (0, 1)]
    if not all(sides):
        raise NoProductError("one factor moves with every index of the other")
    batch = tuple(i for i in work.indices if i not in own[0] | own[1])
    tensors = {t.name: t for t in work.kernel.inputs}
    for binder in reversed(sum.binders):
        kinds = [_orientation(split[n], sides[n], binder.name) for n in (0, 1)]
        low = binder.low.value if isinstance(binder.low, Const) else 1
        if None in kinds or int(low) % DEPTHS[tensors[reads[0].tensor].type]:
            continue
        rows, columns = (Factor(tensors[reads[n].tensor], split[n], sides[n], bool(kinds[n])) for n in order)
        taps = tuple(Chunk(b.name, 1, b.low, b.high) for b in sum.binders if b is not binder)
        found = Product(equations, sum, batch, rows, columns, taps, int(low),
                        Chunk(binder.name, 1, binder.low, binder.high))
        _check_edges(found, work)
        return found
    raise NoProductError("no index of the sum runs along both factors in a way that matrices are loaded")


# ---- the sum


def _without_lets(value: Value, kernel: Kernel) -> Value:
    """Lets put in where they are read at their own indices."""
    stages = {s.name: s for s in kernel.stages}
    while isinstance(value, Read) and value.tensor in stages:
        stage = stages[value.tensor]
        if stage.edges or [i.name for i in value.indices if isinstance(i, Index)] != list(stage.indices):
            return value
        value = stage.value
    match value:
        case Cast(operand):
            return replace(value, operand=_without_lets(operand, kernel))
        case Binary(_, left, right) | Compare(_, left, right):
            return replace(value, left=_without_lets(left, kernel), right=_without_lets(right, kernel))
        case Call(_, arguments):
            return replace(value, arguments=tuple(_without_lets(a, kernel) for a in arguments))
        case Where(test, yes, no):
            test, yes, no = (_without_lets(v, kernel) for v in (test, yes, no))
            return replace(value, test=test, yes=yes, no=no)
    return value


def _parts(value: Value) -> Iterator[Value]:
    yield value
    for child in children(value):
        yield from _parts(child)


def _sum_of(equations: Sequence[Equation]) -> Reduce:
    found = dict.fromkeys(v for e in equations for v in _parts(e.value) if isinstance(v, Reduce))
    if len(found) != 1:
        raise NoProductError("nothing is reduced" if not found else "there are several reductions")
    one = next(iter(found))
    if one.op != "sum":
        raise NoProductError(f"`{one.op}` is no sum of products")
    return one


def _factors_of(sum: Reduce, kernel: Kernel) -> tuple[Read, Read]:
    """What is multiplied: elements of inputs as they lie in memory."""
    body = sum.body
    if not isinstance(body, Binary) or body.op != "*":
        raise NoProductError("the sum is of no products")
    left, right = (v.operand if isinstance(v, Cast) else v for v in (body.left, body.right))
    inputs = {t.name for t in kernel.inputs}
    if not isinstance(left, Read) or not isinstance(right, Read) or not {left.tensor, right.tensor} <= inputs:
        raise NoProductError("the factors are no elements of inputs")
    a, b = left.type, right.type
    floats = a == b and a in (F16, BF16) and body.type in (a, F32) and sum.type in (a, F32)
    if not floats and not (a in (I8, U8) and b in (I8, U8) and body.type == I32 and sum.type == I32):
        raise NoProductError("tensor cores multiply f16, bf16 and integers of 8 bits, in f32 and i32")
    return left, right


# ---- subscripts


def _axes(read: Read, work: Work, reduced: set[str]) -> tuple[Axis, ...]:
    env: Mapping[str, Expr] = {name: Name(name, 0) for name in (*work.kernel.extents, *work.indices)}
    env = {**env, **{name: Name(name) for name in reduced}}
    made = []
    for number, value in enumerate(read.indices):
        subscript = as_index(value, env)
        if subscript is None:
            raise NoProductError(f"axis {number} of `{read.tensor}` is read at places that are no index expression")
        outer: list[tuple[Expr, int]] = []
        inner: list[tuple[Expr, int]] = []
        for factor, coefficient in terms(subscript):
            names = names_in(factor)
            if names & reduced and names & set(work.indices):
                raise NoProductError(f"axis {number} of `{read.tensor}` does not add what outputs and the sum decide")
            (outer if names & set(work.indices) else inner).append((factor, coefficient))
        made.append(Axis(total(outer), total(inner)))
    return tuple(made)


def _orientation(axes: Sequence[Axis], side: Sequence[str], depth: str) -> bool | None:
    """Whether memory runs along the depth (True), along the side (False), or in a way of which no matrix is loaded."""
    if not axes:
        return None
    moved = [n for n, a in enumerate(axes) if depth in names_in(a.inner)]
    if len(moved) != 1:
        return None
    last = axes[-1]
    if moved == [len(axes) - 1]:
        return True if last.outer == Int(0) and last.inner == Name(depth) else None
    index = Name(side[-1], 0)
    elsewhere = any(side[-1] in names_in(a.outer) for a in axes[:-1])
    if last.outer != index or last.inner != Int(0) or elsewhere or len(side) > 1:
        return None
    linear = [(f, c) for f, c in terms(axes[moved[0]].inner) if depth in names_in(f)]
    return False if linear == [(Name(depth), 1)] and axes[moved[0]].outer == Int(0) else None


def _check_edges(product: Product, work: Work) -> None:
    """Outside of a factor stand its own elements, or zeros; along memory nothing is outside."""
    extents = {name: Name(name, 0) for name in work.kernel.extents}
    for factor in (product.rows, product.columns):
        tensor = factor.tensor
        rules = [[rule for rule in sides if rule is not None] for sides in tensor.edges]
        if not factor.by_depth and factor.type in (I8, U8):
            raise NoProductError(f"`{tensor.name}` has its bytes along the outputs, which no matrix load turns")
        if not factor.by_depth and any(rules):
            raise NoProductError(f"`{tensor.name}` lies along the outputs, and has an edge")
        if any(rule.value is not None and not _is_zero(rule.value) for some in rules for rule in some):
            raise NoProductError(f"beyond the edge of `{tensor.name}` stands something other than 0")
        length, end = as_index(tensor.extents[-1], extents), as_index(product.depth.high, extents)
        room = None if length is None or end is None else (length - end).interval[0]
        if rules[-1:] not in ([], [[]]) and (product.low < 0 or room is None or room < 0):
            raise NoProductError(f"the sum runs past the end of `{tensor.name}` in memory")


def _is_zero(value: Value) -> bool:
    return isinstance(value, Const) and value.value == 0
