"""The edge rules, one class each: what index is read for one outside, or what value stands there.

``divides``: whether a fold takes a division by the extent, which needs many registers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from layoutc.index import Call, Expr


@dataclass(frozen=True, slots=True)
class Constant:
    """``v v v a b c d v v v``: the element is not read, a value stands for it."""

    name: ClassVar[str] = "constant"
    divides: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Nearest:
    """``a a a a b c d d d d``."""

    name: ClassVar[str] = "nearest"
    divides: ClassVar[bool] = False

    def fold(self, i: Expr, n: Expr) -> Expr:
        """The index inside 0..n-1 that is read for any i."""
        return Call("nearest", (i, n))


@dataclass(frozen=True, slots=True)
class Reflect:
    """``c b a a b c d d c b``: period 2n."""

    name: ClassVar[str] = "reflect"
    divides: ClassVar[bool] = True

    def fold(self, i: Expr, n: Expr) -> Expr:
        """The index inside 0..n-1 that is read for any i."""
        return Call("reflect", (i, n))


@dataclass(frozen=True, slots=True)
class Mirror:
    """``d c b a b c d c b a``: period 2n - 2, and 0 for n = 1."""

    name: ClassVar[str] = "mirror"
    divides: ClassVar[bool] = True

    def fold(self, i: Expr, n: Expr) -> Expr:
        """The index inside 0..n-1 that is read for any i."""
        return Call("mirror", (i, n))


@dataclass(frozen=True, slots=True)
class Wrap:
    """``b c d a b c d a b c``: period n."""

    name: ClassVar[str] = "wrap"
    divides: ClassVar[bool] = True

    def fold(self, i: Expr, n: Expr) -> Expr:
        """The index inside 0..n-1 that is read for any i."""
        return Call("wrap", (i, n))


Folding = Nearest | Reflect | Mirror | Wrap
Edge = Constant | Folding
EDGES: dict[str, Edge] = {e.name: e for e in (Constant(), Nearest(), Reflect(), Mirror(), Wrap())}
