"""Redistributions: two thread/value layouts that hold the same tile, and how values may travel."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from layoutc.diagnostics import Label, did_you_mean
from layoutc.parse import syntax
from layoutc.resolve import layouts
from layoutc.resolve.constants import Statics
from layoutc.resolve.errors import Errors, Refused, expected
from layoutc.resolve.layouts import AnyLayout, describe
from layoutc.resolve.program import MOST_SLOTS, MOST_THREADS, Redistribute
from layoutc.resolve.tensors import element_type
from layoutc.resolve.words import MEANS, Means, one_of

MOST_ITEMS = 256                # that a thread holds
MOST_POSITIONS = 2**16          # between the least and the greatest, where a rank may name any of them
MOST_LANES = 32

Places = dict[int, int]         # position -> the first slot that holds it, counted colexicographically
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RedistributeResolver:
    """One redistribution."""

    errors: Errors
    statics: Statics
    written: syntax.Redistribute

    def resolve(self) -> Redistribute | None:
        """The redistribution, or None where something was wrong."""
        w = self.written
        before = self.errors.met
        type = self._try(lambda: element_type(self.errors, w.type))
        source = self._try(lambda: self._side(w.source))
        destination = self._try(lambda: self._side(w.destination))
        if source is not None and destination is not None:
            self._try(lambda: self._same_tile(source, destination))
        via = self._try(self._via)
        warp = self._try(self._warp)
        if self.errors.met > before or type is None or source is None or destination is None or warp is None:
            return None
        return Redistribute(
            w.name.id, type, w.kind, source, destination, via, warp, w.span, w.name.span,
            None if w.via is None else w.via.span)

    @staticmethod
    def _try(action: Callable[[], T]) -> T | None:
        with suppress(Refused):
            return action()
        return None

    # ---- the sides

    def _side(self, written: syntax.Expression) -> AnyLayout:
        """A thread/value layout that a block of threads can hold."""
        value = layouts.as_map(self.errors, written.span, self.statics.item(written))
        if not isinstance(value, AnyLayout):
            self.errors.refuse(
                "not-a-layout", written.span, f"a side of a redistribution is a layout, not {describe(value)}",
                "no layout", help=f"compose it: `composition({value}, (threads, items):(…, …))`")
        if value.rank != 2:
            self.errors.refuse(
                "bad-side", written.span,
                f"a side of a redistribution has two modes, thread and item; {value} has {value.rank}",
                "not two modes", help="write `(threads, items):(…, …)`")
        threads, items = value[0].size, value[1].size
        for count, most, what in ((threads, MOST_THREADS, "threads"), (items, MOST_ITEMS, "items a thread"),
                                  (threads * items, MOST_SLOTS, "items in all")):
            if count > most:
                self.errors.refuse(
                    "bad-side", written.span, f"a block holds at most {most} {what}, and {value} has {count}",
                    f"{threads} threads of {expected(items, 'item')}")
        return value

    def _same_tile(self, source: AnyLayout, destination: AnyLayout) -> None:
        """Refuses sides that differ in their threads or in the positions that they hold."""
        w = self.written
        there = source[0].size, destination[0].size
        if there[0] != there[1]:
            self.errors.refuse(
                "different-tiles", w.destination.span,
                f"the source has {expected(there[0], 'thread')} and the destination {there[1]}",
                expected(there[1], "thread"), others=[Label(w.source.span, expected(there[0], "thread"))],
                help="both sides are held by the same threads; deal other counts of items to them")
        before = self._places(w.source, source)
        after = self._places(w.destination, destination)
        lost, missing = sorted(before.keys() - after.keys()), sorted(after.keys() - before.keys())
        if missing and (not lost or missing[0] < lost[0]):
            where = _slot(after[missing[0]], there[0])
            self._differ(f"position {missing[0]}, which {where} is to hold, is held by no thread of the source",
                         before, after)
        if lost:
            where = _slot(before[lost[0]], there[0])
            self._differ(f"position {lost[0]}, which {where} holds, is held by no thread of the destination",
                         before, after)
        if w.kind != "exchange" and max(before) - min(before) >= MOST_POSITIONS:
            self.errors.refuse(
                "bad-side", w.source.span,
                f"ranks name positions in a tile, and this one reaches from {min(before)} to {max(before)}",
                "positions too far apart", help=f"a tile of a {w.kind} spans at most {MOST_POSITIONS} positions")

    def _differ(self, witness: str, before: Places, after: Places) -> None:
        w = self.written
        self.errors.refuse(
            "different-tiles", w.destination.span, "the two layouts do not hold the same positions of the tile",
            _span_of(after), others=[Label(w.source.span, _span_of(before))], notes=[witness],
            help="the sides must hold the same set of positions; copies are allowed, by strides of 0")

    def _places(self, written: syntax.Expression, layout: AnyLayout) -> Places:
        found: Places = {}
        for slot, position in enumerate(layouts.values(self.errors, written.span, layout)):
            found.setdefault(position, slot)
        return found

    # ---- how values may travel

    def _via(self) -> Means | None:
        name = self.written.via
        if name is None:
            return None
        found = one_of(MEANS, name.id)
        if found is None:
            self.errors.refuse(
                "bad-via", name.span, f"values do not travel via `{name.id}`", "unknown",
                help=_meant(name.id), notes=[f"the means are {', '.join(MEANS)}; left out, the cheapest is taken"])
        return found

    def _warp(self) -> int:
        written = self.written.warp
        if written is None:
            return MOST_LANES
        lanes = self.statics.integer(written)
        if not 1 <= lanes <= MOST_LANES or lanes & (lanes - 1):
            near = min((2**k for k in range(6)), key=lambda n: (abs(n - lanes), -n))
            self.errors.refuse(
                "bad-warp", written.span, f"a warp has 1, 2, 4, 8, 16 or 32 lanes, not {lanes}", "no such warp",
                help=f"write `warp {near}`")
        return lanes


def _slot(slot: int, threads: int) -> str:
    return f"item {slot // threads} of thread {slot % threads}"


def _span_of(places: Places) -> str:
    count = len(places)
    return f"holds {expected(count, 'position')} from {min(places)} to {max(places)}" if count > 1 else (
        f"holds position {min(places)} alone")


ELSEWHERE = {
    "register": "registers", "none": "registers", "shfl": "shuffle", "shuffles": "shuffle", "smem": "shared",
    "shmem": "shared", "memory": "shared", "warp": "shuffle",
}


def _meant(name: str) -> str:
    other = ELSEWHERE.get(name.lower())
    return f"did you mean `{other}`?" if other else did_you_mean(name, MEANS)


def redistribute_of(errors: Errors, statics: Statics, written: syntax.Redistribute) -> Redistribute | None:
    """What a declaration means, or None where something was wrong."""
    return RedistributeResolver(errors, statics, written).resolve()

