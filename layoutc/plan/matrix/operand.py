"""One factor on its way: where its chunks wait in shared memory, who copies what, how lanes take their fragments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from layoutc.index import TRUE, Expr, Int, Name, Select, compare, dot, every, multiply, names_in, not_negative
from layoutc.index import Call as Of
from layoutc.plan.kernel.frame import Frame
from layoutc.plan.kernel.used import with_used
from layoutc.plan.lowering.places import InGlobal
from layoutc.plan.machine import ASYNCHRONOUS
from layoutc.plan.matrix.product import DEPTHS, Factor
from layoutc.plan.matrix.tiling import FRAGMENT, VECTOR_BYTES, Panel, Tiling
from layoutc.plan.nodes import Signature
from layoutc.plan.steps import Assign, Do, Let, Loop, PanelAt, Registers, SharedAt, Step, Steps, When
from layoutc.plan.values import Choice, Element, Function, Literal, Operation, Text, Variable, c_type, store
from layoutc.resolve.program import Kernel

UNROLLED = 16                   # copies of a thread that are written out


@dataclass(frozen=True, slots=True)
class Coming:
    """The chunk that is copied."""

    depth: str              # the kernel's name of the index
    left: Expr              # of its values from the chunk's first on
    whole: bool             # whether no chunk ends early
    outputs: Expr           # rows or columns in all


def vector_of(kernel: Kernel, signature: Signature, factor: Factor) -> int:
    """Elements of a factor that one copy in the background moves for these arguments; 1: none does."""
    elements = signature.vectors[signature.of(kernel, factor.tensor.name)]
    return elements if elements * factor.type.bytes in ASYNCHRONOUS else 1


@dataclass(slots=True)
class Operand:
    """A factor of a product in the making."""

    frame: Frame
    factor: Factor
    tiling: Tiling
    is_rows: bool
    panel: Panel = field(init=False)
    array: str = field(init=False)
    tables: dict[int, str] = field(default_factory=dict)    # axis -> what the outputs decide of its subscript, a copy
    at: str = ""                                            # the same of the place in the tensor
    first: Expr = Int(0)                                    # the block's first row or column
    outputs: Expr = Int(0)                                  # rows or columns in all
    line: Expr = Int(0)                                     # that a lane names of a fragment
    lane: Expr = Int(0)                                     # its place in the chunk, or its vector of that line

    def __post_init__(self) -> None:
        count = self.tiling.rows if self.is_rows else self.tiling.columns
        lines, length = (count, self.tiling.depth) if self.factor.by_depth else (self.tiling.depth, count)
        self.panel = Panel(self.factor.type, lines, length)
        self.array = self.frame.names.take(f"{self.name}_chunks")

    @property
    def name(self) -> str:
        """The tensor's, in the text."""
        return self.frame.arrays[self.factor.tensor.name]

    @property
    def place(self) -> InGlobal:
        """Where it lies."""
        return self.frame.place_of(self.factor.tensor.name)

    @property
    def vector(self) -> int:
        """Elements that one copy moves; 1 where none in the background moves so little."""
        return vector_of(self.frame.kernel, self.frame.signature, self.factor)

    def shared(self, offset: int) -> tuple[Step, int]:
        """The declaration of the buffers at an offset in bytes, and the bytes that they take."""
        count = (self.tiling.buffers, self.panel.lines, self.panel.length)
        bytes = self.tiling.buffers * self.panel.elements * self.factor.type.bytes
        declared = PanelAt if self.tiling.together else SharedAt
        return declared(c_type(self.factor.type), self.array, offset, count), bytes

    # ---- what each line has to itself

    def over(self, e: Expr, at: Mapping[str, Expr]) -> Expr:
        """A subscript of the kernel's in the text's names, some indices standing at a place."""
        return e.over({**self._texts(), **at})

    def _over(self, e: Expr) -> Expr:
        """A subscript of the kernel's in the text's names."""
        return e.over(self._texts())

    def _texts(self) -> dict[str, Expr]:
        """Of every index and extent what it is in the text."""
        frame = self.frame
        texts: dict[str, Expr] = dict(frame.extents)
        for index, n in zip(frame.indices, frame.counts, strict=True):
            texts[index] = Name(frame.spelled[index], 0, n.value - 1 if isinstance(n, Int) else None)
        for c in frame.choice.chunks:
            low, high = c.first(frame.extents), c.last(frame.extents)
            texts[c.index] = Name(frame.spelled[c.index], low.interval[0],
                                  high.value - 1 if isinstance(high, Int) else None)
        return texts

    def folding(self) -> list[int]:
        """Axes on which an edge rule may answer."""
        lowering = self.frame.lowering
        out = []
        for number, (axis, n, sides) in enumerate(zip(self.factor.axes, self.place.extents, self.place.edges,
                                                      strict=True)):
            inside = lowering.is_inside(self._over(axis.outer) + self._over(axis.inner), n)
            if any(rule is not None and not safe for rule, safe in zip(sides, inside, strict=True)):
                out.append(number)
        return out

    def _linear(self) -> list[int]:
        """Axes whose subscript no rule folds: constants stand outside, and are not read."""
        folding = self.folding()
        return [n for n, sides in enumerate(self.place.edges) if n not in folding
                or all(rule is None or rule.name == "constant" for rule in sides)]

    def _place(self, numbers: Sequence[int], parts: Sequence[Expr]) -> Expr:
        return dot((self._over(parts[n]) for n in numbers), (self.place.strides[n] for n in numbers))

    @property
    def is_plain(self) -> bool:
        """Whether a line's place is the product of its number and a stride: nothing need be remembered of it."""
        return len(self.factor.side) == 1 and not self.folding() and all(
            a.outer in (Int(0), Name(self.factor.side[0], 0)) for a in self.factor.axes)

    @property
    def turns(self) -> int:
        """Copies of a thread."""
        return -(-self.panel.lines * (self.panel.length // self.vector) // self.tiling.threads)

    def _piece(self, turn: Expr) -> tuple[Expr, Expr]:
        """The line of a thread's copy, and where in it it begins."""
        vectors = self.panel.length // self.vector
        number = turn * self.tiling.threads + Name("thread", 0, self.tiling.threads - 1)
        return number // vectors, number % vectors * self.vector

    def remember(self, coordinates: Steps, line: str) -> Steps:
        """What a thread keeps of the lines that it copies: what outputs decide of their places.

        ``coordinates`` declare the outputs' indices of the row or column ``line``. Lines past the last repeat it: they
        are read, and never stored.
        """
        if not self.factor.by_depth or self.is_plain:
            return ()
        take = self.frame.names.take
        self.at = take(f"{self.name}_at")
        self.tables = {n: take(f"{self.name}_at_{n}") for n in self.folding()}
        turn = Name(take("turn"), 0, self.turns - 1)
        outer = [a.outer for a in self.factor.axes]
        kept: list[Step] = [Assign(Element(self.at, turn), self._place(self._linear(), outer))]
        kept += [Assign(Element(table, turn), self._over(outer[n])) for n, table in self.tables.items()]
        last = Of("minimum", (self.first + self._piece(turn)[0], self.outputs - 1))
        self.frame.names.release(str(turn))
        return (*(Registers("Index", name, self.turns) for name in (self.at, *self.tables.values())),
                Loop(True, "int", str(turn), Int(0), Int(self.turns), (
                    Let("Index", line, last), *with_used(coordinates, tuple(kept)))))

    # ---- copies

    def begin(self, coming: Coming, into: Expr) -> Steps:
        """The copies of one chunk into a buffer, each thread its share."""
        frame, panel = self.frame, self.panel
        turn = Name(frame.names.take("turn"), 0, self.turns - 1)
        line, start = (frame.names.take(n) for n in ("line", f"{self.name}_from"))
        number, along = self._piece(turn)
        with frame.lowering.block() as body:
            self._copy(turn, Name(line, 0), along, coming, into, Name(start))
        steps: Steps = tuple(body)
        if self.turns * self.tiling.threads > panel.lines * (panel.length // self.vector):
            steps = (When(compare("<", Name(line, 0), Int(panel.lines)), steps),)
        first = self._place(self._linear(), [a.inner for a in self.factor.axes])
        if not self.factor.by_depth:
            first = first + self._place(range(len(self.factor.axes) - 1), [a.outer for a in self.factor.axes])
        for name in (str(turn), line, start):
            frame.names.release(name)
        return (Let("Index", start, first),
                Loop(self.turns <= UNROLLED, "int", str(turn), Int(0), Int(self.turns),
                     (Let("int", line, number), *steps)))

    def _copy(
        self, turn: Expr, line: Expr, along: Expr, coming: Coming, into: Expr, start: Expr
    ) -> None:
        """One vector of a line: where it comes from, how much of it there is, where it goes."""
        frame, strides = self.frame, self.place.strides
        tests: list[Expr] = []
        if self.factor.by_depth:
            left = None if coming.whole else coming.left - along
            place = start + multiply(along, strides[-1])
            if self.is_plain:
                side = self.first + line
                tests = [] if self.is_whole else [compare("<", side, self.outputs)]
                axis = next((n for n, a in enumerate(self.factor.axes) if a.outer != Int(0)), 0)
                parts: list[Text] = [place + multiply(side, strides[axis])]
            else:
                tests, folded = self._folded(turn)
                parts = [Element(self.at, turn), place + folded]
        else:
            tests = [] if coming.whole else [compare("<", line, coming.left)]
            axis = next(n for n, a in enumerate(self.factor.axes) if coming.depth in names_in(a.inner))
            side = self.first + along
            parts = [start + multiply(line, strides[axis]) + multiply(side, strides[-1])]
            left = None if self.is_whole else self.outputs - side
        at = frame.lowering.let("Index", "at", parts[0] if len(parts) == 1 else Operation("+", *parts))
        target = into * self.panel.elements + line * self.panel.length + self.permuted(line, along)
        self._move(Name(at), target, every(tests), left)
        frame.names.release(at)

    @property
    def is_whole(self) -> bool:
        """Whether no tile has rows or columns past the last."""
        size = self.tiling.rows if self.is_rows else self.tiling.columns
        return isinstance(self.outputs, Int) and self.outputs.value % size == 0

    def _folded(self, turn: Expr) -> tuple[list[Expr], Expr]:
        """Tests that elements are there, and what the axes that rules fold add to the place."""
        frame, tests, place = self.frame, list[Expr](), Int(0) + 0
        for number, table in self.tables.items():
            axis, n, sides = self.factor.axes[number], self.place.extents[number], self.place.edges[number]
            subscript = _sum(Element(table, turn), self._over(axis.inner))
            name = frame.lowering.let("Index", f"{self.name}_{number}", subscript)
            folded, outside = frame.lowering.edges((sides,), (Name(name),), (n,))
            tests += [test for test, _ in outside]
            if number not in self._linear():
                place = place + multiply(folded[0], self.place.strides[number])
            frame.names.release(name)
        return tests, place

    def _move(self, at: Expr, target: Expr, inside: Expr, left: Expr | None) -> None:
        """A vector in the background, its rest zeros; or an element."""
        frame, vector, type = self.frame, self.vector, self.factor.type
        if vector == 1:
            test = every((inside, compare(">", left, Int(0)) if left is not None else TRUE))
            value: Text = Element(self.name, at)
            if test != TRUE:
                value = Choice(test, value, store(Literal(0, type), type))
            frame.lowering.emit(Assign(Element(self.array, target), value))
            return
        count: Expr = Int(vector)
        if left is not None:
            count = Of("minimum", (not_negative(left), Int(vector)))
        bytes = multiply(count, Int(type.bytes))
        bytes = bytes if inside == TRUE else Select(inside, bytes, Int(0))
        places = (Operation("+", Variable(self.array), target), Operation("+", Variable(self.name), at))
        arguments = places if bytes == Int(vector * type.bytes) else (*places, bytes)
        frame.lowering.emit(Do(Function(f"copy_async{vector * type.bytes}", arguments)))

    def permuted(self, line: Expr, along: Expr) -> Expr:
        """Where an element of a line lies in it."""
        panel = self.panel
        vector, rest = along // panel.in_vector, along % panel.in_vector
        return (vector ^ self.turned(line)) * panel.in_vector + rest

    def turned(self, line: Expr) -> Expr:
        """What a line's vectors are permuted by."""
        return line // self.panel.period % self.panel.permuted

    # ---- fragments

    def lanes(self, lane: Expr, first: Expr) -> Steps:
        """What a lane names of every matrix of 8 lines: a line, and vectors of it; ``first``: the warp's outputs."""
        panel, take = self.panel, self.frame.names.take
        by_half = lane % 8 + lane // 16 * 8, lane // 8 % 2
        by_sixteen = lane % 16, lane // 16
        line, vector = by_sixteen if self.is_rows == self.factor.by_depth else by_half
        self.line = Name(take(f"{self.name}_line"), 0, panel.lines - 1)
        if self.factor.by_depth:
            self.lane = Name(take(f"{self.name}_lane"), 0)
            place = self.line * panel.length + (vector ^ self.turned(self.line)) * panel.in_vector
            return Let("int", str(self.line), first + line), Let("int", str(self.lane), place)
        self.lane = Name(take(f"{self.name}_vector"), 0)
        return Let("int", str(self.line), line), Let("int", str(self.lane), first // panel.in_vector + vector)

    def fragment(self, step: Expr, part: Expr, buffer: Expr) -> Text:
        """The words of 16 outputs and of one step of the sum: a load by the whole warp."""
        panel, instruction = self.panel, DEPTHS[self.factor.type]
        if self.factor.by_depth:    # lines are of a power of two: a later step changes bits that no line has
            first = self.lane + buffer * panel.elements
            at = (first ^ step * instruction) + part * (FRAGMENT * panel.length)
        else:
            vector = self.lane + part * (FRAGMENT // panel.in_vector)
            place = self.line * panel.length + step * (instruction * panel.length)
            at = buffer * panel.elements + place + (vector ^ self.turned(self.line)) * panel.in_vector
        function = "load_rows" if self.factor.by_depth else "load_columns"
        items = VECTOR_BYTES // self.factor.type.bytes
        return Function(f"{function}<{items}>", (Operation("+", Variable(self.array), at),))


def _sum(a: Text, b: Expr) -> Text:
    return a if b == Int(0) else Operation("+", a, b)
