"""Lets that fold at their edges: how far from an index the place is that its offset is folded to.

The maps of `nearest`, `reflect` and `mirror` leave the domain as it is and bring no two places farther apart. So an
offset from an index inside the domain is folded to an offset that is no longer.
"""

from __future__ import annotations

from collections.abc import Mapping

from layoutc.index import Expr, Name, terms
from layoutc.resolve.program import Sides

Range = tuple[Expr, Expr]       # half-open
Offsets = tuple[int, int]       # least and greatest, both included


def is_folded(sides: Sides) -> bool:
    """Whether a place outside stands for another one."""
    return any(rule is not None and rule.name != "constant" for rule in sides)


def folded(sides: Sides, offsets: Offsets, index: Range, domain: Range) -> Offsets | None:
    """What offsets from an index become in a domain; None where they are not known to stay near."""
    names = {rule.name for rule in sides if rule is not None} - {"constant"}
    if "wrap" in names or not _holds(domain, index):
        return None
    low, high = offsets
    if names == {"nearest"}:
        return min(low, 0), max(high, 0)
    most = max(-low, high)
    return -most, most


def folded_subscript(sides: Sides, at: Expr, ranges: Mapping[str, Range], domain: Range, fresh: str) -> Expr | None:
    """A subscript after its fold: the tile's index that moves it, and a bounded variable of a fresh name."""
    index, low, high = None, 0, 0
    for factor, coefficient in terms(at):
        if isinstance(factor, Name) and factor.id in ranges:
            if index is not None or coefficient != 1:
                return None
            index = factor
            continue
        ends = factor.interval
        if ends[0] is None or ends[1] is None:
            return None
        low += min(ends[0] * coefficient, ends[1] * coefficient)
        high += max(ends[0] * coefficient, ends[1] * coefficient)
    if index is None:
        return None
    found = folded(sides, (low, high), ranges[index.id], domain)
    return None if found is None else index + Name(fresh, *found)


def _holds(outer: Range, inner: Range) -> bool:
    """Whether one range is known to lie in the other."""
    gaps = (inner[0] - outer[0]).interval[0], (outer[1] - inner[1]).interval[0]
    return all(gap is not None and gap >= 0 for gap in gaps)
