"""A walk with rows in rings as a schedule asks for it: ``march i`` with ``stage x in shared``, and what is beside."""

from __future__ import annotations

from dataclasses import replace

from layoutc.layout import Layout
from layoutc.layout.named import blocked
from layoutc.plan.passing.widths import columns_of
from layoutc.plan.refusal import needing, refusal
from layoutc.plan.ringed.choose import THREADS, candidates, chosen_shape
from layoutc.plan.ringed.shape import Knobs, Shape, shape_of
from layoutc.plan.work import Work
from layoutc.resolve.program import Schedule


def told_shape(work: Work, schedule: Schedule) -> Shape | str:
    """The walk that honours every clause, or the clause that it cannot honour.

    Raises:
        LayoutcError: it would take more shared memory than the budget.
    """
    if schedule.march is None or schedule.march != work.indices[-2]:
        return "the schedule has another form"
    if not any(s.where == "shared" for s in schedule.stages):
        return "the schedule stages nothing in shared memory"
    if schedule.loads or schedule.stores:
        return "rows come by copies of their own, whatever layout is told"
    if schedule.march in schedule.unroll:
        return "rows are not all written out"
    knobs = _knobs(work, schedule)
    made = shape_of(work, schedule.march, knobs) if isinstance(knobs, Knobs) else knobs
    if isinstance(made, str):
        return made
    why = _why_not(made, schedule)
    if why:
        return why
    _check_budget(work, made, schedule)
    return made


def _knobs(work: Work, schedule: Schedule) -> Knobs | str:
    """The sizes that the schedule says; what it leaves open is chosen."""
    chosen = chosen_shape(work, work.indices[-2])
    knobs = chosen.knobs if isinstance(chosen, Shape) else list(candidates(work))[-1]
    knobs = replace(knobs, most_vector=schedule.vector or 0)
    threads = schedule.threads
    if threads is not None and threads.over is not None:
        return "each thread makes outputs"
    count = None
    if threads is not None:
        count = threads.layout[0].size if threads.layout is not None else threads.count
    if schedule.tile is None:
        return replace(knobs, threads=count or THREADS)
    *batch, walked, lined = work.indices
    sizes = dict(schedule.tile)
    if any(sizes.get(i, 1) > 1 for i in batch):
        return "a block makes rows of one place of the indices before them"
    width = sizes.get(lined, 1)
    count = count or max(width // knobs.columns, 1)
    columns = width // count
    if columns * count != width or columns > columns_of(work) or columns & (columns - 1):
        return f"{count} threads do not divide a row of {width} outputs into as many as an access moves"
    return replace(knobs, columns=columns, threads=count, rows=sizes.get(walked, 1), rounds=0, peeled=False)


def _why_not(made: Shape, schedule: Schedule) -> str:
    """The clause that a walk does not honour."""
    knobs = made.knobs
    layout = schedule.threads.layout if schedule.threads is not None else None
    wanted = blocked(knobs.threads, knobs.columns)
    if layout is not None and not (isinstance(layout, Layout) and layout.values == wanted.values):
        return f"threads own what {wanted} says"
    held = {w.tensor: w.where for w in made.walk.weights} | {b.tensor: "registers" for b in made.walk.bands}
    held |= {r.band.tensor: "shared" for r in made.rings}
    for s in schedule.stages:
        if s.where != held.get(s.tensor, "global") or s.halo_global or s.double:
            return f"`{s.tensor}` waits in {held.get(s.tensor, 'global')}"
    return ""


def _check_budget(work: Work, made: Shape, schedule: Schedule) -> None:
    room = work.target.asked_bytes
    room = room if schedule.shared_budget is None else min(room, schedule.shared_budget)
    if made.shared_bytes > room:
        message = f"a block needs {made.shared_bytes} bytes of shared memory, it can have {room}"
        raise refusal(work.program, "over-budget", message, needing(schedule), "make the tile smaller")
