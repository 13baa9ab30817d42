"""A redistribution of a file planned, and refused at its place where the means insisted on cannot be right."""

from __future__ import annotations

from typing import NoReturn

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.plan.moves.exchange import Exchange
from layoutc.plan.nodes import Target
from layoutc.plan.redistributions.redistribution import RedistributionPlan, plan_redistribution
from layoutc.resolve.program import Program, Redistribute


def plan_declared(program: Program, r: Redistribute, target: Target) -> RedistributionPlan:
    """How the values of a redistribution travel, and the text's steps.

    Raises LayoutcError (``bad-via``) with a witness where the means that it insists on cannot be right.
    """
    exchange = Exchange(r.source, r.destination, r.type.bytes, r.warp)
    plan = plan_redistribution(r.name, exchange, r.kind, r.type, r.via, target)
    if plan.move is None:
        _refuse(program, r, plan, target)
    return plan


def _refuse(program: Program, r: Redistribute, plan: RedistributionPlan, target: Target) -> NoReturn:
    """Says which value cannot travel so, and by which means all can."""
    why = next((refused.why for refused in plan.refusals if refused.via == r.via), "")
    right = [via for via in ("registers", "shuffle", "shared") if via != r.via
             and plan_redistribution(r.name, plan.exchange, r.kind, r.type, via, target).move is not None]
    ways = " or ".join(f"`via {via}`" for via in right)
    raise LayoutcError([Diagnostic(
        "bad-via", f"`{r.name}` cannot be right via {r.via}", program.source, r.via_span or r.name_span, why,
        help=f"write {ways}, or leave it out" if right else "leave it out")])
