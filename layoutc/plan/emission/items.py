"""Which item an element of a group is, as an expression: a layout's where there is one, else looked up."""

from __future__ import annotations

from layoutc.index import Expr, Lookup
from layoutc.layout.fit import Misfit, fit
from layoutc.layout.layout import from_modes
from layoutc.plan.emission.frame import Frame, index_of, numbered
from layoutc.plan.moves.placement import Groups


class Items:
    """The items of some groups, by the number of the group and of the element in it."""

    def __init__(self, frame: Frame, groups: Groups) -> None:
        self.vector = len(groups[0])
        self.count = len(groups)
        self.group = numbered("group", self.count)
        groups_fastest: list[int] = [item for element in zip(*groups, strict=True) for item in element]
        self._first = groups_fastest[0]
        self._fitted = fit([item - self._first for item in groups_fastest], [self.count, self.vector])
        self._entries = tuple(item for group in groups for item in group)
        self._table = frame.table("items", self._entries, "short") if isinstance(self._fitted, Misfit) else ""

    def of(self, element: Expr) -> Expr:
        """The item that is this element of the present group."""
        if isinstance(self._fitted, Misfit):
            return Lookup(self._table, self._entries, self.group * self.vector + element)
        by_group, by_element = map(from_modes, self._fitted)
        return index_of(by_group, self.group) + index_of(by_element, element) + self._first
