"""Program -> Plan: what the schedule says, what it leaves open, and what cannot be honoured."""

from __future__ import annotations

from math import prod

from layoutc.diagnostics import Diagnostic, LayoutcError
from layoutc.layout import Layout
from layoutc.plan.frame import Choice
from layoutc.plan.halo import Axis, Footprint, children, footprints
from layoutc.plan.head import head
from layoutc.plan.names import Names
from layoutc.plan.nodes import Plan, Signature, Storage, Target
from layoutc.plan.ownership import Ownership, by_layout, over_box, striped, vectored
from layoutc.plan.steps import File
from layoutc.plan.strategies.tile import plan_tile
from layoutc.resolve.program import Const, Equation, Kernel, Program, Reduce, Schedule, Stage, StageChoice, Value
from layoutc.resolve.types import Type, compute_type
from layoutc.source import Span

DEFAULT_TILES: tuple[tuple[int, ...], ...] = ((), (1024,), (16, 64), (2, 8, 64))   # by rank, the last repeated
DEFAULT_THREADS = 256
STAGED_FROM = 9         # reads an output from which a tensor is worth staging
MEDIAN_WINDOW = 255     # elements that a thread sorts
KEPT_FROM = 2           # evaluations an output from which a let is worth keeping


def make_plan(
    program: Program, kernel: Kernel, schedule: Schedule | None, signature: Signature, target: Target
) -> Plan:
    """The plan of a kernel under a schedule (None: the compiler's own).

    Raises:
        LayoutcError: a clause cannot be honoured; the diagnostic stands at the clause.
    """
    names = Names()
    passes, functions = [], []
    entry = names.take(kernel.name)
    for number, equations in enumerate(groups(kernel)):
        choice = Chooser(program, kernel, equations, schedule, target).choose()
        own = names.copy()
        name = entry if number == 0 else names.take(f"{kernel.name}_{equations[0].output}")
        made, function = plan_tile(kernel, choice, signature, own, name)
        passes.append(made)
        functions.append(function)
    index = "i64" if signature.wide else "int"
    file = File(head(kernel, schedule, tuple(passes)), index, tuple(functions))
    return Plan(kernel, schedule, signature, target, tuple(passes), file)


def default_signature(kernel: Kernel) -> Signature:
    """Contiguous, aligned tensors of less than 2**31 bytes."""
    tensors = (*kernel.inputs, *kernel.outputs)
    return Signature(False, (True,) * len(tensors), tuple(16 // t.type.bytes for t in tensors))


def groups(kernel: Kernel) -> list[tuple[Equation, ...]]:
    """Equations that share their index space, one pass each."""
    found: dict[tuple[str, ...], list[Equation]] = {}
    for equation in kernel.equations:
        found.setdefault(equation.indices, []).append(equation)
    return [tuple(g) for g in found.values()]


class Chooser:
    """Decides one pass: tile, owner, storage."""

    def __init__(
        self, program: Program, kernel: Kernel, equations: tuple[Equation, ...], schedule: Schedule | None,
        target: Target,
    ) -> None:
        self.program, self.kernel, self.equations, self.target = program, kernel, equations, target
        self.schedule = schedule or Schedule(None)
        self.indices = equations[0].indices
        self.stages = {s.tensor: s for s in self.schedule.stages}
        self.lets = {s.name: s for s in kernel.stages}

    def choose(self) -> Choice:
        """Everything that the pass needs to know."""
        self._check_medians()
        tile = self._tile()
        kept = self._kept_lets()
        found = self._footprints(kept)
        owner = self._owner(tile, found)
        storage = self._storage(tile, owner, found, kept)
        return Choice(self.equations, tile, owner, storage, tuple(found.values()), self.schedule.vector or 1,
                      frozenset(self.schedule.unroll))

    def refuse(self, slug: str, message: str, span: Span, help: str = "") -> LayoutcError:
        """The error at a place of the schedule."""
        return LayoutcError([Diagnostic(slug, message, self.program.source, span, help=help)])

    def _span(self, word: str) -> Span:
        return dict(self.schedule.clause_spans).get(word, self.schedule.span)

    def _check_medians(self) -> None:
        """A median sorts in registers, so its range must be known and small."""
        for reduce in medians(self.kernel):
            sizes = [int(b.high.value) - int(b.low.value) if isinstance(b.low, Const) and isinstance(b.high, Const)
                     else None for b in reduce.binders]
            if None in sizes or not 0 < prod(n for n in sizes if n is not None) <= MEDIAN_WINDOW:
                raise self.refuse("median-range", "the range of a median is not constant, or holds none or more than "
                                  f"{MEDIAN_WINDOW} elements", reduce.span)

    # ---- tile and threads

    def _tile(self) -> tuple[int, ...]:
        rank = len(self.indices)
        if self.schedule.tile is not None:
            sizes = dict(self.schedule.tile)
            return tuple(sizes.get(i, 1) for i in self.indices)
        threads = self.schedule.threads
        if threads is not None and threads.layout is not None and rank == 1:
            return (threads.layout.size,)
        known = DEFAULT_TILES[min(rank, len(DEFAULT_TILES) - 1)]
        return (1,) * (rank - len(known)) + known

    def _owner(self, tile: tuple[int, ...], found: dict[str, Footprint]) -> Ownership:
        threads = self.schedule.threads
        if threads is not None and threads.layout is not None:
            layout = threads.layout
            if not isinstance(layout, Layout):
                raise self.refuse("threads-layout", f"`{layout}` is no shape:stride", self._span("threads"),
                                  "own outputs by a plain layout; a swizzle has no place here")
            if layout.size != prod(tile):
                raise self.refuse(
                    "threads-layout", f"`{layout}` places {layout.size} outputs, the tile has {prod(tile)}",
                    self._span("threads"), "name all of the tile's outputs once")
            return by_layout(tile, layout)
        if threads is not None and threads.over is not None:
            return self._over_box(tile, threads.over, found)
        count = threads.count if threads is not None and threads.count is not None else min(DEFAULT_THREADS, prod(tile))
        widest = min(16 // self._output_type(e).bytes for e in self.equations)
        vector = min(self.schedule.vector or 1, widest)
        if vector > 1 and tile and tile[-1] % vector == 0 and prod(tile) % (count * vector) == 0:
            return vectored(tile, count, vector)
        return striped(tile, count)

    def _output_type(self, equation: Equation) -> Type:
        return next(t.type for t in self.kernel.outputs if t.name == equation.output)

    def _over_box(self, tile: tuple[int, ...], tensor: str, found: dict[str, Footprint]) -> Ownership:
        span = self._span("threads")
        footprint = found.get(tensor)
        stage = self.stages.get(tensor)
        if footprint is None or footprint.axes is None:
            why = footprint.why if footprint is not None else f"`{tensor}` is not read"
            raise self.refuse("threads-over", f"no thread for each element of `{tensor}`: {why}", span)
        if tuple(a.index for a in footprint.axes) != self.indices or any(a.scale != 1 for a in footprint.axes):
            raise self.refuse("threads-over", f"`{tensor}` is not read along the outputs' own indices", span)
        if stage is None or stage.where != "shared":
            raise self.refuse("threads-over", f"`{tensor}` is not staged", span, f"add `stage {tensor} in shared`")
        box = tuple(a.extent(size) for a, size in zip(footprint.axes, tile, strict=True))
        if prod(box) > self.target.block_threads:
            raise self.refuse("threads-over", f"the box of `{tensor}` has {prod(box)} elements, "
                              f"a block {self.target.block_threads} threads at most", span, "make the tile smaller")
        if any(a.low > 0 or a.high < 0 for a in footprint.axes):
            raise self.refuse("threads-over", f"the box of `{tensor}` does not cover the tile", span)
        return over_box(tile, box, tuple(-a.low for a in footprint.axes))

    # ---- storage

    def _kept_lets(self) -> frozenset[str]:
        """Lets held in shared memory: as the schedule says, else where inlining would compute them again."""
        chosen = {name for name, s in self.stages.items() if name in self.lets and s.where == "shared"}
        if self.schedule.stages or not self.indices:
            return frozenset(chosen)
        for stage in self.kernel.stages:
            found = self._footprints(frozenset(chosen | {stage.name})).get(stage.name)
            heavy = any(f.reads >= KEPT_FROM for f in footprints(self.kernel, (stage,)).values())
            if found is not None and found.axes is not None and found.reads >= KEPT_FROM and heavy and _spread(found):
                chosen.add(stage.name)
        return frozenset(chosen)

    def _footprints(self, kept: frozenset[str]) -> dict[str, Footprint]:
        """Boxes per output of the tile; what a kept let reads is reached from its own box."""
        readers: tuple[Equation | Stage, ...] = (*self.equations, *(s for s in self.kernel.stages if s.name in kept))
        return grown(self.kernel, self.equations, kept) if kept else footprints(self.kernel, readers)

    def _storage(
        self, tile: tuple[int, ...], owner: Ownership, found: dict[str, Footprint], kept: frozenset[str]
    ) -> tuple[Storage, ...]:
        out: list[Storage] = []
        types = {t.name: t.type for t in self.kernel.inputs} | {s.name: s.type for s in self.kernel.stages}
        for name, type in types.items():
            if name not in found:
                continue
            stage = self.stages.get(name)
            if stage is not None:
                held = self._as_told(name, type, stage, tile, owner, found[name])
            elif name in kept:
                held = self._box(name, compute_type(type), "shared", tile, found[name])
            else:
                held = self._by_default(name, type, tile, found[name])
            if held is not None:
                out.append(held)
        self._check_budget(tuple(out))
        return tuple(out)

    def _as_told(
        self, name: str, type: Type, stage: StageChoice, tile: tuple[int, ...], owner: Ownership, found: Footprint
    ) -> Storage | None:
        match stage.where:
            case "global":
                return None
            case "constant":
                return self._in_constant(name, type, stage)
        if found.axes is None:
            raise self.refuse("cannot-stage", f"`{name}` has no box: {found.why}", stage.span,
                              f"read it from global memory: `stage {name} in global`")
        if name in self.lets and stage.where == "registers":
            raise self.refuse("cannot-stage", f"the let `{name}` lives in registers already", stage.span,
                              f"leave `stage {name} in registers` out")
        if stage.where == "registers":
            return self._in_registers(name, type, stage, owner, found)
        box = self._box(name, compute_type(type) if name in self.lets else type, "shared", tile, found)
        if stage.halo_global:
            if name in self.lets:
                raise self.refuse("cannot-stage", f"the let `{name}` has no copy in global memory", stage.span)
            return self._core(box, tile, stage)
        return box

    def _core(self, box: Storage, tile: tuple[int, ...], stage: StageChoice) -> Storage:
        """The box without its halo; what lies outside is read from global memory."""
        axes = []
        for a in box.axes or ():
            low, high = (a.low, a.high) if a.index is None else (max(a.low, 0), min(a.high, a.scale - 1))
            if low > high:
                raise self.refuse("cannot-stage", f"the box of `{box.tensor}` has no part inside the tile", stage.span)
            axes.append(Axis(a.index, a.scale, low, high))
        core = Footprint(box.tensor, tuple(axes), 0)
        return Storage(box.tensor, "shared", box.type, self._extents(tile, core), tuple(axes), halo_global=True)

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
            if a.index is not None:
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

    def _box(self, name: str, type: Type, where: str, tile: tuple[int, ...], found: Footprint) -> Storage:
        return Storage(name, where, type, self._extents(tile, found), found.axes)

    def _extents(self, tile: tuple[int, ...], found: Footprint) -> tuple[int, ...]:
        sizes = dict(zip(self.indices, tile, strict=True))
        return tuple(a.extent(sizes[a.index] if a.index is not None else 1) for a in found.axes or ())

    def _by_default(self, name: str, type: Type, tile: tuple[int, ...], found: Footprint) -> Storage | None:
        """Staged in shared memory where neighbours share enough of what they read and the box fits."""
        if self.schedule.stages or found.axes is None or found.reads < STAGED_FROM or not _spread(found):
            return None
        if len([a for a in found.axes if a.index is not None]) < min(len(self.indices), 1):
            return None
        box = self._box(name, type, "shared", tile, found)
        return box if box.bytes <= self._budget() // 2 else None

    def _budget(self) -> int:
        told = self.schedule.shared_budget
        return self.target.shared_bytes if told is None else min(told, self.target.shared_bytes)

    def _check_budget(self, storage: tuple[Storage, ...]) -> None:
        needed = sum(s.bytes * s.copies for s in storage if s.where == "shared")
        if needed <= self._budget():
            return
        told = self.schedule.shared_budget is not None
        raise self.refuse(
            "over-budget", f"a block needs {needed} bytes of shared memory, the budget is {self._budget()}",
            self._span("budget") if told else self.schedule.span, "make the tile smaller or stage less")


def medians(kernel: Kernel) -> list[Reduce]:
    """Every median of a kernel."""
    found: list[Reduce] = []
    waiting: list[Value] = [*(e.value for e in kernel.equations), *(s.value for s in kernel.stages)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Reduce) and value.op == "median":
            found.append(value)
        waiting += children(value)
    return found


def _spread(found: Footprint) -> bool:
    """Whether neighbouring outputs read common elements."""
    return any(a.index is not None and a.high - a.low >= a.scale for a in found.axes or ())


def grown(kernel: Kernel, equations: tuple[Equation, ...], kept: frozenset[str]) -> dict[str, Footprint]:
    """Boxes where some lets are kept: what a kept let reads is its box grown by its own halo."""
    found = footprints(kernel, equations, kept)
    for stage in reversed(kernel.stages):
        if stage.name not in kept or stage.name not in found:
            continue
        outer = found[stage.name]
        for name, inner in footprints(kernel, (stage,), kept).items():
            composed = compose(outer, inner, stage)
            found[name] = composed if name not in found else union(found[name], composed)
    return found


def compose(outer: Footprint, inner: Footprint, stage: Stage) -> Footprint:
    """What the readers of a let reach of a tensor through it."""
    if outer.axes is None or inner.axes is None:
        return Footprint(inner.tensor, None, inner.reads, outer.why or inner.why)
    if any(r is not None and r.name != "constant" for sides in stage.edges for r in sides):
        return Footprint(inner.tensor, None, inner.reads, f"`{stage.name}` folds at its edges")
    by_index = dict(zip(stage.indices, outer.axes, strict=True))
    axes = []
    for a in inner.axes:
        if a.index is None:
            axes.append(a)
            continue
        o = by_index[a.index]
        axes.append(Axis(o.index, a.scale * o.scale, a.scale * o.low + a.low, a.scale * o.high + a.high))
    return Footprint(inner.tensor, tuple(axes), inner.reads * max(outer.reads, 1))


def union(a: Footprint, b: Footprint) -> Footprint:
    """The box around two boxes of one tensor."""
    if a.axes is None or b.axes is None:
        return a if a.axes is None else b
    axes = []
    for x, y in zip(a.axes, b.axes, strict=True):
        if (x.index, x.scale) != (y.index, y.scale):
            return Footprint(a.tensor, None, a.reads + b.reads, f"`{a.tensor}` is read along different indices")
        axes.append(Axis(x.index, x.scale, min(x.low, y.low), max(x.high, y.high)))
    return Footprint(a.tensor, tuple(axes), a.reads + b.reads)
