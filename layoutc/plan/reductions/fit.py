"""Whether threads can make some equations together, and the elements that lie side by side for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from layoutc.index import Expr, Name, names_in, terms
from layoutc.plan.cost import cost_of, nominal_along, nominal_outputs
from layoutc.plan.machine import ACCESS_BYTES, REGISTERS
from layoutc.plan.reads.subscripts import Env
from layoutc.plan.reductions.found import Found, find
from layoutc.plan.reductions.group import Group, bound, plain_reads
from layoutc.plan.reductions.parts import parts_of
from layoutc.plan.reductions.team import Team
from layoutc.plan.work import Work
from layoutc.resolve.program import Const, Kernel, Schedule
from layoutc.resolve.sharing import shares_terms, slides
from layoutc.resolve.trees import replaced
from layoutc.resolve.types import BOOL

MOST_CELLS = 32         # registers of unfinished reductions that a thread holds
AHEAD = 4               # runs that a worker loads before it needs the first
OTHER_REGISTERS = 12    # of a thread beside its reductions and what it loads
MOST_THREADS = 2048     # of a multiprocessor


def spec_names(work: Work) -> dict[str, Expr]:
    """Extents and indices under their own names."""
    return {**{e: Name(e, 0) for e in work.kernel.extents}, **{i: Name(i) for i in work.indices}}


def together(work: Work) -> tuple[Found, ...] | str:
    """The reductions that a team would make, or why none does."""
    found = find(work.kernel, work.equations, spec_names(work))
    if not found:
        return "nothing is reduced over an extent"
    if any(one.reduce.op == "median" for one in found):
        return "a median is searched by one thread"
    used = used_indices(work, found)
    if any(slides(one.reduce) for one in found):
        return "windows of neighbouring outputs overlap"
    if len(used) > 1 and any(shares_terms(one.reduce) for one in found):
        return "outputs share what they read"
    if len(used) < len(work.indices) and set(tile_of(work) or {}) - set(used):
        return "the tile is about an index on which no reduction depends"
    return _told(work.schedule) or found


def used_indices(work: Work, found: Sequence[Found]) -> tuple[str, ...]:
    """The outputs' indices on which the reductions depend: for each of their places a team makes them once."""
    used = {name for one in found for _, e in one.at for name in names_in(e)}
    return tuple(i for i in work.indices if i in used)


def walked_indices(work: Work, found: Sequence[Found]) -> tuple[int, ...]:
    """The positions of the others, which a team walks with what it has made."""
    used = used_indices(work, found)
    return tuple(n for n, i in enumerate(work.indices) if i not in used)


def team_cost(work: Work, found: Sequence[Found], along: str, on_their_way: int) -> float:
    """What a team's reads cost, the reductions' once for all outputs that share them.

    ``on_their_way``: elements that a team has loaded and not used yet.
    """
    walked = walked_indices(work, found)
    outputs = max(nominal_outputs(work.kernel, e) for e in work.equations)
    shared = prod(max(nominal_along(work.kernel, work.equations[0], n), 1) for n in walked)
    elements = max(outputs // shared, 1) * on_their_way
    reducing = cost_of(work.kernel, work.equations, along, elements) / shared
    if not walked:
        return reducing
    bare = without_reductions(work)
    beside = [e for e in bare.equations if e.indices == work.indices]
    return reducing + cost_of(bare, beside, work.indices[-1], elements)


def without_reductions(work: Work) -> Kernel:
    """The kernel with numbers for the reductions that a team makes."""
    made = {f.reduce: Const(False if f.reduce.type == BOOL else 0, f.reduce.type)
            for f in find(work.kernel, work.equations, spec_names(work))}
    return replace(
        work.kernel, stages=tuple(replace(s, value=replaced(s.value, made.get)) for s in work.kernel.stages),
        equations=tuple(replace(e, value=replaced(e.value, made.get)) for e in work.kernel.equations))


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


def resident_blocks(team: Team, found: Sequence[Found], ahead: int, exact: bool) -> int:
    """Blocks that a multiprocessor has at once; ``ahead``: runs that are loaded; ``exact``: sums are compensated."""
    words = 0
    for one in found:
        count = 2 if exact and one.reduce.op == "sum" and one.reduce.type.is_float else 1
        words += count * sum(max(p.type.bytes // 4, 1) for p in parts_of(one.reduce))
    registers = words * team.vector + ahead * ACCESS_BYTES // 4 + OTHER_REGISTERS
    return max(min(REGISTERS // (registers * team.threads), MOST_THREADS // team.threads), 1)
