"""CuTe's swizzles: maps on integers that exclusive-or some bits into others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from layoutc.layout.errors import refusal
from layoutc.layout.layout import as_integer

Factor: TypeAlias = "tuple[int, int, int]"      # B bits, M bits kept below, shift S

BITS = 63                                       # of a 64-bit integer that is not negative


@dataclass(frozen=True, slots=True, eq=False)
class Swizzle:
    """A linear map on the bits of an integer: the composition of CuTe's ``Swizzle<B, M, S>``, the last first.

    A factor takes the B bits from M+max(S, 0) on and exclusive-ors them into the B bits from M-min(S, 0) on.
    Any factors compose, whatever their shifts, and ``==`` compares the maps by their matrices over GF(2), not
    the factors. As a map it is defined on every integer (in two's complement) and has no size.
    """

    factors: tuple[Factor, ...]

    def __call__(self, number: int) -> int:
        """The image of an integer."""
        for bits, kept, shift in reversed(self.factors):
            taken = number & ((1 << bits) - 1) << (kept + max(shift, 0))
            number ^= taken >> shift if shift >= 0 else taken << -shift
        return number

    @property
    def inverse(self) -> Swizzle:
        """The map back; every factor is its own inverse."""
        return Swizzle(self.factors[::-1])

    @property
    def columns(self) -> tuple[int, ...]:
        """The images of bits 0, 1, … up to the last that moves: the matrix, none for the identity."""
        top = max((kept + bits + abs(shift) for bits, kept, shift in self.factors), default=0)
        images = [self(1 << bit) for bit in range(top)]
        while images and images[-1] == 1 << (len(images) - 1):
            images.pop()
        return tuple(images)

    @property
    def block(self) -> int:
        """The least power of two whose aligned blocks are each permuted in themselves."""
        return 1 << max((image.bit_length() for image in self.columns), default=0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Swizzle):
            return NotImplemented
        return self.columns == other.columns

    def __hash__(self) -> int:
        return hash(self.columns)

    def __str__(self) -> str:
        if not self.factors:
            return "swizzle(0,0,0)"
        *outer, last = [f"swizzle({bits},{kept},{shift})" for bits, kept, shift in self.factors]
        for factor in reversed(outer):
            last = f"composition({factor}, {last})"
        return last


def swizzle(B: int, M: int, S: int) -> Swizzle:
    """CuTe's ``Swizzle<B, M, S>``: ``x ^ ((x & mask) >> S)`` with a mask of B bits from bit M+S on, for S >= 0.

    For a negative S the mask begins at bit M and its bits move up by -S. As in CuTe, 0 <= B <= |S| and 0 <= M;
    the bits touched lie below bit 63. Raises LayoutError otherwise.
    Source: include/cute/swizzle.hpp of NVIDIA's CUTLASS.
    """
    numbers = [as_integer(value) for value in (B, M, S)]
    if None in numbers:
        raise refusal("layout-swizzle", "`swizzle` takes three integers")
    bits, kept, shift = (number or 0 for number in numbers)
    if bits < 0 or kept < 0 or abs(shift) < bits:
        raise refusal(
            "layout-swizzle",
            f"`swizzle({bits},{kept},{shift})` is no swizzle",
            help="swizzle(B, M, S) needs 0 <= B <= |S| and 0 <= M, as in CuTe",
        )
    if kept + bits + abs(shift) > BITS:
        raise refusal("layout-swizzle", f"`swizzle({bits},{kept},{shift})` touches bits beyond bit {BITS - 1}")
    return Swizzle(((bits, kept, shift),))
