"""Loads and stores dealt out by layouts of their own, and the redistributions between these and the owner's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Literal

from layoutc.index import Int
from layoutc.layout import Layout
from layoutc.layout.composed import AnyLayout
from layoutc.layout.fit import Misfit, fit
from layoutc.layout.layout import from_modes
from layoutc.plan.names import Names
from layoutc.plan.nodes import Target
from layoutc.plan.ownership import Ownership
from layoutc.plan.reads.footprints import Axis
from layoutc.plan.steps import DeviceFunction
from layoutc.resolve.types import BOOL, U8, Type

if TYPE_CHECKING:       # these need NumPy, which kernels without redistributions do without
    from layoutc.plan.moves.exchange import Exchange
    from layoutc.plan.redistributions.redistribution import RedistributionPlan

MOST_ITEMS = 256            # that a thread holds on either side of a redistribution


class CannotRedistributeError(Exception):
    """Why a load or a store cannot be dealt out so; what would mend it."""

    def __init__(self, why: str, help: str = "") -> None:
        super().__init__(why)
        self.why, self.help = why, help


@dataclass(frozen=True, slots=True)
class DealtAccess:
    """The elements of a box (of a store: of the tile) as threads load or store them.

    ``exchange`` is between the values as they are loaded and as they are needed (as they are made and as they are
    stored); None where nothing moves. ``move`` is the function that does it.
    """

    verb: Literal["load", "store"]
    tensor: str
    type: Type
    layout: AnyLayout               # (thread, item) -> row-major position; those past the end are masked
    extents: tuple[int, ...]        # of the box
    held: int = 0                   # items that a thread needs or makes, where the layout may differ from the owner's
    exchange: Exchange | None = None
    move: RedistributionPlan | None = None

    @property
    def items(self) -> int:
        """Items of a thread."""
        return self.layout[1].size

    @property
    def elements(self) -> int:
        """Elements of the box."""
        return prod(self.extents)

    @property
    def exceeds(self) -> bool:
        """Whether the layout has positions past the end."""
        return self.layout.size > self.elements

    @property
    def function(self) -> DeviceFunction:
        """The function that redistributes."""
        assert self.move is not None, "nothing moves"
        return self.move.function


def check_cover(access: DealtAccess, threads: int) -> None:
    """Every element is moved once, by the block's threads.

    Raises CannotRedistributeError.
    """
    layout, what = access.layout, f"{'box' if access.verb == 'load' else 'tile'} of `{access.tensor}`"
    if layout[0].size != threads:
        raise CannotRedistributeError(f"the block has {threads} threads, and {layout} is for {layout[0].size}")
    if layout.size < access.elements:
        raise CannotRedistributeError(
            f"{layout} moves {layout.size} elements, the {what} has {access.elements} "
            f"({' x '.join(map(str, access.extents))})", "deal more items to the threads")
    movers: dict[int, int] = {}
    for slot, position in enumerate(layout.values):
        if position in movers and position < access.elements:
            done = "loaded" if access.verb == "load" else "stored"
            raise CannotRedistributeError(
                f"position {position} of the {what} is {done} twice, by {_slot(movers[position], threads)} and "
                f"{_slot(slot, threads)}", "name every element once")
        if position < 0:
            raise CannotRedistributeError(f"{_slot(slot, threads)} is at {position}, before the {what}")
        movers[position] = slot
    missing = next((k for k in range(access.elements) if k not in movers), None)
    if missing is not None:
        raise CannotRedistributeError(f"position {missing} of the {what} is left out by {layout}",
                                      "name every element once")


def _slot(slot: int, threads: int) -> str:
    return f"item {slot // threads} of thread {slot % threads}"


# ---- what each thread holds


def needed(
    owner: Ownership, indices: tuple[str, ...], axes: tuple[Axis, ...], held: tuple[int, ...], box: tuple[int, ...]
) -> Layout:
    """(thread, item) -> position in the block's box of the elements that a thread holds, ``held`` along each axis.

    Raises CannotRedistributeError where the threads' boxes do not begin as a layout says.
    """
    first = dict(zip(indices, owner.at_first_item(), strict=True))
    strides = tuple(prod(box[number + 1:]) for number in range(len(box)))
    begins = []
    for thread in range(owner.threads):
        at = {"thread": Int(thread)}
        begins.append(sum(_whole(first[a.index].over(at)) * a.scale * stride
                          for a, stride in zip(axes, strides, strict=True) if a.index in first))
    modes = fit([begin - begins[0] for begin in begins], [owner.threads])
    if isinstance(modes, Misfit):
        raise CannotRedistributeError(
            f"the box of thread {modes.index} begins at position {modes.found + begins[0]}, "
            f"where a layout would have {modes.expected + begins[0]}",
            "choose a tile and a `threads` layout that divide each other, or stage in shared memory")
    by_thread = from_modes(modes[0])
    return Layout((by_thread.shape, held[::-1] or 1), (by_thread.stride, strides[::-1] or 0))


def _whole(e: object) -> int:
    assert isinstance(e, Int), "a thread's place is a number"
    return e.value


def made(owner: Ownership, positions: int) -> Layout:
    """(thread, item) -> position in the tile of the outputs that a thread makes.

    Where fewer than ``positions`` are owned, more items follow that stand for the positions past the tile's end.
    Raises CannotRedistributeError where the owners are no layout.
    """
    if owner.map is None:
        raise CannotRedistributeError("the outputs are owned as the box of an input, not by a layout",
                                      "give `threads` a count or a layout")
    count = owner.map.size
    if positions <= count:
        return owner.map
    times = -(-positions // count)
    items = owner.map[1]
    return Layout((owner.map[0].shape, (items.shape, times)), (owner.map[0].stride, (items.stride, count)))


def exchange_of(access: DealtAccess, other: Layout, target: Target) -> DealtAccess:
    """The access with what moves between its layout and that of the values' use or making.

    Raises CannotRedistributeError where a thread would hold too much.
    """
    from layoutc.plan.moves.exchange import Exchange

    source, destination = (access.layout, other) if access.verb == "load" else (other, access.layout)
    most = max(source[1].size, destination[1].size)
    limit = min(MOST_ITEMS, target.register_bytes // access.type.bytes)
    if most > limit:
        raise CannotRedistributeError(f"a thread would hold {most} items in registers, more than {limit}",
                                      "make the tile smaller or the threads more")
    return replace(access, held=other[1].size, exchange=Exchange(source, destination, access.type.bytes))


# ---- the functions


def with_moves(
    accesses: tuple[DealtAccess, ...], entry: str, names: Names, target: Target, room: int
) -> tuple[DealtAccess, ...]:
    """The accesses with the functions that redistribute; ``names`` are those of the text.

    ``room``: bytes of shared memory that are left for all of them; where they want more, each has an equal share.
    """
    names_of = {a.tensor: names.take(f"{entry}_{a.verb}_{a.tensor}") for a in accesses if _moves(a)}
    share = max(room, 1)
    made = tuple(_with_move(a, names_of, replace(target, shared_bytes=share)) for a in accesses)
    if names_of and shared_bytes(made) > room:
        share = max(room // len(names_of), 1)
        made = tuple(_with_move(a, names_of, replace(target, shared_bytes=share)) for a in accesses)
    for access in made:
        if access.move is not None:
            names.take(access.function.shared_name)
    return made


def shared_bytes(accesses: tuple[DealtAccess, ...]) -> int:
    """Shared memory of all functions, of a block."""
    return sum(a.function.shared_bytes for a in accesses if a.move is not None)


def _with_move(access: DealtAccess, names_of: Mapping[str, str], target: Target) -> DealtAccess:
    exchange = access.exchange
    if exchange is None or access.tensor not in names_of:
        return replace(access, exchange=None)
    from layoutc.plan.redistributions.redistribution import plan_redistribution

    held = U8 if access.type == BOOL and access.verb == "load" else access.type      # as an input's bools are held
    plan = plan_redistribution(names_of[access.tensor], exchange, "exchange", held, None, target)
    return replace(access, move=plan)


def _moves(access: DealtAccess) -> bool:
    """Whether some item is not in its place yet."""
    exchange = access.exchange
    return exchange is not None and (exchange.items_after > exchange.items_before or any(
        slot != (thread, item) for thread, row in enumerate(exchange.came_from) for item, slot in enumerate(row)))


def accesses_by_tensor(accesses: tuple[DealtAccess, ...], verb: str) -> Mapping[str, DealtAccess]:
    """Those of one kind."""
    return {a.tensor: a for a in accesses if a.verb == verb}
