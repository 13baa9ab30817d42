"""The passes of a team's plan: one that reduces, and where blocks share an output one that joins what they leave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from layoutc.index import Call, Expr, Int, Name, ceildiv, compare, multiplied, multiply, select
from layoutc.plan.names import Names
from layoutc.plan.nodes import Pass, Workspace
from layoutc.plan.reads.subscripts import as_index
from layoutc.plan.reductions.found import Found, find
from layoutc.plan.reductions.group import groups_of, runs_of
from layoutc.plan.reductions.parts import parts_of
from layoutc.plan.reductions.team import Team
from layoutc.plan.reductions.team_pass import SHORT_ROUNDS, Order, TeamPass
from layoutc.plan.steps import Function
from layoutc.plan.work import Made, Work
from layoutc.resolve.program import Kernel

JOINING_THREADS = 512       # of the block that joins what many blocks leave of one output
JOINING_LANES = 32          # of each output, where there are several


def plan_passes(order: Order, names: Names, entry: str) -> Made:
    """The pass that reduces, one of smaller teams for short ranges, and the one that joins if blocks share outputs."""
    work = order.work
    spec: dict[str, Expr] = {e: Name(e, 0) for e in work.kernel.extents}
    found = find(work.kernel, work.equations, {**spec, **{i: Name(i) for i in work.indices}})
    spaces: tuple[tuple[Workspace, ...], ...] = ()
    parts: Expr = Int(1)
    if order.rounds and all(f.level == 0 for f in found):
        parts = _parts(work.kernel, found, spec, order)
    if parts != Int(1):
        count = select(compare(">", parts, Int(1)), multiply(parts, multiplied(_outputs(work, spec))), Int(0))
        spaces = tuple(tuple(Workspace(names.take(f"{entry}_{p.name}"), p.type, count) for p in parts_of(f.reduce))
                       for f in found)
    made: list[tuple[Pass, Function]] = []
    sharing = parts
    if order.short is not None:
        small = replace(order, team=order.short, rounds=SHORT_ROUNDS)
        is_short = compare("<=", _parts(work.kernel, found, spec, small), Int(1))
        sharing = select(is_short, Int(0), parts)
        made.append(TeamPass(small, names.copy(), names.take(f"{entry}_short"), ()).reducing(
            Int(1), select(is_short, Int(1), Int(0))))
    made.insert(0, TeamPass(order, names.copy(), entry, spaces).reducing(parts, sharing))
    if spaces:
        joined = names.take(f"{entry}_joined")
        made.append(TeamPass(replace(order, team=_joining(order.team)), names.copy(), joined, spaces).joining(parts))
    return Made(tuple(one for one, _ in made), tuple(function for _, function in made))


def _joining(team: Team) -> Team:
    """Of the second pass: for one output a whole block, for many outputs a warp or a few threads each."""
    if not team.tile:
        return Team(JOINING_THREADS, JOINING_THREADS, 1, False, ())
    along = team.lane_index if team.by_columns else len(team.tile) - 1
    outputs = JOINING_LANES if team.by_columns else JOINING_THREADS // JOINING_LANES
    workers = JOINING_THREADS // 2 // JOINING_LANES if team.by_columns else JOINING_LANES
    tile = tuple(outputs if n == along else 1 for n in range(len(team.tile)))
    return Team(outputs * workers, workers, 1, team.by_columns, tile, team.lane_index)


def _parts(kernel: Kernel, found: Sequence[Found], env: dict[str, Expr], order: Order) -> Expr:
    """Blocks that share the outputs of one tile: as many as leave each worker its rounds."""
    team = order.team
    counts: list[Expr] = []
    for group in groups_of(kernel, found, env, team.by_columns):
        runs = runs_of(group.digits, 1 if team.by_columns else team.vector)
        count = ceildiv(runs, team.workers * order.rounds)
        if count not in counts:
            counts.append(count)
    most = counts[0]
    for count in (*counts[1:], Int(1)):
        most = Call("maximum", (most, count))
    return most


def _outputs(work: Work, env: dict[str, Expr]) -> tuple[Expr, ...]:
    """How many outputs there are along each index."""
    tensor = next(t for t in work.kernel.outputs if t.name == work.equations[0].output)
    values = [as_index(v, env) for v in tensor.extents]
    return tuple(e for e in values if e is not None)
