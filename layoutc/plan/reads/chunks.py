"""Tiles of reduction indices: the chunks in which a block walks a reduction, and which reductions can be walked so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import gcd

from layoutc.index import Expr, ceildiv, multiplied, not_negative
from layoutc.plan.reads.subscripts import Env, as_index
from layoutc.resolve.program import Binder, Const, Equation, Kernel, Read, Reduce, Schedule, Stage, Value
from layoutc.resolve.trees import children

TREES = ("any", "all", "count", "min", "max")   # the same in every order, whatever the type


class CannotChunkError(Exception):
    """Why a reduction cannot be made chunk by chunk, and what would mend it."""

    def __init__(self, why: str, help: str = "") -> None:
        super().__init__(why)
        self.why, self.help = why, help


@dataclass(frozen=True, slots=True)
class Chunk:
    """A reduction index that a block walks ``size`` values at a time."""

    index: str
    size: int
    low: Value
    high: Value                 # exclusive

    @property
    def range(self) -> tuple[int, int] | None:
        """The values of the index, half-open; None where extents decide them."""
        if isinstance(self.low, Const) and isinstance(self.high, Const):
            return int(self.low.value), int(self.high.value)
        return None

    @property
    def whole(self) -> bool:
        """Whether every chunk is known to be full."""
        return self.range is not None and (self.range[1] - self.range[0]) % self.size == 0

    @property
    def once(self) -> bool:
        """Whether there is known to be one chunk at most."""
        return self.range is not None and self.range[1] - self.range[0] <= self.size

    @property
    def begins_at_multiples_of(self) -> int:
        """A number that divides the first value of every chunk."""
        return gcd(self.size, int(self.low.value)) if isinstance(self.low, Const) else 1

    def first(self, env: Env) -> Expr:
        """The first value of the index."""
        return _expr(self.low, env)

    def last(self, env: Env) -> Expr:
        """The end of the index's range, exclusive."""
        return _expr(self.high, env)

    def count(self, env: Env) -> Expr:
        """Chunks; 0 where the range is empty."""
        return ceildiv(not_negative(self.last(env) - self.first(env)), self.size)


def _expr(value: Value, env: Env) -> Expr:
    found = as_index(value, env)
    assert found is not None, "the planner has checked every bound"
    return found


def origins_of(indices: tuple[str, ...], tile: tuple[int, ...], chunks: tuple[Chunk, ...]) -> dict[str, int]:
    """Per index of a tile or of chunks a number that divides where each of them begins."""
    return dict(zip(indices, tile, strict=True)) | {c.index: c.begins_at_multiples_of for c in chunks}


def number_of_chunks(chunks: tuple[Chunk, ...], env: Env) -> Expr:
    """Chunks of all indices together, the last index's fastest."""
    return multiplied(c.count(env) for c in chunks)


def chunks_of(kernel: Kernel, equations: tuple[Equation, ...], schedule: Schedule) -> tuple[Chunk, ...]:
    """The reduction indices that the schedule's tile names and these equations reduce over, in binder order.

    An index that some output has is a tile of outputs, wherever else it is reduced over.
    """
    made = {i for e in kernel.equations for i in e.indices}
    sizes = {name: size for name, size in schedule.tile or () if name not in made}
    found: dict[str, Chunk] = {}
    for value in _values(kernel, equations):
        for b in value.binders if isinstance(value, Reduce) else ():
            if b.name in sizes:
                found.setdefault(b.name, Chunk(b.name, sizes[b.name], b.low, b.high))
    return tuple(found.values())


def ranges_of_extents(kernel: Kernel, equations: tuple[Equation, ...]) -> tuple[str, ...]:
    """The reduction indices of the equations whose ranges are known only at the call."""
    made = {i for e in kernel.equations for i in e.indices}
    binders = [b for r in reductions_of(kernel, equations) for b in r.binders]
    found = [b.name for b in binders if Chunk(b.name, 1, b.low, b.high).range is None]
    return tuple(i for i in dict.fromkeys(found) if i not in made)


def reductions_of(kernel: Kernel, equations: tuple[Equation, ...]) -> tuple[Reduce, ...]:
    """Every reduction of the equations and of the lets that they read."""
    return tuple(v for v in _values(kernel, equations) if isinstance(v, Reduce))


def _values(kernel: Kernel, equations: tuple[Equation, ...]) -> Iterator[Value]:
    """Every value that the equations are made of, those of the lets that they read too."""
    stages = {s.name: s for s in kernel.stages}
    entered: set[str] = set()
    waiting: list[Value] = [e.value for e in reversed(equations)]
    while waiting:
        value = waiting.pop()
        yield value
        waiting += reversed(children(value))
        if isinstance(value, Read) and value.tensor in stages and value.tensor not in entered:
            entered.add(value.tensor)
            waiting.append(stages[value.tensor].value)


def binds(r: Reduce, chunks: tuple[Chunk, ...]) -> bool:
    """Whether a reduction runs over an index that is walked in chunks."""
    return not {b.name for b in r.binders}.isdisjoint(c.index for c in chunks)


# ---- what can be made chunk by chunk


def check_chunks(
    kernel: Kernel, equations: tuple[Equation, ...], kept: frozenset[str], chunks: tuple[Chunk, ...]
) -> None:
    """Every reduction over the chunks' indices can be made so; ``kept`` are the lets that wait in memory.

    Raises CannotChunkError.
    """
    check = _Check({s.name: s for s in kernel.stages}, kept, chunks)
    for equation in equations:
        check.value(equation.value)
    for stage in (s for s in kernel.stages if s.name in kept):
        check.value(stage.value, f"for the let `{stage.name}`, which waits in memory")


class _Check:
    """Walks values, each let once for every surrounding."""

    def __init__(self, stages: Mapping[str, Stage], kept: frozenset[str], chunks: tuple[Chunk, ...]) -> None:
        self._stages, self._kept, self._chunks = stages, kept, chunks
        self._seen: set[tuple[str, str]] = set()

    def value(self, value: Value, inside: str = "") -> None:
        """``inside``: what is around the value that keeps a reduction there from being a loop of the block."""
        if isinstance(value, Reduce):
            if binds(value, self._chunks):
                if inside:
                    names = _listed({c.index for c in self._chunks})
                    raise CannotChunkError(f"`{value.op}` over {names} is made {inside}",
                                           "leave the index out of the tile")
                _check_reduction(value, self._chunks)
            inside = inside or f"inside another reduction, `{value.op}`"
        for child in children(value):
            self.value(child, inside)
        if isinstance(value, Read) and value.tensor in self._stages and value.tensor not in self._kept:
            self._let(self._stages[value.tensor], inside)

    def _let(self, stage: Stage, inside: str) -> None:
        if stage.edges:
            inside = inside or f"at places that the edges of the let `{stage.name}` choose"
        if (stage.name, inside) not in self._seen:
            self._seen.add((stage.name, inside))
            self.value(stage.value, inside)


def _check_reduction(r: Reduce, chunks: tuple[Chunk, ...]) -> None:
    """All chunks are of its own indices, and no result depends on the order, or the order stays the binders'."""
    missing = {c.index for c in chunks} - {b.name for b in r.binders}
    if missing:
        raise CannotChunkError(f"one loop over chunks serves all reductions, and `{r.op}` does not run over "
                               f"{_listed(missing)}", "name in the tile what all reductions run over")
    if r.op == "median":
        raise CannotChunkError("a median sorts all its elements at once", "leave its indices out of the tile")
    if r.op in TREES or (r.op in ("sum", "prod") and not r.type.is_float) or in_order(r, chunks):
        return
    index = next(c.index for c in chunks)
    first = f"write its chunked indices first: `{r.op}({index}, …)`"
    if r.op in ("argmin", "argmax"):
        raise CannotChunkError(f"`{r.op}` gives the first place in the order of its indices, which chunks of "
                               f"`{index}` would change", first)
    if all(isinstance(b.low, Const) and isinstance(b.high, Const) for b in r.binders):
        raise CannotChunkError(f"a {r.op} of floats over constant ranges is made in the order of its indices, which "
                               f"chunks of `{index}` would change", first)


def in_order(r: Reduce, chunks: tuple[Chunk, ...]) -> bool:
    """Whether chunk after chunk the elements come in the order of the binders."""
    by_name = {c.index: c for c in chunks}
    several = [c.index for c in chunks if not c.once]
    if [b.name for b in r.binders if b.name in several] != several:
        return False
    outer: list[tuple[Binder, Chunk | None]] = []
    for b in r.binders:
        chunk = by_name.get(b.name)
        if chunk is not None and not chunk.once and not all(_is_single(o, c) for o, c in outer):
            return False
        outer.append((b, chunk))
    return True


def _is_single(b: Binder, chunk: Chunk | None) -> bool:
    """Whether an index has one value at a time while the chunks of the indices after it go by."""
    if chunk is not None and chunk.size == 1:
        return True
    return isinstance(b.low, Const) and isinstance(b.high, Const) and b.high.value - b.low.value <= 1


def _listed(names: set[str]) -> str:
    return ", ".join(f"`{n}`" for n in sorted(names))
