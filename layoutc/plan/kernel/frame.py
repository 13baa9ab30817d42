"""What every strategy begins with: names, parameters, where tensors lie, and the place of a block's tile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from layoutc.index import Expr, Int, Name, ceildiv, multiply
from layoutc.plan.kernel.masks import masks_of
from layoutc.plan.lowering.lower import Lowering
from layoutc.plan.lowering.places import InBox, InConstant, InGlobal, InParts, InRows, Place
from layoutc.plan.names import Names
from layoutc.plan.nodes import (
    Argument,
    ConstantArgument,
    ExtentArgument,
    MapArgument,
    Pass,
    Signature,
    Storage,
    StrideArgument,
    TensorArgument,
    TensorMap,
)
from layoutc.plan.ownership import Ownership
from layoutc.plan.reads.chunks import Chunk, origins_of
from layoutc.plan.reads.footprints import Footprint
from layoutc.plan.reads.subscripts import as_index
from layoutc.plan.redistributions.redistributed import DealtAccess, accesses_by_tensor, shared_bytes
from layoutc.plan.steps import Function, Let, Step, Unroll
from layoutc.plan.values import Element, c_type, memory_type
from layoutc.resolve.program import Equation, Kernel, Schedule, Tensor, Value


@dataclass(frozen=True, slots=True)
class Choice:
    """All that is decided before a pass is written."""

    equations: tuple[Equation, ...]     # that share their indices
    tile: tuple[int, ...]               # outputs a block makes, per index
    owner: Ownership
    storage: tuple[Storage, ...]        # shared, registers, constant; what is left out is read from global memory
    footprints: tuple[Footprint, ...]   # of every tensor and kept let that is read
    vector: int = 1                     # elements an access moves at most
    unroll: Mapping[str, Unroll] = field(default_factory=dict)  # by index; of those left out each loop decides
    accesses: tuple[DealtAccess, ...] = ()          # loads and stores that have layouts of their own
    chunks: tuple[Chunk, ...] = ()                  # reduction indices that are walked in chunks
    asynchronous: bool = False                      # the target copies to shared memory in the background
    maps: Mapping[str, TensorMap] = field(default_factory=dict)     # tensors that come as boxes alone

    @property
    def chunked(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(c.index for c in self.chunks)

    @property
    def origins(self) -> dict[str, int]:
        """Per index that moves boxes a number that divides every first place of a box's tile or chunk."""
        return origins_of(self.equations[0].indices, self.tile, self.chunks)


def told_to(schedule: Schedule | None) -> dict[str, Unroll]:
    """Of the indices that the schedule unrolls."""
    return {} if schedule is None else dict.fromkeys(schedule.unroll, "told")


class Frame:
    """One pass in the making; parts emit into ``lowering``."""

    def __init__(self, kernel: Kernel, choice: Choice, signature: Signature, names: Names, entry: str) -> None:
        self.kernel, self.choice, self.signature, self.names, self.entry = kernel, choice, signature, names, entry
        self._arguments: list[tuple[Argument, str, str]] = []       # argument, C type, name
        outputs = {e.output for e in choice.equations}
        read = {f.tensor for f in choice.footprints}
        self._tensors = [t for t in (*kernel.inputs, *kernel.outputs) if t.name in read | outputs]
        self.arrays = {t.name: names.take(t.name) for t in self._tensors}
        self.arrays |= {s.name: names.take(s.name) for s in kernel.stages}
        for s in kernel.stages:
            names.release(self.arrays[s.name])
        self.extents: dict[str, Expr] = {e: Name(names.take(e), 0) for e in kernel.extents}
        self.spelled = {i: names.take(i) for i in (*self.indices, *choice.chunked)}     # index -> its variable
        self.lowering = Lowering(kernel, names, self._places(), choice.unroll)
        self.shared_bytes = shared_bytes(choice.accesses)            # of the arrays declared so far
        self._by_way: list[tuple[str, int]] = []
        self.loads = accesses_by_tensor(choice.accesses, "load")
        self.stores = accesses_by_tensor(choice.accesses, "store")
        self.targets: dict[str, Element] = {}                        # outputs that wait in registers
        self.at: dict[str, Expr] = {}                                # index -> where a thread's outputs begin
        self._origins: dict[str, Expr] = {}                          # index -> the tile's or the chunk's first

    @property
    def indices(self) -> tuple[str, ...]:
        """The spec's names of the outputs' indices."""
        return self.choice.equations[0].indices

    @property
    def counts(self) -> tuple[Expr, ...]:
        """Per index how many outputs there are, in the text's names."""
        return self._over(self.output(self.choice.equations[0]).extents)

    def output(self, equation: Equation) -> Tensor:
        """The tensor that an equation makes."""
        return next(t for t in self.kernel.outputs if t.name == equation.output)

    def place_of(self, tensor: str) -> InGlobal:
        """Where a tensor lies in global memory."""
        place = self.lowering.places[tensor]
        assert isinstance(place, InGlobal), tensor
        return place

    def source_of(self, tensor: str) -> InGlobal:
        """Where the elements of a tensor come from, wherever they wait."""
        place = self.lowering.places[tensor]
        held = place.source if isinstance(place, InBox | InRows | InParts) else None
        return held if held is not None else self.place_of(tensor)

    def vector_of(self, tensor: str) -> int:
        """Elements of a tensor that one access moves."""
        return min(self.choice.vector, self.signature.vectors[self.signature.of(self.kernel, tensor)])

    def origin(self, index: str | None) -> Expr:
        """The tile's first output along an index, or the chunk's first value of it."""
        return Int(0) if index is None else self._origins[index]

    def name_chunks(self) -> None:
        """Variables for where a chunk begins along each of its indices."""
        for c in self.choice.chunks:
            name = self.names.take(f"chunk_{self.spelled[c.index]}")
            self._origins[c.index] = Name(name, c.first(self.extents).interval[0])

    # ---- parameters

    def _places(self) -> dict[str, Place]:
        storage = {s.tensor: s for s in self.choice.storage}
        places: dict[str, Place] = {}
        for t in self._tensors:
            array, held = self.arrays[t.name], storage.get(t.name)
            if held is not None and held.where == "constant":
                count = prod(held.extents)
                type = f"CONSTANT_PARAM Constant<{memory_type(t.type)}, {count}>"
                self._arguments.append((ConstantArgument(t.name, count), type, array))
                places[t.name] = InConstant(array, t.type, held.extents)
                continue
            if t.name in self.choice.maps:
                made = MapArgument(t.name, self.choice.maps[t.name])
                self._arguments.append((made, "CONSTANT_PARAM TensorMap", array))
                places[t.name] = InGlobal(array, t.type, (Int(0),) * len(t.extents), self._over(t.extents), t.edges)
                continue
            type = f"Out<{c_type(t.type)}>" if t in self.kernel.outputs else f"In<{memory_type(t.type)}>"
            self._arguments.append((TensorArgument(t.name), type, array))
            places[t.name] = InGlobal(array, t.type, self._strides(t), self._over(t.extents), t.edges)
        self._arguments += [(ExtentArgument(name), "Index", str(e)) for name, e in self.extents.items()]
        return places

    def add_argument(self, argument: Argument, type: str, name: str) -> None:
        """One more parameter, after those of the tensors and extents."""
        self._arguments.append((argument, type, name))

    def _strides(self, t: Tensor) -> tuple[Expr, ...]:
        """One variable an axis; the last is 1 where it is known to be."""
        unit = self.signature.unit[self.signature.of(self.kernel, t.name)]
        out: list[Expr] = []
        for axis in range(len(t.extents)):
            if axis == len(t.extents) - 1 and unit:
                out.append(Int(1))
                continue
            name = self.names.take(f"{self.arrays[t.name]}_stride_{axis}")
            self._arguments.append((StrideArgument(t.name, axis), "Index", name))
            out.append(Name(name))
        return tuple(out)

    def _over(self, values: tuple[Value, ...]) -> tuple[Expr, ...]:
        out = [as_index(value, self.extents) for value in values]
        return tuple(e for e in out if e is not None)

    def parameter_lines(self) -> tuple[str, ...]:
        """One line a tensor with its strides, one for the extents."""
        lines: dict[str, list[str]] = {}
        for argument, type, name in self._arguments:
            lines.setdefault(getattr(argument, "tensor", ""), []).append(f"{type} {name}")
        return tuple(", ".join(line) for line in lines.values())

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """What is given for the parameters, in their order."""
        return tuple(argument for argument, *_ in self._arguments)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """In their order."""
        return tuple(name for *_, name in self._arguments)

    # ---- the block

    def emit_thread_and_block(self) -> None:
        """``thread``, and the origin of the block's tile; blocks are counted with the last index fastest."""
        emit = self.lowering.emit
        self.emit_thread()
        if not self.indices:
            return
        emit(Let("Index", "block", Name("blockIdx.x")))
        rest: Expr = Name("block", 0)
        tiles: list[Step] = []
        for i, size, n in reversed(list(zip(self.indices, self.choice.tile, self.counts, strict=True))):
            here = rest
            if i != self.indices[0]:
                blocks = Name(self.lowering.let("Index", f"blocks_{self.spelled[i]}", ceildiv(n, size)), 0)
                here, rest = rest % blocks, rest // blocks
            name = self.names.take(f"tile_{self.spelled[i]}")
            tiles.append(Let("Index", name, multiply(here, Int(size))))
            self._origins[i] = Name(name, 0)
        emit(*reversed(tiles))

    def emit_thread(self) -> None:
        """``thread``."""
        if self.choice.owner.threads > 1 or any(s.where == "shared" for s in self.choice.storage):
            self.lowering.emit(Let("int", "thread", Name("threadIdx.x")))

    def begin_at(self, index: str, at: Expr) -> None:
        """Where the tile begins along an index, where tiles are not counted with the last index fastest."""
        name = self.names.take(f"tile_{self.spelled[index]}")
        self.lowering.emit(Let("Index", name, at))
        self._origins[index] = Name(name, 0)

    def by_way_of_shared(self, tensor: str, bytes: int) -> None:
        """Shared memory by which a tensor goes to the registers where it waits, or from those where it was made."""
        self.shared_bytes += bytes
        self._by_way.append((tensor, bytes))

    # ---- the record

    def function(self, body: list[Step], resident: int = 0) -> Function:
        """The kernel of this pass."""
        return Function(self.choice.owner.threads, self.entry, self.parameter_lines(), tuple(body), resident)

    def record(self) -> Pass:
        """What a caller must know, and all that was derived."""
        choice, owner = self.choice, self.choice.owner
        spec = {e: Name(e, 0) for e in self.kernel.extents}
        values = [as_index(v, spec) for v in self.output(choice.equations[0]).extents]
        extents = tuple(e for e in values if e is not None)
        return Pass(
            self.entry, tuple(e.output for e in choice.equations), self.indices, extents, choice.tile,
            owner.threads, owner.items, owner.layout,
            tuple(ceildiv(n, size) for n, size in zip(extents, choice.tile, strict=True)),
            tuple(a for a, *_ in self._arguments), tuple(name for *_, name in self._arguments),
            choice.footprints, choice.storage, self.shared_bytes,
            masks_of(self.kernel, choice.equations, extents, choice.tile, choice.footprints, choice.storage,
                     choice.chunks),
            owner.places, owner.vector, choice.accesses, chunks=choice.chunks, access=choice.vector,
            by_way=tuple(self._by_way))
