"""A walk as a schedule asks for it: ``march i`` and what stands beside it."""

from __future__ import annotations

from math import prod

from layoutc.diagnostics import LayoutcError
from layoutc.layout.named import blocked
from layoutc.plan.machine import WARP
from layoutc.plan.passing.widths import columns_of
from layoutc.plan.refusal import needing, refusal
from layoutc.plan.window.shape import Knobs, Shape, lined_of, shape_of
from layoutc.plan.work import Work
from layoutc.resolve.program import MOST_THREADS, Schedule
from layoutc.source import Span

ROWS, THREADS = 32, 128     # where the schedule leaves them open
ON_THEIR_WAY = 2            # rows in shared memory ahead of the one that is read
WRITTEN_OUT = 16            # turns


def told_shape(work: Work, walked: str) -> Shape:
    """The walk along an index that the schedule names.

    Raises:
        LayoutcError: a clause cannot be honoured; it stands at the clause.
    """
    asked = _Asked(work, walked)
    made = shape_of(work, walked, asked.knobs())
    if isinstance(made, str):
        raise asked.refuse("cannot-march", f"no march along `{walked}`: {made}", "march",
                           "leave `march` out, or march along an index that windows slide along")
    asked.check_stages(made)
    return made


class _Asked:
    """The clauses of one schedule."""

    def __init__(self, work: Work, walked: str) -> None:
        assert work.schedule is not None
        self.work, self.walked, self.schedule = work, walked, work.schedule
        self.indices = work.indices
        self.lined = lined_of(self.indices, walked)
        self.beside = lined_of(tuple(i for i in self.indices if i != self.lined), walked)

    def refuse(self, slug: str, message: str, word: str, help: str = "", span: Span | None = None) -> LayoutcError:
        """The error at a clause."""
        schedule: Schedule = self.schedule
        place = span or dict(schedule.clause_spans).get(word, schedule.span)
        return refusal(self.work.program, slug, message, place, help)

    def knobs(self) -> Knobs:
        """The sizes that the schedule says; what it leaves open is chosen."""
        for access in (*self.schedule.loads, *self.schedule.stores):
            raise self.refuse("bad-access", "a march brings its rows itself, whatever layout is told", "load",
                              "leave this layout out", access.span)
        sizes = dict(self.schedule.tile or ())
        told = self.schedule.tile is not None
        rows = sizes.get(self.walked, 1 if told else ROWS if self.lined is not None else ROWS * THREADS)
        width = sizes.get(self.lined or "", 1 if told or self.lined is None else 0)
        deep = sizes.get(self.beside or "", 1)
        for i in self.indices:
            if i not in (self.walked, self.lined, self.beside) and sizes.get(i, 1) > 1:
                raise self.refuse("cannot-march", f"a march along `{self.walked}` makes one output a block along `{i}`",
                                  "tile", f"leave `{i}` out of the tile")
        columns, across, down = self._threads(width, deep, rows)
        vector = self.schedule.vector or 0
        ring = ON_THEIR_WAY if any(s.where == "shared" for s in self.schedule.stages) else 0
        if ring and across * deep != WARP and down > 1:
            ring = 0
        turns = 0 if rows // down <= WRITTEN_OUT or self.walked in self.schedule.unroll else 1
        return Knobs(columns, rows // down, across, down, deep, ring=ring, turns=turns, most_vector=vector,
                     ring_of_any=ring > 0)

    def _threads(self, width: int, deep: int, rows: int) -> tuple[int, int, int]:
        """Columns of a thread, threads along the last index, and along the walked one."""
        wanted = columns_of(self.work) if self.lined is not None else 1
        if self.schedule.vector is not None:
            wanted = min(wanted, self.schedule.vector)
        threads = self.schedule.threads
        count = None
        if threads is not None and threads.over is not None:
            raise self.refuse("threads-over", "in a march each thread makes outputs", "threads",
                              "give the number of threads")
        if threads is not None:
            count = threads.layout[0].size if threads.layout is not None else threads.count
        if self.lined is None:
            down = count or max(d for d in range(1, THREADS + 1) if rows % d == 0)
            if rows % down:
                raise self.refuse("threads-layout", f"{down} threads do not divide a tile of {rows} outputs", "threads",
                                  "give as many threads as divide it")
            self._check_layout(rows // down, rows, 1)
            return 1, 1, down
        if not width:
            return wanted, max((count or THREADS) // deep, 1), 1
        if count is None:
            fitting = [c for c in range(1, width + 1) if width % c == 0 and width // c * deep <= MOST_THREADS]
            columns = max((c for c in fitting if c <= wanted), default=min(fitting, default=0))
            if not columns:
                raise self.refuse("cannot-march", f"{deep} lines of the tile want more than {MOST_THREADS} threads",
                                  "tile", "make the tile smaller")
            return columns, width // columns, 1
        for down in (d for d in range(1, rows + 1) if rows % d == 0):
            lanes = count // (deep * down)
            if lanes and lanes * deep * down == count and width % lanes == 0:
                self._check_layout(width // lanes, prod((width, deep)), down)
                return width // lanes, lanes, down
        raise self.refuse("threads-layout", f"{count} threads do not divide the tile's {deep * width} outputs of a row",
                          "threads", "give as many threads as divide them")

    def _check_layout(self, columns: int, outputs: int, down: int) -> None:
        layout = self.schedule.threads.layout if self.schedule.threads is not None else None
        if layout is None:
            return
        if down > 1 or layout.values != blocked(outputs // columns, columns).values:
            raise self.refuse("threads-layout", f"in a march each thread owns neighbouring outputs, which {layout} "
                              "does not say", "threads", f"blocked({outputs // columns}, {columns})")

    def check_stages(self, made: Shape) -> None:
        """Whether every tensor waits where the schedule says."""
        held = {w.tensor: w.where for w in made.weights}
        held |= {b.tensor: "shared" if b.ring else "registers" for b in made.bands}
        for s in self.schedule.stages:
            if s.where not in (held.get(s.tensor, "global"), "registers" if s.tensor in held else "global"):
                where = held.get(s.tensor, "global")
                raise self.refuse(
                    "cannot-stage", f"in this march `{s.tensor}` waits in {where}, not in {s.where}", "stage",
                    "leave this clause out", s.span)
        budget = self.schedule.shared_budget
        needed = made.shared_bytes
        room = min(budget, self.work.target.shared_bytes) if budget is not None else self.work.target.shared_bytes
        if needed > room:
            raise self.refuse("over-budget", f"a block needs {needed} bytes of shared memory, it can have {room}",
                              "budget", "make the tile smaller", needing(self.schedule))
