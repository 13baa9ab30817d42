"""The reductions over extents that all threads of a team reach together, those first that others need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from layoutc.index import Expr, Name, names_in
from layoutc.plan.lowering.reduce import Key, key_of
from layoutc.plan.reads.subscripts import Env, as_index
from layoutc.resolve.program import Equation, Kernel, Read, Reduce, Value
from layoutc.resolve.sharing import over_extents
from layoutc.resolve.trees import children


@dataclass(frozen=True, slots=True)
class Found:
    """A reduction at a place; ``level``: how many others must be made one after another before it."""

    reduce: Reduce
    at: tuple[tuple[str, Expr], ...]    # what stands for the indices that it depends on
    level: int

    @property
    def key(self) -> Key:
        """What tells its value from others."""
        return self.reduce, self.at


def find(kernel: Kernel, equations: Sequence[Equation], env: Env) -> tuple[Found, ...]:
    """Every reduction over extents outside of loops of other reductions, or that such a loop does not change.

    ``env`` holds the extents and the equations' indices. Reductions inside lets with edges are left out: not every
    thread may need those.
    """
    finder = _Finder(kernel, env)
    for equation in equations:
        finder.visit(equation.value, env, frozenset())
    return tuple(sorted(finder.found.values(), key=lambda f: f.level))


class _Finder:
    def __init__(self, kernel: Kernel, env: Env) -> None:
        self.found: dict[Key, Found] = {}
        self._stages = {s.name: s for s in kernel.stages}
        self._extents = {e: env[e] for e in kernel.extents}
        self._fresh = count()
        self._of_lets: dict[object, int] = {}       # at a place; through lets that read lets they would double

    def visit(self, value: Value, env: Env, moving: frozenset[str]) -> int:
        """Notes what is found; how many reductions one after another the value needs.

        ``moving`` are the variables of the loops around it.
        """
        match value:
            case Reduce():
                return self._reduce(value, env, moving)
            case Read(tensor, indices) if tensor in self._stages and not self._stages[tensor].edges:
                stage = self._stages[tensor]
                places = [as_index(i, env) for i in indices]
                if None in places:
                    return 0
                at = {i: e for i, e in zip(stage.indices, places, strict=True) if e is not None}
                key = (tensor, tuple(places), moving)
                if key not in self._of_lets:
                    self._of_lets[key] = self.visit(stage.value, {**self._extents, **at}, moving)
                return self._of_lets[key]
        return max((self.visit(child, env, moving) for child in children(value)), default=0)

    def _reduce(self, reduce: Reduce, env: Env, moving: frozenset[str]) -> int:
        inner = dict(env)
        loops = set(moving)
        for b in reduce.binders:
            name = f"{b.name}#{next(self._fresh)}"
            inner[b.name] = Name(name)
            loops.add(name)
        key = key_of(reduce, env)
        known = self.found.get(key)
        if known is not None:
            return known.level + 1
        level = self.visit(reduce.body, inner, frozenset(loops))
        if not over_extents(reduce) or any(names_in(e) & moving for _, e in key[1]):
            return level
        self.found[key] = Found(reduce, key[1], level)
        return level + 1
