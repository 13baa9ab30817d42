"""Which sums of products tensor cores can make: two factors, each moved by outputs' indices of its own.

Along every axis a factor's subscript falls into a part that the outputs' indices decide and one that the sum's do, so
that an address is a number of the row (or the column) plus a number of the step: an implicit matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutc.index import Expr, Int, Name, names_in, terms, total
from layoutc.plan.products.shape import Factor as Operand
from layoutc.plan.products.shape import Product as SumOfProducts
from layoutc.plan.products.shape import product_of as sum_of_products
from layoutc.plan.reads.chunks import Chunk
from layoutc.plan.reads.subscripts import as_index
from layoutc.plan.work import Work
from layoutc.resolve.program import Const, Reduce, Tensor, Value
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
    found = sum_of_products(work.kernel, work.equations)
    if isinstance(found, str):
        raise NoProductError(found)
    _check_types(found)
    sum = found.reduce
    split = [_axes(f, work.indices, {b.name for b in sum.binders}) for f in found.factors]
    for binder in reversed(sum.binders):
        kinds = [_orientation(axes, f.side, binder.name) for axes, f in zip(split, found.factors, strict=True)]
        low = binder.low.value if isinstance(binder.low, Const) else 1
        if None in kinds or int(low) % DEPTHS[found.rows.type]:
            continue
        rows, columns = (Factor(f.tensor, axes, f.side, bool(kind))
                         for f, axes, kind in zip(found.factors, split, kinds, strict=True))
        taps = tuple(Chunk(b.name, 1, b.low, b.high) for b in sum.binders if b is not binder)
        made = Product(sum, found.batch, rows, columns, taps, int(low), Chunk(binder.name, 1, binder.low, binder.high))
        _check_edges(made, work)
        return made
    both = " and ".join(f"`{f.tensor.name}`" for f in found.factors)
    raise NoProductError(
        f"no index of the sum runs along both {both} in a way that matrices are loaded",
        help="one index of the sum is to be the last subscript of each factor, and stand in no other")


def _check_types(found: SumOfProducts) -> None:
    """Tensor cores multiply two types in pairs, and add in one."""
    sum, (a, b) = found.reduce, (f.type for f in found.factors)
    floats = a == b and a in (F16, BF16) and sum.body.type in (a, F32) and sum.type in (a, F32)
    if not floats and not (a in (I8, U8) and b in (I8, U8) and sum.body.type == I32 and sum.type == I32):
        held = " and ".join(f"`{f.tensor.name}` holds {f.type}" for f in found.factors)
        raise NoProductError(
            "matrix instructions multiply f16, bf16 and integers of 8 bits, in f32 and i32; "
            f"{held}, the sum is of {sum.type}",
            help="multiply f16 by f16 or bf16 by bf16 and sum in f32, or bytes by bytes in i32")


# ---- subscripts


def _axes(found: Operand, indices: Sequence[str], reduced: set[str]) -> tuple[Axis, ...]:
    """The subscripts of a factor, each in its two parts."""
    made = []
    for number, subscript in enumerate(found.subscripts):
        outer: list[tuple[Expr, int]] = []
        inner: list[tuple[Expr, int]] = []
        for factor, coefficient in terms(subscript):
            names = names_in(factor)
            if names & reduced and names & set(indices):
                raise NoProductError(
                    f"axis {number} of `{found.tensor.name}` does not add what outputs and the sum decide",
                    help="write that subscript as what the outputs decide plus what the sum decides, as `i + u`")
            (outer if names & set(indices) else inner).append((factor, coefficient))
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
    extents, depth = {name: Name(name, 0) for name in work.kernel.extents}, product.depth.index
    for factor in (product.rows, product.columns):
        tensor = factor.tensor
        along = f"make `{depth}` the last subscript of `{tensor.name}`, or leave `mma` out"
        rules = [[rule for rule in sides if rule is not None] for sides in tensor.edges]
        if not factor.by_depth and factor.type in (I8, U8):
            raise NoProductError(
                f"`{tensor.name}` has its bytes along the outputs, which no matrix load turns", help=along)
        if not factor.by_depth and any(rules):
            raise NoProductError(f"`{tensor.name}` lies along the outputs, and has an edge", help=along)
        if any(rule.value is not None and not _is_zero(rule.value) for some in rules for rule in some):
            raise NoProductError(f"beyond the edge of `{tensor.name}` stands something other than 0",
                                 help=f"write `edge {tensor.name} = constant(0)`, or leave `mma` out")
        length, end = as_index(tensor.extents[-1], extents), as_index(product.depth.high, extents)
        room = None if length is None or end is None else (length - end).interval[0]
        if rules[-1:] not in ([], [[]]) and (product.low < 0 or room is None or room < 0):
            raise NoProductError(f"the sum runs past the end of `{tensor.name}` in memory",
                                 help=f"end `{depth}` where axis {len(tensor.extents) - 1} of `{tensor.name}` does")


def _is_zero(value: Value) -> bool:
    return isinstance(value, Const) and value.value == 0
