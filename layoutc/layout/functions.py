"""The functions of layouts that the language knows by name, and what each takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from layoutc.layout.compose import composition
from layoutc.layout.divide import flat_divide, logical_divide, tiled_divide, zipped_divide
from layoutc.layout.gaps import complement
from layoutc.layout.inverse import left_inverse, right_inverse
from layoutc.layout.measures import coalesce, cosize, depth, rank, size
from layoutc.layout.mma import mma_a, mma_b, mma_c
from layoutc.layout.named import blocked, col_major, row_major, striped, warp_striped
from layoutc.layout.product import (
    blocked_product,
    flat_product,
    logical_product,
    raked_product,
    tiled_product,
    zipped_product,
)
from layoutc.layout.swizzles import swizzle

# layout: a layout, or an integer n for n:1; map: a layout or a swizzle; tiler: a layout, or a tuple of tilers;
# shape: an integer or a nested tuple of such; type: the name of an element type.
Kind: TypeAlias = Literal["layout", "map", "tiler", "integer", "shape", "type"]


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the language: what to call with which arguments, by position."""

    call: Callable[..., object]
    takes: tuple[Kind, ...]
    gives: Literal["layout", "map", "integer"]  # layout: a Layout or a ComposedLayout
    endless: bool = False                       # the last argument may come any number of times
    least: int | None = None                    # arguments that must be there, where some may be left out

    @property
    def fewest(self) -> int:
        """The smallest number of arguments."""
        return len(self.takes) if self.least is None else self.least

    @property
    def most(self) -> int | None:
        """The largest number of arguments, None without bound."""
        return None if self.endless else len(self.takes)


FUNCTIONS: Mapping[str, Function] = MappingProxyType({
    "row_major": Function(row_major, ("shape",), "layout", endless=True),
    "col_major": Function(col_major, ("shape",), "layout", endless=True),
    "coalesce": Function(coalesce, ("layout",), "layout"),
    "composition": Function(composition, ("map", "map"), "map"),
    "complement": Function(complement, ("layout", "integer"), "layout", least=1),
    "right_inverse": Function(right_inverse, ("layout",), "layout"),
    "left_inverse": Function(left_inverse, ("layout",), "layout"),
    "logical_divide": Function(logical_divide, ("layout", "tiler"), "layout"),
    "zipped_divide": Function(zipped_divide, ("layout", "tiler"), "layout"),
    "tiled_divide": Function(tiled_divide, ("layout", "tiler"), "layout"),
    "flat_divide": Function(flat_divide, ("layout", "tiler"), "layout"),
    "logical_product": Function(logical_product, ("layout", "tiler"), "layout"),
    "zipped_product": Function(zipped_product, ("layout", "tiler"), "layout"),
    "tiled_product": Function(tiled_product, ("layout", "tiler"), "layout"),
    "flat_product": Function(flat_product, ("layout", "tiler"), "layout"),
    "blocked_product": Function(blocked_product, ("layout", "layout"), "layout"),
    "raked_product": Function(raked_product, ("layout", "layout"), "layout"),
    "swizzle": Function(swizzle, ("integer", "integer", "integer"), "map"),
    "size": Function(size, ("layout",), "integer"),
    "cosize": Function(cosize, ("layout",), "integer"),
    "rank": Function(rank, ("layout",), "integer"),
    "depth": Function(depth, ("layout",), "integer"),
    "blocked": Function(blocked, ("integer", "integer"), "layout"),
    "striped": Function(striped, ("integer", "integer"), "layout"),
    "warp_striped": Function(warp_striped, ("integer", "integer", "integer"), "layout"),
    "mma_a": Function(mma_a, ("integer", "integer", "integer", "type"), "layout"),
    "mma_b": Function(mma_b, ("integer", "integer", "integer", "type"), "layout"),
    "mma_c": Function(mma_c, ("integer", "integer", "integer", "type"), "layout"),
})
