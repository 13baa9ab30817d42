"""A walk through planes as a schedule asks for it: ``march i`` along the slowest index, and what stands beside it."""

from __future__ import annotations

from dataclasses import replace

from layoutc.layout import Layout
from layoutc.plan.machine import WARP
from layoutc.plan.passing.widths import columns_of
from layoutc.plan.planes.choose import chosen_ways
from layoutc.plan.planes.shape import Knobs, Shape, shape_of
from layoutc.plan.refusal import refusal
from layoutc.plan.work import Work
from layoutc.resolve.program import Schedule


def told_shape(work: Work, schedule: Schedule) -> Shape | str:
    """The walk that honours every clause, or the clause that it cannot honour.

    Raises:
        LayoutcError: it would take more shared memory than the budget.
    """
    if schedule.march is None or len(work.indices) < 3 or schedule.march != work.indices[-3]:
        return "the schedule has another form"
    if schedule.loads or schedule.stores:
        return "planes come by copies of their own, whatever layout is told"
    if schedule.march in schedule.unroll:
        return "planes are not written out"
    why = ""
    for chosen in (sizes for way in chosen_ways(work) for sizes in dict.fromkeys((way, replace(way, lanes=WARP)))):
        knobs = _knobs(work, schedule, chosen)
        made = shape_of(work, knobs) if isinstance(knobs, Knobs) else knobs
        reason = made if isinstance(made, str) else _why_not(made, schedule)
        if isinstance(made, Shape) and not reason:
            _check_budget(work, made, schedule)
            return made
        why = why or reason
    return why


def _knobs(work: Work, schedule: Schedule, chosen: Knobs) -> Knobs | str:
    """The sizes that the schedule says; what it leaves open is chosen."""
    told = schedule.tile is not None
    *batch, walked, beside, lined = work.indices
    sizes = dict(schedule.tile or ())
    threads = schedule.threads
    if threads is not None and threads.over is not None:
        return "each thread makes outputs"
    if any(sizes.get(i, 1) > 1 for i in batch):
        return "a block makes planes of one place of the indices before them"
    width, height = (sizes.get(i, 1) if told else 0 for i in (lined, beside))
    lanes, under = chosen.lanes, WARP // chosen.lanes
    columns = width // lanes if width else chosen.columns
    if width % lanes or height % under or columns > columns_of(work) or columns & (columns - 1):
        return f"a line of {width} outputs is not one of {lanes} lanes with as many as an access moves"
    count = None
    if threads is not None:
        count = threads.layout[0].size if threads.layout is not None else threads.count
    warps = chosen.warps
    if count is not None or height:
        warps = count // WARP if count is not None else _warps(height // under, chosen.lines)
    down = warps * under
    lines = height // down if height and down else chosen.lines
    if (count is not None and count % WARP) or not warps or (height and lines * down != height):
        return f"{count} threads do not divide {height} lines among warps"
    planes = sizes.get(walked, 1) if told else chosen.planes
    resident = chosen.resident if lines * columns <= chosen.lines * chosen.columns else 0
    resident = resident if warps <= chosen.warps else 0
    return replace(chosen, columns=columns, lines=lines, warps=warps, planes=planes, resident=resident,
                   most_vector=schedule.vector or 0)


def _warps(height: int, lines: int) -> int:
    """So many that a thread has as many lines as the compiler's choice would give it, or one."""
    return next(n for each in (lines, 1) for n in [height // each] if each * n == height)


def _why_not(made: Shape, schedule: Schedule) -> str:
    """The clause that a walk does not honour."""
    layout = schedule.threads.layout if schedule.threads is not None else None
    if layout is not None and not (isinstance(layout, Layout) and layout.values == _layout(made).values):
        return f"threads own what {_layout(made)} says"
    passing = "registers" if made.knobs.cached else "shared"
    held = {w.tensor: w.where for w in made.weights} | {r.tensor: passing for r in made.rings}
    for s in schedule.stages:
        if s.where != held.get(s.tensor, "global") or s.halo_global or s.double:
            return f"`{s.tensor}` waits in {held.get(s.tensor, 'global')}"
    return ""


def _check_budget(work: Work, made: Shape, schedule: Schedule) -> None:
    if schedule.shared_budget is not None and made.shared_bytes > schedule.shared_budget:
        span = dict(schedule.clause_spans).get("budget", schedule.span)
        message = f"a block needs {made.shared_bytes} bytes of shared memory, the budget is {schedule.shared_budget}"
        raise refusal(work.program, "over-budget", message, span, "make the tile smaller")


def _layout(made: Shape) -> Layout:
    """Who makes which output of a plane."""
    knobs, line = made.knobs, made.tile[-1]
    threads = ((knobs.lanes, knobs.down), (knobs.columns, knobs.lines))
    return Layout(threads, ((knobs.columns, knobs.lines * line), (1, line)))
