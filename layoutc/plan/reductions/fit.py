"""Whether threads can make some equations together, and the elements that lie side by side for them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from layoutc.index import Expr, Name, terms
from layoutc.plan.halo import Env
from layoutc.plan.reductions.found import Found, find, names_in
from layoutc.plan.reductions.group import Group, bound, plain_reads
from layoutc.plan.reductions.parts import parts_of
from layoutc.plan.strategies.nodes import Work
from layoutc.resolve.program import Schedule
from layoutc.resolve.sharing import shares_terms, slides

ACCESS_BYTES = 16
MOST_CELLS = 32         # registers of unfinished reductions that a thread holds


def spec_names(work: Work) -> dict[str, Expr]:
    """Extents and indices under their own names."""
    return {**{e: Name(e, 0) for e in work.kernel.extents}, **{i: Name(i) for i in work.indices}}


def together(work: Work) -> tuple[Found, ...] | str:
    """The reductions that a team would make, or why none does."""
    found = find(work.kernel, work.equations, spec_names(work))
    if not found:
        return "nothing is reduced over an extent"
    used = {name for one in found for _, e in one.at for name in names_in(e)}
    if used & set(work.indices) != set(work.indices):
        return "outputs share a reduction"
    if any(slides(one.reduce) for one in found):
        return "windows of neighbouring outputs overlap"
    if len(work.indices) > 1 and any(shares_terms(one.reduce) for one in found):
        return "outputs share what they read"
    return _told(work.schedule) or found


def _told(schedule: Schedule | None) -> str:
    """What the schedule asks for that is about outputs made by a thread each."""
    if schedule is None:
        return ""
    if schedule.threads is not None and schedule.threads.count is None:
        return "the schedule says which thread makes which output"
    if any(s.where != "global" for s in schedule.stages) or schedule.loads:
        return "the schedule stages what is read"
    if schedule.stores:
        return "the schedule deals out the stores"
    if schedule.fuse > 1:
        return "the schedule makes several steps a launch"
    return "the schedule unrolls an index" if schedule.unroll else ""


def vector_along(work: Work, groups: Sequence[Group], index: str | None) -> int:
    """Elements side by side that a thread takes: of the widest type read along an index (None: along the walk)."""
    types = {t.name: t.type for t in work.kernel.inputs}
    widest = 0
    env: Env = spec_names(work)
    for group in groups:
        at = [Name(f"{d.name}#") for d in group.digits]
        along = Name(index) if index is not None else at[-1]
        for one in group.members:
            for tensor, places in plain_reads(work.kernel, one.reduce.body, bound(group, one, env, at)):
                if places and (along, 1) in terms(places[-1]):
                    widest = max(widest, types[tensor].bytes)
    if not widest:
        return 1
    most = ACCESS_BYTES // widest
    told = work.schedule.vector if work.schedule is not None else None
    most = min(most, told or most)
    cells = max(sum(len(parts_of(one.reduce)) for one in group.members) for group in groups)
    while most > 1 and most * cells > MOST_CELLS:
        most //= 2
    return most


def tile_of(work: Work) -> dict[str, int] | None:
    """What the schedule says of the tile."""
    told = work.schedule.tile if work.schedule is not None else None
    return None if told is None else dict(told)


def threads_of(work: Work) -> int | None:
    """The count that the schedule gives."""
    told = work.schedule.threads if work.schedule is not None else None
    return None if told is None else told.count


def outputs_of(work: Work) -> int:
    """Outputs of a tile, as the schedule says."""
    told = tile_of(work) or {}
    return prod(told.get(i, 1) for i in work.indices)


def shared_budget(work: Work) -> int:
    """Bytes of shared memory that a block may have."""
    told = work.schedule.shared_budget if work.schedule is not None else None
    return work.target.shared_bytes if told is None else min(told, work.target.shared_bytes)
