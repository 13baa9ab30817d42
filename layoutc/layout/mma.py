"""The register fragments of the tensor cores' ``mma.sync``, as thread/value layouts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from layoutc.layout.errors import LayoutError, refusal
from layoutc.layout.layout import Layout

Shape: TypeAlias = "tuple[int, int, int]"       # M, N, K

# Operand types of mma.sync -> (values of a lane that lie side by side along K, shapes M, N, K).
SHAPES = {
    "f16": (2, ((16, 8, 8), (16, 8, 16))),
    "bf16": (2, ((16, 8, 8), (16, 8, 16))),
    "tf32": (1, ((16, 8, 4), (16, 8, 8))),
    "i8": (4, ((8, 8, 16), (16, 8, 16), (16, 8, 32))),
    "u8": (4, ((8, 8, 16), (16, 8, 16), (16, 8, 32))),
    "f64": (1, ((8, 8, 4), (16, 8, 4), (16, 8, 8), (16, 8, 16))),
}
# Accumulator types -> the operand types that add up in them.
ACCUMULATES = {
    "f32": ("f16", "bf16", "tf32"),
    "f16": ("f16",),
    "i32": ("i8", "u8"),
    "f64": ("f64",),
}


def mma_a(M: int, N: int, K: int, type: str) -> Layout:
    """Operand A of ``mma.sync.m⟨M⟩n⟨N⟩k⟨K⟩``: (lane, value) to the position in the row-major M×K tile.

    ``type`` is f16, bf16, tf32, i8, u8 or f64. Lane l holds rows l//4 (+8) and, of every 4*v columns, the v from
    ``l%4*v`` on; values run along the columns, then rows, then the next columns, as in the instruction's registers.
    Source: the matrix fragments of "mma.m16n8k16" and its neighbours in the PTX ISA.
    """
    side, groups = fragment(M, N, K, type)
    return fragments(
        Layout((4, 8), (side, K)), Layout(side, 1), Layout(M // 8, 8 * K), Layout(groups, 4 * side)
    )


def mma_b(M: int, N: int, K: int, type: str) -> Layout:
    """Operand B: (lane, value) to the position in the row-major K×N tile; types and source as of mma_a.

    Lane l holds column l//4 and, of every 4*v rows, the v from ``l%4*v`` on.
    """
    side, groups = fragment(M, N, K, type)
    return fragments(Layout((4, 8), (side * N, 1)), Layout(side, N), Layout(groups, 4 * side * N))


def mma_c(M: int, N: int, K: int, type: str) -> Layout:
    """Accumulator C (and D): (lane, value) to the position in the row-major M×N tile; source as of mma_a.

    ``type`` is the accumulator's (f32, f16, i32, f64) or an operand's. Lane l holds columns ``2*(l%4)`` and the
    next of rows l//4 (+8).
    """
    operands = ACCUMULATES.get(type, (type,)) if isinstance(type, str) else (type,)
    if type in operands:
        fragment(M, N, K, type)
    elif not any((M, N, K) in SHAPES[operand][1] for operand in operands):
        raise unknown_shape(M, N, K, type, [shape for operand in operands for shape in SHAPES[operand][1]])
    return fragments(Layout((4, 8), (2, N)), Layout(2, 1), Layout(M // 8, 8 * N))


def fragments(quad: Layout, *values: Layout) -> Layout:
    """Lanes as 4 of a quad and 8 quads, and the values' modes, those of extent 1 left out."""
    own = [mode for mode in values if mode.size > 1] or [Layout(1, 0)]
    return Layout.of([quad, Layout.of(own)])


def fragment(M: int, N: int, K: int, type: str) -> tuple[int, int]:
    """Values side by side and groups of 4 lanes along K. Raises LayoutError for a shape that mma.sync lacks."""
    if not isinstance(type, str) or type not in SHAPES:
        raise refusal(
            "layout-mma",
            f"`mma.sync` takes no operands of type {type}",
            help=f"the types are {', '.join(SHAPES)}",
        )
    side, shapes = SHAPES[type]
    if (M, N, K) not in shapes:
        raise unknown_shape(M, N, K, type, shapes)
    return side, K // (4 * side)


def unknown_shape(M: int, N: int, K: int, type: str, shapes: Iterable[Shape]) -> LayoutError:
    """The refusal of a shape that the instruction does not have."""
    known = ", ".join(f"({m}, {n}, {k})" for m, n, k in dict.fromkeys(shapes))
    return refusal(
        "layout-mma",
        f"`mma.sync` has no shape ({M}, {N}, {K}) for {type}",
        help=f"the shapes (M, N, K) for {type} are {known}",
    )
