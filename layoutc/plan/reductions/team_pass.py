"""One pass of a team: which outputs it works for, what it reduces, and where results go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from layoutc.index import TRUE, Expr, Int, Name, ceildiv, compare, dot, every, multiplied, multiply, select
from layoutc.plan.kernel.frame import Choice, Frame
from layoutc.plan.names import Names
from layoutc.plan.nodes import Lanes, Pass, Storage, Workspace, WorkspaceArgument
from layoutc.plan.reads.footprints import Footprint
from layoutc.plan.reads.reach import grown
from layoutc.plan.reductions.course import Course, Digit, walk
from layoutc.plan.reductions.found import Found, find
from layoutc.plan.reductions.group import Group, groups_of
from layoutc.plan.reductions.make import Making
from layoutc.plan.reductions.parts import Cells
from layoutc.plan.reductions.team import Team
from layoutc.plan.steps import Assign, Barrier, Do, Either, Let, Loop, Shared, Step, Steps, When
from layoutc.plan.steps import Function as KernelFunction
from layoutc.plan.values import Element, Function, Operation, c_type, store
from layoutc.plan.values import Variable as Held
from layoutc.plan.work import Work
from layoutc.resolve.types import BOOL

LEAST_ROUNDS = 4            # of a worker of a block that shares its outputs: as many as it loads at a time
SHORT_ROUNDS = 16           # of a worker of a small team, up to which it is taken


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be made, and the team that makes it."""

    work: Work
    team: Team
    shares: bool        # several blocks may make parts of an output
    rounds: int         # of a worker at most, then another block takes over; 0: any number, and sums are compensated
    resident: int       # blocks that a multiprocessor has at once, as far as that is known
    bound: int          # of those, for how many the compiler must leave registers; 0: it decides
    along: str | None   # the index on which neighbours in a warp are neighbours
    unroll: int
    short: Team | None = None   # the team where what is reduced is at most SHORT_ROUNDS of its rounds


class TeamPass:
    """One function."""

    def __init__(
        self, order: Order, names: Names, entry: str, spaces: tuple[tuple[Workspace, ...], ...],
        arrived: Workspace | None,
    ) -> None:
        self.arrived = arrived
        self.order, self.spaces, self.work, self.team = order, spaces, order.work, order.team
        self.names, self.entry = names, entry

    def reducing(self, parts: Expr, sharing: Expr) -> tuple[Pass, KernelFunction]:
        """The pass that reads the inputs; ``sharing``: as many blocks as ``parts``, 0 where it is not needed."""
        read = tuple(grown(self.work.kernel, self.work.equations, frozenset()).values())
        self._begin(read)
        frame = self.frame
        with frame.lowering.block() as body:
            self._emit_place(parts, exact=not self.order.rounds)
            found = find(frame.kernel, self.work.equations, self.env)
            made: dict[Found, Cells] = {}
            groups = groups_of(frame.kernel, found, self.env, self.team.by_columns)
            for number, level in groupby(groups, _level):
                here: list[tuple[Found, Cells]] = []
                for group in level:
                    here += zip(group.members, self.making.make(group), strict=True)
                self.making.met([c for _, c in here], number < _level(groups[-1]) or bool(self.team.walked))
                for one, cells in here:
                    frame.lowering.answers[one.key] = cells.at[-1]
                made |= dict(here)
            self._emit_outputs([made[one] for one in found])
            if self.arrived is not None:
                self._join_parts(found, self.arrived)
        return self._record(sharing, parts), replace(frame.function(body), resident=self.order.bound)

    # ---- the frame

    def _begin(self, read: tuple[Footprint, ...]) -> None:
        choice = Choice(self.work.equations, self.team.tile, self.team.ownership, (), read, self.team.vector)
        self.frame = Frame(self.work.kernel, choice, self.work.signature, self.names, self.entry)
        for space in (s for group in self.spaces for s in group):
            self.frame.add_argument(WorkspaceArgument(space), f"Parts<{c_type(space.type)}>", space.name)
        if self.arrived is not None:
            self.frame.add_argument(WorkspaceArgument(self.arrived), "Out<unsigned>", self.arrived.name)
        self.element: Expr = Int(0)
        if self.team.vector > 1:
            self.element = Name(self.names.take("element"), 0, self.team.vector - 1)

    def _emit_place(self, parts: Expr, exact: bool) -> None:
        """``thread``, ``part``, and which outputs the thread works for."""
        frame, lowering, team = self.frame, self.frame.lowering, self.team
        if team.threads > 1:
            lowering.emit(Let("int", "thread", Name("threadIdx.x")))
        rest: Expr = Int(0)
        self.part: Expr = Int(0)
        self.parts: Expr = Int(1)
        if len(frame.indices) > len(team.walked) or parts != Int(1):
            lowering.emit(Let("Index", "block", Name("blockIdx.x")))
            rest = Name("block", 0)
        if parts != Int(1):
            self.parts = Name(lowering.let("Index", "parts", parts.over(frame.extents)), 1)
        if parts != Int(1) and not team.by_columns:
            self.part = rest if not frame.indices else Name(lowering.let("Index", "part", rest % self.parts), 0)
            rest = rest // self.parts
        self.tile = rest if frame.indices else Int(0)
        self._emit_indices(rest)
        worker = team.worker
        if not isinstance(worker, Int | Name):
            worker = Name(lowering.let("int", "worker", worker), 0, team.workers - 1)
        self.worker = worker
        valid = every(self.valid)
        course = Course(self.part, self.parts, worker, team.workers, TRUE if team.vector > 1 and team.by_columns
                        else valid)
        self.making = Making(frame, team, self.env, course, self.element, self.base, self.whole, self.exists,
                             self.order.unroll, exact)

    def _emit_indices(self, rest: Expr) -> None:
        """Every index of the outputs under its own name, and the tests that it exists.

        By columns neighbouring blocks make neighbouring outputs: together they read whole rows. What is left of their
        number is the part.
        """
        frame, lowering, team = self.frame, self.frame.lowering, self.team
        at: dict[int, Expr] = {}
        self.valid: list[Expr] = []
        self.base: Expr = Int(0)
        self.whole: Expr = TRUE
        self.exists: Expr = TRUE
        lets: list[Step] = []
        places = [p.over({"item": Int(0)}) for p in team.ownership.places]
        kept = [number for number in range(len(frame.indices)) if number not in team.walked]
        here_counts: list[Expr] = []
        for number in team.walked:
            at[number] = Name(frame.spelled[frame.indices[number]], 0)
        for number in reversed(kept):
            index, size, n = frame.indices[number], team.tile[number], frame.counts[number]
            here = rest
            if number != kept[0] or (team.by_columns and self.parts != Int(1)):
                blocks = ceildiv(n, size)
                if not isinstance(blocks, Int | Name):
                    blocks = Name(lowering.let("Index", f"blocks_{frame.spelled[index]}", blocks), 0)
                here_counts.append(blocks)
                here, rest = rest % blocks, rest // blocks
            name = frame.spelled[index]
            place: Expr = Name(name, 0, n.value - 1 if isinstance(n, Int) and n.value % size == 0 else None)
            lets.append(Let("Index", name, here * size + places[number]))
            lowering.limits[name] = n
            if team.by_columns and number == team.lane_index and team.vector > 1:
                self.base = place
                place = place + self.element
                self.whole = compare("<", self.base + (team.vector - 1), n)
                self.exists = compare("<", place, n)
            elif size > 1:
                self.valid.append(compare("<", place, n))
            at[number] = place
        if team.by_columns and self.parts != Int(1):
            self.part = Name(self.names.take("part"), 0)
            self.tile = Name("block", 0) % multiplied(here_counts)
            lets.append(Let("Index", str(self.part), rest))
        lowering.emit(*reversed(lets))
        self.at = [at[number] for number in range(len(frame.indices))]
        self.env = {**frame.extents, **dict(zip(frame.indices, self.at, strict=True))}

    # ---- what is left to another pass, and what is made of that

    def _place(self, part: Expr, parts: Expr) -> Expr:
        """Where a part of an output lies in its workspace: by rows an output's parts side by side, else outputs."""
        counts = self.frame.counts
        flat = dot(self.at, [multiplied(counts[n + 1:]) for n in range(len(counts))])
        if self.team.by_columns:
            return multiply(part, multiplied(counts)) + flat
        return multiply(flat, parts) + part

    def _join_parts(self, found: Sequence[Found], arrived: Workspace) -> None:
        """Where several blocks have parts of an output, the last of them joins them, always in the same order."""
        frame, lowering = self.frame, self.frame.lowering
        last, spare = frame.names.take("is_last"), list(self.making.shared)
        lowering.emit(Shared("bool", last, (1,)))
        self.making.shared.append(Storage(last, "shared", BOOL, (1,)))
        frame.shared_bytes += BOOL.bytes
        place = Held(arrived.name) if self.tile == Int(0) else Operation("+", Held(arrived.name), self.tile)
        count = Function("comes_last", (place, self.parts))
        arrives: Steps = (Assign(Element(last, Int(0)), count),)
        if self.team.threads > 1:
            arrives = (When(compare("==", Name("thread"), Int(0)), arrives),)
        fences: Steps = (Do(Function("fence", ())),)
        if self.worker != Int(0):
            fences = (When(compare("==", self.worker, Int(0)), fences),)
        with lowering.block() as joins:
            self._join(found, spare)
        lowering.emit(When(compare(">", self.parts, Int(1)), (
            *fences, Barrier(), *arrives, Barrier(), When(Element(last, Int(0)), tuple(joins)))))

    def _join(self, found: Sequence[Found], spare: list[Storage]) -> None:
        """All parts of the team's outputs, by the team as it is, in shared memory that is free again."""
        frame, team, before = self.frame, self.team, self.making
        element = self.element if team.by_columns else Int(0)
        making = replace(before, element=element, exact=True, course=replace(before.course, part=Int(0), parts=Int(1)),
                         team=team if team.by_columns else replace(team, vector=1), shared=[], spare=spare)
        cells = [making.begin(one.reduce) for one in found]

        def body(at: tuple[Expr, ...]) -> None:
            place = self._place(at[0], self.parts)
            steps: list[Step] = []
            for spaces, c in zip(self.spaces, cells, strict=True):
                steps += c.join_there(tuple(
                    Function("fetch", (Operation("+", Held(s.name), place),)) for s in spaces))
            if element == Int(0):
                frame.lowering.emit(*steps)
                return
            one: Steps = tuple(steps) if self.exists == TRUE else (When(self.exists, tuple(steps)),)
            frame.lowering.emit(Loop(True, "int", str(element), Int(0), Int(team.vector), one))

        walk(frame, making.course, (Digit.of("part", Int(0), self.parts),), 1, making.unroll, body)
        cells = [replace(c, lost=None) for c in cells]
        making.met(cells, False)
        before.shared += making.shared
        for one, c in zip(found, cells, strict=True):
            frame.lowering.answers[one.key] = c.at[-1]
        self._emit_outputs(None)

    # ---- outputs

    def _emit_outputs(self, cells: Sequence[Cells] | None) -> None:
        """One thread of a team stores its outputs, or leaves what its block has where others have parts of them."""
        lowering = self.frame.lowering
        if self.team.walked:
            self._walk_outputs()
            return
        with lowering.block() as stored:
            self._store(self.at)
        steps: Steps = tuple(stored)
        if cells is not None and self.spaces:
            left = tuple(Assign(Element(s.name, self._place(self.part, self.parts)), held)
                         for spaces, c in zip(self.spaces, cells, strict=True)
                         for s, held in zip(spaces, c.at, strict=True))
            steps = (Either(compare("==", self.parts, Int(1)), steps, left),)
        tests = [] if self.worker == Int(0) else [compare("==", self.worker, Int(0))]
        if self.element != Int(0) and self.team.by_columns:
            body: Steps = steps if self.exists == TRUE else (When(self.exists, steps),)
            steps = (Loop(True, "int", str(self.element), Int(0), Int(self.team.vector), body),)
        else:
            tests += self.valid
        test = every(tests)
        lowering.emit(*(steps if test == TRUE else (When(test, steps),)))

    def _store(self, at: Sequence[Expr]) -> None:
        """Every equation at one output."""
        frame, env = self.frame, {**self.frame.extents, **dict(zip(self.frame.indices, at, strict=True))}
        for equation in self.work.equations:
            place = frame.place_of(equation.output)
            value = store(frame.lowering.value(equation.value, env), frame.output(equation).type)
            frame.lowering.emit(Assign(Element(place.array, dot(at, place.strides)), value))

    def _walk_outputs(self) -> None:
        """All outputs that share what the team has made."""
        frame, walked = self.frame, self.team.walked
        digits = []
        for number in walked:
            name = frame.spelled[frame.indices[number]]
            frame.names.release(name)
            digits.append(Digit.of(name, Int(0), frame.counts[number]))

        def body(places: tuple[Expr, ...]) -> None:
            here = dict(zip(walked, places, strict=True))
            self._store([here.get(number, e) for number, e in enumerate(self.at)])
        walk(frame, self.making.course, digits, 1, self.order.unroll, body)

    def _record(self, sharing: Expr, parts: Expr) -> Pass:
        team, order = self.team, self.order
        vector_of_walk = 1 if team.by_columns else team.vector
        lanes = Lanes(team.workers, team.vector, None if team.by_columns else order.along, not team.by_columns,
                      team.workers * vector_of_walk * LEAST_ROUNDS if parts != Int(1) else 0)
        what = "for the outputs that share a reduction" if team.walked else "an output"
        how = f"{team.workers} threads {what}" + (f", {team.vector} elements side by side" if team.vector > 1 else "")
        notes = [f"{how}; they meet {_meeting(team)}"]
        if team == order.short:
            notes = [f"up to {SHORT_ROUNDS} runs of elements a thread: {notes[0]}"]
        elif parts != Int(1):
            notes.append(f"blocks that share an output: {parts}; the last one joins what all have")
        one = self.frame.record()
        blocks = tuple(select(compare(">", n, Int(0)), Int(1), Int(0)) if number in team.walked else b
                       for number, (b, n) in enumerate(zip(one.blocks, one.extents, strict=True)))
        return replace(one, blocks=blocks, sharing=sharing, lanes=lanes, notes=tuple(notes),
                       storage=tuple(self.making.shared))


def _meeting(team: Team) -> str:
    if team.workers == 1:
        return "nowhere"
    if team.by_columns:
        return "in shared memory"
    return "by shuffles" if team.workers <= team.width else "by shuffles, then through shared memory"


def _level(group: Group) -> int:
    return group.members[0].level
