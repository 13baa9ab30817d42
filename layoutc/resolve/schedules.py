"""Schedules: what each clause asks for, checked against the kernel that it is for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import NoReturn

from layoutc.diagnostics import Label, did_you_mean
from layoutc.parse import syntax
from layoutc.resolve.accesses import AccessResolver
from layoutc.resolve.constants import Statics
from layoutc.resolve.errors import Errors, Refused, each
from layoutc.resolve.program import MOST_TILE, Schedule, StageChoice, Threads
from layoutc.resolve.surface import Surface
from layoutc.resolve.threads import ThreadsResolver, outputs_of
from layoutc.resolve.words import COPIES, PLACES, Copies, one_of
from layoutc.source import Span

MOST_VECTOR = 16                # elements a memory access: 16 bytes of the smallest type
MOST_BUDGET = 2**31 - 1
MOST_FUSED = 64                 # steps a launch
UNITS = {"bytes": 1, "B": 1, "KiB": 2**10, "MiB": 2**20}


def _turn(clause: syntax.ScheduleClause) -> int:
    """The layout of threads must fit the tile; layouts of loads and stores are for these threads."""
    return 2 if isinstance(clause, syntax.Access) else int(isinstance(clause, syntax.Threads))


@dataclass(slots=True)
class ScheduleResolver:
    """One schedule while its clauses are read."""

    errors: Errors
    statics: Statics
    surface: Surface
    written: syntax.Schedule
    found: Schedule = field(default_factory=Schedule)      # as far as it is read
    spans: dict[str, Span] = field(default_factory=dict)
    stages: dict[str, StageChoice] = field(default_factory=dict)
    unroll: dict[str, Span] = field(default_factory=dict)
    accesses: AccessResolver = field(init=False)

    def __post_init__(self) -> None:
        self.accesses = AccessResolver(self.errors, self.statics, self.surface, self.written.kernel.id)

    def resolve(self) -> Schedule | None:
        """The schedule, or None where something was wrong."""
        before = self.errors.met
        for clause in sorted(self.written.clauses, key=_turn):
            with suppress(Refused):
                self._clause(clause)
        if "march" in self.spans and "fuse" in self.spans:
            self.errors.report(
                "bad-march", self.spans["march"], "a tile of fused steps is not walked", "this clause",
                others=[Label(self.spans["fuse"], "the steps")], help="leave `march` or `fuse` out")
        if "mma" in self.spans:
            self._check_mma()
        if self.errors.met > before:
            return None
        name = self.written.name
        return replace(
            self.found,
            name=name.id if name else None,
            stages=tuple(self.stages.values()),
            unroll=tuple(self.unroll),
            loads=tuple(self.accesses.loads.values()),
            stores=tuple(self.accesses.stores.values()),
            span=self.written.span,
            clause_spans=tuple(self.spans.items()),
        )

    def _clause(self, clause: syntax.ScheduleClause) -> None:
        match clause:
            case syntax.Tile(sizes, span):
                self._once("tile", span)
                self.found = replace(self.found, tile=self._tile(sizes, span))
            case syntax.Threads(value, span):
                self._once("threads", span)
                self.found = replace(self.found, threads=self._threads(value, span))
            case syntax.ThreadsOver(tensor, span):
                self._once("threads", span)
                self._tensor(tensor)
                self.found = replace(self.found, threads=Threads(over=tensor.id, span=span))
            case syntax.Stage():
                self._stage(clause)
            case syntax.Vector(elements, span):
                self._once("vector", span)
                self.found = replace(self.found, vector=self._vector(elements))
            case syntax.Budget():
                self._once("budget", clause.span)
                self.found = replace(self.found, shared_budget=self._budget(clause))
            case syntax.Unroll(index, span):
                self._unroll(index, span)
            case syntax.Access():
                tile = self.found.tile
                self.accesses.add(clause, self.found.threads, None if tile is None else dict(tile))
            case syntax.March(index, span):
                self._once("march", span)
                self.found = replace(self.found, march=self._march(index))
            case syntax.Fuse(steps, span):
                self._once("fuse", span)
                self.found = replace(self.found, fuse=self._fuse(steps, span))
            case syntax.Mma(way, span):
                self._once("mma", span)
                self.found = replace(self.found, mma=True, copies=None if way is None else self._copies(way))

    def _once(self, word: str, span: Span) -> None:
        if word in self.spans:
            self.errors.refuse(
                "duplicate-clause", span, f"this schedule has `{word}` twice", "again",
                others=[Label(self.spans[word], "first given here")],
            )
        self.spans[word] = span

    # ---- tile and threads

    def _tile(self, sizes: Sequence[tuple[syntax.Name, syntax.Expression]], span: Span) -> tuple[tuple[str, int], ...]:
        seen: dict[str, Span] = {}
        for name, _ in sizes:
            if name.id in seen:
                self.errors.refuse(
                    "duplicate-clause", name.span, f"the tile names `{name.id}` twice", "again",
                    others=[Label(seen[name.id], "first here")],
                )
            seen[name.id] = name.span
        tile = tuple(each(sizes, self._tile_size))
        outputs = max((outputs_of(output, dict(tile)) for output in self.surface.outputs), default=1)
        if outputs > MOST_TILE:
            self.errors.refuse(
                "bad-tile", span, f"a tile of {outputs} outputs is too large", f"more than {MOST_TILE}",
                help="make an extent smaller",
            )
        return tile

    def _tile_size(self, item: tuple[syntax.Name, syntax.Expression]) -> tuple[str, int]:
        name, written = item
        known = [*self.surface.indices, *(n for n in self.surface.reduced if n not in self.surface.indices)]
        if name.id not in known:
            self._unknown_index(name, known)
        size = self.statics.integer(written)
        what = "outputs wide" if name.id in self.surface.indices else "steps of a reduction long"
        if not 1 <= size <= MOST_TILE:
            self.errors.refuse(
                "bad-tile", written.span, f"a tile is 1 to {MOST_TILE} {what}, not {size}",
                "too small" if size < 1 else "too large",
            )
        return name.id, size

    def _unknown_index(self, name: syntax.Name, known: Sequence[str]) -> NoReturn:
        there = ", ".join(f"`{n}`" for n in known) or "none"
        self.errors.refuse(
            "unknown-name", name.span, f"the kernel `{self.written.kernel.id}` has no index `{name.id}` here",
            "unknown",
            help=did_you_mean(name.id, known), notes=[f"what can stand here: {there}"],
        )

    def _threads(self, written: syntax.Expression, span: Span) -> Threads:
        found = self.found
        return ThreadsResolver(
            self.errors, self.statics, self.surface, dict(found.tile or ()), found.march).resolve(written, span)

    # ---- the rest

    def _tensor(self, name: syntax.Name) -> None:
        known = [*self.surface.inputs, *self.surface.lets]
        if name.id not in known:
            self.errors.refuse(
                "unknown-name", name.span, f"the kernel `{self.written.kernel.id}` reads no `{name.id}`", "unknown",
                help=did_you_mean(name.id, known),
            )

    def _stage(self, clause: syntax.Stage) -> None:
        self._tensor(clause.tensor)
        name = clause.tensor.id
        if name in self.stages:
            self.errors.refuse(
                "duplicate-clause", clause.span, f"this schedule stages `{name}` twice", "again",
                others=[Label(self.stages[name].span, "first staged here")],
            )
        written, where = clause.where.id, one_of(PLACES, clause.where.id)
        if where is None:
            self.errors.refuse(
                "bad-stage", clause.where.span, f"there is no place `{written}` to stage in", "unknown",
                help=did_you_mean(written, PLACES), notes=[f"the places are {', '.join(PLACES)}"],
            )
        if clause.double and (where != "shared" or name in self.surface.lets):
            what = f"the let `{name}` is computed in the kernel" if where == "shared" else f"`{name}` waits in {where}"
            self.errors.refuse(
                "bad-stage", clause.span, f"two buffers are for what travels to shared memory; {what}",
                "no transfer to hide", help="leave `double` out",
            )
        if clause.halo_global and where != "shared":
            self.errors.refuse(
                "bad-stage", clause.span, f"`halo global` belongs to `in shared`, not to `in {where}`",
                "no tile to pass",
            )
        if where == "constant" and not self.surface.inputs.get(name, False):
            what = "is computed in the kernel" if name in self.surface.lets else "has extents known only at the call"
            self.errors.refuse(
                "bad-stage", clause.span, f"`{name}` {what}, and constant memory needs an input of constant extents",
                "cannot be constant", help=f"`stage {name} in shared`",
            )
        self.stages[name] = StageChoice(name, where, clause.halo_global, clause.double, clause.span)

    def _vector(self, written: syntax.Expression) -> int:
        elements = self.statics.integer(written)
        if not 1 <= elements <= MOST_VECTOR or elements & (elements - 1):
            self.errors.refuse(
                "bad-vector", written.span, f"a memory access takes 1, 2, 4, 8 or 16 elements, not {elements}",
                "no such access",
            )
        return elements

    def _budget(self, clause: syntax.Budget) -> int:
        if clause.memory.id != "shared":
            self.errors.report(
                "bad-budget", clause.memory.span, f"only `shared` memory has a budget, not `{clause.memory.id}`",
                "unknown",
                help=did_you_mean(clause.memory.id, ["shared"]),
            )
        if clause.unit is not None and clause.unit.id not in UNITS:
            self.errors.refuse(
                "bad-budget", clause.unit.span, f"there is no unit `{clause.unit.id}`", "unknown",
                help=did_you_mean(clause.unit.id, UNITS),
                notes=[f"the units are {', '.join(UNITS)}; without one, bytes"],
            )
        amount = self.statics.integer(clause.amount) * (UNITS[clause.unit.id] if clause.unit else 1)
        if not 0 <= amount <= MOST_BUDGET:
            self.errors.refuse(
                "bad-budget", clause.amount.span, f"a budget is 0 to {MOST_BUDGET} bytes, not {amount}", "out of range"
            )
        return amount

    def _fuse(self, written: syntax.Expression, span: Span) -> int:
        steps = self.statics.integer(written)
        if not 1 <= steps <= MOST_FUSED:
            self.errors.refuse(
                "bad-fuse", written.span, f"a launch makes 1 to {MOST_FUSED} steps, not {steps}",
                "too few" if steps < 1 else "too many",
            )
        if not self.surface.steps:
            self.errors.refuse(
                "bad-fuse", span, f"`{self.written.kernel.id}` has no `step`, and `fuse` joins steps",
                "nothing to join", help="say which output is the next of which input: `step u = v`",
            )
        return steps

    def _march(self, index: syntax.Name) -> str:
        if index.id not in self.surface.indices:
            self._unknown_index(index, list(self.surface.indices))
        return index.id

    def _copies(self, way: syntax.Name) -> Copies:
        known = one_of(COPIES, way.id)
        if known is None:
            self.errors.refuse(
                "bad-mma", way.span, f"factors come via `boxes` or via `threads`, not via `{way.id}`", "no such way",
                help=did_you_mean(way.id, COPIES))
        return known

    def _check_mma(self) -> None:
        """What tensor cores leave open: the tile, the number of threads, the shared memory."""
        others: list[tuple[str, Span]] = [("stage", s.span) for s in self.stages.values()]
        others += [("load", a.span) for a in self.accesses.loads.values()]
        others += [("store", a.span) for a in self.accesses.stores.values()]
        others += [(w, self.spans[w]) for w in ("vector", "unroll", "march", "fuse") if w in self.spans]
        for word, span in others:
            self.errors.report(
                "bad-mma", span, f"with `mma` a schedule has no `{word}`: fragments decide that", "this clause",
                others=[Label(self.spans["mma"], "by tensor cores")], help="leave one of them out")
        threads = self.found.threads
        if threads is not None and threads.count is None:
            self.errors.report(
                "bad-mma", threads.span, "with `mma` outputs are owned as the fragments of `mma.sync` say",
                "no layout here", others=[Label(self.spans["mma"], "by tensor cores")], help="give a count of threads")

    def _unroll(self, index: syntax.Name, span: Span) -> None:
        known = [*self.surface.reduced, *self.surface.indices]
        if index.id not in known:
            self._unknown_index(index, known)
        if index.id in self.unroll:
            self.errors.refuse(
                "duplicate-clause", span, f"this schedule unrolls `{index.id}` twice", "again",
                others=[Label(self.unroll[index.id], "first here")],
            )
        self.unroll[index.id] = span
        self.spans.setdefault("unroll", span)
