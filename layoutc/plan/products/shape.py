"""Which equations hold one sum of products of two inputs, and which indices move which factor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from layoutc.index import Expr, Int, Name, names_in, terms
from layoutc.plan.halo import as_index
from layoutc.resolve.program import Binary as Operation
from layoutc.resolve.program import Cast, Equation, Index, Kernel, Read, Reduce, Value
from layoutc.resolve.sharing import over_extents, shares_terms
from layoutc.resolve.trees import children
from layoutc.resolve.types import Type

BYTES = (4, 8)          # of the elements of a factor: what one copy in the background may move alone


@dataclass(frozen=True, slots=True)
class Factor:
    """One of the two inputs that are multiplied, and where its elements are read."""

    tensor: str
    type: Type
    operand: Value                  # what is multiplied: the read, or a cast of it
    subscripts: tuple[Expr, ...]    # over the names of outputs' indices and of the sum's
    side: tuple[str, ...]           # indices of the outputs that move it alone, in the outputs' order
    runs_along_side: bool           # its last subscript moves with its side; else with the sum, or with nothing

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
    first: Factor
    second: Factor                  # the outputs' last index moves it
    left_is_first: bool             # in the order in which they are multiplied
    batch: tuple[str, ...]

    @property
    def factors(self) -> tuple[Factor, Factor]:
        """Of the rows, of the columns."""
        return self.first, self.second


def product_of(kernel: Kernel, equations: tuple[Equation, ...]) -> Product | str:
    """The one sum of products that all the equations are made of, or why there is none."""
    found: dict[Reduce, Mapping[str, str]] = {}
    indices = equations[0].indices
    for equation in equations:
        for reduce, env in _reductions(kernel, equation.value, {i: i for i in equation.indices}):
            if env is None or found.setdefault(reduce, env) != env:
                return "the reduction is made at other places than each output's own"
            found[reduce] = env
    if len(found) != 1 or not indices:
        return "there is not one sum that serves outputs with indices"
    (reduce, env), = found.items()
    if not _is_accumulated(reduce) or not isinstance(reduce.body, Operation) or reduce.body.op != "*":
        return "the reduction is no sum of products"
    names = {**{e: Name(e, 0) for e in kernel.extents}, **{i: Name(o, 0) for i, o in env.items()}}
    names |= {b.name: Name(b.name) for b in reduce.binders}
    if not set(indices).isdisjoint(b.name for b in reduce.binders):
        return "an index of the sum has the name of an output's"
    operands = [_operand(kernel, value, names) for value in (reduce.body.left, reduce.body.right)]
    made = [o for o in operands if not isinstance(o, str)]
    if len(made) < 2:
        return next(o for o in operands if isinstance(o, str))
    return _by_sides(reduce, indices, made[0], made[1])


def _is_accumulated(r: Reduce) -> bool:
    """Whether its terms are products accumulated one by one, with no correction of what roundings lose."""
    return r.op == "sum" and not (r.type.is_float and over_extents(r) and not shares_terms(r))


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
    if tensor.type.bytes not in BYTES:
        return f"elements of {tensor.type.bytes} bytes are not copied one by one in the background"
    subscripts = [as_index(i, env) for i in read.indices]
    known = tuple(s for s in subscripts if s is not None)
    if len(known) < len(subscripts):
        return f"`{tensor.name}` is read at places that are no integer expression of the indices"
    return Factor(tensor.name, tensor.type, value, known, (), False)


def _by_sides(reduce: Reduce, indices: tuple[str, ...], left: Factor, right: Factor) -> Product | str:
    """The product with its rows and columns."""
    last = indices[-1]
    if (last in left.names) == (last in right.names):
        return f"`{last}` does not move one factor alone"
    if left.tensor == right.tensor:
        return "both factors are one tensor"
    left_is_first = last in right.names
    first, second = (left, right) if left_is_first else (right, left)
    rows = tuple(i for i in indices if i in first.names - second.names)
    columns = tuple(i for i in indices if i in second.names - first.names)
    if not rows:
        return "one factor moves with every index of the other"
    shared = {b.name for b in reduce.binders} & first.names & second.names
    if not shared:
        return "no index of the sum moves two factors"
    batch = tuple(i for i in indices if i not in rows + columns)
    return Product(reduce, _sided(first, rows), _sided(second, columns), left_is_first, batch)


def _sided(f: Factor, side: tuple[str, ...]) -> Factor:
    last = names_in(f.subscripts[-1]) if f.subscripts else frozenset()
    return Factor(f.tensor, f.type, f.operand, f.subscripts, side, side[-1] in last)


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
