"""CuTe's layout algebra over integers, exact or refused."""

from layoutc.layout.compose import composition
from layoutc.layout.divide import flat_divide, logical_divide, tiled_divide, zipped_divide
from layoutc.layout.errors import LayoutError
from layoutc.layout.gaps import complement
from layoutc.layout.inverse import left_inverse, right_inverse
from layoutc.layout.layout import Layout
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

__all__ = [
    "Layout",
    "LayoutError",
    "blocked",
    "blocked_product",
    "coalesce",
    "col_major",
    "complement",
    "composition",
    "cosize",
    "depth",
    "flat_divide",
    "flat_product",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "mma_a",
    "mma_b",
    "mma_c",
    "raked_product",
    "rank",
    "right_inverse",
    "row_major",
    "size",
    "striped",
    "swizzle",
    "tiled_divide",
    "tiled_product",
    "warp_striped",
    "zipped_divide",
    "zipped_product",
]
