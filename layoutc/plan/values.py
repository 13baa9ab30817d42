"""Element values as C expressions. Unlike indices they are never simplified: floats do not reassociate."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass

from layoutc.index import ATOM, LEVELS, TERNARY, UNARY, Expr, beside_or
from layoutc.index import inside as in_parentheses
from layoutc.resolve.types import BF16, BOOL, F16, F32, F64, I32, I64, U32, U64, Type, compute_type

C_TYPES = {BOOL: "bool", I32: "int", U32: "unsigned", F32: "float", F64: "double"}


def c_type(type: Type) -> str:
    """The element type in memory as the text writes it."""
    return C_TYPES.get(type, type.name)


def memory_type(type: Type) -> str:
    """An input's element type in memory; a bool is read as a byte, since any byte but 0 is true to NumPy."""
    return "u8" if type == BOOL else c_type(type)


def register_type(type: Type) -> str:
    """The type in which a value is held; f16 and bf16 as float."""
    return c_type(compute_type(type))


@dataclass(frozen=True, slots=True)
class Literal:
    """A number of a type."""

    value: int | float | bool
    type: Type

    @property
    def level(self) -> int:
        """A minus sign binds looser than an atom."""
        return UNARY if str(self).startswith("-") else ATOM

    def __str__(self) -> str:
        kind = compute_type(self.type)
        if kind == BOOL:
            return "true" if self.value else "false"
        if kind.is_float:
            return _float(float(self.value), kind)
        suffix = {U32: "u", I64: "ll", U64: "ull"}.get(kind, "")
        if self.value == -(2 ** (kind.bits - 1)) and kind.bits >= 32:
            return f"(-{2 ** (kind.bits - 1) - 1}{suffix} - 1)"
        return f"{int(self.value)}{suffix}"


def _float(value: float, kind: Type) -> str:
    name = register_type(kind)
    if math.isnan(value):
        return f"not_a_number<{name}>()"
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}infinity<{name}>()"
    if kind == F64:
        return repr(value)
    return f"{_shortest(value)}f"


def _shortest(value: float) -> str:
    """The fewest digits that give back a value of f32."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            break
    return repr(float(text))


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the text."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Element:
    """An element of an array: ``array[index]``."""

    array: str
    index: Expr

    def __str__(self) -> str:
        return f"{self.array}[{self.index}]"


@dataclass(frozen=True, slots=True)
class Operation:
    """``left op right``, grouped exactly as built."""

    op: str
    left: Text
    right: Text

    @property
    def level(self) -> int:
        """C's precedence."""
        return LEVELS[self.op]

    def __str__(self) -> str:
        left, right = self.level, self.level + 1
        if self.op == "||":
            left, right = beside_or(self.left, left), beside_or(self.right, right)
        return f"{inside(self.left, left)} {self.op} {inside(self.right, right)}"


@dataclass(frozen=True, slots=True)
class Prefix:
    """``-value`` or ``!value``."""

    op: str
    operand: Text

    @property
    def level(self) -> int:
        """C's precedence."""
        return UNARY

    def __str__(self) -> str:
        return f"{self.op}{inside(self.operand, ATOM)}"


@dataclass(frozen=True, slots=True)
class Function:
    """``name(arguments)``; a cast is written the same way."""

    name: str
    arguments: tuple[Text, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True)
class Widened:
    """An element of f16 or bf16 in its register, a float; where it is stored as it is, nothing is converted."""

    element: Text
    type: Type

    def __str__(self) -> str:
        return f"float({self.element})"


@dataclass(frozen=True, slots=True)
class Choice:
    """``test ? yes : no``."""

    test: Text
    yes: Text
    no: Text

    @property
    def level(self) -> int:
        """The loosest."""
        return TERNARY

    def __str__(self) -> str:
        return f"{inside(self.test, 1)} ? {inside(self.yes, 1)} : {inside(self.no, 0)}"


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A ``Pack`` of these values."""

    type: str
    items: tuple[Text, ...]

    def __str__(self) -> str:
        return f"{self.type}{{{{{', '.join(map(str, self.items))}}}}}"


@dataclass(frozen=True, slots=True)
class Bit:
    """Bit ``index`` of a mask: 0 or 1."""

    mask: str
    index: Expr

    @property
    def level(self) -> int:
        """C's precedence of ``&``."""
        return 5

    def __str__(self) -> str:
        return f"{self.mask} >> {inside(self.index, 9)} & 1"


Text = Literal | Variable | Element | Operation | Prefix | Function | Widened | Choice | Aggregate | Bit | Expr


def nothing(type: str) -> Text:
    """What a variable of a C type begins with where no value is to be seen."""
    known = {name: one for one, name in C_TYPES.items()}
    return Literal(0, known[type]) if type in known else Function(type, ())


# A cast that g++ takes for the type of a function wherever it begins a parenthesis: ``(float(int(x[i])) + …)``.
_TYPE = r"(?:float|double|int|unsigned|bool|b?f16|[iu]\d+)"
_LIKE_A_TYPE = re.compile(rf"({_TYPE})\((?:{_TYPE}\()+\w+\[")


def inside(value: Text, level: int) -> str:
    """Text of an operand, in parentheses where the operator around it binds tighter."""
    text = in_parentheses(value, level)
    if text.startswith("(") and (found := _LIKE_A_TYPE.match(text, 1)):
        return f"(convert<{found[1]}>{text[found.end(1):]}"
    return text


def convert(value: Text, source: Type, target: Type) -> Text:
    """``value`` as the language casts it: from a register of ``source`` to one of ``target``."""
    if target in (F16, BF16):
        how = target.name if source.is_float else f"convert<{target.name}>"
        return value if _is_widened(value, target) else Widened(Function(how, (value,)), target)
    held, wanted = compute_type(source), compute_type(target)
    if held == wanted:
        return value
    exact = wanted == F64 or wanted.is_float or (not held.is_float and wanted != BOOL)
    return Function(c_type(wanted) if exact else f"convert<{c_type(wanted)}>", (value,))


def load(value: Text, type: Type) -> Text:
    """An element read from memory, in its register's type."""
    if type == BOOL:
        return Operation("!=", value, Literal(0, I32))
    return Widened(value, type) if type in (F16, BF16) else value


def store(value: Text, type: Type) -> Text:
    """A register's value as an element in memory; one that was only read keeps its bits, also those of a NaN."""
    if type not in (F16, BF16):
        return value
    if isinstance(value, Choice) and _holds_widened(value, type):
        return Choice(value.test, store(value.yes, type), store(value.no, type))
    return value.element if isinstance(value, Widened) and value.type == type else Function(type.name, (value,))


def _is_widened(value: Text, type: Type) -> bool:
    return isinstance(value, Widened) and value.type == type


def _holds_widened(value: Text, type: Type) -> bool:
    """Whether it is one, or may choose one."""
    if isinstance(value, Choice):
        return _holds_widened(value.yes, type) or _holds_widened(value.no, type)
    return _is_widened(value, type)
