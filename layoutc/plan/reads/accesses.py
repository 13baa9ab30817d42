"""Every read that outputs make, through the lets between them and the inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count

from layoutc.index import Expr, Int, Name
from layoutc.plan.reads.folding import Range, folded_subscript, is_folded
from layoutc.plan.reads.subscripts import Env, as_index
from layoutc.resolve.program import (
    Equation,
    Kernel,
    Read,
    Reduce,
    Sides,
    Stage,
    Value,
)
from layoutc.resolve.ranges import Ranges
from layoutc.resolve.trees import children

MOST_FOLDS = 64             # places that are followed through the edges of lets


@dataclass(frozen=True, slots=True)
class Access:
    """One read of a tensor or a let, its subscripts over the tile's indices and reduction indices.

    A subscript that is no integer expression (``x[idx[i]]``) or stands at a folded place is None.
    """

    tensor: str
    indices: tuple[Expr | None, ...]
    certain: bool           # made for every output: not only where a range holds something, or a let's edges let it


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
