"""Texts grown from the grammar: most parse, many mean something."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from tests.spec_strategies import KEYWORDS, NUMBER_WORDS, REDUCTIONS

NAMES = (
    "x", "y", "w", "g", "i", "j", "k", "u", "v", "H", "W", "N", "R", "A", "B", "float", "int", "for", "threadIdx",
    "__shared__", "__global__", "blockIdx", "assert", "main", "template", "class", "nullptr", "NAN", "_", "__x",
    "tile_i", "lane", "x_1",
    *KEYWORDS, *REDUCTIONS, "min", "max",
)
TYPES = ("f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool")
RULES = ("nearest", "mirror", "reflect", "wrap", "constant(0)", "constant(-1)", "constant(inf)")
FUNCTIONS = (
    "where", "min", "max", "abs", "sqrt", "exp", "floor", "clamp", "fma", "atan2", "f32", "i64", "u8", "nosuch")
LAYOUT_FUNCTIONS = (
    "coalesce", "composition", "complement", "right_inverse", "left_inverse", "logical_divide", "zipped_divide",
    "logical_product", "blocked_product", "raked_product", "blocked", "striped", "warp_striped", "swizzle", "row_major",
    "col_major", "size", "cosize", "rank", "depth",
)

_Item = TypeVar("_Item")


class Grower:
    """Grows texts by a seeded generator of random numbers."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._name_pool = [self._one(NAMES) for _ in range(8)]

    def file(self) -> str:
        """Declarations of a file."""
        forms = (self.kernel, self.kernel, self.constant, self.layout, self.assertion, self.redistribute)
        parts = [self._one(forms)() for _ in range(self._random.randint(1, 4))]
        return self._one(("\n", "\n\n", " ", ";", "\n# note\n")).join(parts)

    def constant(self) -> str:
        return f"const {self._name()} = {self.constant_value(2)}"

    def layout(self) -> str:
        return f"layout {self._name()} = {self.layout_value(2)}"

    def assertion(self) -> str:
        sign = self._one(("==", "!=", "<", "<="))
        return f"assert {self.layout_value(2)} {sign} {self._one((self.layout_value, self.constant_value))(1)}"

    def redistribute(self) -> str:
        threads, items = self._one((1, 2, 4, 8, 32, 64)), self._one((1, 2, 3, 4, 8))
        sides = [self._one((f"blocked({threads}, {items})", f"striped({threads}, {items})", self.layout_value(1)))
                 for _ in range(2)]
        kind = self._one(("", "", "scatter ", "gather "))
        tail = self._one(("", " via shared", " via shuffle", " via registers", " warp 4", " warp 32 via shuffle"))
        return f"redistribute {self._name()}: {self._one(TYPES)} = {kind}{sides[0]} -> {sides[1]}{tail}"

    def kernel(self) -> str:
        """A kernel whose names fit each other, and perhaps a schedule of it."""
        name, given, taken = self._name(), self._name(), self._name()
        rank = self._random.randint(0, 3)
        indices = self._random.sample(NAMES, rank)
        extents = [self._one(("H", "W", "N", "8", "R + 2", self._name())) for _ in range(rank)]
        type_in, type_out = self._one(TYPES), self._one(TYPES)
        scope = {given: rank}
        clauses = [f"edge {given} = {self._one(RULES)}"] if rank and self._random.random() < 0.8 else []
        if self._random.random() < 0.3:
            stage = self._name()
            clauses.append(f"let {stage}[{', '.join(indices)}] = {self.value(scope, indices, 2)}")
            scope[stage] = rank
        if self._random.random() < 0.1:
            clauses.append(f"require {self._one(extents or ['1'])} > {self._random.randint(0, 3)}")
        clauses.append(f"{taken}[{', '.join(indices)}] = {self.value(scope, indices, 3)}")
        if self._random.random() < 0.1:
            clauses.append(f"step {given} = {taken}")
        joint = self._one(("\n    ", "; ", "  "))
        box = ", ".join(extents)
        text = f"kernel {name}({given}: {type_in}[{box}]) -> ({taken}: {type_out}[{box}]) {{ {joint.join(clauses)} }}"
        return text if self._random.random() < 0.5 else f"{text}\n{self.schedule(name, given, indices)}"

    def schedule(self, kernel: str, tensor: str, indices: list[str]) -> str:
        sizes = ", ".join(f"{index}: {self._one((1, 2, 3, 16, 64))}" for index in indices)
        places = ("shared", "global", "registers", "constant", "shared double", "shared halo global")
        ways = self._random.sample((
            f"tile ({sizes})", f"threads {self._one((1, 32, 256))}", f"threads {self.layout_value(1)}",
            f"threads over {tensor}", f"stage {tensor} in {self._one(places)}",
            f"load {tensor} as {self.layout_value(1)}",
            f"vector {self._one((1, 2, 4))}", f"budget shared {self._one((0, 48))} KiB", f"unroll {self._name()}",
            f"march {self._one(indices or ['i'])}", "fuse 2",
        ), self._random.randint(0, 3))
        return f"schedule {kernel}{self._one(('', f' as {self._name()}'))} {{ {self._one((' ', '; ')).join(ways)} }}"

    def value(self, scope: dict[str, int], indices: list[str], depth: int) -> str:
        """A value expression over the tensors in scope."""
        if depth == 0 or self._random.random() < 0.15:
            return self._leaf(scope, indices)
        a = self.value(scope, indices, depth - 1)
        form = self._random.randint(0, 6)
        if form == 0:
            return f"({a})"
        if form == 1:
            return f"-{a}"
        if form == 2:
            rest = [self.value(scope, indices, depth - 1) for _ in range(self._random.randint(0, 2))]
            return f"{self._one(FUNCTIONS)}({', '.join([a, *rest])})"
        if form == 3:
            index = self._name()
            bounds = self._one(("0..3", "-1..=1", "0..H", "0..0", "0..R"))
            body = self.value(scope, [*indices, index], depth - 1)
            return f"{self._one((*REDUCTIONS, 'min', 'max'))}({index} in {bounds}) {body}"
        sign = self._one(("+", "-", "*", "/", "//", "%", "**", "<", "==", "and", "or"))
        return f"{a} {sign} {self.value(scope, indices, depth - 1)}"

    def _leaf(self, scope: dict[str, int], indices: list[str]) -> str:
        if self._random.random() < 0.6:
            tensor, rank = self._one(list(scope.items()))
            return f"{tensor}[{', '.join(self._subscript(indices, axis) for axis in range(rank))}]"
        return self._one((*indices, *NUMBER_WORDS, "0", "1", "2.5", "255", "1e30", "H", "R", self._name()))

    def _subscript(self, indices: list[str], axis: int) -> str:
        if not indices or self._random.random() < 0.1:
            return self._one(("0", "R", "-1", "2 // 3"))
        index = indices[axis % len(indices)] if self._random.random() < 0.7 else self._one(indices)
        return self._one((index, index, f"{index} + 1", f"{index} - R", f"2*{index}", f"{index} + {self._one(indices)}",
                          f"{index} // 2"))

    def layout_value(self, depth: int) -> str:
        """A layout expression."""
        if depth == 0 or self._random.random() < 0.4:
            shape = self.shape(2)
            return f"{shape}:{self._like(shape)}" if self._random.random() < 0.8 else self._one((shape, self._name()))
        arguments = [self.layout_value(depth - 1) for _ in range(self._random.randint(1, 2))]
        return f"{self._one(LAYOUT_FUNCTIONS)}({', '.join(arguments)})"

    def shape(self, depth: int) -> str:
        """A nested tuple of small integers."""
        if depth == 0 or self._random.random() < 0.5:
            return str(self._random.randint(0, 8))
        return f"({', '.join(self.shape(depth - 1) for _ in range(self._random.randint(2, 3)))})"

    def _like(self, shape: str) -> str:
        return "".join(str(self._random.randint(0, 9)) if c.isdigit() else c for c in shape)

    def constant_value(self, depth: int) -> str:
        """An integer expression."""
        if depth == 0 or self._random.random() < 0.3:
            return self._one((str(self._random.randint(0, 9)), "9223372036854775807", self._name()))
        a, b = self.constant_value(depth - 1), self.constant_value(depth - 1)
        return self._one((f"{a} + {b}", f"{a} - {b}", f"({a}) * {b}", f"{a} // {b}", f"{a} % {b}", f"{a}**{b}", f"-{a}",
                          f"ceildiv({a}, {b})", f"max({a}, {b})", f"size({self.layout_value(1)})"))

    def _name(self) -> str:
        return self._one(self._name_pool)

    def _one(self, items: Sequence[_Item]) -> _Item:
        return self._random.choice(items)
