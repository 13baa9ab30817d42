"""One pass of a plan with the extents that are known: what every part of an explanation is derived from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutc.index import Binary, Call, Expr, Int, Name
from layoutc.plan.nodes import Pass, Plan, Storage, WorkspaceArgument
from layoutc.plan.redistributions.redistributed import DealtAccess
from layoutc.resolve.binding import tensor_shape
from layoutc.resolve.program import Equation, Kernel, Stage, Tensor

Column = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Case:
    """A pass, and the extents of a call where all of them are known."""

    plan: Plan
    one: Pass
    extents: Mapping[str, int] | None

    @property
    def kernel(self) -> Kernel:
        """The kernel as resolved."""
        return self.plan.kernel

    @property
    def equations(self) -> tuple[Equation, ...]:
        """The equations of this pass."""
        return tuple(e for e in self.kernel.equations if e.output in self.one.outputs)

    @property
    def kept(self) -> tuple[Stage, ...]:
        """Lets that this pass holds in memory."""
        held = {s.tensor for s in self.one.storage}
        return tuple(s for s in self.kernel.stages if s.name in held)

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """Inputs that this pass reads, in the kernel's order."""
        read = {f.tensor for f in self.one.footprints}
        return tuple(t for t in self.kernel.inputs if t.name in read)

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """Outputs that this pass makes."""
        return tuple(t for t in self.kernel.outputs if t.name in self.one.outputs)

    @property
    def workspaces(self) -> tuple[WorkspaceArgument, ...]:
        """Arrays between the blocks of this pass."""
        return tuple(a for a in self.one.arguments if isinstance(a, WorkspaceArgument))

    def held(self, tensor: str) -> Storage | None:
        """Where a tensor waits; None: it is read from global memory."""
        return next((s for s in self.one.storage if s.tensor == tensor), None)

    @property
    def streamed(self) -> tuple[Storage, ...]:
        """Inputs whose boxes pass through registers, row after row."""
        fusing, sizes = self.one.fusing, dict(zip(self.one.indices, self.one.tile, strict=True))
        if fusing is None or not fusing.made:
            return ()
        types = {t.name: t.type for t in self.inputs}
        return tuple(
            Storage(f.tensor, "streamed", types[f.tensor], tuple(a.extent(sizes[a.index or ""]) for a in f.axes),
                    f.axes)
            for f in self.one.footprints if f.tensor in fusing.stepped and f.axes is not None)

    def dealt(self, verb: str, tensor: str) -> DealtAccess | None:
        """The load or the store of a tensor that has a layout of its own."""
        return next((a for a in self.one.accesses if (a.verb, a.tensor) == (verb, tensor)), None)

    def counts(self, extents: Mapping[str, int]) -> tuple[int, ...]:
        """Per index how many outputs there are."""
        return tuple(max(n.at(extents), 0) for n in self.one.extents)

    def lengths(self, extents: Mapping[str, int]) -> dict[str, int]:
        """Outputs along each of the spec's indices."""
        equation = self.equations[0]
        output = next(t for t in self.kernel.outputs if t.name == equation.output)
        return dict(zip(equation.indices, tensor_shape(output, extents), strict=True))

    def comes_by_steps(self, held: Storage) -> bool:
        """Whether a tensor waits as the elements of the steps of a product, which are no box of it."""
        return held.where == "shared" and held.axes is None and bool(self.one.chunks)

    def blocks(self, extents: Mapping[str, int]) -> tuple[int, ...]:
        """Per index how many blocks there are."""
        return tuple(max(n.at(extents), 0) for n in self.one.blocks)

    def chunks(self, extents: Mapping[str, int]) -> dict[str, tuple[int, int, int]]:
        """Per reduction index in chunks its first value, how many it has, and how many chunks there are."""
        env = {name: Int(n) for name, n in extents.items()}
        found = {}
        for c in self.one.chunks:
            first, last = c.first(env).at(extents), c.last(env).at(extents)
            found[c.index] = (first, max(last - first, 0), c.count(env).at(extents))
        return found

    def sharing(self, extents: Mapping[str, int]) -> int:
        """How many blocks make each tile together."""
        return self.one.sharing.at(extents)


def places(one: Pass) -> tuple[Column, ...]:
    """Per index the place in the tile of every (thread, item), an array [threads, items]."""
    env = {"thread": np.arange(one.threads)[:, None], "item": np.arange(one.items)[None, :]}
    return tuple(np.broadcast_to(column(p, env), (one.threads, one.items)) for p in one.owner)


def column(e: Expr, env: Mapping[str, Column]) -> Column:
    """The values of an index expression where names stand for arrays; ``/`` and ``%`` floor."""
    match e:
        case Int(value):
            return np.asarray(value)
        case Name(id):
            return env[id]
        case Binary("+", a, b):
            return column(a, env) + column(b, env)
        case Binary("*", a, b):
            return column(a, env) * column(b, env)
        case Binary("/", a, b) | Call("floor_div", (a, b)):
            return column(a, env) // column(b, env)
        case Binary("%", a, b) | Call("floor_mod", (a, b)):
            return column(a, env) % column(b, env)
    raise AssertionError(f"no place in a tile: {e}")
