"""Which equations hold one sum of products of two inputs, and which indices move which factor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from layoutc.index import Expr, Int, Name, names_in, terms
from layoutc.plan.products.sides import sides_of
from layoutc.plan.reads.subscripts import as_index
from layoutc.resolve.program import Binary as Operation
from layoutc.resolve.program import Cast, Equation, Index, Kernel, Read, Reduce, Tensor, Value
from layoutc.resolve.trees import children
from layoutc.resolve.types import Type


@dataclass(frozen=True, slots=True)
class Factor:
    """One of the two inputs that are multiplied, and where its elements are read."""

    tensor: Tensor
    operand: Value                  # what is multiplied: the read, or a cast of it
    subscripts: tuple[Expr, ...]    # over the names of outputs' indices and of the sum's
    side: tuple[str, ...] = ()      # indices of the outputs that move it alone, in the outputs' order

    @property
    def type(self) -> Type:
        """Of its elements."""
        return self.tensor.type

    @property
    def runs_along_side(self) -> bool:
        """Whether its last subscript moves with the last index of its side; else with the sum, or with nothing."""
        return bool(self.subscripts) and self.side[-1] in names_in(self.subscripts[-1])

    @property
    def slides(self) -> bool:
        """Whether an index of its side and another move it along one axis: windows of neighbouring outputs overlap."""
        return any(len(names := names_in(s)) > 1 and not names.isdisjoint(self.side) for s in self.subscripts)

    @property
    def names(self) -> frozenset[str]:
        """Every index that its subscripts mention."""
        return frozenset(name for s in self.subscripts for name in names_in(s))


@dataclass(frozen=True, slots=True)
class Product:
    """A sum of products: its rows move the first factor alone, its columns the second, what is left both or none."""

    reduce: Reduce
    rows: Factor
    columns: Factor                 # the outputs' last index moves it
    left_is_rows: bool              # in the order in which they are multiplied
    batch: tuple[str, ...]

    @property
    def factors(self) -> tuple[Factor, Factor]:
        """Of the rows, of the columns."""
        return self.rows, self.columns


def product_of(kernel: Kernel, equations: tuple[Equation, ...]) -> Product | str:
    """The one sum of products of inputs' elements that all the equations are made of, or why there is none."""
    indices = equations[0].indices
    found = _only_reduction(kernel, equations)
    if isinstance(found, str):
        return found
    reduce, env = found
    if reduce.op != "sum" or not isinstance(reduce.body, Operation) or reduce.body.op != "*":
        return "the reduction is no sum of products"
    names = {**{e: Name(e, 0) for e in kernel.extents}, **{i: Name(o, 0) for i, o in env.items()}}
    names |= {b.name: Name(b.name) for b in reduce.binders}
    if not set(indices).isdisjoint(b.name for b in reduce.binders):
        return "an index of the sum has the name of an output's"
    left, right = (_operand(kernel, value, names) for value in (reduce.body.left, reduce.body.right))
    if isinstance(left, str) or isinstance(right, str):
        return left if isinstance(left, str) else str(right)
    sides = sides_of(indices, left.names, right.names)
    if isinstance(sides, str):
        return sides
    rows, columns = (left, right) if sides.left_is_rows else (right, left)
    return Product(reduce, replace(rows, side=sides.rows), replace(columns, side=sides.columns), sides.left_is_rows,
                   sides.batch)


def _only_reduction(kernel: Kernel, equations: tuple[Equation, ...]) -> tuple[Reduce, Mapping[str, str]] | str:
    """The reduction of all the equations, and which index of the outputs stands for each index around it."""
    found: dict[Reduce, Mapping[str, str]] = {}
    for equation in equations:
        for reduce, env in _reductions(kernel, equation.value, {i: i for i in equation.indices}):
            if env is None or found.setdefault(reduce, env) != env:
                return "the reduction is made at other places than each output's own"
    if len(found) != 1 or not equations[0].indices:
        return "there is not one sum that serves outputs with indices"
    only, = found.items()
    return only


def _reductions(
    kernel: Kernel, value: Value, env: Mapping[str, str] | None
) -> Iterator[tuple[Reduce, Mapping[str, str] | None]]:
    """Every reduction and which indices of outputs stand for the indices around it; None: others do."""
    if isinstance(value, Reduce):
        yield value, env
        return
    for child in children(value):
        yield from _reductions(kernel, child, env)
    stage = next((s for s in kernel.stages if isinstance(value, Read) and s.name == value.tensor), None)
    if stage is None or not isinstance(value, Read):
        return
    inner: Mapping[str, str] | None = None
    if env is not None and not stage.edges:
        own = [env.get(i.name) for i in value.indices if isinstance(i, Index)]
        if len(own) == len(stage.indices) and None not in own:
            inner = {i: o for i, o in zip(stage.indices, own, strict=True) if o is not None}
    yield from _reductions(kernel, stage.value, inner)


def _operand(kernel: Kernel, value: Value, env: Mapping[str, Expr]) -> Factor | str:
    """One factor, its side not known yet."""
    read = value.operand if isinstance(value, Cast) else value
    tensor = next((t for t in kernel.inputs if isinstance(read, Read) and t.name == read.tensor), None)
    if tensor is None or not isinstance(read, Read):
        return "a factor is no element of an input"
    subscripts = [as_index(i, env) for i in read.indices]
    known = tuple(s for s in subscripts if s is not None)
    if len(known) < len(subscripts):
        return f"`{tensor.name}` is read at places that are no integer expression of the indices"
    return Factor(tensor, value, known)


def coefficient(e: Expr, name: str) -> int | None:
    """By how much an expression grows with a variable; None where it is not by a number."""
    found = 0
    for factor, c in terms(e):
        if factor == Int(1) or name not in names_in(factor):
            continue
        if not isinstance(factor, Name):
            return None
        found += c
    return found
