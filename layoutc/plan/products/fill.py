"""How a factor's elements come into shared memory: by copies in the background, those outside as what stands there.

A thread copies the same places of its side in every chunk, so where those lie is worked out once, before the chunks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, gcd

from layoutc.index import TRUE, Call, Expr, Int, Name, Select, compare, dot, every, names_in, terms
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.loading import holds_something, is_certain
from layoutc.plan.kernel.used import with_used
from layoutc.plan.machine import ACCESS_BYTES
from layoutc.plan.products.division import Division, Side, begins_at_multiples_of
from layoutc.plan.products.lines import Line, Walk, Words, first_of
from layoutc.plan.products.shape import Factor, coefficient
from layoutc.plan.steps import Assign, Do, Either, Let, Loop, Registers, Steps, When
from layoutc.plan.values import Choice, Element, Function, Operation, Text, Variable, store
from layoutc.resolve.program import Const, Sides, Value


@dataclass(frozen=True, slots=True)
class Dealt:
    """Which places of the side and which steps of the chunk a thread copies."""

    place: Expr                 # over `thread` and the slot
    slots: int
    step: Expr                  # over `thread` and the turn
    turns: int
    tests: tuple[Expr, ...]     # that the copy is one of the chunk's


class Fill:
    """The copies of one factor."""

    def __init__(self, frame: Frame, factor: Factor, side: Side, division: Division, line: Line, walk: Walk,
                 batch: dict[str, Expr], words: Words) -> None:
        self.frame, self.factor, self.side, self.division = frame, factor, side, division
        self.line, self.walk, self.batch, self.words = line, walk, batch, words
        self.name = frame.arrays[factor.tensor.name]
        self.array = frame.names.take(f"{self.name}_tile")
        self.place = frame.place_of(factor.tensor.name)
        self.vector = self._vector()
        self.dealt = _dealt(side, division, self.vector, words)
        self._parts = self._in_parts()
        self._first = frame.names.take(f"{self.name}_first") if self._parts is not None else ""
        self._held: dict[str, Expr] = {}        # indices of the side that are kept from chunk to chunk

    # ---- what a copy moves

    def _vector(self) -> int:
        """Elements that one copy moves."""
        frame, f = self.frame, self.factor
        allowed = frame.signature.vectors[frame.signature.of(frame.kernel, f.tensor.name)]
        most = min(ACCESS_BYTES // f.type.bytes, allowed)
        if not f.subscripts or self.place.strides[-1] != Int(1):
            return 1
        *outer, last = f.subscripts
        fast = self._fastest()
        if fast is None or names_in(last) != {fast} or coefficient(last, fast) != 1 or any(
                fast in names_in(s) for s in outer):
            return 1
        offset = sum(c for factor, c in terms(last) if factor == Int(1))
        steps = self.division.steps
        if self.side.along:
            return gcd(most, self.side.outputs, offset)
        if steps.inner:
            low = first_of(steps.inner[-1])
            return gcd(most, steps.inner[-1].count or 1, low + offset)
        return gcd(most, steps.chunk.size, begins_at_multiples_of(steps), offset)

    def _fastest(self) -> str | None:
        """The index along which neighbours in shared memory are neighbours."""
        if self.side.along:
            return self.factor.side[0] if len(self.factor.side) == 1 else None
        return self._last_binder()

    def _last_binder(self) -> str:
        """The sum's last index."""
        steps = self.division.steps
        return steps.inner[-1].name if steps.inner else steps.chunk.index

    # ---- once, before the chunks

    def before(self) -> None:
        """Where a thread's places of the side lie, and those of its indices that tests need."""
        frame, slots = self.frame, self.dealt.slots
        declared, _, at = self.line.at(self.dealt.place)
        values: dict[str, Expr] = {}
        if self._parts is not None:
            values[self._first] = dot([e.over({**at, **self.batch}) for e in self._parts[0]], self.place.strides)
        for index in self._needed():
            if len(self.factor.side) > 1:
                name = frame.names.take(f"{self.name}_{frame.spelled[index]}")
                values[name] = at[index]
                self._held[index] = Name(name if slots == 1 else f"{name}[{self.words.slot}]", 0)
        if slots == 1:
            lets = tuple(Let("Index", name, value) for name, value in values.items())
            frame.lowering.emit(*with_used(declared, lets))
            return
        frame.lowering.emit(*(Registers("Index", name, slots) for name in values))
        kept = tuple(Assign(Element(name, Name(self.words.slot, 0)), value) for name, value in values.items())
        if kept:
            frame.lowering.emit(Loop(True, "int", self.words.slot, Int(0), Int(slots), with_used(declared, kept)))

    def _in_parts(self) -> tuple[list[Expr], list[Expr]] | None:
        """The subscripts as a part that the side decides and one that the steps do; None where a fold needs both."""
        sides: list[Expr] = []
        steps: list[Expr] = []
        ours = {*self.factor.side, *self.batch}
        for s, n, rules in zip(self.factor.subscripts, self.place.extents, self._rules(), strict=True):
            if any(r is not None and r.value is None for r in rules) and not self._is_inside(s, n):
                return None
            apart: list[Expr] = [Int(0), Int(0)]
            for factor, c in terms(s):
                names = names_in(factor)
                if names & ours and not names <= ours:
                    return None
                number = 0 if names & ours else 1
                apart[number] = apart[number] + factor * c
            sides.append(apart[0])
            steps.append(apart[1])
        return sides, steps

    def _rules(self) -> Sequence[Sides]:
        return self.place.edges or ((None, None),) * len(self.factor.subscripts)

    def _is_inside(self, s: Expr, n: Expr) -> bool:
        """Whether a subscript is in its tensor wherever an output needs it, as its indices' ranges tell."""
        frame = self.frame
        limits = dict(zip(frame.indices, frame.counts, strict=True))
        values: dict[str, Expr] = {i: Name(i, 0) for i in limits}
        for b in self.walk.binders:
            low, high = self.walk.ends(b)
            limits[b.name] = high
            values[b.name] = Name(b.name, low.interval[0], high.value - 1 if isinstance(high, Int) else None)
        before = dict(frame.lowering.limits)
        frame.lowering.limits = limits
        inside = frame.lowering.is_inside(s.over(values).over(frame.extents), n)
        frame.lowering.limits = before
        return inside == (True, True)

    def _needed(self) -> list[str]:
        """The indices of the side that a copy must know, beside the position."""
        needed: set[str] = set()
        for s, n, rules in zip(self.factor.subscripts, self.place.extents, self._rules(), strict=True):
            if self._parts is None or (any(rules) and not self._is_inside(s, n)):
                needed |= names_in(s) & set(self.factor.side)
        return [i for i in self.frame.indices if i in needed]

    # ---- in every chunk

    def copies(self, buffer: Expr, counts: Expr | None) -> Steps:
        """The copies of the chunk in hand; ``counts``: values of the chunked index that it has, None where all."""
        frame, dealt, side = self.frame, self.dealt, self.side
        declared, number, at = self.line.at(dealt.place)
        if len(self.factor.side) > 1:
            declared, at = declared[:1], {**at, **self._held}
        steps, sums = self.walk.at(dealt.step)
        env: dict[str, Expr] = {**frame.extents, **at, **sums, **self.batch}
        at_place = dealt.place * side.pitch + dealt.step if not side.along else dealt.step * side.pitch + dealt.place
        into = buffer * self.division.size(side) + at_place
        tests = [compare("<", number, self.line.total)] if not self._fills(number) else []
        if counts is not None:
            tests.append(compare("<", dealt.step // self.division.steps.each, counts))
        with frame.lowering.block() as body:
            self._copy(into, tests, env, number, sums)
        inner = with_used((*declared, *steps), tuple(body))
        guard = every(dealt.tests)
        inner = inner if guard == TRUE else (When(guard, inner),)
        for name, n in ((self.words.turn, dealt.turns), (self.words.slot, dealt.slots)):
            if n > 1:
                inner = (Loop(True, "int", name, Int(0), Int(n), inner),)
        return inner

    def _fills(self, number: Expr) -> bool:
        """Whether every tile is known to be full of outputs."""
        total = self.line.total
        return isinstance(total, Int) and total.value % self.side.outputs == 0

    def _copy(self, into: Expr, tests: list[Expr], env: dict[str, Expr], number: Expr, sums: dict[str, Expr]) -> None:
        """One copy: what tests keep out becomes 0, what an edge rule answers is what that says."""
        frame, f = self.frame, self.factor
        subscripts: list[Expr] = []
        for s, n, rules in zip(f.subscripts, self.place.extents, self._rules(), strict=True):
            here = s.over(env)
            if any(rules) and not self._is_inside(s, n) and not isinstance(here, Name):
                here = Name(frame.lowering.let("Index", f"{self.name}_at", here))
            subscripts.append(here)
        position, outside = frame.lowering.folded(self.place, tuple(subscripts))
        if self._parts is not None:
            first = Name(self._first if self.dealt.slots == 1 else f"{self._first}[{self.words.slot}]")
            position = first + dot([e.over(env) for e in self._parts[1]], self.place.strides)
        if not is_certain(frame, f.tensor.name):
            tests = [*tests, *holds_something(frame, self.place.extents, self.place.edges)]
        source = Operation("+", Variable(self.place.array), position)
        bytes = f.type.bytes * self.vector
        if all(_is_zero(value) for _, value in outside):
            self._by_size(into, source, bytes, every([*tests, *(t for t, _ in outside)]), self._left(number, sums))
            return
        value = frame.lowering.value(outside[-1][1], frame.extents)
        for test, nearer in reversed(outside[:-1]):
            value = Choice(test, value, frame.lowering.value(nearer, frame.extents))
        frame.lowering.emit(Either(
            every([*tests, *(t for t, _ in outside)]), (Do(Function(f"copy_async{bytes}", (self._to(into), source))),),
            (Assign(Element(self.array, into), store(value, f.type)),)))

    def _to(self, into: Expr) -> Text:
        return Operation("+", Variable(self.array), into)

    def _by_size(self, into: Expr, source: Text, bytes: int, test: Expr, left: Expr | None) -> None:
        size: Expr = Int(bytes)
        if left is not None:
            size = Call("minimum", (left, Int(self.vector))) * self.factor.type.bytes
        arguments: tuple[Text, ...] = (self._to(into), source)
        if test != TRUE or left is not None:
            arguments = (*arguments, size if test == TRUE else Select(test, size, Int(0)))
        self.frame.lowering.emit(Do(Function(f"copy_async{bytes}", arguments)))

    def _left(self, number: Expr, sums: dict[str, Expr]) -> Expr | None:
        """How many elements there are from a copy's first on, where a copy may go past the end."""
        if self.vector == 1:
            return None
        if self.side.along:
            n, at = self.line.total, number
        elif self.division.steps.inner:
            return None
        else:
            chunk = self.division.steps.chunk
            if chunk.range is not None and (chunk.range[1] - chunk.range[0]) % self.vector == 0:
                return None
            n, at = chunk.last(self.frame.extents), sums[chunk.index]
        return None if isinstance(n, Int) and n.value % self.vector == 0 else n - at


def _is_zero(value: Value) -> bool:
    return isinstance(value, Const) and value.value == 0 and copysign(1, float(value.value)) > 0


def _dealt(side: Side, division: Division, vector: int, words: Words) -> Dealt:
    """Neighbouring threads copy neighbours in shared memory."""
    threads, count = division.threads, division.steps.count
    thread = Name("thread", 0, threads - 1)
    along, across = (side.outputs, count) if side.along else (count, side.outputs)
    slots = -(-along // vector)
    width = min(1 << (slots - 1).bit_length(), threads)     # threads beside each other
    rounds = -(-slots // width)
    rows = threads // width
    passes = -(-across // rows)
    fast_name, slow_name = (words.slot, words.turn) if side.along else (words.turn, words.slot)
    fast = thread % width + (Name(fast_name, 0, rounds - 1) * width if rounds > 1 else Int(0))
    slow = thread // width + (Name(slow_name, 0, passes - 1) * rows if passes > 1 else Int(0))
    tests = [] if width * rounds == slots else [compare("<", fast, Int(slots))]
    if rows * passes != across:
        tests.append(compare("<", slow, Int(across)))
    fast = fast * vector
    if side.along:
        return Dealt(fast, rounds, slow, passes, tuple(tests))
    return Dealt(slow, passes, fast, rounds, tuple(tests))
