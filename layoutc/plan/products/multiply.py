"""What a thread multiplies: vectors of both factors from shared memory, then an outer product of them.

Each element that a thread takes serves all of its outputs on the other side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from layoutc.index import Expr, Int, Name
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.sums import Sum
from layoutc.plan.products.division import Division, Side
from layoutc.plan.products.fill import Fill
from layoutc.plan.products.lines import Words
from layoutc.plan.products.shape import Product
from layoutc.plan.reads.subscripts import as_index
from layoutc.plan.steps import Assign, Loop, Registers, Steps, Strided
from layoutc.plan.values import Element, Function, Operation, Text, Variable, memory_type
from layoutc.resolve.program import Cast, Read, Value


class Multiply:
    """The products of one thread."""

    def __init__(self, frame: Frame, product: Product, division: Division, into: Sum, places: Sequence[Expr],
                 words: Words) -> None:
        self.frame, self.product, self.division, self.into = frame, product, division, into
        self.places, self.words = places, words

    def emit(self, fills: Sequence[Fill], buffer: Expr, count: Expr | None) -> None:
        """The chunk in hand into the sums: vectors of its steps, then those that are left one by one.

        ``count``: values of the chunked index that it has; None: all.
        """
        steps, vector = self.division.steps, self.division.vector
        if count is None:
            self._emit_steps(fills, buffer, Int(0), Int(steps.count), vector)
            return
        end = count * steps.each
        range = steps.chunk.range
        if vector == 1 or (range is not None and (range[1] - range[0]) * steps.each % vector == 0):
            self._emit_steps(fills, buffer, Int(0), end, vector)
            return
        whole = Name(self.frame.lowering.let("int", "whole", end // vector * vector), 0)
        self._emit_steps(fills, buffer, Int(0), whole, vector)
        self._emit_steps(fills, buffer, whole, end, 1)

    def _emit_steps(self, fills: Sequence[Fill], buffer: Expr, first: Expr, end: Expr, vector: int) -> None:
        """Some steps at a time: both factors into registers, then every product of the thread."""
        frame, division, words = self.frame, self.division, self.words
        order = ("left", "right") if self.product.left_is_rows else ("right", "left")
        names = [frame.names.take(n) for n in order]
        element = Name(words.element, 0, vector - 1) if vector > 1 else Int(0)
        item = Name("item", 0, division.items - 1)
        places = (item // division.columns.items, item % division.columns.items)
        taken = [self._taken(f, name, place, buffer, vector)
                 for f, name, place in zip(fills, names, self.places, strict=True)]
        values = [_element(side, name, place, element, vector)
                  for side, name, place in zip(division.sides, names, places, strict=True)]
        inner = Loop(True, "int", "item", Int(0), Int(division.items), self._product(values))
        if vector > 1:
            inner = Loop(True, "int", words.element, Int(0), Int(vector), (inner,))
        for name in names:
            frame.names.release(name)
        turns = division.turns if vector == division.vector else 1
        frame.lowering.emit(Strided(turns, "int", words.step, first, end, Int(vector), (*taken[0], *taken[1], inner)))

    def _taken(self, f: Fill, name: str, place: Expr, buffer: Expr, vector: int) -> Steps:
        """A thread's share of some steps of one factor, from shared memory into registers."""
        side, type, step = f.side, memory_type(f.factor.type), Name(self.words.step, 0)
        width = side.vector if side.along else vector
        runs = side.items // side.vector if side.along else side.items
        count = vector * runs if side.along else runs
        part: Expr = Name(self.words.part, 0, count - 1) if count > 1 else Int(0)
        at = ((step + part // runs) * side.pitch + place + side.after(part % runs * side.vector) if side.along
              else (place + side.after(part)) * side.pitch + step)
        source = buffer * self.division.size(side) + at
        value: Text = Element(f.array, source) if width == 1 else Function(
            f"load<{width}>", (Operation("+", Variable(f.array), source),))
        held = type if width == 1 else f"Pack<{type}, {width}>"
        return (Registers(held, name, count),
                Loop(True, "int", self.words.part, Int(0), Int(count), (Assign(Element(name, part), value),)))

    def _product(self, values: Sequence[Element]) -> Steps:
        """The product of the item in hand into its sum."""
        lowering, pairs = self.frame.lowering, list(zip(self.product.factors, values, strict=True))
        left, right = pairs if self.product.left_is_rows else reversed(pairs)
        names = {b.name for b in self.product.reduce.binders} | self.into.env.keys() | set(self.frame.indices)
        env = {**{n: Name(n) for n in names}, **self.frame.extents}
        with lowering.block() as steps:
            factors = [self._factor(f.operand, element, env) for f, element in (left, right)]
            lowering.emit(*self.into.of_item(several=True).take_product(factors[0], factors[1]))
        return tuple(steps)

    def _factor(self, value: Value, element: Element, env: Mapping[str, Expr]) -> Text:
        """A factor whose element lies in a register."""
        lowering, read = self.frame.lowering, value.operand if isinstance(value, Cast) else value
        assert isinstance(read, Read)
        at = [as_index(i, env) for i in read.indices]
        key = (read.tensor, tuple(e for e in at if e is not None))
        lowering.runs[key] = element
        found = lowering.value(value, env)
        del lowering.runs[key]
        return found


def _element(side: Side, name: str, item: Expr, element: Expr, vector: int) -> Element:
    """What a thread has taken for one of its items at one of the steps in hand."""
    if not side.along:
        return Element(name, item) if vector == 1 else Element(f"{name}[{item}]", element)
    part = element * (side.items // side.vector) + item // side.vector
    return Element(name, part) if side.vector == 1 else Element(f"{name}[{part}]", item % side.vector)
