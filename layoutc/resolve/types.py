"""The element types of the language and how they meet."""

from __future__ import annotations

from dataclasses import dataclass
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
