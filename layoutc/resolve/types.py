"""The element types of the language and how they meet."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Kind = Literal["bool", "int", "uint", "float"]


@dataclass(frozen=True, slots=True)
class Type:
    """An element type: its name in the language, its kind and its width in bits."""

    name: str
    kind: Kind
    bits: int

    def __str__(self) -> str:
        return self.name

    @property
    def bytes(self) -> int:
        """Bytes of one element in memory."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        """Whether it is one of f16 bf16 f32 f64."""
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        """Whether it is a signed or unsigned integer (bool is not)."""
        return self.kind in ("int", "uint")


BOOL = Type("bool", "bool", 8)
I8, I16, I32, I64 = (Type(f"i{bits}", "int", bits) for bits in (8, 16, 32, 64))
U8, U16, U32, U64 = (Type(f"u{bits}", "uint", bits) for bits in (8, 16, 32, 64))
F16, BF16 = Type("f16", "float", 16), Type("bf16", "float", 16)
F32, F64 = Type("f32", "float", 32), Type("f64", "float", 64)
TYPES = {t.name: t for t in (BOOL, I8, I16, I32, I64, U8, U16, U32, U64, F16, BF16, F32, F64)}


def compute_type(type: Type) -> Type:
    """The type in which an expression of this type is held in a register.

    f16 and bf16 are computed in f32 and rounded once, where they are stored or cast;
    bool and the integers below 32 bits stay what they are until an operation widens them to i32.
    """
    return F32 if type in (F16, BF16) else type


def arithmetic_type(type: Type) -> Type:
    """The type in which ``+ - * // % **`` compute: bool and integers below 32 bits in i32, others in themselves."""
    return I32 if not type.is_float and type.bits < 32 else type


def number_type(type: Type) -> Type:
    """The type in which a value counts as a number: a bool as i32."""
    return I32 if type == BOOL else type


def meet(left: Type, right: Type) -> Type | None:
    """The narrowest type of their kind that holds both; None where there is none and a cast is asked for."""
    if left == right:
        return left
    left, right = number_type(left), number_type(right)
    if left.is_float != right.is_float:
        return None
    if left.is_float:
        wide = max(left, right, key=lambda t: t.bits)
        return F32 if {left, right} == {F16, BF16} else wide
    if left.kind == right.kind:
        return max(left, right, key=lambda t: t.bits)
    signed, unsigned = (left, right) if left.kind == "int" else (right, left)
    return TYPES.get(f"i{max(signed.bits, 2 * unsigned.bits)}")


def integer_range(type: Type) -> tuple[int, int]:
    """The least and the greatest integer of an integer type or bool."""
    if type == BOOL:
        return 0, 1
    return (-(2 ** (type.bits - 1)), 2 ** (type.bits - 1) - 1) if type.kind == "int" else (0, 2**type.bits - 1)


_FORMATS = {F16: (11, 15), BF16: (8, 127), F32: (24, 127), F64: (53, 1023)}     # digits, greatest exponent


def round_to(value: int | float, type: Type) -> float:
    """The float of that type nearest to a number, ties to even, rounded once; OverflowError past the greatest."""
    if isinstance(value, float) and not math.isfinite(value):
        return value
    digits, greatest = _FORMATS[type]
    exact = Fraction(value)
    if exact == 0:
        return float(value)
    exponent = _floor_log2(abs(exact))
    quantum = Fraction(2) ** (max(exponent, 1 - greatest) - digits + 1)
    rounded = round(exact / quantum) * quantum
    if abs(rounded) >= Fraction(2) ** (greatest + 1):
        raise OverflowError
    return math.copysign(float(rounded), value)


def _floor_log2(value: Fraction) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1
