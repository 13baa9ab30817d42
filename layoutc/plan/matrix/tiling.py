"""How a block divides a product: its tile, its warps, the chunks of the sum and the buffers in which they wait."""

from __future__ import annotations

from dataclasses import dataclass

from layoutc.layout import Layout, swizzle
from layoutc.plan.machine import LINE_BYTES, REGISTERS, WARP
from layoutc.resolve.types import Type

VECTOR_BYTES = 16
ROW_BYTES = 64          # of a chunk along the sum
BUFFERS = 4
FRAGMENT = 16           # rows, and columns, that a warp loads at once
MOST_SUMS = 128         # of a thread
WARPS = (4, 8, 6, 12, 16, 2, 3, 1)      # of a block, the best first
OTHER_REGISTERS = 32    # of a thread, at least
MANY_SUMS = 64          # of a thread: so many that the compiler must be told how many blocks to have room for


@dataclass(frozen=True, slots=True)
class Tiling:
    """Outputs of a block and of a warp, along rows and columns."""

    rows: int
    columns: int
    warps: tuple[int, int]
    depth: int              # elements of the sum in a chunk
    buffers: int
    together: bool = False  # four warps below each other multiply as one, from panels

    @property
    def threads(self) -> int:
        """Of a block."""
        return WARP * self.warps[0] * self.warps[1]

    @property
    def warp(self) -> tuple[int, int]:
        """Outputs of a warp."""
        return self.rows // self.warps[0], self.columns // self.warps[1]

    @property
    def resident(self) -> int:
        """Blocks for whose registers a multiprocessor must have room; 0: any number."""
        sums = self.rows * self.columns // self.threads
        return REGISTERS // (self.threads * (sums + OTHER_REGISTERS)) if sums >= MANY_SUMS else 0


@dataclass(frozen=True, slots=True)
class Panel:
    """One factor's chunk in shared memory: ``lines`` of ``length`` elements, 16-byte vectors permuted in each line.

    Lanes that name the same vector of eight neighbouring lines would meet on one bank: the number of the vector is
    changed by that of the line, ``swizzle(b, 0, s)`` of the row-major vectors.
    """

    type: Type
    lines: int
    length: int

    @property
    def elements(self) -> int:
        """Of one buffer."""
        return self.lines * self.length

    @property
    def in_vector(self) -> int:
        """Elements of 16 bytes."""
        return VECTOR_BYTES // self.type.bytes

    @property
    def vectors(self) -> int:
        """Of a line."""
        return self.length // self.in_vector

    @property
    def permuted(self) -> int:
        """Vectors among which one changes places, a power of two."""
        return min(self.vectors & -self.vectors, LINE_BYTES // VECTOR_BYTES)

    @property
    def period(self) -> int:
        """Lines side by side that no bank tells apart; the next one is permuted differently."""
        return max(LINE_BYTES // VECTOR_BYTES // self.vectors, 1)

    def __str__(self) -> str:
        layout = Layout((self.lines, self.vectors), (self.vectors, 1))
        bits = self.permuted.bit_length() - 1
        shift = (self.vectors * self.period).bit_length() - 1
        return f"{swizzle(bits, 0, max(shift, bits))} of {layout}" if bits else str(layout)


def arranged(rows: int, columns: int, count: int | None = None) -> tuple[int, int] | None:
    """How warps lie side by side in a tile: as square as can be, each of whole fragments; None where there is no way.

    ``count`` is how many there are; left out, the best number.
    """
    for warps in WARPS if count is None else (count,):
        ways = [(down, warps // down) for down in range(1, warps + 1)
                if warps % down == 0 and rows // FRAGMENT % down == 0 and columns // FRAGMENT % (warps // down) == 0]
        if ways and rows * columns <= MOST_SUMS * WARP * warps:
            return min(ways, key=lambda way: (abs(rows // way[0] - columns // way[1]), way))
    return None


def shared_bytes(tiling: Tiling, type: Type) -> int:
    """Of all buffers."""
    return tiling.buffers * (tiling.rows + tiling.columns) * tiling.depth * type.bytes
