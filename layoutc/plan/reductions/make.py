"""The steps by which a team makes reductions: each worker its share, then all that it shares a warp or a block with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from layoutc.index import TRUE, Expr, Int, Name, compare, dot, exclusive
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.lowering.loops import nest
from layoutc.plan.lowering.places import InGlobal
from layoutc.plan.nodes import Storage
from layoutc.plan.reads.subscripts import Env
from layoutc.plan.reductions.course import Course, split, walk
from layoutc.plan.reductions.fit import AHEAD
from layoutc.plan.reductions.group import Group, bound, inner_binders, is_of_one_tensor, plain_reads
from layoutc.plan.reductions.parts import Cells, Part, parts_of
from layoutc.plan.reductions.team import Team
from layoutc.plan.steps import Assign, Barrier, Either, Halving, Loop, Registers, Shared, Step, Variable, When
from layoutc.plan.values import Element, Function, Operation, Text, memory_type
from layoutc.plan.values import Variable as Held
from layoutc.resolve.program import Reduce
from layoutc.resolve.trees import parts


@dataclass(slots=True)
class Making:
    """The reductions of one pass in the making."""

    frame: Frame
    team: Team
    env: Env                        # extents and the outputs' indices; by columns the vectors' elements too
    course: Course
    element: Expr                   # of a run of elements side by side
    base: Expr = Int(0)             # by columns: the first output of a thread
    whole: Expr = TRUE              # by columns: that all outputs of a thread exist
    exists: Expr = TRUE             # by columns: that an element's output does
    unroll: int = AHEAD
    exact: bool = False             # float sums are compensated: a worker may have many terms
    shared: list[Storage] = field(default_factory=list)
    spare: list[Storage] = field(default_factory=list)      # declared before, and free again

    def make(self, group: Group) -> list[Cells]:
        """What each thread has of the group's reductions after all its points."""
        cells = [self.begin(one.reduce) for one in group.members]
        unroll = 0 if self.is_heavy(group) else self.unroll
        if self.team.by_columns:
            self._columns(group, cells, unroll)
            return [replace(c, lost=None) for c in cells]
        *outer, fast = group.digits
        narrow = self.team.vector > 1 and not self.frame.signature.wide
        few = narrow and is_of_one_tensor(self.frame.kernel, group, self.env)
        whole, rest = split(self.frame, fast, self.team.vector)
        walk(self.frame, self.course, (*outer, whole), self.team.vector, unroll,
             lambda at: self._run(group, cells, at), few)
        if rest is not None:
            first = self.at(cells, Int(0))
            with self.frame.lowering.block() as steps:
                walk(self.frame, self.course, (*outer, rest), 1, 0, lambda at: self._take(group, at, first), few)
            left = compare("<", whole.count, fast.count) if outer else TRUE     # a loop of its own finds out itself
            self.frame.lowering.emit(*(steps if left == TRUE else (When(left, tuple(steps)),)))
        return self.folded(cells)

    def begin(self, reduce: Reduce) -> Cells:
        """Variables of nothing yet, one for each element side by side."""
        held, frame, vector = parts_of(reduce), self.frame, self.team.vector
        other = tuple(frame.names.take(f"{p.name}_there") for p in held)
        count = len(held)
        if self.exact and reduce.op == "sum" and reduce.type.is_float:
            held = (*held, Part("lost", held[0].type, held[0].identity))
        if vector == 1:
            cells: list[Text] = [Held(frame.names.take(p.name)) for p in held]
            frame.lowering.emit(*(Variable(p.register, str(c), p.identity) for p, c in zip(held, cells, strict=True)))
        else:
            arrays = [frame.names.take(f"{p.name}_run") for p in held]
            cells = [Element(a, self.element) for a in arrays]
            frame.lowering.emit(
                *(Registers(p.register, a, vector) for p, a in zip(held, arrays, strict=True)),
                self._each(Assign(c, p.identity) for p, c in zip(held, cells, strict=True)))
        return Cells(reduce, tuple(cells[:count]), other, cells[count] if len(held) > count else None)

    def at(self, cells: Sequence[Cells], element: Expr) -> list[Cells]:
        """The cells of one element."""
        def of(a: Text) -> Text:
            return Element(a.array, element) if isinstance(a, Element) else a
        return [replace(c, at=tuple(map(of, c.at)), lost=None if c.lost is None else of(c.lost)) for c in cells]

    def _each(self, steps: Iterable[Step], first: int = 0) -> Loop:
        return Loop(True, "int", str(self.element), Int(first), Int(self.team.vector), tuple(steps))

    def is_heavy(self, group: Group) -> bool:
        """Whether a point is a loop of its own."""
        return any(inner_binders(one) or _holds_reduction(one.reduce) for one in group.members)

    # ---- a thread's points

    def _take(self, group: Group, at: Sequence[Expr], cells: Sequence[Cells]) -> None:
        """One point into every reduction."""
        for one, into in zip(group.members, cells, strict=True):
            nest(self.frame.lowering, one.reduce, inner_binders(one), bound(group, one, self.env, at), into)

    def _run(self, group: Group, cells: Sequence[Cells], at: tuple[Expr, ...]) -> None:
        """A run of elements, as vectors where they lie so."""
        if self.team.vector == 1:
            self._take(group, at, cells)
            return
        places = (*at[:-1], at[-1] + self.element)
        low = group.digits[-1].low
        if not isinstance(low, Int) or low.value % self.team.vector:
            self._elements(group, places, cells, TRUE)
            return
        with self._loaded(group, places, at[-1]):
            self._elements(group, places, cells, TRUE)

    def _elements(self, group: Group, places: tuple[Expr, ...], cells: Sequence[Cells], exists: Expr) -> None:
        lowering = self.frame.lowering
        with lowering.block() as steps:
            self._take(group, places, cells)
        body = tuple(steps) if exists == TRUE else (When(exists, tuple(steps)),)
        lowering.emit(self._each(body))

    def _columns(self, group: Group, cells: list[Cells], unroll: int) -> None:
        """Runs lie along the outputs: the walk is over all other ranges."""
        frame = self.frame

        def course(exists: Expr, load: bool) -> None:
            def body(at: tuple[Expr, ...]) -> None:
                if self.team.vector == 1:
                    self._take(group, at, cells)
                elif load:
                    with self._loaded(group, at, self.base):
                        self._elements(group, at, cells, exists)
                else:
                    self._elements(group, at, cells, exists)
            walk(frame, self.course, group.digits, 1, unroll, body)

        if self.team.vector == 1:
            course(TRUE, False)
            return
        with frame.lowering.block() as yes:
            course(TRUE, True)
        with frame.lowering.block() as no:
            course(self.exists, False)
        frame.lowering.emit(Either(self.whole, tuple(yes), tuple(no)))

    @contextmanager
    def _loaded(self, group: Group, places: tuple[Expr, ...], base: Expr) -> Iterator[None]:
        """Loads of whole runs that begin at ``base``, known to the reads of their elements."""
        lowering, vector = self.frame.lowering, self.team.vector
        known: list[tuple[str, tuple[Expr, ...]]] = []
        for one in group.members:
            env = bound(group, one, self.env, places)
            for tensor, at in plain_reads(self.frame.kernel, one.reduce.body, env):
                place = lowering.places.get(tensor)
                if (tensor, at) in lowering.runs or not isinstance(place, InGlobal):
                    continue
                first = tuple(e.over({str(self.element): Int(0)}) for e in at)
                if self._is_run(tensor, place, at, first, base):
                    source = Operation("+", Held(place.array), dot(first, place.strides))
                    pack = lowering.let(f"Pack<{memory_type(place.type)}, {vector}>", f"{place.array}_run",
                                        Function(f"load<{vector}>", (source,)))
                    lowering.runs[tensor, at] = Element(pack, self.element)
                    known.append((tensor, at))
        yield
        for key in known:
            self.frame.names.release(lowering.runs.pop(key).array)

    def _is_run(
        self, tensor: str, place: InGlobal, at: tuple[Expr, ...], first: tuple[Expr, ...], base: Expr
    ) -> bool:
        """Whether elements lie side by side from a whole vector's place on, as the signature knows."""
        frame, vector = self.frame, self.team.vector
        number = frame.signature.of(frame.kernel, tensor)
        if not at or not frame.signature.unit[number] or frame.signature.vectors[number] < vector:
            return False
        offset = at[-1] - self.element - base
        if at[:-1] != first[:-1] or not isinstance(offset, Int) or offset.value % vector:
            return False
        rules = [any(side is not None for side in sides) for sides in place.edges] or [False] * len(at)
        if rules[-1] and offset != Int(0):
            return False
        return all(frame.lowering.is_inside(e, n) == (True, True)
                   for rule, e, n in zip(rules, first, place.extents, strict=True) if rule)

    # ---- threads meet

    def folded(self, cells: Sequence[Cells]) -> list[Cells]:
        """The elements of each thread joined."""
        if self.team.vector == 1:
            return [replace(c, lost=None) for c in cells]
        out = []
        frame = self.frame
        for c in cells:
            held = parts_of(c.reduce)
            names = [frame.names.take(p.name) for p in held]
            into = Cells(c.reduce, tuple(map(Held, names)), c.other)
            first, each = self.at([c], Int(0))[0], self.at([replace(c, lost=None)], self.element)[0]
            frame.lowering.emit(
                *(Variable(p.register, n, v) for p, n, v in zip(held, names, first.at, strict=True)),
                self._each(into.join(each.at), 1))
            out.append(into)
        return out

    def met(self, cells: Sequence[Cells], by_all: bool) -> None:
        """What all threads of a team have: every one of them gets it, or where not all need it, the first."""
        if self.team.by_columns:
            self._meet_columns(cells, by_all)
            return
        team, lowering = self.team, self.frame.lowering
        if team.workers == 1:
            return
        lane: Expr = self.course.worker
        if team.workers > team.width:
            lane = Name(lowering.let("int", "lane", team.thread % team.width), 0, team.width - 1)
        self._in_warp(cells, lane, team.width)
        if team.workers > team.width:
            self._across_warps(cells, lane)

    def _in_warp(self, cells: Sequence[Cells], lane: Expr, width: int) -> None:
        """Rounds of shuffles, half as far each time: afterwards all lanes of a team agree."""
        if width == 1:
            return
        distance = self.frame.names.take("distance")
        source = exclusive(lane, Name(distance))
        steps: list[Step] = []
        for c in cells:
            brought = tuple(Function("shuffle", (Held(self.team.mask), held, source, Int(width))) for held in c.at)
            steps += c.join_there(brought)
        self.frame.lowering.emit(Halving(distance, width // 2, tuple(steps)))
        self.frame.names.release(distance)

    def _across_warps(self, cells: Sequence[Cells], lane: Expr) -> None:
        """The first lane of each warp leaves what its warp has; after a barrier every warp meets over all of that."""
        team, frame = self.team, self.frame
        warps = team.workers // team.width
        width = 1 << (warps - 1).bit_length()
        begin = team.thread // team.workers * warps
        left: list[Step] = []
        gathered: list[Step] = []
        for c in cells:
            for part, cell in zip(parts_of(c.reduce), c.at, strict=True):
                array = self._array(part, (warps * team.slots,), "warp")
                left.append(Assign(Element(array, team.thread // team.width), cell))
                there = Assign(cell, Element(array, begin + lane % width))
                gathered += [there] if width == warps else [
                    Assign(cell, part.identity), When(compare("<", lane % width, Int(warps)), (there,))]
        frame.lowering.emit(When(compare("==", lane, Int(0)), tuple(left)), Barrier(), *gathered)
        self._in_warp(cells, lane, width)

    def _array(self, part: Part, extents: tuple[int, ...], whose: str) -> str:
        """A shared array of the block."""
        frame = self.frame
        for held in self.spare:
            if (held.type, held.extents) == (part.type, extents):
                self.spare.remove(held)
                return held.tensor
        array = frame.names.take(f"{part.name}_of_{whose}")
        frame.lowering.emit(Shared(part.register, array, extents))
        storage = Storage(array, "shared", part.type, extents)
        self.shared.append(storage)
        frame.shared_bytes += storage.bytes
        return array

    def _meet_columns(self, cells: Sequence[Cells], by_all: bool) -> None:
        """Every thread leaves its columns; after a barrier theirs are gathered from every group of workers."""
        team, frame = self.team, self.frame
        if team.workers == 1:
            return
        row = team.slots * team.vector
        mine = team.thread % team.slots * team.vector + self.element
        arrays = [[self._array(p, (team.workers, row), "group") for p in parts_of(c.reduce)] for c in cells]
        leave = [Assign(Element(a, team.worker * row + mine), cell)
                 for names, c in zip(arrays, cells, strict=True) for a, cell in zip(names, c.at, strict=True)]
        group = frame.names.take("group")
        gather: list[Step] = []
        for names, c in zip(arrays, cells, strict=True):
            first = [Assign(cell, Element(a, mine)) for a, cell in zip(names, c.at, strict=True)]
            there = tuple(Element(a, Name(group, 1) * row + mine) for a in names)
            gather += [*first, Loop(True, "int", group, Int(1), Int(team.workers), c.join_there(there))]
        gathered = self._over_elements(gather)
        if not by_all:
            gathered = (When(compare("==", self.course.worker, Int(0)), gathered),)
        frame.lowering.emit(*self._over_elements(leave), Barrier(), *gathered)
        frame.names.release(group)

    def _over_elements(self, steps: Sequence[Step]) -> tuple[Step, ...]:
        return tuple(steps) if self.team.vector == 1 else (self._each(steps),)


def _holds_reduction(reduce: Reduce) -> bool:
    return any(isinstance(v, Reduce) for v in parts(reduce.body))
