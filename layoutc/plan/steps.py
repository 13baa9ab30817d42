"""The statements of generated text; each is printed by the template of its name, its fields by their own names.

Everything that is printed is an ``Expr``, a value of ``layoutc.plan.values`` or a string from the name allocator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    extents: tuple[int | str, ...]  # their product is the element count


@dataclass(frozen=True, slots=True)
class SharedAt:
    """A region of the launch's dynamic shared memory, flat."""

    type: str
    name: str
    offset: int                     # in bytes
    extents: tuple[int | str, ...]  # their product is the element count


@dataclass(frozen=True, slots=True)
class PanelAt:
    """The same in lines of 128 bytes whose 16-byte vectors change places by the line's number: for warpgroups."""

    type: str
    name: str
    offset: int                     # in bytes, a multiple of 1024
    extents: tuple[int | str, ...]  # their product is the element count


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
class Barriers:
    """Barriers in shared memory at which threads and bytes of copies arrive."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class WarpBarrier:
    """The lanes of a warp meet; shared memory is as they wrote it."""

    mask: str       # the lanes that exist; "" for all 32


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers known when the text is compiled."""

    type: str
    name: str
    values: tuple[int, ...]
    count: int


Unroll = bool | Literal["told"]     # whether a loop is written out; told: the schedule insists


@dataclass(frozen=True, slots=True)
class Loop:
    """``for name in low..high``."""

    unroll: Unroll
    type: str
    name: str
    low: Expr
    high: Expr
    body: Steps


@dataclass(frozen=True, slots=True)
class Turns:
    """``for name in low..high``, ``times`` turns of it written out together."""

    times: str
    type: str
    name: str
    low: Expr
    high: Expr
    body: Steps


@dataclass(frozen=True, slots=True)
class Routine:
    """Statements under a name, for one number at a time."""

    type: str
    name: str
    parameter: str
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
class Strided:
    """From ``first`` to below ``high`` in steps; ``unroll``: rounds that are written out together, 0: as they come."""

    unroll: int
    type: str
    name: str
    first: Expr
    high: Text
    step: Expr
    body: Steps


@dataclass(frozen=True, slots=True)
class Halving:
    """``first``, then half of it, down to 1."""

    name: str
    first: int
    body: Steps


@dataclass(frozen=True, slots=True)
class Tiles:
    """Each block takes every ``gridDim.x``-th tile, beginning with its own."""

    name: str
    count: str
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
    resident: int = 0               # blocks for whose registers a multiprocessor has room; 0: the compiler decides


@dataclass(frozen=True, slots=True)
class Inlined:
    """What a thread does, once for each value of a template's parameter."""

    comment: tuple[str, ...]
    template: str                   # "bool interior"
    name: str
    parameters: tuple[str, ...]     # lines of one or more
    body: Steps


@dataclass(frozen=True, slots=True)
class DeviceFunction:
    """A function that the threads of a block call together, and the shared memory that it keeps."""

    comment: tuple[str, ...]
    template: str                   # "class T" where the element type is the caller's choice, else ""
    shared_name: str
    shared_bytes: int
    name: str
    parameters: tuple[str, ...]
    body: Steps


@dataclass(frozen=True, slots=True)
class Header:
    """Functions that stand alone in anyone's text; the namespace keeps their helpers from meeting others."""

    guard: str
    space: str                      # its name
    helpers: tuple[str, ...]        # definitions
    functions: tuple[DeviceFunction, ...]
    names: tuple[str, ...]          # that are seen outside


@dataclass(frozen=True, slots=True)
class File:
    """The whole text: the plan in comments, the index type, the functions."""

    plan: tuple[str, ...]
    index: str
    functions: tuple[DeviceFunction | Inlined | Function, ...]


Step = (
    Let | Variable | Registers | Shared | SharedAt | PanelAt | Barriers | Table | Assign | Do | Barrier | WarpBarrier
    | Loop | Turns | Routine | Rounds | Strided | Halving | Tiles | When | Either | Network | Note | Blank
    | DeviceFunction | Inlined | Function | Header | File
)
Steps = tuple[Step, ...]
