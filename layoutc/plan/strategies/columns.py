"""Strategy: neighbouring threads make neighbouring outputs, and groups of them share what is reduced, by columns.

Groups of a block meet in shared memory; tall columns are shared by several blocks, the last of which joins what each
has. How many blocks depends on extents alone, so that every run gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.plan.cost import nominal_outputs
from layoutc.plan.machine import WARP
from layoutc.plan.reductions.fit import (
    AHEAD,
    resident_blocks,
    shared_budget,
    spec_names,
    team_cost,
    threads_of,
    tile_of,
    used_indices,
    vector_along,
    walked_indices,
)
from layoutc.plan.reductions.found import Found
from layoutc.plan.reductions.group import groups_of
from layoutc.plan.reductions.parts import parts_of
from layoutc.plan.reductions.team import MOST_GROUPS, Team
from layoutc.plan.reductions.team_pass import Order
from layoutc.plan.strategies.teamed import Teamed
from layoutc.plan.work import Work
from layoutc.resolve.types import BOOL

THREADS = 512
GROUPS = 16             # of a block that share outputs
UNROLLED = 8            # runs that a worker loads before it needs the first
MEETING_BYTES = 40      # what an output of a worker costs in shared memory, as bytes asked of memory


@dataclass(frozen=True, slots=True)
class Columns(Teamed):
    """Threads along the outputs."""

    @staticmethod
    def ordered(work: Work, found: tuple[Found, ...]) -> tuple[Order, float] | str:
        """The team of each output, what it costs to read and to meet; or why there is none."""
        used = used_indices(work, found)
        if not used:
            return "all outputs share a reduction" if work.indices else "there is one output"
        outputs = max(nominal_outputs(work.kernel, e) for e in work.equations)
        prices = {i: team_cost(work, found, i, GROUPS * AHEAD) for i in reversed(used)}
        along = min(prices, key=lambda i: prices[i])
        team = _team(work, found, along)
        if isinstance(team, str):
            return team
        needed = sum(p.type.bytes for f in found for p in parts_of(f.reduce)) * team.threads * team.vector
        shares = all(one.level == 0 for one in found) and not team.walked     # no reduction needs another's value
        needed += BOOL.bytes if shares else 0   # whether the block comes last
        if team.workers > 1 and needed > shared_budget(work):
            return f"threads meet in {needed} bytes of shared memory, and there are {shared_budget(work)}"
        cost = prices[along] + (outputs * team.workers * MEETING_BYTES * len(found) if not team.walked else 0)
        resident = resident_blocks(team, found, UNROLLED, exact=True)
        return Order(work, team, shares, 0, resident, resident if shares else 0, along, UNROLLED), cost


def _team(work: Work, found: tuple[Found, ...], along: str) -> Team | str:
    """A warp's width of threads along the outputs, and as many groups of them as the block has."""
    groups = groups_of(work.kernel, found, spec_names(work), by_columns=True)
    walked = walked_indices(work, found)
    vector = 1 if walked else vector_along(work, groups, along)
    sizes = tile_of(work)
    number = work.indices.index(along)
    if sizes is None:
        width = WARP * vector
    else:
        width = sizes.get(along, 1)
        if set(sizes) - set(work.indices):
            return "a tile of what is reduced is for threads along it"
        if any(sizes.get(i, 1) != 1 for i in work.indices if i != along):
            return f"the tile is wider than one output along an index other than `{along}`"
        while width % vector:
            vector //= 2
    slots = width // vector
    threads = threads_of(work) or max(slots, min(slots * GROUPS, THREADS))
    if threads % slots or threads > 1024:
        return f"{threads} threads are not shared evenly by {width} outputs, {vector} a thread"
    workers = threads // slots
    if workers > MOST_GROUPS:
        return f"{workers} threads an output are too many to meet one after another"
    tile = [width if n == number else 1 for n in range(len(work.indices))]
    if walked:
        tile[walked[-1]] = workers
    return Team(threads, workers, vector, True, tuple(tile), number, walked)
