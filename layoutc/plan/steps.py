"""The statements of generated text; each is printed by the template of its name, its fields by their own names.

Everything that is printed is an ``Expr``, a value of ``layoutc.plan.values`` or a string from the name allocator.
"""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.index import Expr
from layoutc.plan.values import Text


@dataclass(frozen=True, slots=True)
class Let:
    """A constant variable."""

    type: str
    name: str
    value: Text


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that changes."""

    type: str
    name: str
    value: Text


@dataclass(frozen=True, slots=True)
class Registers:
    """An array that a thread holds, flat."""

    type: str
    name: str
    count: int      # elements


@dataclass(frozen=True, slots=True)
class Shared:
    """An array of the block, flat."""

    type: str
    name: str
    extents: tuple[int, ...]    # their product is the element count


@dataclass(frozen=True, slots=True)
class Assign:
    """``target = value``."""

    target: Text
    value: Text


@dataclass(frozen=True, slots=True)
class Do:
    """A call for its effect."""

    action: Text


@dataclass(frozen=True, slots=True)
class Barrier:
    """All threads of the block meet; shared memory is as written."""


@dataclass(frozen=True, slots=True)
class Loop:
    """``for name in low..high``."""

    unroll: bool
    type: str
    name: str
    low: Expr
    high: Expr
    body: Steps


@dataclass(frozen=True, slots=True)
class Rounds:
    """Each thread takes every ``step``-th number of ``0..count``, beginning with its own."""

    name: str
    first: Expr
    count: Text
    step: int
    body: Steps


@dataclass(frozen=True, slots=True)
class When:
    """``if (test)``."""

    test: Text
    body: Steps


@dataclass(frozen=True, slots=True)
class Either:
    """``if (test) … else …``."""

    test: Text
    yes: Steps
    no: Steps


@dataclass(frozen=True, slots=True)
class Network:
    """A sorting network over an array of registers: compare-exchanges in this order."""

    array: str
    name: str
    rows: tuple[str, ...]       # of pairs `{ low, high }`
    count: int


@dataclass(frozen=True, slots=True)
class Note:
    """A comment of one line."""

    text: str


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line between parts."""


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel of the text."""

    threads: int
    name: str
    parameters: tuple[str, ...]     # lines of one or more
    body: Steps


@dataclass(frozen=True, slots=True)
class File:
    """The whole text: the plan in comments, the index type, the kernels."""

    plan: tuple[str, ...]
    index: str
    functions: tuple[Function, ...]


Step = (
    Let | Variable | Registers | Shared | Assign | Do | Barrier | Loop | Rounds | When | Either | Network | Note | Blank
    | Function | File
)
Steps = tuple[Step, ...]
