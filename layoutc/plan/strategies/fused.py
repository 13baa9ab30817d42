"""Strategy: a block makes several steps of its tile, the box around it one halo smaller at each.

What is stepped lies in two boxes of shared memory; a step reads one and writes the other, and a barrier follows. The
last step makes the outputs, as a tile of one step does. How places outside the tensor come by their values is told in
``layoutc.plan.reads.fusing``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf, prod
from typing import Self

from layoutc.index import Call, Expr, Int, Name, Select, compare, every
from layoutc.plan.kernel.boxes import declare_shared, fill_shared
from layoutc.plan.kernel.frame import Choice, Frame
from layoutc.plan.kernel.loading import emit_when
from layoutc.plan.lowering.places import InBox
from layoutc.plan.names import Names
from layoutc.plan.nodes import Pass
from layoutc.plan.ownership import unravel
from layoutc.plan.reads.fusing import Fusing, fusing_of, kinds, loaded_edges
from layoutc.plan.redistributions.redistributed import with_moves
from layoutc.plan.steps import Assign, Barrier, Either, Let, Loop, Rounds, When
from layoutc.plan.strategies.tile import emit_outputs
from layoutc.plan.stream.cost import clocks
from layoutc.plan.tiles.choose import Chooser
from layoutc.plan.tiles.nearest import nearest_tile
from layoutc.plan.values import Choice as Chosen
from layoutc.plan.values import Element, Text, Variable, store
from layoutc.plan.work import Made, Work
from layoutc.resolve.program import Schedule, Sides, Value

BESIDE = 20             # operations that a place takes beside its own; in registers a few


@dataclass(frozen=True, slots=True)
class Fused:
    """Overlapped tiles, all steps of a launch in shared memory."""

    work: Work
    chooser: Chooser
    choice: Choice
    fusing: Fusing
    cost: float

    @classmethod
    def try_plan(cls, work: Work) -> Self:
        """The tile, its owners and the storage.

        Raises LayoutcError where steps cannot be joined, or a clause of the schedule cannot be honoured.
        """
        fusing = fusing_of(work.program, work.kernel, work.equations, work.schedule)
        assert fusing is not None
        chooser = Chooser(work.program, work.kernel, work.equations, work.schedule, work.target, fusing)
        choice = chooser.choose()
        cost = clocks(work, BESIDE) * fusing.evaluations(choice.tile) / (fusing.steps * prod(choice.tile))
        fits = _shared_bytes(choice) <= chooser.staging.budget
        return cls(work, chooser, choice, fusing, cost if fits else inf)

    def plan(self, names: Names, entry: str) -> Made:
        """The pass under its name in the text."""
        made = self._made(names, entry)
        self.chooser.staging.check_budget(made.passes[0].shared_bytes, lambda: self._what_fits(made.passes[0]))
        return made

    def _made(self, names: Names, entry: str) -> Made:
        """The pass, whatever it needs."""
        work, staging = self.work, self.chooser.staging
        room = staging.budget - _shared_bytes(self.choice)
        choice = replace(self.choice, accesses=with_moves(self.choice.accesses, entry, names, work.target, room))
        frame = Frame(work.kernel, choice, work.signature, names.copy(), entry)
        with frame.lowering.block() as body:
            frame.emit_thread_and_block()
            _fill(frame, self.fusing)
            if self.fusing.stepped:
                _Steps(frame, self.fusing).emit()
            emit_outputs(frame)
        made = replace(frame.record(), fusing=self.fusing)
        return Made((made,), (*(a.function for a in choice.accesses if a.move), frame.function(body)))

    def _what_fits(self, one: Pass) -> str:
        """The nearest tile that stays within the budget."""
        def needed(schedule: Schedule) -> int:
            other = Fused.try_plan(replace(self.work, schedule=schedule))
            return other._made(Names(), one.entry).passes[0].shared_bytes
        return nearest_tile(self.chooser.schedule, one, self.chooser.staging.budget, needed)


def _shared_bytes(choice: Choice) -> int:
    return sum(s.bytes * s.copies for s in choice.storage if s.where == "shared")


def _fill(frame: Frame, fusing: Fusing) -> None:
    """The boxes of the inputs before the first step."""
    staged = {s.tensor for s in frame.choice.storage if s.where == "shared"}
    for found in frame.choice.footprints:
        if found.tensor in staged:
            place = frame.place_of(found.tensor)
            frame.lowering.places[found.tensor] = replace(place, edges=loaded_edges(frame.kernel, fusing, found))
    fill_shared(frame, [s for s in frame.choice.storage if s.where == "shared"], declare_shared(frame))


@dataclass(frozen=True, slots=True)
class _Place:
    """An element of the first step's box, along one index."""

    local: Name         # in that box
    place: Name         # in the tensor, or outside


class _Steps:
    """All steps of a launch but the last."""

    def __init__(self, frame: Frame, fusing: Fusing) -> None:
        self.frame, self.fusing, self.lowering = frame, fusing, frame.lowering
        self.extents = fusing.box(frame.choice.tile, 1)
        self.boxes: dict[str, InBox] = {}
        for u in fusing.stepped:
            box = frame.lowering.places[u]
            assert isinstance(box, InBox)
            self.boxes[u] = box
        self.tensors = {t.name: t for t in frame.kernel.inputs}
        self.edges = dict(zip(fusing.stepped, fusing.edges, strict=True))
        made = {e.output: e for e in frame.choice.equations}
        self.equations = {u: made[v] for u, v in frame.kernel.steps}
        self.origins = {index: frame.origin(index) - (fusing.steps - 1) * low       # of the first step's box
                        for index, (low, _) in zip(frame.indices, fusing.halo, strict=True)}
        self.step: Expr = Int(1)

    def emit(self) -> None:
        """A loop over the steps; afterwards reads find what is stepped where the last of them wrote it."""
        count = self.fusing.steps
        self.step = Name(self.frame.names.take("step"), 1, count - 1) if count > 2 else Int(1)
        for u, box in self.boxes.items():
            self.lowering.places[u] = replace(box, buffer=(self.step - 1) % 2, seams=_seams(self.edges[u]))
        with self.lowering.block() as body:
            for group in self._groups():
                with _own_scope(self.frame):
                    self._emit_group(group)
            self.lowering.emit(Barrier())
        if count > 2:
            body = [Loop(False, "int", str(self.step), Int(1), Int(count), tuple(body))]
        self.lowering.emit(*body)
        for u, box in self.boxes.items():
            self.lowering.places[u] = replace(box, buffer=Int((count - 1) % 2))

    def _groups(self) -> list[tuple[str, ...]]:
        """Stepped inputs with rules of the same names: their places outside are computed together."""
        found: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for u in self.fusing.stepped:
            found.setdefault(tuple(map(kinds, self.edges[u])), []).append(u)
        return [tuple(group) for group in found.values()]

    # ---- one step

    def _emit_group(self, group: tuple[str, ...]) -> None:
        """A group's values at every place that this step makes."""
        at, edges = self.frame.names.take("at"), self.edges[group[0]]
        with self.lowering.block() as body:
            places = self._places(at, edges)
            with self.lowering.block() as made:
                self._emit_values(group, places, edges)
            emit_when(self.frame, every(self._tests(places, edges)), made)
        count = Variable(" * ".join(map(str, self.extents)) or "1")
        self.lowering.emit(Rounds(at, Name("thread"), count, self.frame.choice.owner.threads, tuple(body)))

    def _places(self, at: str, edges: tuple[Sides, ...]) -> list[_Place]:
        """The coordinates of an element, declared; a place that no rule folds has the index's own name."""
        frame, places = self.frame, []
        local = unravel(Name(at, 0, prod(self.extents) - 1), self.extents)
        for index, c, extent, sides in zip(frame.indices, local, self.extents, edges, strict=True):
            spelled = frame.spelled[index]
            coordinate = c if isinstance(c, Name) else Name(
                self.lowering.let("int", f"box_{spelled}", c), 0, extent - 1)
            name = frame.names.take(f"place_{spelled}") if _folds(sides) else spelled
            self.lowering.emit(Let("Index", name, self.origins[index] + coordinate))
            places.append(_Place(coordinate, Name(name)))
        return places

    def _tests(self, places: list[_Place], edges: tuple[Sides, ...]) -> list[Expr]:
        """Whether this step makes a place, and some valid output needs it; without an edge rule none lies outside."""
        tests: list[Expr] = []
        gone, left = self.step - 1, self.fusing.steps - self.step
        for p, extent, n, sides, (low, high) in zip(
                places, self.extents, self.frame.counts, edges, self.fusing.halo, strict=True):
            tests += [compare(">=", p.local, gone * low), compare("<", p.local, extent - gone * high)]
            tests += [compare("<", p.place, n + left * high)] if any(sides) else [Call("within", (p.place, n))]
        return tests

    def _emit_values(self, group: tuple[str, ...], places: list[_Place], edges: tuple[Sides, ...]) -> None:
        """The values of a group at one place, or what a constant rule has there."""
        lowering, at = self.lowering, tuple(p.place for p in places)
        folded, outside = lowering.edges(edges, at, self.frame.counts)
        with lowering.block() as inside:
            env = {**self.frame.extents, **self._computed(places, folded, edges)}
            for u in group:
                self._emit_one(u, places, lowering.value(self.equations[u].value, env))
        if not outside:
            lowering.emit(*inside)
            return
        with lowering.block() as beyond:
            for u in group:
                own = lowering.edges(self.tensors[u].edges, at, self.frame.counts)[1]
                if own:
                    self._emit_one(u, places, self._constant(own))
        test = every(t for t, _ in outside)
        lowering.emit(Either(test, tuple(inside), tuple(beyond)) if beyond else When(test, tuple(inside)))

    def _emit_one(self, u: str, places: list[_Place], value: Text) -> None:
        """One value into the box that this step writes."""
        box = replace(self.boxes[u], buffer=self.step % 2)
        at = tuple(p.local + self.origins[index] - origin
                   for p, index, origin in zip(places, self.frame.indices, box.origin, strict=True))
        self.lowering.emit(Assign(Element(box.array, box.element(at)), store(value, self.tensors[u].type)))

    def _constant(self, outside: list[tuple[Expr, Value]]) -> Text:
        """What the lowest axis that is outside has there, where one is."""
        value = self.lowering.value(outside[-1][1], self.frame.extents)
        for test, nearer in reversed(outside[:-1]):
            value = Chosen(test, value, self.lowering.value(nearer, self.frame.extents))
        return value

    def _computed(self, places: list[_Place], folded: list[Expr], edges: tuple[Sides, ...]) -> dict[str, Expr]:
        """The indices of the place whose value it is; around which element its neighbours lie, the lowering is told."""
        frame, lowering = self.frame, self.lowering
        env: dict[str, Expr] = {}
        for index, p, f, sides, n in zip(frame.indices, places, folded, edges, frame.counts, strict=True):
            name, at = frame.spelled[index], self.origins[index] + p.local
            if _folds(sides):
                lowering.emit(Let("Index", name, f))
                at = _neighbours(p, at, Name(name, 0), sides, n)
            lowering.local[name], lowering.limits[name] = at, n
            env[index] = Name(name, 0)
        return env


@contextmanager
def _own_scope(frame: Frame) -> Iterator[None]:
    """Names taken inside may be taken again afterwards, and what is known of the indices inside is forgotten."""
    names, limits = frame.names, dict(frame.lowering.limits)
    frame.names = frame.lowering.names = names.copy()
    yield
    frame.names = frame.lowering.names = names
    frame.lowering.limits = limits


def _folds(sides: Sides) -> bool:
    return any(rule is not None and rule.name != "constant" for rule in sides)


def _neighbours(p: _Place, own: Expr, folded: Expr, sides: Sides, n: Expr) -> Expr:
    """Where the neighbours lie: of a place beyond a side that wraps around it, else around the place folded to."""
    low, high = (kind == "wrap" for kind in kinds(sides))
    if low and high:
        return own
    if low or high:
        return Select(compare("<", p.place, Int(0)) if low else compare(">=", p.place, n), own, folded)
    return folded


def _seams(edges: tuple[Sides, ...]) -> tuple[Sides, ...]:
    """The edge rules that reads must apply themselves, where one side of some axis wraps and the other does not."""
    return edges if any(kinds(sides).count("wrap") == 1 for sides in edges) else ()
