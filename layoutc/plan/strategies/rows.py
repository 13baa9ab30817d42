"""Strategy: neighbouring threads reduce neighbouring elements to one output, by rows.

A block or a part of it takes a row; rows that are long are shared by several blocks, the last of which joins what
each has. How many blocks depends on extents alone, so that every run gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.plan.cost import nominal_outputs
from layoutc.plan.machine import WARP
from layoutc.plan.reductions.fit import (
    AHEAD,
    outputs_of,
    resident_blocks,
    spec_names,
    team_cost,
    threads_of,
    tile_of,
    vector_along,
    walked_indices,
)
from layoutc.plan.reductions.found import Found
from layoutc.plan.reductions.group import Group, groups_of
from layoutc.plan.reductions.parts import parts_of
from layoutc.plan.reductions.team import Team, can_meet
from layoutc.plan.reductions.team_pass import Order
from layoutc.plan.strategies.teamed import Teamed
from layoutc.plan.work import Work

THREADS = 512
ALONE = 1024            # where there is one output: each block reads longer stretches, and leaves fewer parts
ALONE_WORDS = 4         # that a thread may hold of it, so that with what is on its way there are at most 32 registers
ROUNDS = 16             # of a worker, after which another block takes the rest
MEETING_BYTES = 40      # what the shuffles of a worker cost, as bytes asked of memory


@dataclass(frozen=True, slots=True)
class Rows(Teamed):
    """Threads along what is reduced."""

    @staticmethod
    def ordered(work: Work, found: tuple[Found, ...]) -> tuple[Order, float] | str:
        """The team of each output, what it costs to read and to meet; or why there is none."""
        groups = groups_of(work.kernel, found, spec_names(work), by_columns=False)
        team = _team(work, found, vector_along(work, groups, None))
        if isinstance(team, str):
            return team
        ahead = _ahead(work, groups, team)
        if isinstance(ahead, str):
            return ahead
        along = groups[0].digits[-1].name
        outputs = max(nominal_outputs(work.kernel, e) for e in work.equations)
        cost = team_cost(work, found, along, team.workers * team.vector * AHEAD)
        cost += outputs * team.workers * MEETING_BYTES * len(found) if not team.walked else 0
        shares = all(one.level == 0 for one in found) and not team.walked     # no reduction needs another's value
        resident = resident_blocks(team, found, AHEAD, exact=not shares)
        return Order(work, team, shares, ROUNDS if shares else 0, resident, 0, along, ahead, _short(work, team)), cost


def _team(work: Work, found: tuple[Found, ...], vector: int) -> Team | str:
    """As many threads an output as the block has for each."""
    outputs = outputs_of(work)
    told = threads_of(work)
    threads = told or max(_usual(work, found, vector), min(outputs * WARP, 1024))
    if threads % outputs:
        return f"{threads} threads cannot be divided among {outputs} outputs"
    workers = threads // outputs
    if not can_meet(threads, workers):
        return f"{workers} threads an output, of {threads}, are no whole warps and no part of one"
    sizes, walked = tile_of(work) or {}, walked_indices(work, found)
    tile = tuple(workers if walked and n == walked[-1] else sizes.get(i, 1) for n, i in enumerate(work.indices))
    return Team(threads, workers, vector, False, tile, walked=walked)


def _usual(work: Work, found: tuple[Found, ...], vector: int) -> int:
    """Threads of a block of few outputs."""
    if tile_of(work) is not None:
        return THREADS // 2
    words = vector * sum(p.type.bytes for one in found for p in parts_of(one.reduce)) // 4
    return ALONE if not work.indices and words <= ALONE_WORDS else THREADS


def _short(work: Work, team: Team) -> Team | None:
    """A warp for each of several rows, where the schedule leaves it open."""
    kept = [n for n in range(len(work.indices)) if n not in team.walked]
    if not kept or tile_of(work) is not None or threads_of(work) is not None:
        return None
    sizes = {kept[-1]: THREADS // WARP} | dict.fromkeys(team.walked[-1:], WARP)
    return Team(THREADS, WARP, team.vector, False, tuple(sizes.get(n, 1) for n in range(len(work.indices))),
                walked=team.walked)


def _ahead(work: Work, groups: list[Group], team: Team) -> int | str:
    """Runs that a worker loads at a time; a tile of the reduced index says how many elements the team does."""
    sizes = tile_of(work) or {}
    told = [(d.name, sizes[d.name]) for g in groups for d in g.digits if d.name in sizes]
    others = set(sizes) - set(work.indices) - {name for name, _ in told}
    if others:
        return "the tile is about another reduction"
    for number, (name, size) in enumerate(told):
        chunk = team.workers * team.vector
        if size % chunk:
            return f"a chunk of {size} along `{name}` is not shared evenly by {team.workers} threads of {team.vector}"
        if number + 1 == len(told):
            return size // chunk
    return AHEAD
