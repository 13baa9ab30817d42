"""A plan: what each thread will do, and all that was derived on the way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from layoutc.index import Expr, Int
from layoutc.plan.reads.chunks import Chunk, origins_of
from layoutc.plan.reads.footprints import Axis, Footprint
from layoutc.plan.steps import File
from layoutc.resolve.program import Kernel, Schedule
from layoutc.resolve.types import Type

ASYNCHRONOUS_FROM = 80      # compute capability, in tenths
WARPGROUPS_AT = 90
ASKED = ((75, 64), (80, 163), (86, 99), (87, 163), (89, 99), (90, 227), (120, 99))      # and kilobytes from there on
THROUGH = "×"               # between the names of indices that are counted through as one, the last fastest

if TYPE_CHECKING:
    from layoutc.plan.reads.fusing import Fusing
    from layoutc.plan.redistributions.redistributed import DealtAccess


@dataclass(frozen=True, slots=True)
class Target:
    """The limits of the machine that are planned for."""

    arch: str = "sm_90"
    shared_bytes: int = 48 * 1024       # a block, without opting in for more
    block_threads: int = 1024
    register_bytes: int = 255 * 4       # a thread
    constant_bytes: int = 4096 - 512    # kernel parameters that may be arrays
    multiprocessors: int = 132          # of an H100 or H200

    @property
    def capability(self) -> int:
        """Compute capability, in tenths."""
        return int("".join(filter(str.isdigit, self.arch)) or 0)

    @property
    def has_asynchronous_copies(self) -> bool:
        """Whether it copies from global to shared memory in the background: from compute capability 8.0 on."""
        return self.capability >= ASYNCHRONOUS_FROM

    @property
    def asked_bytes(self) -> int:
        """Shared memory of a block where the launch asks for it (CUDA programming guide, compute capabilities)."""
        known = [kilobytes for capability, kilobytes in ASKED if self.capability >= capability]
        return max(known[-1] * 1024 if known else 0, self.shared_bytes)

    @property
    def has_boxes(self) -> bool:
        """Whether an engine copies boxes of tensors to shared memory: from compute capability 9.0 on."""
        return self.capability >= WARPGROUPS_AT

    @property
    def has_tensor_cores(self) -> bool:
        """Whether it has the matrix instructions of compute capability 8.0."""
        return self.has_asynchronous_copies

    @property
    def has_warpgroup_products(self) -> bool:
        """Whether four warps multiply from shared memory together: compute capability 9.0 has ``wgmma``, no other."""
        return self.capability == WARPGROUPS_AT


@dataclass(frozen=True, slots=True)
class Signature:
    """What is known of the arguments when the text is made, per tensor in the order inputs, outputs."""

    wide: bool                      # indices need 64 bits
    unit: tuple[bool, ...]          # the last axis is contiguous
    vectors: tuple[int, ...]        # elements of one access that alignment and strides allow
    boxes: tuple[bool, ...] = ()    # the engine that copies boxes knows such arrays; (): it knows none

    def of(self, kernel: Kernel, tensor: str) -> int:
        """The position of a tensor in this signature."""
        return [t.name for t in (*kernel.inputs, *kernel.outputs)].index(tensor)


@dataclass(frozen=True, slots=True)
class TensorArgument:
    """The address of a tensor."""

    tensor: str


@dataclass(frozen=True, slots=True)
class ConstantArgument:
    """A small tensor by value."""

    tensor: str
    count: int


@dataclass(frozen=True, slots=True)
class ExtentArgument:
    """An extent by its name."""

    extent: str


@dataclass(frozen=True, slots=True)
class StrideArgument:
    """A stride of a tensor, in elements."""

    tensor: str
    axis: int


@dataclass(frozen=True, slots=True)
class Workspace:
    """An array between the blocks of a call, allocated by the caller.

    Nothing in it is defined before it is written; or it is ``zero`` before a launch, and again when the launch is over.
    """

    name: str
    type: Type
    count: Expr         # elements, over the spec's extent names
    zero: bool = False


@dataclass(frozen=True, slots=True)
class WorkspaceArgument:
    """The address of a workspace."""

    workspace: Workspace

    @property
    def tensor(self) -> str:
        """It stands on a line of its own."""
        return self.workspace.name


@dataclass(frozen=True, slots=True)
class TensorMap:
    """What one copy of the engine that copies boxes brings of a tensor; the kinds are those of ``MapParam``."""

    box: tuple[int, ...]                # elements along each axis
    windows: int = 0                    # 0: a box; else so many windows side by side, of each one tap
    low: tuple[int, ...] = ()           # per axis that windows have the first tap of the first
    step: tuple[int, ...] = ()          # and from one window to the next
    counts: tuple[Expr, ...] = ()       # of them how many, over the spec's extent names
    is_panel: bool = False              # it lies in the order of panels

    def last(self, extents: Mapping[str, int]) -> tuple[int, ...]:
        """Per axis that windows have the first tap of the last, for these extents."""
        return tuple(low + step * (n.at(dict(extents)) - 1)
                     for low, step, n in zip(self.low, self.step, self.counts, strict=True))


@dataclass(frozen=True, slots=True)
class MapArgument:
    """A tensor as the engine that copies boxes of it knows it."""

    tensor: str
    map: TensorMap


Argument = (TensorArgument | ConstantArgument | ExtentArgument | StrideArgument | WorkspaceArgument
            | MapArgument)


@dataclass(frozen=True, slots=True)
class Ring:
    """Rows on their way to registers in shared memory; each group of threads has a ring of its own."""

    groups: int
    extents: tuple[int, ...]            # rows that it has room for, then what the group reads of one row
    passing: tuple[int, ...]            # extents of all that passes through, per axis of the tensor


@dataclass(frozen=True, slots=True)
class Storage:
    """Where a tensor's elements (or a let's) wait for their use; ``axes`` is None for all of a small tensor."""

    tensor: str
    where: str                          # shared, registers, constant, global
    type: Type
    extents: tuple[int, ...]            # of the box, elements
    axes: tuple[Axis, ...] | None = None
    halo_global: bool = False
    copies: int = 1                     # 2: one is filled while the other is read
    passing: tuple[int, ...] = ()       # extents of all that passes through while a thread walks; (): filled once
    vector: int = 1                     # elements that an access into registers brings
    ring: Ring | None = None            # by which registers are filled in the interior

    def in_chunks(self, chunked: Collection[str]) -> bool:
        """Whether chunks of one of these reduction indices move it."""
        return any(a.index in chunked for a in self.axes or ())

    @property
    def loaded(self) -> tuple[int, ...]:
        """Extents of the box of all that is loaded into it."""
        return self.passing or self.extents

    @property
    def bytes(self) -> int:
        """Bytes of one copy, no padding."""
        count = self.type.bytes
        for extent in self.extents:
            count *= extent
        return count


@dataclass(frozen=True, slots=True)
class Mask:
    """A test that keeps an access inside its tensor."""

    tensor: str
    axis: int
    side: str                           # low, high
    kind: str                           # edge: answered by the edge rule; ragged: nothing is done
    test: Expr


@dataclass(frozen=True, slots=True)
class Lanes:
    """Threads of a block that make one output together, each taking elements that lie side by side."""

    threads: int                        # an output
    vector: int                         # elements side by side
    along: str | None                   # the reduction's index on which they are neighbours; None: the outputs' own
    together: bool = True               # they are neighbours in the block; else the block's teams are
    share: int = 0                      # points after which another block takes the rest, of one range; 0: none does


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a strategy has no plan for some equations, or what its plan would cost."""

    strategy: str
    why: str
    cost: float | None = None           # in the units of ``layoutc.plan.cost``, where there is a plan


@dataclass(frozen=True, slots=True)
class Pass:
    """One kernel of the text: the outputs that share one index space, and how they are divided."""

    entry: str                          # its name in the text
    outputs: tuple[str, ...]
    indices: tuple[str, ...]            # the spec's names; several counted through as one are joined by THROUGH
    extents: tuple[Expr, ...]           # of the indices, over the spec's extent names
    tile: tuple[int, ...]               # outputs a block makes, per index
    threads: int                        # a block
    items: int                          # outputs a thread makes
    layout: str                         # (thread, item) -> position in the tile
    blocks: tuple[Expr, ...]            # per index, over the spec's extent names
    arguments: tuple[Argument, ...]
    parameters: tuple[str, ...]         # their names in the text
    footprints: tuple[Footprint, ...]
    storage: tuple[Storage, ...]
    shared_bytes: int                   # of a block, rows of whole vectors counted
    masks: tuple[Mask, ...]
    owner: tuple[Expr, ...] = ()        # per index: place in the tile over `thread` and `item`
    vector: int = 1                     # items side by side that one store may write
    accesses: tuple[DealtAccess, ...] = ()  # loads and stores that have layouts of their own
    fusing: Fusing | None = None        # several steps a launch
    access: int = 1                     # elements an access moves at most
    sharing: Expr = Int(1)              # blocks that make one tile together, 0 where the pass is not needed
    lanes: Lanes | None = None          # threads that make an output together
    notes: tuple[str, ...] = ()         # for the head of the text
    strategy: str = "tile"
    cost: float = 0.0                   # in the units of ``layoutc.plan.cost``
    rejected: tuple[Refusal, ...] = ()  # the strategies that were not taken
    chunks: tuple[Chunk, ...] = ()      # reduction indices that are walked in chunks
    dynamic_bytes: int = 0              # of shared memory that the launch brings
    most_blocks: int = 0                # of a round, which then share the tiles evenly; 0: a block takes one tile
    most_rounds: int = 1                # of so many blocks
    least_tiles: int = 1                # of a block, below which there are fewer rounds
    by_way: tuple[tuple[str, int], ...] = ()    # what goes through shared memory to or from registers, and its bytes

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The indices that are counted through together."""
        return tuple(tuple(name.split(THROUGH)) for name in self.indices)

    @property
    def sizes(self) -> dict[str, int]:
        """The tile: outputs per index, steps of a chunk per chunked reduction index."""
        return dict(zip(self.indices, self.tile, strict=True)) | {c.index: c.size for c in self.chunks}

    @property
    def origins(self) -> dict[str, int]:
        """Per index that moves boxes a number that divides every first place of its tiles or chunks."""
        return origins_of(self.indices, self.tile, self.chunks)

    @property
    def chunked(self) -> tuple[str, ...]:
        """The reduction indices that are walked in chunks."""
        return tuple(c.index for c in self.chunks)

    def launched(self, tiles: int) -> int:
        """Blocks that make so many tiles."""
        if not self.most_blocks:
            return tiles
        rounds = tiles // (self.most_blocks * self.least_tiles)
        return min(tiles, self.most_blocks * min(max(rounds, 1), self.most_rounds))


@dataclass(frozen=True, slots=True)
class Plan:
    """A kernel under one schedule, for arguments of one signature."""

    kernel: Kernel
    schedule: Schedule | None           # None: the compiler's own choice
    signature: Signature
    target: Target
    passes: tuple[Pass, ...]
    file: File
