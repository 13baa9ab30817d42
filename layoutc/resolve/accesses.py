"""``load x as L`` and ``store y as L``: which thread moves which element, checked as far as the text tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from layoutc.diagnostics import Label, did_you_mean
from layoutc.parse import syntax
from layoutc.resolve import layouts
from layoutc.resolve.constants import Statics
from layoutc.resolve.errors import Errors, expected
from layoutc.resolve.layouts import AnyLayout, describe
from layoutc.resolve.program import MOST_SLOTS, MOST_THREADS, AccessLayout, Threads
from layoutc.resolve.surface import Surface
from layoutc.source import Span


@dataclass(slots=True)
class AccessResolver:
    """The loads and stores of one schedule."""

    errors: Errors
    statics: Statics
    surface: Surface
    kernel: str                 # the name of the schedule's kernel
    loads: dict[str, AccessLayout] = field(default_factory=dict)
    stores: dict[str, AccessLayout] = field(default_factory=dict)

    def add(self, clause: syntax.Access, threads: Threads | None, tile: Mapping[str, int] | None) -> None:
        """One more clause; ``threads`` and ``tile`` are what the schedule says of them."""
        found = self.loads if clause.verb == "load" else self.stores
        name = clause.tensor.id
        if name in found:
            self.errors.refuse(
                "duplicate-clause", clause.span, f"this schedule says twice how `{name}` is {_done(clause.verb)}",
                "again", others=[Label(found[name].span, "first here")])
        self._tensor(clause)
        layout = self._layout(clause)
        self._same_threads(clause.layout.span, layout, threads)
        if clause.verb == "store" and tile is not None:
            self._covers(clause, layout, prod(tile.get(index, 1) for index in self.surface.made[name]))
        found[name] = AccessLayout(name, layout, clause.span)

    def _tensor(self, clause: syntax.Access) -> None:
        """The tensor is one that can be loaded, or stored."""
        name, outputs = clause.tensor, self.surface.made
        known = list(self.surface.inputs) if clause.verb == "load" else list(outputs)
        if name.id in self.surface.lets:
            self.errors.refuse(
                "bad-access", name.span, f"the let `{name.id}` is computed in the kernel, nothing of it is "
                f"{_done(clause.verb)}", "a let", help=f"the {_known(clause.verb)} are {_listed(known)}")
        if name.id not in known:
            verb = "reads" if clause.verb == "load" else "makes"
            self.errors.refuse(
                "unknown-name", name.span, f"the kernel `{self.kernel}` {verb} no `{name.id}`", "unknown",
                help=did_you_mean(name.id, known), notes=[f"the {_known(clause.verb)} are {_listed(known)}"])
        if clause.verb == "store" and not outputs[name.id]:
            self.errors.refuse(
                "bad-access", clause.span, f"`{name.id}` is one value, which one thread stores",
                "no layout to choose", help="leave it out")

    def _layout(self, clause: syntax.Access) -> AnyLayout:
        """A thread/value layout of a block."""
        span = clause.layout.span
        layout = layouts.as_map(self.errors, span, self.statics.item(clause.layout))
        if not isinstance(layout, AnyLayout):
            self.errors.refuse(
                "not-a-layout", span, f"a {clause.verb} is dealt out by a layout, not by {describe(layout)}",
                "no layout", help=f"compose it: `composition({layout}, (threads, items):(…, …))`")
        if layout.rank != 2:
            self.errors.refuse(
                "bad-access", span, f"the layout of a {clause.verb} has two modes, thread and item; {layout} has "
                f"{layout.rank}", "not two modes", help="write `(threads, items):(…, …)`")
        threads, items = layout[0].size, layout[1].size
        if threads > MOST_THREADS or threads * items > MOST_SLOTS:
            self.errors.refuse(
                "bad-access", span, f"a block has at most {MOST_THREADS} threads and moves at most {MOST_SLOTS} items",
                f"{expected(threads, 'thread')} of {expected(items, 'item')}")
        return layout

    def _covers(self, clause: syntax.Access, layout: AnyLayout, outputs: int) -> None:
        """The tile is not larger than the layout; which box a load covers is only known with the halo."""
        if layout.size < outputs:
            self.errors.refuse(
                "bad-access", clause.layout.span, f"{layout} moves {expected(layout.size, 'element')}, the tile of "
                f"`{clause.tensor.id}` has {outputs}", "too small", help="deal more items to the threads")

    def _same_threads(self, span: Span, layout: AnyLayout, threads: Threads | None) -> None:
        """The block's threads, as `threads` or an earlier layout gives them, are the layout's."""
        first = next(iter((*self.loads.values(), *self.stores.values())), None)
        if threads is not None and threads.over is None:
            count = threads.count if threads.layout is None else threads.layout[0].size
            where = threads.span
        elif first is not None:
            count, where = first.layout[0].size, first.span
        else:
            return
        assert count is not None
        if layout[0].size != count:
            self.errors.refuse(
                "bad-access", span, f"the block has {expected(count, 'thread')}, and {layout} is for {layout[0].size}",
                expected(layout[0].size, "thread"), others=[Label(where, expected(count, "thread"))],
                help="all layouts of a schedule are held by the same threads")


def _done(verb: str) -> str:
    return "loaded" if verb == "load" else "stored"


def _known(verb: str) -> str:
    return "inputs" if verb == "load" else "outputs"


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"
