"""What was written: the tree of a file, with spans and without meaning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from layoutc.source import NOWHERE, Span


def place() -> Span:
    """The field of every node that says where it stands; never part of equality."""
    return field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A name where it is written, as declared or as used."""

    id: str
    span: Span = place()


# ---- expressions: constants, layouts, index equations and conditions share one grammar


@dataclass(frozen=True, slots=True)
class Number:
    """An integer, a float (``inf``, ``nan``, ``pi`` too) or a truth value."""

    value: int | float | bool
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Tuple:
    """``(4, 3)``, ``(5,)``; a parenthesised expression alone is no tuple."""

    items: tuple[Expression, ...]
    span: Span = place()


@dataclass(frozen=True, slots=True)
class LayoutPair:
    """``shape:stride``."""

    shape: Expression
    stride: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Unary:
    """``-a`` or ``not a``."""

    op: Literal["-", "not"]
    operand: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Binary:
    """``+ - * / // % **``, a comparison, ``and``, ``or``."""

    op: str
    left: Expression
    right: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the language: ``min(a, b)``, ``f32(a)``, ``composition(A, B)``."""

    function: Name
    arguments: tuple[Expression, ...]
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Subscript:
    """``x[i + 1, j]``, ``s[]``, or mode ``A[0]`` of a layout."""

    base: Expression
    indices: tuple[Expression, ...]
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Range:
    """``low..high`` half-open, ``low..=high`` inclusive."""

    low: Expression
    high: Expression
    inclusive: bool
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Binder:
    """``u in 0..K`` or a bare ``u``."""

    name: Name
    range: Range | None
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Reduction:
    """``sum(u in 0..K, j) body``."""

    op: Name
    binders: tuple[Binder, ...]
    body: Expression
    span: Span = place()


Expression = Name | Number | Tuple | LayoutPair | Unary | Binary | Call | Subscript | Reduction


# ---- kernels


@dataclass(frozen=True, slots=True)
class TensorDeclaration:
    """``x: f32[H, W]``, perhaps with ``:(strides)`` in elements."""

    name: Name
    type: Name
    extents: tuple[Expression, ...]
    strides: Expression | None
    span: Span = place()


@dataclass(frozen=True, slots=True)
class EdgeRule:
    """``nearest`` or ``constant(value)``; the name is whatever was written."""

    name: Name
    value: Expression | None
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Edge:
    """``edge x = rule``, ``edge x[axis] = rule`` or ``edge x[axis] = (low, high)``."""

    tensor: Name
    axis: Expression | None
    low: EdgeRule
    high: EdgeRule | None       # None: one rule for both sides
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Require:
    """``require H >= K, W >= K``."""

    conditions: tuple[Expression, ...]
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Let:
    """``let g[i in 0..H, j] = value``."""

    name: Name
    binders: tuple[Binder, ...]
    value: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Equation:
    """``y[i, j] = value``; the indices are whatever was written."""

    output: Name
    indices: tuple[Expression, ...]
    value: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Step:
    """``step u = v``: output v is the next input u."""

    input: Name
    output: Name
    span: Span = place()


Clause = Edge | Require | Let | Equation | Step


@dataclass(frozen=True, slots=True)
class Kernel:
    """``kernel name(inputs) -> (outputs) { clauses }``."""

    name: Name
    inputs: tuple[TensorDeclaration, ...]
    outputs: tuple[TensorDeclaration, ...]
    clauses: tuple[Clause, ...]
    span: Span = place()


# ---- schedules


@dataclass(frozen=True, slots=True)
class Tile:
    """``tile (i: 16, j: 64)``."""

    sizes: tuple[tuple[Name, Expression], ...]
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Threads:
    """``threads 256`` or ``threads (256, 4):(4, 1)``."""

    value: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class ThreadsOver:
    """``threads over x``: one thread for each element of x's box."""

    tensor: Name
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Stage:
    """``stage x in shared [halo global] [double]``."""

    tensor: Name
    where: Name
    halo_global: bool
    double: bool
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Access:
    """``load x as L`` or ``store y as L``."""

    verb: Literal["load", "store"]
    tensor: Name
    layout: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Vector:
    """``vector 4``."""

    elements: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Budget:
    """``budget shared 48 KiB``."""

    memory: Name
    amount: Expression
    unit: Name | None           # None: bytes
    span: Span = place()


@dataclass(frozen=True, slots=True)
class March:
    """``march i``."""

    index: Name
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Fuse:
    """``fuse 4``."""

    steps: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Unroll:
    """``unroll v``."""

    index: Name
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Mma:
    """``mma [via boxes]``."""

    way: Name | None = None
    span: Span = place()


ScheduleClause = Tile | Threads | ThreadsOver | Stage | Access | Vector | Budget | March | Fuse | Unroll | Mma


@dataclass(frozen=True, slots=True)
class Schedule:
    """``schedule kernel [as name] { clauses }``."""

    kernel: Name
    name: Name | None
    clauses: tuple[ScheduleClause, ...]
    span: Span = place()


# ---- the file


@dataclass(frozen=True, slots=True)
class Constant:
    """``const R = 2``."""

    name: Name
    value: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class LayoutDeclaration:
    """``layout A = (4, 3):(3, 1)``."""

    name: Name
    value: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Assertion:
    """``assert size(A) == 12``."""

    condition: Expression
    span: Span = place()


@dataclass(frozen=True, slots=True)
class Redistribute:
    """``redistribute name: type = [scatter|gather] source -> destination [via means] [warp W]``."""

    name: Name
    type: Name
    kind: Literal["exchange", "scatter", "gather"]
    source: Expression
    destination: Expression
    via: Name | None
    warp: Expression | None
    span: Span = place()


Declaration = Constant | LayoutDeclaration | Kernel | Schedule | Redistribute | Assertion


@dataclass(frozen=True, slots=True)
class Spec:
    """A whole file."""

    declarations: tuple[Declaration, ...]
