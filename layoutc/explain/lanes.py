"""The first read of each thread where many threads make an output together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from layoutc.explain.case import Case, Column, column
from layoutc.index import Expr, Int, Name, names_in, terms
from layoutc.plan.reads.accesses import Accesses
from layoutc.resolve.program import Tensor


def first_subscripts(
    case: Case, tensor: Tensor, extents: Mapping[str, int], at: Mapping[str, Column]
) -> tuple[tuple[Column, ...], int] | None:
    """Per axis the subscript of each thread's first element, [threads], and how many elements it takes side by side.

    ``at``: per index each thread's first output. None where the tensor is not read, or at places that data decide.
    """
    one, lanes = case.one, case.one.lanes
    assert lanes is not None
    known = {name: Int(n) for name, n in extents.items()}
    worker = np.arange(one.threads) % lanes.threads * lanes.vector
    accesses = Accesses(case.kernel, extents=known)
    for equation in case.equations:
        for access, _ in accesses.of(equation):
            subscripts = [s for s in access.indices if s is not None]
            if access.tensor != tensor.name:
                continue
            if len(subscripts) < len(access.indices):
                return None
            env = dict(at) | {n: np.asarray(0) for s in subscripts for n in names_in(s) if n not in at}
            env |= {n: worker for n in env if n not in at and n.split("#")[0] == lanes.along}
            places = tuple(np.broadcast_to(column(s, env), (one.threads,)) for s in subscripts)
            return places, lanes.vector if _moves(subscripts[-1:], lanes.along or _fast(case)) else 1
    return None


def _fast(case: Case) -> str:
    """The index along which a thread makes outputs side by side."""
    moving = [i for i, size in zip(case.one.indices, case.one.tile, strict=True) if size > 1]
    return moving[-1] if moving else ""


def _moves(last: list[Expr], along: str) -> bool:
    return any(isinstance(f, Name) and f.id.split("#")[0] == along and c == 1 for s in last for f, c in terms(s))
