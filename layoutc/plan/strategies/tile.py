"""Strategy: a block makes a tile of outputs, each thread some of them; inputs wait where the schedule says.

Direct (nothing staged), shared tile, registers and constant memory are one shape: they differ only in where a read
finds its element.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from layoutc.index import TRUE, Call, Expr, Int, Name, ceildiv, compare, every, multiply, total
from layoutc.plan.halo import Env, Footprint, as_index
from layoutc.plan.lower import Lowering
from layoutc.plan.masks import masks_of
from layoutc.plan.names import Names
from layoutc.plan.nodes import (
    Argument,
    ConstantArgument,
    ExtentArgument,
    Pass,
    Signature,
    Storage,
    StrideArgument,
    TensorArgument,
)
from layoutc.plan.ownership import Ownership
from layoutc.plan.places import InBox, InConstant, InGlobal, Place
from layoutc.plan.steps import (
    Assign,
    Barrier,
    Blank,
    Function,
    Let,
    Loop,
    Registers,
    Rounds,
    Shared,
    Step,
    When,
)
from layoutc.plan.values import Element, Text, Variable, c_type, register_type, store
from layoutc.resolve.program import Equation, Kernel, Stage, Tensor


@dataclass(frozen=True, slots=True)
class Choice:
    """All that is decided before a pass is written."""

    equations: tuple[Equation, ...]
    tile: tuple[int, ...]
    owner: Ownership
    storage: tuple[Storage, ...]        # shared, registers, constant; what is left out is read from global memory
    footprints: tuple[Footprint, ...]   # of every tensor and kept let that is read
    unroll: frozenset[str] = frozenset()


@dataclass(slots=True)
class TilePass:
    """Writes one pass; its parts in the order of the text."""

    kernel: Kernel
    choice: Choice
    signature: Signature
    names: Names
    entry: str
    lowering: Lowering = field(init=False)
    extents: dict[str, Expr] = field(init=False, default_factory=dict)      # spec name -> in the text
    arrays: dict[str, str] = field(init=False, default_factory=dict)        # tensor -> its parameter
    index_names: dict[str, str] = field(init=False, default_factory=dict)
    arguments: list[tuple[Argument, str, str]] = field(init=False, default_factory=list)  # argument, C type, name

    def write(self) -> tuple[Pass, Function]:
        """The pass and its function."""
        self._spell()
        self.lowering = Lowering(self.kernel, self.names, self._places(), self.choice.unroll)
        with self.lowering.block() as body:
            self._thread_and_block()
            self._fill_boxes()
            self._make_outputs()
        function = Function(self.choice.owner.threads, self.entry, self._parameter_lines(), tuple(body))
        return self._record(), function

    # ---- names, parameters, places

    @property
    def indices(self) -> tuple[str, ...]:
        """The spec's names of the tile's indices."""
        return self.choice.equations[0].indices

    def _spell(self) -> None:
        """Names of the spec first, so that derived ones step aside."""
        self.arrays = {t.name: self.names.take(t.name) for t in self._tensors()}
        self.extents = {e: Name(self.names.take(e), 0) for e in self.kernel.extents}
        self.index_names = {i: self.names.take(i) for i in self.indices}
        self.names.take("thread")
        self.names.take("item")
        self.names.take("block")

    def _tensors(self) -> list[Tensor]:
        used = {f.tensor for f in self.choice.footprints}
        outputs = {e.output for e in self.choice.equations}
        return [t for t in self.kernel.inputs if t.name in used] + [t for t in self.kernel.outputs if t.name in outputs]

    def _places(self) -> dict[str, Place]:
        storage = {s.tensor: s for s in self.choice.storage}
        places: dict[str, Place] = {}
        for t in self._tensors():
            held = storage.get(t.name)
            if held is not None and held.where == "constant":
                count = prod(held.extents)
                self._parameter(ConstantArgument(t.name, count), f"CONSTANT_PARAM Constant<{c_type(t.type)}, {count}>",
                                self.arrays[t.name])
                places[t.name] = InConstant(self.arrays[t.name], t.type, held.extents)
                continue
            way = "Out" if t in self.kernel.outputs else "In"
            self._parameter(TensorArgument(t.name), f"{way}<{c_type(t.type)}>", self.arrays[t.name])
            places[t.name] = InGlobal(self.arrays[t.name], t.type, self._strides(t), self._over(t.extents), t.edges)
        for name, e in self.extents.items():
            self._parameter(ExtentArgument(name), "Index", str(e))
        return places

    def _parameter(self, argument: Argument, type: str, name: str) -> None:
        self.arguments.append((argument, type, name))

    def _parameter_lines(self) -> tuple[str, ...]:
        """One line a tensor with its strides, one for the extents."""
        lines: dict[str, list[str]] = {}
        for argument, c, name in self.arguments:
            lines.setdefault(getattr(argument, "tensor", ""), []).append(f"{c} {name}")
        return tuple(", ".join(line) for line in lines.values())

    def _strides(self, t: Tensor) -> tuple[Expr, ...]:
        """One variable an axis; the last is 1 where it is known to be."""
        unit = self.signature.unit[self.signature.of(self.kernel, t.name)]
        out: list[Expr] = []
        for axis in range(len(t.extents)):
            if axis == len(t.extents) - 1 and unit:
                out.append(Int(1))
                continue
            name = self.names.take(f"{self.arrays[t.name]}_stride_{axis}")
            self._parameter(StrideArgument(t.name, axis), "Index", name)
            out.append(Name(name))
        return tuple(out)

    def _over(self, values: tuple[object, ...]) -> tuple[Expr, ...]:
        out = []
        for value in values:
            e = as_index(value, self.extents)  # type: ignore[arg-type]
            assert e is not None
            out.append(e)
        return tuple(out)

    # ---- the text

    @property
    def counts(self) -> tuple[Expr, ...]:
        """Per index how many outputs there are, in the text's names."""
        first = self._output(self.choice.equations[0])
        return self._over(first.extents)

    def _output(self, equation: Equation) -> Tensor:
        return next(t for t in self.kernel.outputs if t.name == equation.output)

    def _thread_and_block(self) -> None:
        emit = self.lowering.emit
        if self._uses_thread():
            emit(Let("int", "thread", Name("threadIdx.x")))
        if not self.indices:
            return
        emit(Let("Index", "block", Name("blockIdx.x")))
        rest: Expr = Name("block", 0)
        tiles: list[Step] = []
        for i, size, n in list(zip(self.indices, self.choice.tile, self.counts, strict=True))[::-1]:
            name = self.names.take(f"tile_{self.index_names[i]}")
            here = rest
            if i != self.indices[0]:
                blocks = Name(self.lowering.let("Index", f"blocks_{self.index_names[i]}", ceildiv(n, size)), 0)
                here, rest = rest % blocks, rest // blocks
            tiles.append(Let("Index", name, multiply(here, Int(size))))
            self.index_names[f"tile {i}"] = name
        emit(*tiles[::-1])

    def _uses_thread(self) -> bool:
        return self.choice.owner.threads > 1 or any(s.where == "shared" for s in self.choice.storage)

    def _tile(self, index: str | None) -> Expr:
        return Int(0) if index is None else Name(self.index_names[f"tile {index}"], 0)

    def _fill_boxes(self) -> None:
        """Shared boxes of tensors, then lets in order, then what threads hold; a barrier wherever one reads another."""
        shared = [s for s in self.choice.storage if s.where == "shared"]
        lets = {s.name: s for s in self.kernel.stages}
        tensors = [s for s in shared if s.tensor not in lets]
        for s in shared:
            name = self.names.take(f"{self._spelled(s.tensor)}_tile")
            self.arrays[f"box {s.tensor}"] = name
            type = register_type(s.type) if s.tensor in lets else c_type(s.type)
            self.lowering.emit(Shared(type, name, s.extents))
        for s in tensors:
            self._fill(s, self.lowering.places[s.tensor])
        for s in tensors:
            self._hold(s)
        if tensors:
            self.lowering.emit(Barrier())
        for s in (s for s in shared if s.tensor in lets):
            self._fill_let(s, lets[s.tensor])
            self._hold(s)
            self.lowering.emit(Barrier())
        if shared:
            self.lowering.emit(Blank())

    def _spelled(self, name: str) -> str:
        return self.arrays.get(name, name)

    def _origin(self, s: Storage) -> tuple[Expr, ...]:
        return tuple(self._tile(a.index) * a.scale + a.low for a in s.axes or ())

    def _hold(self, s: Storage) -> None:
        source = self.lowering.places.get(s.tensor)
        self.lowering.places[s.tensor] = InBox(
            self.arrays[f"box {s.tensor}"], s.type, s.axes or (), s.extents, self._origin(s),
            source if isinstance(source, InGlobal) else None, partial=s.halo_global)

    def _box_loop(self, s: Storage) -> tuple[str, tuple[Expr, ...], list[Step]]:
        """A loop variable over the box, the subscripts it stands for, and their declarations."""
        at = self.names.take("at")
        count = prod(s.extents)
        coordinates = _unravel(Name(at, 0, count - 1), s.extents)
        subscripts: list[Expr] = []
        steps: list[Step] = []
        for number, (axis, origin, c) in enumerate(zip(s.axes or (), self._origin(s), coordinates, strict=True)):
            index = self.index_names.get(axis.index, "") if axis.index else str(number)
            name = self.names.take(f"{self._spelled(s.tensor)}_{index}")
            steps.append(Let("Index", name, origin + c))
            subscripts.append(Name(name, 0 if axis.low >= 0 else None))
            self.lowering.local[name] = origin + c
        return at, tuple(subscripts), steps

    def _fill(self, s: Storage, place: Place) -> None:
        assert isinstance(place, InGlobal)
        at, subscripts, steps = self._box_loop(s)
        with self.lowering.block() as body:
            self.lowering.emit(*steps)
            with self.lowering.block() as copy:
                value = store(self.lowering.in_global(place, subscripts, self.extents), s.type)
                self.lowering.emit(Assign(Element(self.arrays[f"box {s.tensor}"], Name(at)), value))
            self._emit_when(inside_ragged_end(s, subscripts, place), copy)
        self._round(at, s, body)

    def _round(self, at: str, s: Storage, body: list[Step]) -> None:
        count = " * ".join(map(str, s.extents)) or "1"
        self.lowering.emit(Rounds(at, Name("thread"), Variable(count), self.choice.owner.threads, tuple(body)))
        self.names.release(at)

    def _fill_let(self, s: Storage, stage: Stage) -> None:
        """The let at every place of its box that some valid output needs."""
        at, subscripts, steps = self._box_loop(s)
        env: Env = dict(self.extents)
        counts = dict(zip(self.indices, self.counts, strict=True))
        with self.lowering.block() as body:
            self.lowering.emit(*steps)
            with self.lowering.block() as make:
                value = (self.lowering.extended(stage, subscripts, env) if stage.edges
                         else self.lowering.formula(stage, subscripts, env))
                self.lowering.emit(Assign(Element(self.arrays[f"box {s.tensor}"], Name(at)), value))
            needed = every(
                compare("<", i, (counts[a.index] - 1) * a.scale + (a.high + 1))
                for i, a in zip(subscripts, s.axes or (), strict=True) if a.index is not None)
            self._emit_when(needed, make)
        self._round(at, s, body)

    def _make_outputs(self) -> None:
        owner = self.choice.owner
        places: list[Step] = []
        coordinates: list[Step] = []
        at: list[Expr] = []
        valid: list[Expr] = []
        for i, place, size, n in zip(self.indices, owner.places, self.choice.tile, self.counts, strict=True):
            local, test = self._place_in_tile(i, place, size, places)
            last = n.value - 1 if isinstance(n, Int) and n.value % size == 0 else None
            name = self.index_names[i]
            coordinates.append(Let("Index", name, self._tile(i) + local))
            self.lowering.local[name] = self._tile(i) + local
            self.lowering.limits[name] = n
            at.append(Name(name, 0, last))
            valid += [*test, compare("<", at[-1], n)]
        self._thread_boxes()
        with self.lowering.block() as body:
            self.lowering.emit(*places, *coordinates)
            with self.lowering.block() as made:
                self._equations(tuple(at))
            self._emit_when(every(valid), made)
        if owner.items > 1:
            self.lowering.emit(Loop(True, "int", "item", Int(0), Int(owner.items), tuple(body)))
        else:
            self.lowering.emit(*body)

    def _place_in_tile(self, index: str, place: Expr, size: int, steps: list[Step]) -> tuple[Expr, list[Expr]]:
        """The place along one index under a short name, and the tests that keep it in the tile."""
        low, high = place.interval
        below, above = low is None or low < 0, high is None or high >= size
        local = place
        if not isinstance(place, Int | Name):
            name = self.names.take(f"item_{self.index_names[index]}")
            steps.append(Let("int", name, place))
            self.lowering.items[name] = place
            local = Name(name, None if below else 0, None if above else size - 1)
        if below and above:
            return local, [Call("within", (local, Int(size)))]
        tests = [compare(">=", local, Int(0))] if below else []
        return local, [*tests, compare("<", local, Int(size))] if above else tests

    def _thread_boxes(self) -> None:
        """What each thread holds: the box around all its items."""
        first = dict(zip(self.indices, self.choice.owner.at_first_item(), strict=True))
        for s in self.choice.storage:
            if s.where != "registers":
                continue
            place = self.lowering.places[s.tensor]
            assert isinstance(place, InGlobal)
            name = self.names.take(f"{self._spelled(s.tensor)}_held")
            self.lowering.emit(Registers(c_type(s.type), name, prod(s.extents)))
            origin = tuple((self._tile(a.index) + (first[a.index] if a.index else 0)) * a.scale + a.low
                           for a in s.axes or ())
            self._fill_registers(s, place, name, origin)
            self.lowering.places[s.tensor] = InBox(
                name, s.type, s.axes or (), s.extents, origin, place, of_thread=True)
            self.lowering.emit(Blank())

    def _fill_registers(self, s: Storage, place: InGlobal, array: str, origin: tuple[Expr, ...]) -> None:
        at = self.names.take("at")
        count = prod(s.extents)
        coordinates = _unravel(Name(at, 0, count - 1), s.extents)
        subscripts = tuple(o + c for o, c in zip(origin, coordinates, strict=True))
        with self.lowering.block() as body:
            named: list[Expr] = []
            for number, (axis, e) in enumerate(zip(s.axes or (), subscripts, strict=True)):
                index = self.index_names.get(axis.index, "") if axis.index else str(number)
                named.append(Name(self.lowering.let("Index", f"{self._spelled(s.tensor)}_{index}", e)))
            with self.lowering.block() as copy:
                value = store(self.lowering.in_global(place, tuple(named), self.extents), s.type)
                self.lowering.emit(Assign(Element(array, Name(at)), value))
            self._emit_when(inside_ragged_end(s, tuple(named), place), copy)
        self.lowering.emit(Loop(True, "int", at, Int(0), Int(count), tuple(body)))
        self.names.release(at)

    def _equations(self, coordinates: tuple[Expr, ...]) -> None:
        env: dict[str, Expr] = dict(self.extents)
        env |= dict(zip(self.indices, coordinates, strict=True))
        for equation in self.choice.equations:
            tensor = self._output(equation)
            place = self.lowering.places[tensor.name]
            assert isinstance(place, InGlobal)
            value: Text = self.lowering.value(equation.value, env)
            at = total((multiply(i, s), 1) for i, s in zip(coordinates, place.strides, strict=True))
            self.lowering.emit(Assign(Element(place.array, at), store(value, tensor.type)))

    def _emit_when(self, test: Expr, body: list[Step]) -> None:
        self.lowering.emit(*([When(test, tuple(body))] if test != TRUE else body))

    # ---- the record

    def _record(self) -> Pass:
        choice, owner = self.choice, self.choice.owner
        spec: Mapping[str, Expr] = {e: Name(e, 0) for e in self.kernel.extents}
        first = self._output(choice.equations[0])
        extents = tuple(e for e in (as_index(v, spec) for v in first.extents) if e is not None)
        blocks = tuple(ceildiv(n, size) for n, size in zip(extents, choice.tile, strict=True))
        found = choice.footprints
        return Pass(
            self.entry, tuple(e.output for e in choice.equations), self.indices, extents, choice.tile,
            owner.threads, owner.items, owner.layout, blocks,
            tuple(a for a, *_ in self.arguments), tuple(name for *_, name in self.arguments),
            found, choice.storage, masks_of(self.kernel, choice.equations[0], extents, choice.tile, found),
            owner.places)


def inside_ragged_end(s: Storage, subscripts: tuple[Expr, ...], place: InGlobal) -> Expr:
    """The test that skips what lies past the end where no edge rule answers; no valid output needs it."""
    return every(compare("<", i, n) for i, n, axis, (_, high)
                 in zip(subscripts, place.extents, s.axes or (), place.edges, strict=True)
                 if high is None and axis.index is not None)


def _unravel(position: Expr, extents: tuple[int, ...]) -> tuple[Expr, ...]:
    out = []
    for number in range(len(extents)):
        coordinate = position // prod(extents[number + 1:])
        out.append(coordinate % extents[number])
    return tuple(out)
