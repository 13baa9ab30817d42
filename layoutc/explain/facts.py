"""Everything derived of one kernel under one schedule, as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from layoutc.diagnostics import LayoutcError
from layoutc.explain.case import Case
from layoutc.explain.intensity import intensity
from layoutc.explain.launch import launch
from layoutc.explain.records import Explained, Fuse, Halo, Strategy, Threads, merged
from layoutc.explain.storage import box_of, storage
from layoutc.explain.traffic import traffic
from layoutc.index import Int
from layoutc.plan.nodes import Target
from layoutc.plan.planner import default_signature, make_plan
from layoutc.plan.reads.footprints import Footprint, footprints
from layoutc.resolve.binding import check_call
from layoutc.resolve.program import Kernel, Program, Schedule, title_of
from layoutc.resolve.same_bits import same_bits


def explain(
    program: Program,
    kernel: Kernel,
    schedule: Schedule | None,
    target: Target,
    extents: Mapping[str, int] | None = None,
    lanes: int = 32,
    transaction: int = 32,
) -> dict[str, object]:
    """The object of one kernel of ``explain --json``; plain values only, in the units of INTERFACE.md.

    ``extents`` are the kernel's by name; others are passed over, and where one is lacking what needs it is None.
    ``lanes`` are threads a warp, ``transaction`` bytes that memory moves at once.

    Outputs with different indices are made in passes of their own, one launch each: ``passes`` then holds an object
    a pass, and the kernel's own is their sum as ``merged`` makes it.

    Raises:
        LayoutcError: the schedule cannot be honoured, or a call with these extents would be refused.
    """
    known = _known(kernel, extents)
    if known is not None:
        try:
            check_call(kernel, known)
        except LayoutcError as error:
            raise error.within(program.source) from None
    plan = make_plan(program, kernel, schedule, default_signature(kernel), target)
    made = tuple(one for one in plan.passes if known is None or one.sharing.at(known)) or plan.passes
    passes = tuple(_explained(Case(plan, one, known), lanes, transaction) for one in made)
    facts: dict[str, object] = {
        "name": kernel.name, "kind": "kernel", "schedule": None if schedule is None else title_of(schedule),
        "arch": target.arch, **merged(passes).as_json(),
        "same_bits": {name: {"schedules": same.schedules, "devices": same.devices}
                      for name, same in same_bits(kernel).items()}}
    if len(passes) > 1:
        facts["passes"] = [{"outputs": list(one.outputs), **one.as_json()} for one in passes]
    return facts


def _known(kernel: Kernel, extents: Mapping[str, int] | None) -> dict[str, int] | None:
    """The kernel's extents if all are given."""
    given = extents or {}
    return {name: given[name] for name in kernel.extents} if all(n in given for n in kernel.extents) else None


def _explained(case: Case, lanes: int, transaction: int) -> Explained:
    """What is derived of one pass."""
    boxes = _boxes(case)
    return Explained(
        outputs=case.one.outputs,
        strategy=Strategy(case.one.strategy, case.one.cost, case.one.rejected, case.one.notes),
        tile=case.one.sizes,
        threads=_threads(case),
        halo={name: _halo(f) for name, f in boxes.items()},
        footprint={name: box_of(f, case) for name, f in boxes.items()},
        launch=launch(case),
        masks=case.one.masks,
        storage=storage(case, boxes),
        traffic=traffic(case, lanes, transaction),
        intensity=intensity(case),
        redistributions=tuple(a.move for a in case.one.accesses if a.move is not None),
        fuse=_fuse(case))


def _fuse(case: Case) -> Fuse | None:
    """What several steps a launch cost."""
    fusing, tile = case.one.fusing, case.one.tile
    if fusing is None:
        return None
    made, outputs = fusing.evaluations(tile), fusing.steps * prod(tile)
    return Fuse(fusing.steps, dict(zip(case.one.indices, fusing.halo, strict=True)), made, outputs, made / outputs - 1)


def _threads(case: Case) -> Threads:
    told = case.plan.schedule.threads if case.plan.schedule is not None else None
    if told is not None and told.over is not None:
        return Threads(case.one.threads, None, told.over)
    return Threads(case.one.threads, case.one.layout)


def _boxes(case: Case) -> dict[str, Footprint]:
    """The footprints of the plan; where known extents make a box of one that had none, that box."""
    found = {f.tensor: f for f in case.one.footprints}
    if case.extents is not None and any(f.axes is None for f in found.values()):
        known = {name: Int(n) for name, n in case.extents.items()}
        kept = frozenset(s.name for s in case.kept)
        again = footprints(case.kernel, case.equations, kept, known, case.one.chunked)
        found |= {name: f for name, f in again.items() if name in found and found[name].axes is None}
    order = [*(t.name for t in case.kernel.inputs), *(s.name for s in case.kernel.stages)]
    return {name: found[name] for name in order if name in found}


def _halo(f: Footprint) -> Halo | None:
    if f.axes is None:
        return None
    halo: Halo = {}
    for a in f.axes:
        if a.index is not None:
            low, high = halo.get(a.index, (-a.low, a.high))
            halo[a.index] = (max(low, -a.low), max(high, a.high))
    return halo
