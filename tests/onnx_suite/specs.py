"""What a node becomes: the text of a kernel, and the tensors that it is called with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from tests.onnx_suite.cases import Array

TYPES = {
    "bool": "bool", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
}


@dataclass(frozen=True, slots=True, eq=False)
class Spec:
    """A file with one kernel, and its inputs in their order."""

    text: str
    tensors: tuple[Array, ...]


def spec(constants: Mapping[str, int], inputs: Iterable[str], outputs: Iterable[str], body: Iterable[str],
         tensors: Iterable[Array]) -> Spec:
    """One line a constant, a tensor's declaration an item, one line a clause or an equation."""
    lines = [*(f"const {name} = {value}" for name, value in constants.items()),
             f"kernel node({listed(inputs)})",
             f"    -> ({listed(outputs)}) {{",
             *(f"    {line}" for line in body),
             "}"]
    return Spec("\n".join(lines) + "\n", tuple(tensors))


def type_of(array: Array) -> str:
    """The language's name of the type of the elements."""
    return TYPES[array.dtype.name]


def lowest(type: str) -> str:
    """What no element is below, as the text has it."""
    return _extreme(type, "-inf", "min")


def highest(type: str) -> str:
    """What no element is above."""
    return _extreme(type, "inf", "max")


def _extreme(type: str, infinite: str, end: str) -> str:
    numpy_name = next(name for name, ours in TYPES.items() if ours == type)
    return infinite if "f" in type else str(getattr(np.iinfo(numpy_name), end))


def names(letter: str, count: int) -> list[str]:
    """``x0, x1, …``, one an axis."""
    return [f"{letter}{axis}" for axis in range(count)]


def listed(items: Iterable[str]) -> str:
    """As between brackets."""
    return ", ".join(items)
