"""Where the outputs of a thread lie: coordinates from thread and item, and the tests that they are outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from layoutc.index import Call, Expr, Int, Name, compare, every
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.steps import Let, Step, Steps


@dataclass(frozen=True, slots=True)
class ItemPlace:
    """One output of a thread (of a run: the first)."""

    at: tuple[Expr, ...]        # its coordinates
    steps: Steps                # their declarations
    tests: list[Expr]           # that it is in the tile
    valid: Expr                 # that it is in the tile and in the tensor


def place_of_item(frame: Frame, first: Mapping[str, Expr]) -> ItemPlace:
    """The coordinates of an item, in terms of its number; ``first`` puts the first of a run in its place."""
    places: list[Step] = []
    coordinates: list[Step] = []
    at: list[Expr] = []
    tests: list[Expr] = []
    choice = frame.choice
    if not frame.indices and choice.owner.threads > 1:
        tests.append(compare("==", Name("thread"), Int(0)))
    for i, place, size, n in zip(frame.indices, choice.owner.places, choice.tile, frame.counts, strict=True):
        local, test = _place_in_tile(frame, i, place.over(first), size, places)
        last = n.value - 1 if isinstance(n, Int) and n.value % size == 0 else None
        name = frame.spelled[i]
        coordinates.append(Let("Index", name, frame.origin(i) + local))
        frame.lowering.local[name] = frame.origin(i) + local
        frame.lowering.limits[name] = n
        at.append(Name(name, 0, last))
        tests += test
    return ItemPlace(tuple(at), (*places, *coordinates), tests, every((*tests, *valid(frame, tuple(at)))))


def _place_in_tile(
    frame: Frame, index: str, place: Expr, size: int, steps: list[Step]
) -> tuple[Expr, list[Expr]]:
    """The place along one index under a short name, and the tests that keep it in the tile."""
    low, high = place.interval
    below, above = low is None or low < 0, high is None or high >= size
    local = place
    if not isinstance(place, Int | Name):
        name = frame.names.take(f"item_{frame.spelled[index]}")
        steps.append(Let("int", name, place))
        frame.lowering.items[name] = place
        local = Name(name, None if below else 0, None if above else size - 1)
    if below and above:
        return local, [Call("within", (local, Int(size)))]
    tests = [compare(">=", local, Int(0))] if below else []
    return local, [*tests, compare("<", local, Int(size))] if above else tests


def valid(frame: Frame, at: tuple[Expr, ...]) -> list[Expr]:
    """Tests that coordinates are inside the outputs."""
    return [compare("<", i, n) for i, n in zip(at, frame.counts, strict=True)]
