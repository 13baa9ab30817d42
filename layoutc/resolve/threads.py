"""``threads``: a count, or a layout that says which thread owns which outputs of the tile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from layoutc.parse import syntax
from layoutc.resolve.constants import Statics
from layoutc.resolve.errors import Errors
from layoutc.resolve.layouts import AnyLayout, describe
from layoutc.resolve.program import MOST_THREADS, MOST_TILE, Threads
from layoutc.resolve.surface import Surface
from layoutc.source import Span


def outputs_of(indices: Sequence[str], tile: Mapping[str, int]) -> int:
    """Outputs of a tile, for an output with these indices."""
    return prod(tile.get(name, 1) for name in indices)


@dataclass(frozen=True, slots=True)
class ThreadsResolver:
    """One clause, for a tile that is walked along an index or not at all."""

    errors: Errors
    statics: Statics
    surface: Surface
    tile: Mapping[str, int]
    march: str | None

    def resolve(self, written: syntax.Expression, span: Span) -> Threads:
        """Who owns what, or how many they are."""
        value = self.statics.item(written)
        if isinstance(value, int):
            self._thread_count(written, value)
            return Threads(count=value, span=span)
        if not isinstance(value, AnyLayout):
            self.errors.refuse(
                "not-a-layout", written.span, f"threads are a count or a layout, not {describe(value)}", "neither"
            )
        self._thread_layout(written, value)
        return Threads(layout=value, span=span)

    def _thread_count(self, written: syntax.Expression, count: int) -> None:
        if not 1 <= count <= MOST_THREADS:
            self.errors.refuse(
                "bad-threads", written.span, f"a block has 1 to {MOST_THREADS} threads, not {count}",
                "too few" if count < 1 else "too many",
            )

    def _thread_layout(self, written: syntax.Expression, layout: AnyLayout) -> None:
        if not any(self.surface.outputs):
            self.errors.refuse(
                "bad-threads", written.span, "an output without indices takes a count of threads, not a layout",
                "a layout", help="write the number: `threads 256`",
            )
        if layout.rank != 2:
            self.errors.refuse(
                "bad-threads", written.span, f"a layout of threads has two modes, thread and item; {layout} has not",
                "not two modes", help="write `(threads, items):(…, …)`",
            )
        self._thread_count(written, layout[0].size)
        of = [tuple(i for i in o if i != self.march) for o in self.surface.outputs if o]
        sizes = {outputs_of(o, self.tile) for o in of} if self.tile else {layout.size}
        for outputs in sorted(sizes):
            self._bijection(written, layout, outputs)

    def _bijection(self, written: syntax.Expression, layout: AnyLayout, outputs: int) -> None:
        if layout.size != outputs or layout.size > MOST_TILE:
            self.errors.refuse(
                "bad-threads", written.span,
                f"{layout} owns {layout.size} outputs, and the tile has {outputs}", "not the tile's size",
            )
        owner: dict[int, int] = {}
        for i in range(layout.size):
            position = layout(i)
            if position in owner or not 0 <= position < outputs:
                threads = layout[0].size
                one = f"thread {i % threads}, item {i // threads}"
                what = f"{one} is at {position}, outside 0..{outputs}"
                if position in owner:
                    first = owner[position]
                    what = f"{one} is at {position}, where thread {first % threads}, item {first // threads} is already"
                self.errors.refuse(
                    "bad-threads", written.span, f"{layout} is no bijection onto the {outputs} outputs of the tile",
                    "not one owner an output",
                    notes=[what, "positions count the tile row-major, in the order of the brackets"],
                )
            owner[position] = i
