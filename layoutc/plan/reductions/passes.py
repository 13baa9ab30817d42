"""The passes of a team's plan: one for long ranges, whose blocks of an output leave parts, and one for short ones.

The block that comes last joins the parts, always in the same order, so that every run gives the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from layoutc.index import Call, Expr, Int, Name, ceildiv, compare, divide, multiplied, multiply, select
from layoutc.plan.names import Names
from layoutc.plan.nodes import Pass, Workspace
from layoutc.plan.reads.subscripts import as_index
from layoutc.plan.reductions.found import Found, find
from layoutc.plan.reductions.group import groups_of, runs_of
from layoutc.plan.reductions.parts import parts_of
from layoutc.plan.reductions.team_pass import LEAST_ROUNDS, SHORT_ROUNDS, Order, TeamPass
from layoutc.plan.steps import Function
from layoutc.plan.work import Made, Work
from layoutc.resolve.program import Kernel
from layoutc.resolve.types import U32

MULTIPROCESSORS = 132       # of one H200; planned for on every GPU, so that sums are the same to the last bit


def plan_passes(order: Order, names: Names, entry: str) -> Made:
    """The pass that reduces, and one of smaller teams for short ranges."""
    work = order.work
    spec: dict[str, Expr] = {e: Name(e, 0) for e in work.kernel.extents}
    found = find(work.kernel, work.equations, {**spec, **{i: Name(i) for i in work.indices}})
    spaces: tuple[tuple[Workspace, ...], ...] = ()
    parts: Expr = Int(1)
    if order.shares:
        parts = _parts(work, found, spec, order)
    if parts != Int(1):
        count = select(compare(">", parts, Int(1)), multiply(parts, multiplied(_outputs(work, spec))), Int(0))
        spaces = tuple(tuple(Workspace(names.take(f"{entry}_{p.name}"), p.type, count) for p in parts_of(f.reduce))
                       for f in found)
    arrived = None
    if spaces:
        count = select(compare(">", parts, Int(1)), multiplied(_tiles(work, spec, order)), Int(0))
        arrived = Workspace(names.take(f"{entry}_arrived"), U32, count, zero=True)
    made: list[tuple[Pass, Function]] = []
    sharing = parts
    if order.short is not None:
        small = replace(order, team=order.short, shares=False, rounds=SHORT_ROUNDS)
        is_short = compare("<=", _rounds_over(work.kernel, found, spec, small, SHORT_ROUNDS), Int(1))
        sharing = select(is_short, Int(0), parts)
        made.append(TeamPass(small, names.copy(), names.take(f"{entry}_short"), (), None).reducing(
            Int(1), select(is_short, Int(1), Int(0))))
    made.insert(0, TeamPass(order, names.copy(), entry, spaces, arrived).reducing(parts, sharing))
    return Made(tuple(one for one, _ in made), tuple(function for _, function in made))


def _parts(work: Work, found: Sequence[Found], env: dict[str, Expr], order: Order) -> Expr:
    """Blocks that share the outputs of one tile: as many as all tiles' together fill the GPU once.

    They are no more than leave each worker LEAST_ROUNDS, and no fewer than leave it the most that it takes.
    """
    tiles = multiplied(_tiles(work, env, order))
    tiles = tiles if isinstance(tiles, Int) else Call("maximum", (tiles, Int(1)))
    filling = divide(Int(MULTIPROCESSORS * order.resident), tiles)
    parts: Expr = Call("minimum", (filling, _rounds_over(work.kernel, found, env, order, LEAST_ROUNDS)))
    if order.rounds:
        parts = Call("maximum", (parts, _rounds_over(work.kernel, found, env, order, order.rounds)))
    return Call("maximum", (parts, Int(1)))


def _rounds_over(kernel: Kernel, found: Sequence[Found], env: dict[str, Expr], order: Order, rounds: int) -> Expr:
    """Blocks that an output has where each worker takes just so many rounds, 0 where there is nothing to reduce."""
    team = order.team
    counts: list[Expr] = []
    for group in groups_of(kernel, found, env, team.by_columns):
        runs = runs_of(group.digits, 1 if team.by_columns else team.vector)
        count = ceildiv(runs, team.workers * rounds)
        if count not in counts:
            counts.append(count)
    most = counts[0]
    for count in counts[1:]:
        most = Call("maximum", (most, count))
    return most


def _tiles(work: Work, env: dict[str, Expr], order: Order) -> tuple[Expr, ...]:
    """Along each index of the outputs."""
    return tuple(ceildiv(n, size) for n, size in zip(_outputs(work, env), order.team.tile, strict=True))


def _outputs(work: Work, env: dict[str, Expr]) -> tuple[Expr, ...]:
    """How many outputs there are along each index."""
    tensor = next(t for t in work.kernel.outputs if t.name == work.equations[0].output)
    values = [as_index(v, env) for v in tensor.extents]
    return tuple(e for e in values if e is not None)
