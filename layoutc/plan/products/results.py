"""Where the sums of a thread go: every output that there is, runs of neighbours by one store where they lie so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutc.index import TRUE, Expr, Int, Name, compare, every
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.loading import emit_when
from layoutc.plan.kernel.outputs import emit_runs, emit_values
from layoutc.plan.kernel.sums import Sums
from layoutc.plan.kernel.used import with_used
from layoutc.plan.products.division import Division
from layoutc.plan.products.lines import Line, Words
from layoutc.plan.steps import Either, Loop, Step, Steps


@dataclass(frozen=True, slots=True)
class Results:
    """The outputs of one thread."""

    frame: Frame
    division: Division
    lines: tuple[Line, Line]
    batch: dict[str, Expr]
    sums: Sums
    places: Sequence[Expr]      # where the thread's outputs begin along either side
    words: Words

    def emit(self) -> None:
        """Loops over both sides, that of several indices outside: its places take divisions."""
        run, (rows, columns) = self._run(), self.division.sides
        row = _counter(self.words.row_item, rows.items)
        first = _counter(self.words.column_item, columns.items // run) * run
        declared, place, at = self._at(0, row)
        along = self._in_runs(row, first, run, at) if run > 1 else self._one_by_one(row, first, at)
        inside = (((declared, self._exists(0, place)), self.words.row_item, rows.items),
                  (along[1], self.words.column_item, columns.items // run))
        steps = along[0]
        for (lets, test), name, count in inside if len(self.lines[0].indices) <= len(self.lines[1].indices) else (
                inside[1], inside[0]):
            with self.frame.lowering.block() as body:
                emit_when(self.frame, test, list(steps))
            steps = with_used(lets, tuple(body))
            if count > 1:
                steps = (Loop(True, "int", name, Int(0), Int(count), steps),)
        self.frame.lowering.emit(*steps)

    def _at(self, number: int, item: Expr) -> tuple[list[Step], Expr, dict[str, Expr]]:
        """The place of an item along a side."""
        return self.lines[number].at(self.places[number] + self.division.sides[number].after(item))

    def _exists(self, number: int, place: Expr) -> Expr:
        """The test that a place along a side is an output's."""
        total = self.lines[number].total
        full = isinstance(total, Int) and total.value % self.division.sides[number].outputs == 0
        return TRUE if full else compare("<", place, total)

    def _coordinates(self, at: dict[str, Expr]) -> tuple[Expr, ...]:
        return tuple({**self.batch, **at}[i] for i in self.frame.indices)

    def _one_by_one(
        self, row: Expr, column: Expr, at: dict[str, Expr]
    ) -> tuple[Steps, tuple[list[Step], Expr]]:
        """One output, and what must be known and hold of its column."""
        self.sums.item = row * self.division.columns.items + column
        declared, place, here = self._at(1, column)
        with self.frame.lowering.block() as steps:
            emit_values(self.frame, self._coordinates(at | here))
        return tuple(steps), (declared, self._exists(1, place))

    # ---- runs

    def _run(self) -> int:
        """Outputs side by side that a thread may store at once."""
        frame, together = self.frame, self.division.run
        return together if all(frame.vector_of(e.output) >= together for e in frame.choice.equations) else 1

    def _in_runs(
        self, row: Expr, first: Expr, run: int, at: dict[str, Expr]
    ) -> tuple[Steps, tuple[list[Step], Expr]]:
        """A run by one store where it is whole, lies in one row and is aligned there; else one output after another."""
        frame, line = self.frame, self.lines[1]
        element = Name(self.words.element, 0, run - 1)
        declared, place, here = self._at(1, first)
        last = here[line.indices[-1]]
        self.sums.item = row * self.division.columns.items + first + element
        with frame.lowering.block() as whole:
            emit_runs(frame, self._coordinates(at | here), element, run)
        single, (lets, test) = self._one_by_one(row, first + element, at)
        with frame.lowering.block() as body:
            emit_when(frame, test, list(single))
        one_by_one = Loop(True, "int", self.words.element, Int(0), Int(run), with_used(lets, tuple(body)))
        tests = [self._exists(1, place + (run - 1))]
        if len(line.indices) > 1:
            tests += [compare("==", last % run, Int(0)), compare("<", last + (run - 1), line.counts[-1])]
        found = every(t for t in tests if t != TRUE)
        steps = tuple(whole) if found == TRUE else (Either(found, tuple(whole), (one_by_one,)),)
        return steps, (declared, TRUE)


def _counter(name: str, count: int) -> Expr:
    return Name(name, 0, count - 1) if count > 1 else Int(0)
