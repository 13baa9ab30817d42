"""Where the sums of a product go: lanes make what is stored of theirs, and store it in vectors as wide as may be.

An accumulator gives four neighbouring lanes pairs of outputs side by side. Where 16 bytes may be stored at once, lanes
change parts first: of as many pairs as lanes, each lane then has one whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from layoutc.index import TRUE, Expr, Int, Name, compare, dot, every
from layoutc.index import both as both_of
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.used import with_used
from layoutc.plan.matrix.operand import Operand
from layoutc.plan.matrix.product import Product
from layoutc.plan.matrix.tiling import VECTOR_BYTES, Tiling
from layoutc.plan.steps import Assign, Do, Either, Let, Loop, Step, Steps, Variable, When
from layoutc.plan.values import Element, Function, Operation, c_type, store
from layoutc.plan.values import Variable as Held
from layoutc.resolve.program import Cast, Equation, Value

PAIR = 2                # outputs side by side in a lane
LANES = 4               # side by side, whose pairs are
WIDTH = PAIR * LANES    # outputs side by side that they have


@dataclass(frozen=True, slots=True)
class Results:
    """The outputs of one pass."""

    frame: Frame
    product: Product
    tiling: Tiling
    rows: Operand
    columns: Operand
    sums: str
    counts: Mapping[str, Expr]      # per index of the outputs how many there are

    def emit(self) -> None:
        """Every lane's outputs, row after row: where they lie is the accumulator's layout."""
        names, lowering = self.frame.names, self.frame.lowering
        count = self.tiling.warp[0] // 8
        part = Name(names.take("part"), 0, count - 1)
        row = position(self.frame, self.product.rows.side, "row")
        inside = compare("<", Name(row, 0), self.rows.outputs)
        equations = self.frame.choice.equations
        wide = {e.output: self._lanes(e) for e in equations}
        with lowering.block() as body:
            for equation in equations:
                if wide[equation.output] > 1:
                    self._emit_runs(equation, part, wide[equation.output], inside)
            paired = [e for e in equations if wide[e.output] == 1]
            if paired:
                lowering.emit(When(inside, self._pairs(paired, part)))
        where = coordinates(self.frame, self.counts, self.product.rows.side, Name(row, 0))
        if not [e for e in equations if wide[e.output] > 1]:
            guarded, = body
            assert isinstance(guarded, When)
            body = [When(inside, with_used(where, guarded.body))]
            where = ()
        place = self._place(part, Int(0))[0]
        lowering.emit(Loop(True, "int", str(part), Int(0), Int(count), (
            Let("Index", row, self.rows.first + place), *with_used(where, tuple(body)))))

    # ---- places

    def _item(self, part: Expr, pair: Expr) -> Expr:
        """The first of a pair among the lane's sums."""
        return (part // 2 * (self.tiling.warp[1] // WIDTH) + pair) * 4 + part % 2 * PAIR

    def _place(self, part: Expr, pair: Expr) -> tuple[Expr, Expr]:
        """Its row and its column in the tile."""
        at = {"item": self._item(part, pair)}
        row, column = places_in_tile(self.frame.choice.owner.places, self.product, self.frame.indices)
        return row.over(at), column.over(at)

    def _at(self, column: Expr) -> dict[str, Expr]:
        """Indices of the output in a column, the only index that moves it."""
        return {i: Name(self.frame.spelled[i], 0) for i in self.frame.indices} | {self.product.columns.side[0]: column}

    def _element(self, equation: Equation, at: Mapping[str, Expr]) -> Element:
        place = self.frame.place_of(equation.output)
        return Element(place.array, dot((at[i] for i in equation.indices), place.strides))

    def _vector(self, equation: Equation) -> int:
        """Outputs side by side that one access moves; 1 where columns run on from one line to another."""
        frame = self.frame
        one = frame.signature.vectors[frame.signature.of(frame.kernel, equation.output)]
        return one if len(self.product.columns.side) == 1 else 1

    def _exists(self, column: Expr) -> Expr:
        return TRUE if self.columns.is_whole else compare("<", column, self.columns.outputs)

    def _made(self, equation: Equation, item: Expr, column: str, target: Element) -> Steps:
        """One output, from the sum that is the lane's number ``item``."""
        lowering, frame = self.frame.lowering, self.frame
        at = {i: Name(frame.spelled[i], 0) for i in frame.indices}
        with lowering.block() as made:
            lowering.made[self.product.sum] = Element(self.sums, item)
            value = lowering.value(equation.value, {**frame.extents, **at})
            lowering.emit(Assign(target, store(value, frame.output(equation).type)))
        return with_used(coordinates(frame, self.counts, self.product.columns.side, Name(column, 0)), tuple(made))

    # ---- 16 bytes at once

    def _lanes(self, equation: Equation) -> int:
        """Neighbouring lanes that change parts so that each stores 16 bytes; 1: they do not."""
        bytes = self.frame.output(equation).type.bytes
        lanes = VECTOR_BYTES // (PAIR * bytes)
        whole = self._vector(equation) * bytes >= VECTOR_BYTES and self.tiling.warp[1] // WIDTH % lanes == 0
        return lanes if whole and lanes <= LANES else 1

    def _emit_runs(self, equation: Equation, part: Expr, lanes: int, inside: Expr) -> None:
        """Of some pairs each lane makes its parts; when lanes have changed them each has a run side by side."""
        names, lowering = self.frame.names, self.frame.lowering
        vector, count = PAIR * lanes, self.tiling.warp[1] // WIDTH // lanes
        group, element = Name(names.take("group"), 0, count - 1), Name(names.take("element"), 0, vector - 1)
        column = position(self.frame, self.product.columns.side, "column")
        run, first = names.take(f"{self.frame.arrays[equation.output]}_run"), names.take("first")
        pair = group * lanes + element // PAIR
        made = self._made(equation, self._item(part, pair) + element % PAIR, column, Element(run, element))
        if not _is_the_sum(equation.value, self.product):       # others may read what stands at outputs alone
            made = (When(every((inside, self._exists(Name(column, 0)))), made),)
        here = Let("Index", column, self.columns.first + self._place(part, pair)[1] + element % PAIR)
        thread = Name("thread", 0, self.tiling.threads - 1)
        moved = self._place(part, group * lanes)[1] + thread % lanes * (WIDTH - PAIR)
        type = f"Pack<{c_type(self.frame.output(equation).type)}, {vector}>"
        lowering.emit(Loop(True, "int", str(group), Int(0), Int(count), (
            Variable(type, run, Function(type, ())),
            Loop(True, "int", str(element), Int(0), Int(vector), with_used((here,), made)),
            Do(Function(f"exchange_parts<{lanes}>", (Held(run),))),
            Let("Index", first, self.columns.first + moved),
            When(inside, self._stored(equation, Name(first, 0), element, run, vector)))))
        for name in (str(group), str(element), run, first):
            names.release(name)

    def _stored(self, equation: Equation, first: Expr, element: Expr, run: str, vector: int) -> Steps:
        """A run by one store, or those of its outputs that there are."""
        place = self._element(equation, self._at(first))
        whole: Steps = (Do(Function("store", (Operation("+", Held(place.array), place.index), Held(run)))),)
        last = self._exists(first + (vector - 1))
        if last == TRUE:
            return whole
        single: Step = Assign(self._element(equation, self._at(first + element)), Element(run, element))
        return (Either(last, whole, (Loop(True, "int", str(element), Int(0), Int(vector), (
            When(self._exists(first + element), (single,)),)),)),)

    # ---- two at once

    def _pairs(self, equations: Sequence[Equation], part: Expr) -> Steps:
        """Two columns side by side after two others."""
        names, count = self.frame.names, self.tiling.warp[1] // WIDTH
        pair, first = Name(names.take("pair"), 0, count - 1), names.take("first")
        with self.frame.lowering.block() as body:
            self.frame.lowering.emit(Let("Index", first, self.columns.first + self._place(part, pair)[1]))
            for equation in equations:
                self._emit_pair(equation, Name(first, 0), self._item(part, pair))
        names.release(str(pair))
        names.release(first)
        return (Loop(True, "int", str(pair), Int(0), Int(count), tuple(body)),)

    def _emit_pair(self, equation: Equation, first: Expr, item: Expr) -> None:
        """Each of a pair where it is an output; stored at once where they surely lie side by side in memory."""
        names, side = self.frame.names, self.product.columns.side
        element = Name(names.take("element"), 0, PAIR - 1)
        output = self.frame.output(equation)
        paired = self._vector(equation) > 1
        column = position(self.frame, side, "column")
        run = names.take(f"{self.frame.arrays[equation.output]}_pair")
        at = {i: Name(self.frame.spelled[i], 0) for i in self.frame.indices}
        target = Element(run, element) if paired else self._element(equation, at)
        made = self._made(equation, item + element, column, target)
        exists = self._exists(Name(column, 0))
        both = Loop(True, "int", str(element), Int(0), Int(PAIR), (
            Let("Index", column, first + element), *(made if exists == TRUE else (When(exists, made),))))
        if paired:
            type = f"Pack<{c_type(output.type)}, {PAIR}>"
            self.frame.lowering.emit(Variable(type, run, Function(type, ())), both,
                                     *self._store_pair(equation, first, run))
        else:
            self.frame.lowering.emit(both)
        for name in (str(element), run, *([column] if len(side) > 1 else [])):
            names.release(name)

    def _store_pair(self, equation: Equation, first: Expr, run: str) -> Steps:
        """Both of a pair, or its first alone at the end of a row."""
        element = self._element(equation, self._at(first))
        both: Step = Do(Function("store", (Operation("+", Held(element.array), element.index), Held(run))))
        if self.columns.is_whole:
            return (both,)
        whole, some = (compare("<", first + k, self.columns.outputs) for k in (1, 0))
        return (When(whole, (both,)), When(both_of(some, compare(">=", first + 1, self.columns.outputs)),
                                           (Assign(element, Element(run, Int(0))),)))


def _is_the_sum(value: Value, product: Product) -> bool:
    """Whether an output is the sum itself, perhaps as another type."""
    return _is_the_sum(value.operand, product) if isinstance(value, Cast) else value == product.sum


def position(frame: Frame, side: Sequence[str], wanted: str) -> str:
    """A name for a row or column: the index's own where there is one."""
    return frame.spelled[side[0]] if len(side) == 1 else frame.names.take(wanted)


def coordinates(frame: Frame, counts: Mapping[str, Expr], side: Sequence[str], position: Expr) -> Steps:
    """The indices of a row or column, the last fastest."""
    if len(side) == 1:
        return ()
    out: list[Step] = []
    rest = position
    for index in reversed(side):
        here = rest
        if index != side[0]:
            here, rest = rest % counts[index], rest // counts[index]
        out.append(Let("Index", frame.spelled[index], here))
    return tuple(reversed(out))


def places_in_tile(places: Sequence[Expr], product: Product, indices: Sequence[str]) -> tuple[Expr, Expr]:
    """The row and the column in the tile of a thread's item."""
    at = dict(zip(indices, places, strict=True))
    return at[product.rows.side[-1]], at[product.columns.side[-1]]
