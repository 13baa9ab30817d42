"""Ways to make the outputs of some equations: one file a strategy, the cheapest by the model wins."""

from __future__ import annotations

from math import isfinite

from layoutc.diagnostics import LayoutcError
from layoutc.plan.nodes import Refusal
from layoutc.plan.strategies.columns import Columns
from layoutc.plan.strategies.contraction import Contraction
from layoutc.plan.strategies.fused import Fused
from layoutc.plan.strategies.mma import Mma
from layoutc.plan.strategies.planes import Planes
from layoutc.plan.strategies.product import Product
from layoutc.plan.strategies.ringed import Ringed
from layoutc.plan.strategies.rows import Rows
from layoutc.plan.strategies.staged import Staged
from layoutc.plan.strategies.streamed import Streamed
from layoutc.plan.strategies.tile import Tile
from layoutc.plan.strategies.turned import Turned
from layoutc.plan.strategies.wgmma import Wgmma
from layoutc.plan.strategies.window import Window
from layoutc.plan.work import Work

Strategy = (
    Tile | Fused | Streamed | Window | Planes | Staged | Ringed | Turned | Rows | Columns | Contraction | Product | Mma
    | Wgmma)
STRATEGIES: tuple[type[Strategy], ...] = (
    Tile, Window, Planes, Staged, Ringed, Turned, Rows, Columns, Contraction, Product, Mma, Wgmma)
FUSING: tuple[type[Strategy], ...] = (Fused, Streamed)      # that make several steps a launch
MARCHING: tuple[type[Strategy], ...] = (Planes, Ringed, Window)


def choose(work: Work) -> tuple[Strategy, tuple[Refusal, ...]]:
    """The cheapest strategy and why each other was not taken.

    Raises LayoutcError where none can honour the schedule.
    """
    possible: list[Strategy] = []
    refused: list[Refusal] = []
    errors: list[LayoutcError] = []
    for strategy in _allowed(work):
        try:
            found = strategy.try_plan(work)
        except LayoutcError as error:
            errors.append(error)
            refused.append(Refusal(strategy.__name__.lower(), error.diagnostics[0].message))
            continue
        if isinstance(found, Refusal):
            refused.append(found)
        else:
            possible.append(found)
    if not possible:
        raise errors[0]
    best = min(possible, key=lambda p: p.cost)
    dearer = [Refusal(type(p).__name__.lower(), "costs more" if isfinite(p.cost) else "does not fit",
                      p.cost if isfinite(p.cost) else None) for p in possible if p is not best]
    return best, (*refused, *dearer)


def _allowed(work: Work) -> tuple[type[Strategy], ...]:
    """The strategies that can do what the schedule asks for."""
    if work.schedule is None:
        return STRATEGIES
    if work.schedule.fuse > 1:
        return FUSING
    if work.schedule.mma:
        return (Wgmma,) if work.schedule.copies == "boxes" else (Mma, Wgmma)
    return MARCHING if work.schedule.march in work.indices else STRATEGIES
