"""What a file means: names bound, types decided, sizes checked. The three executions share nothing below.

Values are one tree. Every operand already has the type its operation computes in: where the language
widens silently, the resolver has put a ``Cast``. Subscripts are values of type i64.
A value of type f16 or bf16 is held in f32; only a ``Cast`` to it (or a store) rounds.
Integers wrap modulo 2**bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from layoutc.layout import Layout
from layoutc.layout.composed import ComposedLayout
from layoutc.layout.swizzles import Swizzle
from layoutc.resolve.types import BOOL, I64, Type
from layoutc.resolve.words import Arithmetic, Comparison, Connective, Copies, Means, Place, Reduction, Rule, Sign
from layoutc.source import NOWHERE, Source, Span


def place() -> Span:
    """Where it was written; never part of equality."""
    return field(default=NOWHERE, compare=False, repr=False)


# ---- values


@dataclass(frozen=True, slots=True)
class Const:
    """A number of its type: floats are already rounded to it (0.1 of f16 is 0.0999755859375)."""

    value: int | float | bool
    type: Type
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Index:
    """An index in scope: of an equation, of a let or of a reduction."""

    name: str
    span: Span = place()
    type: Type = I64


@dataclass(frozen=True, slots=True)
class Extent:
    """An extent's name, known at the call, in the type that its operation computes in."""

    name: str
    type: Type = I64
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Read:
    """An element of an input, or of a stage (``let``), at any integer subscripts; its edges apply."""

    tensor: str
    indices: tuple[Value, ...]
    type: Type
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Unary:
    """``-a`` in a's type, or ``not a`` of bool."""

    op: Sign
    operand: Value
    type: Type
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Binary:
    """``+ - * / // % **``; operands and result have ``type`` (``**`` of an integer: the exponent is not negative)."""

    op: Arithmetic
    left: Value
    right: Value
    type: Type
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Compare:
    """A comparison of two values of one type."""

    op: Comparison
    left: Value
    right: Value
    span: Span = place()
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class Logic:
    """``and`` or ``or`` of two bools; both sides may be evaluated."""

    op: Connective
    left: Value
    right: Value
    span: Span = place()
    type: Type = BOOL


@dataclass(frozen=True, slots=True)
class Where:
    """``where(test, yes, no)``; both sides may be evaluated."""

    test: Value
    yes: Value
    no: Value
    type: Type
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the language by its name there: ``sqrt min clamp fma`` …; operands have ``type``.

    Exceptions: ``isnan isinf`` give bool. ``min max`` of more than two values are nested calls of two.
    """

    function: str
    arguments: tuple[Value, ...]
    type: Type
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Cast:
    """Conversion: integers wrap; float to integer truncates, saturates, NaN is 0; floats round to even."""

    operand: Value
    type: Type
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Binder:
    """A reduction index and its half-open range; constants and extents only."""

    name: str
    low: Value
    high: Value

    @property
    def count(self) -> int | None:
        """How many places a constant range has; None where it is known at the call only."""
        if isinstance(self.low, Const) and isinstance(self.high, Const):
            return max(int(self.high.value) - int(self.low.value), 0)
        return None


@dataclass(frozen=True, slots=True)
class Reduce:
    """A reduction in binder order, the last binder fastest.

    ``sum prod min max median`` have the body's type (``sum prod`` of narrow integers: i32);
    ``any all`` bool; ``count argmin argmax`` i64.
    """

    op: Reduction
    binders: tuple[Binder, ...]
    body: Value
    type: Type
    span: Span = place()


Value = Const | Index | Extent | Read | Unary | Binary | Compare | Logic | Where | Call | Cast | Reduce


# ---- kernels


@dataclass(frozen=True, slots=True)
class EdgeRule:
    """What a tensor holds outside; ``value`` only with ``constant``, and in the tensor's type."""

    name: Rule
    value: Value | None = None


Sides = tuple[EdgeRule | None, EdgeRule | None]     # an axis: below 0, from n on


@dataclass(frozen=True, slots=True)
class Tensor:
    """An argument. Extents are values over extent names (i64)."""

    name: str
    type: Type
    extents: tuple[Value, ...]
    strides: tuple[Value, ...] | None = None        # in elements, where the kernel insists
    edges: tuple[Sides, ...] = ()                   # per axis
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Stage:
    """A ``let``: a formula over its indices. With edges it lives on a domain and is extended from there.

    Subscripts of a read of a stage count from 0 as the indices do; a domain that begins at ``low``
    is extended below ``low`` and from ``high`` on (folds act on ``index - low`` in an extent ``high - low``).
    """

    name: str
    indices: tuple[str, ...]
    value: Value
    type: Type
    domain: tuple[tuple[Value, Value], ...] | None = None   # per index, half-open; None: a formula everywhere
    edges: tuple[Sides, ...] = ()
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Equation:
    """``output[indices] = value``; the value has the output's type."""

    output: str
    indices: tuple[str, ...]
    value: Value
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Check:
    """What must hold at the call, over extents only, and what to say where it does not."""

    condition: Value        # bool
    message: str
    span: Span = place()


# ---- schedules

MOST_TILE = 2**16           # outputs of a block
MOST_THREADS = 1024     # of a block
MOST_SLOTS = 2**16      # threads times items that a block moves


@dataclass(frozen=True, slots=True)
class StageChoice:
    """``stage tensor in where``."""

    tensor: str
    where: Place
    halo_global: bool = False
    double: bool = False            # two buffers, one filled while the other is read
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Threads:
    """A count, a layout (thread, item) -> position in the tile, or one thread for each element of a tensor's box."""

    count: int | None = None
    layout: Layout | ComposedLayout | None = None
    over: str | None = None
    span: Span = place()


@dataclass(frozen=True, slots=True)
class AccessLayout:
    """Which thread moves which element of a staged box, or of the tile: (thread, item) -> row-major position."""

    tensor: str
    layout: Layout | ComposedLayout
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Schedule:
    """How a kernel is to be run; what is left out the planner chooses."""

    name: str | None = None
    tile: tuple[tuple[str, int], ...] | None = None     # outputs a block, or steps a chunk of a reduction index
    threads: Threads | None = None
    stages: tuple[StageChoice, ...] = ()
    vector: int | None = None                   # elements a memory access at most
    shared_budget: int | None = None            # bytes
    unroll: tuple[str, ...] = ()                # index names
    fuse: int = 1                               # steps a launch
    march: str | None = None                    # the index along which the tile is walked
    mma: bool = False                           # by tensor cores
    copies: Copies | None = None                # how factors come to them
    loads: tuple[AccessLayout, ...] = ()        # each input at most once
    stores: tuple[AccessLayout, ...] = ()       # each output at most once
    span: Span = place()
    clause_spans: tuple[tuple[str, Span], ...] = field(default=(), compare=False, repr=False)  # by word


CHOSEN = "chosen by the compiler"       # what a kernel without a schedule has
DEFAULT = "default"                     # the schedule without a name


def title_of(schedule: Schedule | None) -> str:
    """What a person is told of which schedule it is."""
    return CHOSEN if schedule is None else schedule.name or DEFAULT


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel, ready to be planned or evaluated."""

    name: str
    extents: tuple[str, ...]                    # names, in order of first mention
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    stages: tuple[Stage, ...]                   # in an order in which each reads only earlier ones
    equations: tuple[Equation, ...]             # one an output, in the outputs' order
    checks: tuple[Check, ...]                   # require clauses first
    schedules: tuple[Schedule, ...]             # as written; at most one without a name
    steps: tuple[tuple[str, str], ...] = ()     # (input, output)
    span: Span = place()

    def schedule(self, name: str | None = None) -> Schedule | None:
        """The schedule of that name (None: the default one), or None where there is none."""
        return next((s for s in self.schedules if s.name == name), None)


@dataclass(frozen=True, slots=True)
class Redistribute:
    """Register-held values from one thread/value layout to another, (thread, item) -> position in the tile.

    Both layouts have the same number of threads and the same image. ``scatter``: every source item brings the
    position that it goes to; ``gather``: every destination item brings the position that it wants.
    """

    name: str
    type: Type
    kind: Literal["exchange", "scatter", "gather"]
    source: Layout | ComposedLayout
    destination: Layout | ComposedLayout
    via: Means | None = None    # None: the cheapest
    warp: int = 32                              # lanes that shuffles may use together, a power of two
    span: Span = place()
    name_span: Span = place()
    via_span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def threads(self) -> int:
        """Threads of a tile."""
        return self.source[0].size

    @property
    def items(self) -> tuple[int, int]:
        """Items that a thread holds before and afterwards."""
        return self.source[1].size, self.destination[1].size


@dataclass(frozen=True, slots=True)
class Program:
    """A whole file."""

    source: Source
    constants: tuple[tuple[str, int], ...]
    layouts: tuple[tuple[str, Layout | ComposedLayout | Swizzle], ...]
    kernels: tuple[Kernel, ...]
    assertions: int                             # how many were evaluated and hold
    redistributes: tuple[Redistribute, ...] = ()
