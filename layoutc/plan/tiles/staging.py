"""Where each tensor's elements wait: what the schedule says, a sensible choice where it says nothing, the budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

from layoutc.diagnostics import LayoutcError
from layoutc.plan.nodes import Storage, Target
from layoutc.plan.ownership import Ownership
from layoutc.plan.reads.chunks import Chunk, ranges_of_extents
from layoutc.plan.reads.footprints import Axis, Footprint, footprints
from layoutc.plan.reads.fusing import Fusing, refused_box
from layoutc.plan.reads.reach import groups, grown
from layoutc.plan.redistributions.redistributed import CannotRedistributeError, needed
from layoutc.plan.refusal import needing, refusal
from layoutc.plan.tiles.keeping import is_worth_keeping
from layoutc.resolve.program import Const, Equation, Kernel, Program, Schedule, Stage, StageChoice
from layoutc.resolve.types import Type, compute_type
from layoutc.source import Span

STAGED_FROM = 9         # reads an output from which a tensor is worth staging
HELD_UP_TO = 64         # elements that a thread holds in registers unasked


class Staging:
    """Decides the storage of one pass; ``found`` are the boxes of all that it reads."""

    def __init__(
        self, program: Program, kernel: Kernel, equations: tuple[Equation, ...], schedule: Schedule, target: Target,
        tile: tuple[int, ...], chunks: tuple[Chunk, ...] = (), fusing: Fusing | None = None,
    ) -> None:
        self.program, self.kernel, self.equations, self.target = program, kernel, equations, target
        self.schedule, self.chunks, self.fusing = schedule, chunks, fusing
        self._chunked = tuple(c.index for c in chunks)
        self.indices = equations[0].indices
        self.sizes = dict(zip(self.indices, tile, strict=True)) | {c.index: c.size for c in chunks}
        self.stages = {s.tensor: s for s in schedule.stages}
        self.loads = {a.tensor: a for a in schedule.loads}
        self.lets = {s.name: s for s in kernel.stages}
        for name in self._left_to_others():
            self.stages.pop(name, None)
            self.loads.pop(name, None)
        self._room = self.budget // 2            # bytes of shared memory for what the schedule leaves open
        self.kept = self._kept_lets()
        self.found = self._grown(self.kept)
        if fusing is not None:
            self.found = fusing.grown(self.found, self.indices)

    def refuse(self, slug: str, message: str, span: Span, help: str = "") -> LayoutcError:
        """The error at a place of the schedule."""
        return refusal(self.program, slug, message, span, help)

    def _left_to_others(self) -> set[str]:
        """What the schedule has staged, or loaded by a layout, that has a box in other passes alone."""
        told = {*(name for name, s in self.stages.items() if s.where in ("shared", "registers")), *self.loads}
        others = [g for g in groups(self.kernel) if g != self.equations]
        if not told or not others or self.fusing is not None:
            return set()
        kept = frozenset(told & self.lets.keys())
        here = self._grown(kept)
        missing = {name for name in told if name in here and here[name].axes is None}
        there = [grown(self.kernel, g, kept, near=True) for g in others] if missing else []
        return {name for name in missing if any(name in f and f[name].axes is not None for f in there)}

    def _grown(self, kept: frozenset[str]) -> dict[str, Footprint]:
        """Boxes that hold all that is read of what has one; fused steps are made outside the domain too."""
        return grown(self.kernel, self.equations, kept, self._chunked, near=self.fusing is None)

    def _kept_lets(self) -> frozenset[str]:
        """Lets held in shared memory: as the schedule says, else where inlining would compute them again."""
        chosen = {name for name, s in self.stages.items() if name in self.lets and s.where == "shared"}
        if self.fusing is not None:
            for name in chosen:
                raise self.refuse("cannot-stage", f"with `fuse` the let `{name}` is made where it is read",
                                  self.stages[name].span, f"leave `stage {name} in shared` out")
            return frozenset()
        if self.schedule.stages or not self.indices:
            return frozenset(chosen)
        for stage in self.kernel.stages:
            found = self._grown(frozenset(chosen | {stage.name})).get(stage.name)
            if found is None or found.axes is None:
                continue
            box = self._box(stage.name, compute_type(stage.type), "shared", found)
            places = min(found.reads, prod(a.high - a.low + 1 for a in found.axes))     # a place is computed once
            elements, outputs = prod(box.extents), prod(self.sizes[i] for i in self.indices)
            if is_worth_keeping(stage, self.lets, frozenset(chosen), places, elements, outputs) and self._fits(box):
                chosen.add(stage.name)
        return frozenset(chosen)

    def choose(self, owner: Ownership) -> tuple[Storage, ...]:
        """What waits in shared memory, registers or constant memory; the rest is read from global memory."""
        found = self.found
        out: list[Storage] = []
        types = {t.name: t.type for t in self.kernel.inputs} | {s.name: s.type for s in self.kernel.stages}
        for name, type in types.items():
            if name not in found:
                continue
            stage = self.stages.get(name)
            if stage is None and name in self.loads and self.fusing is not None:
                stage = StageChoice(name, "shared", span=self.loads[name].span)
            if self.fusing is not None and (name in self.fusing.stepped or stage is not None):
                held = self._with_fuse(name, type, stage, owner, self.fusing)
            elif stage is not None:
                held = self._as_told(name, type, stage, owner, found[name])
            elif name in self.loads:
                held = self._to_load(name, type, owner, found[name])
            elif name in self.kept:
                held = self._box(name, compute_type(type), "shared", found[name])
            elif self.fusing is None or not refused_box(self.kernel, self.fusing, found[name]):
                held = self._by_default(name, type, found[name])
            else:
                held = None
            if held is not None:
                out.append(held)
        return tuple(out)

    def _as_told(
        self, name: str, type: Type, stage: StageChoice, owner: Ownership, found: Footprint
    ) -> Storage | None:
        match stage.where:
            case "global":
                return None
            case "constant":
                return self._in_constant(name, type, stage)
        if found.axes is None:
            raise self.refuse("cannot-stage", f"`{name}` has no box: {found.why}", stage.span,
                              f"read it from global memory: `stage {name} in global`{self._or_in_chunks(name)}")
        if name in self.lets and stage.where == "registers":
            raise self.refuse("cannot-stage", f"the let `{name}` lives in registers already", stage.span,
                              f"leave `stage {name} in registers` out")
        if stage.where == "registers":
            return self._in_registers(name, type, stage, owner, found)
        box = self._box(name, compute_type(type) if name in self.lets else type, "shared", found)
        if stage.double:
            box = self._doubled(box, stage)
        if stage.halo_global:
            if name in self.lets:
                raise self.refuse("cannot-stage", f"the let `{name}` has no copy in global memory", stage.span)
            return self._core(box, stage)
        return box

    def _or_in_chunks(self, name: str) -> str:
        """What would give a tensor a box where reductions over extents leave it without one."""
        ranges = ranges_of_extents(self.kernel, self.equations)
        names = [i for i in ranges if i not in self.sizes]
        found = grown(self.kernel, self.equations, self.kept, tuple(ranges)).get(name)
        if not ranges or found is None:
            return ""
        said = ", ".join(f"`{i}`" for i in names or ranges)
        if found.axes is None:
            return f", or give {said} a range of numbers, as a window has, in place of an extent"
        return f", or walk the reduction in chunks: `tile (…, {', '.join(f'{i}: 4' for i in names)})`"

    def _with_fuse(
        self, name: str, type: Type, stage: StageChoice | None, owner: Ownership, fusing: Fusing
    ) -> Storage | None:
        """What is stepped goes to and fro between two boxes; another input's box must hold for all steps."""
        if name in fusing.stepped:
            if stage is not None and (stage.where != "shared" or stage.halo_global):
                raise self.refuse("cannot-stage", f"with `fuse` what is stepped stays in shared memory: `{name}` too",
                                  stage.span, f"write `stage {name} in shared`, or leave it out")
            return replace(self._box(name, type, "shared", self.found[name]), copies=2)
        assert stage is not None
        if stage.where == "registers":
            raise self.refuse("cannot-stage", f"with `fuse` other threads need other elements of `{name}` at each step",
                              stage.span, f"write `stage {name} in shared`")
        why = refused_box(self.kernel, fusing, self.found[name]) if stage.where == "shared" else ""
        if why:
            raise self.refuse("cannot-stage", why, stage.span, f"read it from global memory: `stage {name} in global`")
        return self._as_told(name, type, stage, owner, self.found[name])

    def _to_load(self, name: str, type: Type, owner: Ownership, found: Footprint) -> Storage | None:
        """Of a tensor whose load has a layout: in registers where each thread needs few elements, else shared."""
        span = self.loads[name].span
        if found.axes is None:
            raise self.refuse("cannot-stage", f"`{name}` has no box: {found.why}", span,
                              "leave its load to the compiler")
        try:
            held = self._as_told(name, type, StageChoice(name, "registers", span=span), owner, found)
            assert held is not None
            needed(owner, self.indices, held.axes or (), held.extents, self.box_of(found))
            if prod(held.extents) <= HELD_UP_TO:
                return held
        except (LayoutcError, CannotRedistributeError):
            pass
        return self._as_told(name, type, StageChoice(name, "shared", span=span), owner, found)

    def _core(self, box: Storage, stage: StageChoice) -> Storage:
        """The box without its halo; what lies outside is read from global memory."""
        axes = []
        for a in box.axes or ():
            low, high = (a.low, a.high) if a.index is None else (max(a.low, 0), min(a.high, a.scale - 1))
            if low > high:
                raise self.refuse("cannot-stage", f"the box of `{box.tensor}` has no part inside the tile", stage.span)
            axes.append(Axis(a.index, a.scale, low, high))
        core = Footprint(box.tensor, tuple(axes), 0)
        return replace(box, extents=self.box_of(core), axes=tuple(axes), halo_global=True)

    def _doubled(self, box: Storage, stage: StageChoice) -> Storage:
        """Two buffers for what is loaded chunk after chunk."""
        if not box.in_chunks(self._chunked):
            why = (f"the box of `{box.tensor}` does not move with {' or '.join(f'`{i}`' for i in self._chunked)}"
                   if self._chunked else "no reduction is made chunk by chunk")
            raise self.refuse("cannot-stage", f"nothing of `{box.tensor}` to buffer twice: {why}", stage.span,
                              "name an index of a reduction in the tile, or leave `double` out")
        return replace(box, copies=2)

    def _in_constant(self, name: str, type: Type, stage: StageChoice) -> Storage:
        tensor = next((t for t in self.kernel.inputs if t.name == name), None)
        extents = [e.value for e in tensor.extents if isinstance(e, Const)] if tensor is not None else []
        if tensor is None or len(extents) != len(tensor.extents):
            raise self.refuse("cannot-stage", f"`{name}` has extents that are not constant", stage.span,
                              "constant memory takes small arrays of constant extents")
        if any(r is not None for sides in tensor.edges for r in sides):
            raise self.refuse("cannot-stage", f"`{name}` has an edge rule", stage.span,
                              "constant memory holds the array alone; stage it in shared memory")
        held = Storage(name, "constant", type, tuple(int(e) for e in extents))
        if held.bytes > self.target.constant_bytes or held.bytes == 0:
            raise self.refuse("cannot-stage", f"`{name}` has {held.bytes} bytes, constant memory of a launch "
                              f"1 to {self.target.constant_bytes}", stage.span)
        return held

    def _in_registers(
        self, name: str, type: Type, stage: StageChoice, owner: Ownership, found: Footprint
    ) -> Storage:
        extents = []
        first = dict(zip(self.indices, owner.at_first_item(), strict=True))
        places = dict(zip(self.indices, owner.places, strict=True))
        for a in found.axes or ():
            span = 0
            if a.index in self._chunked:
                span = self.sizes[a.index] - 1
            elif a.index is not None:
                low, high = (places[a.index] - first[a.index]).interval
                if low is None or high is None or low < 0 or owner.partial:
                    raise self.refuse(
                        "cannot-stage", f"the outputs of a thread do not lie alike along `{a.index}` in every thread",
                        stage.span, "choose a tile and a `threads` layout that divide each other")
                span = high
            extents.append(a.scale * span + 1 + a.high - a.low)
        held = Storage(name, "registers", type, tuple(extents), found.axes)
        if held.bytes > self.target.register_bytes:
            raise self.refuse("cannot-stage", f"`{name}` needs {held.bytes} bytes of registers a thread, there are "
                              f"{self.target.register_bytes}", stage.span, "make the tile smaller or the threads more")
        return held

    def _box(self, name: str, type: Type, where: str, found: Footprint) -> Storage:
        return Storage(name, where, type, self.box_of(found), found.axes)

    def box_of(self, found: Footprint) -> tuple[int, ...]:
        """Extents of the box that a tile reads."""
        return tuple(a.extent(self.sizes[a.index] if a.index is not None else 1) for a in found.axes or ())

    def _by_default(self, name: str, type: Type, found: Footprint) -> Storage | None:
        """Staged in shared memory where neighbours share enough of what they read and the box fits."""
        if self.schedule.stages or found.axes is None or found.reads < STAGED_FROM or not spread(found):
            return None
        if len([a for a in found.axes if a.index is not None]) < min(len(self.indices), 1) or self._is_read_once(name):
            return None
        box = self._box(name, type, "shared", found)
        return box if self._fits(box) else None

    def _is_read_once(self, name: str) -> bool:
        """Whether the one reader is a kept let, and takes each element for one of its own."""
        readers: list[Equation | Stage] = [*self.equations, *(s for s in self.kernel.stages if s.name in self.kept)]
        boxes = [footprints(self.kernel, (reader,), self.kept).get(name) for reader in readers]
        return [b.reads for b in boxes if b is not None] == [1]

    def _fits(self, box: Storage) -> bool:
        """Whether there is room for one more box of the compiler's own choice; then it is taken."""
        if box.bytes > self._room:
            return False
        self._room -= box.bytes
        return True

    @property
    def budget(self) -> int:
        """Bytes of shared memory that a block may have."""
        told = self.schedule.shared_budget
        return self.target.shared_bytes if told is None else min(told, self.target.shared_bytes)

    def check_budget(self, needed: int, help: Callable[[], str]) -> None:
        """Refuse a block that would take more shared memory than it may; ``help`` may know what would fit."""
        if needed <= self.budget:
            return
        word = "the budget is" if self.budget < self.target.shared_bytes else "it can have"
        raise self.refuse("over-budget", f"a block needs {needed} bytes of shared memory, {word} {self.budget}",
                          needing(self.schedule), help() or "make the tile smaller or stage less")


def spread(found: Footprint) -> bool:
    """Whether neighbouring outputs read common elements."""
    return any(a.index is not None and a.high - a.low >= a.scale for a in found.axes or ())
