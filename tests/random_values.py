"""Random expressions: each written for a wanted type, so that casts stand where the language asks for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

FLOATS = ("f16", "bf16", "f32", "f64")
WIDE_INTEGERS = ("i32", "i64", "u32", "u64")
NARROW_INTEGERS = ("i8", "i16", "u8", "u16")
TYPES = ("bool", *NARROW_INTEGERS, *WIDE_INTEGERS, *FLOATS)
NARROWER = {        # types that meet the first without a cast
    "f64": ("f32", "f16", "bf16"), "f32": ("f16", "bf16"), "i32": ("i8", "i16", "u8", "u16"),
    "i64": ("i8", "i16", "i32", "u8", "u16", "u32"), "u32": ("u8", "u16"), "u64": ("u8", "u16", "u32"),
}
PAIRS = ("atan2", "hypot", "pow", "min", "max", "fmin", "fmax")
FUNCTIONS = (
    "sqrt", "abs", "sign", "floor", "ceil", "round", "trunc", "exp", "tanh", "sin", "rsqrt", "atan", "log", "erf",
    "cosh", "exp2", "acos")
EXTREME = ("min", "max")      # reductions that need something to reduce; of a constant range "median" too
RANGES = ((0, 3), (-1, 2), (0, 2), (-2, 3), (1, 2), (0, 1), (-1, 1), (-9, 9))
SUBSCRIPTS = (
    *("shift",) * 5, *("window",) * 5, "stride", "reverse", "divide", "modulo", "lookup", "product")


@dataclass
class Tensor:
    """An input, or a let that reads like one."""

    name: str
    type: str
    extents: list[str]
    edged: list[bool]           # per axis: whether any subscript may stand there
    strides: str = ""           # where the kernel insists on them


@dataclass
class Values:
    """Writes the values of one kernel; what it declares comes from a subclass."""

    random: Random
    lines: list[str] = field(default_factory=list)
    inputs: list[Tensor] = field(default_factory=list)
    lets: list[Tensor] = field(default_factory=list)
    constants: dict[str, int] = field(default_factory=dict)
    extents: list[str] = field(default_factory=list)
    ranges: dict[str, tuple[str, int, int]] = field(default_factory=dict)   # index -> (extent or "", low, high)
    windows: dict[str, tuple[str, int, int, int]] = field(default_factory=dict)     # index -> extent, S, D, K
    homes: dict[tuple[str, int, str], tuple[str, str]] = field(default_factory=dict)    # where stencils read
    free: list[str] = field(default_factory=list)

    def take(self) -> str:
        """A name that nothing has yet."""
        return self.free.pop(0)

    def literal(self, type: str) -> str:
        """A bare number that fits into a type."""
        r = self.random
        if type == "bool":
            return r.choice(("true", "false"))
        if type in FLOATS:
            return r.choice(("0", "1", "2", "0.5", "-1.5", "-0.0", "inf", "-inf", "nan", "0.1", "3"))
        return r.choice(("0", "1", "2", "7") if type[0] == "u" else ("0", "1", "-1", "2", "-7"))

    def expression(self, type: str, depth: int, scope: list[str]) -> str:
        """An expression of exactly this type, closed by parentheses where need be."""
        r = self.random
        if depth <= 0:
            return self._leaf(type, scope)
        if type == "bool":
            return self._truth(depth, scope)
        if type in FLOATS:
            return self._float(type, depth, scope)
        if type in NARROW_INTEGERS:
            if r.random() < 0.4:
                return self._choice(type, depth, scope)
            return f"{type}({self.expression(r.choice(('i32', 'i32', 'i64', 'u32', 'f32', 'f64')), depth - 1, scope)})"
        return self._integer(type, depth, scope)

    def _two(self, type: str, depth: int, scope: list[str]) -> tuple[str, str]:
        """Two operands that meet in the type; one may be narrower, or a bare number."""
        r = self.random
        one = self.expression(type, depth - 1, scope)
        match r.random():
            case p if p < 0.2:
                return one, self.literal(type)
            case p if p < 0.35 and type in NARROWER:
                return one, self._leaf(r.choice(NARROWER[type]), scope)
        return one, self.expression(type, depth - 1, scope)

    def _float(self, type: str, depth: int, scope: list[str]) -> str:
        r = self.random
        match r.choice(("op",) * 6 + ("call",) * 3 + ("choice", "cast", "fma") + ("reduce",) * 4):
            case "op":
                a, b = self._two(type, depth, scope)
                return f"({a} {r.choice(('+', '-', '*', '+', '-', '*', '/', '//', '%', '**'))} {b})"
            case "call" if r.random() < 0.3:
                return f"{r.choice(PAIRS)}({', '.join(self._two(type, depth, scope))})"
            case "call":
                return f"{r.choice(FUNCTIONS)}({self.expression(type, depth - 1, scope)})"
            case "choice":
                return self._choice(type, depth, scope)
            case "cast":
                source = r.choice([t for t in TYPES if t != type])
                return f"{type}({self.expression(source, depth - 1, scope)})"
            case "fma":
                return f"fma({', '.join(self.expression(type, depth - 1, scope) for _ in range(3))})"
        return self._reduction(type, depth, scope)

    def _integer(self, type: str, depth: int, scope: list[str]) -> str:
        r = self.random
        match r.choice(("op",) * 6 + ("power", "call", "choice", "cast") + ("reduce",) * 4):
            case "op":
                a, b = self._two(type, depth, scope)
                return f"({a} {r.choice(('+', '-', '*', '+', '-', '*', '//', '%'))} {b})"
            case "power":
                return f"({self.expression(type, depth - 1, scope)} ** {r.choice((0, 1, 2, 3))})"
            case "call":
                return f"{r.choice(('abs', 'sign'))}({self.expression(type, depth - 1, scope)})"
            case "choice":
                return self._choice(type, depth, scope)
            case "cast":
                source = r.choice([t for t in TYPES if t != type])
                return f"{type}({self.expression(source, depth - 1, scope)})"
        return self._reduction(type, depth, scope)

    def _choice(self, type: str, depth: int, scope: list[str]) -> str:
        """What keeps its operands' type."""
        r = self.random
        a, b, c = (self.expression(type, depth - 1, scope) for _ in range(3))
        match r.choice(("where", "where", "extreme", "clamp", "three")):
            case "where":
                return f"where({self._truth(depth - 1, scope)}, {a}, {b})"
            case "extreme":
                return f"{r.choice(('min', 'max', 'fmin', 'fmax') if type in FLOATS else ('min', 'max'))}({a}, {b})"
            case "clamp":
                return f"clamp({a}, {b}, {c})"
        return f"{r.choice(('min', 'max'))}({a}, {b}, {c})"

    def _truth(self, depth: int, scope: list[str]) -> str:
        r = self.random
        type = r.choice(FLOATS + WIDE_INTEGERS + NARROW_INTEGERS)
        match r.choice(("compare",) * 4 + ("logic", "not", "nan", "leaf", "reduce")):
            case "logic" if depth > 0:
                return f"({self._truth(depth - 1, scope)} {r.choice(('and', 'or'))} {self._truth(depth - 1, scope)})"
            case "not" if depth > 0:
                return f"(not {self._truth(depth - 1, scope)})"
            case "nan":
                return f"{r.choice(('isnan', 'isinf'))}({self._leaf(r.choice(FLOATS), scope)})"
            case "leaf":
                return self._leaf("bool", scope)
            case "reduce" if depth > 0:
                return self._reduction("bool", depth, scope)
        a, b = self._leaf(type, scope), self._leaf(type, scope)
        return f"({a} {r.choice(('<', '<=', '>', '>=', '==', '!='))} {b})"

    def _leaf(self, type: str, scope: list[str]) -> str:
        """A read, an index or an extent; cast where it has another type."""
        r = self.random
        if scope and r.random() < 0.1:
            return f"{type}({r.choice(scope)})"
        if r.random() < 0.05:
            return f"{type}({r.choice(self.extents)})"
        readable = [*self.inputs, *self.lets]
        alike = [t for t in readable if t.type == type]
        for t in r.sample(alike, len(alike)) + r.sample(readable, len(readable)):
            read = self.read(t, scope)
            if read is not None:
                return read if t.type == type else f"{type}({read})"
        return f"{type}({self.literal('i32' if type == 'bool' else type)})"

    # ---- reductions

    def _reduction(self, type: str, depth: int, scope: list[str]) -> str:
        r = self.random
        over_data = [(t, a) for t in self.inputs for a, e in enumerate(t.extents) if e in self.extents]
        if over_data and r.random() < 0.35:
            e = r.choice(over_data)[0]
            index = self.take()
            extent = r.choice([n for n in e.extents if n in self.extents])
            self.ranges[index] = (extent, 0, 0)
            first = r.choice(("0", "0", "1"))
            return self._over(type, depth, scope, [index], [f"{index} in {first}..{extent}"], EXTREME)
        names, binders = [], []
        nothing = r.random() < 0.06
        for _ in range(r.choice((1, 1, 2))):
            index, (low, high) = self.take(), (2, 2) if nothing else r.choice(RANGES)
            self.ranges[index] = ("", low, high)
            names.append(index)
            binders.append(r.choice((f"{index} in {low}..{high}", f"{index} in {low}..={high - 1}")))
        return self._over(type, depth, scope, names, binders, () if nothing else (*EXTREME, "median"))

    def _over(
        self, type: str, depth: int, scope: list[str], names: list[str], binders: list[str], extreme: tuple[str, ...]
    ) -> str:
        r = self.random
        inner = [*scope, *names]
        over = ", ".join(binders)
        if type == "bool":
            return f"({r.choice(('any', 'all'))}({over}) {self._truth(depth - 1, inner)})"
        if type == "i64" and r.random() < 0.4:
            if r.random() < 0.4 or not extreme:
                return f"(count({over}) {self._truth(depth - 1, inner)})"
            body = self._leaf(r.choice(FLOATS + WIDE_INTEGERS + NARROW_INTEGERS), inner)
            return f"({r.choice(('argmin', 'argmax'))}({over}) {body})"
        op = r.choice((*("sum",) * 5, "prod", *extreme))
        if op == "sum" and r.random() < 0.6:
            return f"(sum({over}) {self._leaf(type, inner)} * {self._leaf(type, inner)})"
        return f"({op}({over}) {self.expression(type, depth - 1, inner)})"

    # ---- reads

    def read(self, t: Tensor, scope: list[str]) -> str | None:
        """A read of a tensor; None where no index in scope keeps it inside."""
        subscripts = []
        usual = scope != [] and self.random.random() < 0.75
        for axis, (e, edged) in enumerate(zip(t.extents, t.edged, strict=True)):
            subscript = self._inside(e, scope)
            if edged and usual:
                subscript = self._near(t.name, axis, e, scope)
            elif edged and self.random.random() < 0.8:
                subscript = self._anywhere(e, scope)
            if subscript is None and edged:
                subscript = self._anywhere(e, scope)
            if subscript is None:
                return None
            subscripts.append(subscript)
        return f"{t.name}[{', '.join(subscripts)}]"

    def _near(self, tensor: str, axis: int, extent: str, scope: list[str]) -> str:
        """Around a place that moves with one index, the same for all reads of a tensor."""
        r = self.random
        fixed = [i for i in scope if self.ranges[i][0]]
        if not fixed:
            return self._anywhere(extent, scope)
        alike = [i for i in fixed if self.ranges[i][0] == extent]
        if axis < len(scope) and scope[axis] in alike and r.random() < 0.8:
            alike = [scope[axis]]
        key = (tensor, axis, scope[0])
        index, scale = self.homes.setdefault(key, (r.choice(alike or fixed), r.choice(("",) * 5 + ("2*", "3*"))))
        if index not in scope:
            return self._anywhere(extent, scope)
        near = [u for u in scope if not self.ranges[u][0]]
        offset = r.choice(("", " - 1", " + 1", " - 2", " + 3"))
        if near and r.random() < 0.6:
            return f"{scale}{index} + {r.choice(('', '', '2*'))}{r.choice(near)}{offset}"
        return f"{scale}{index}{offset}"

    def _inside(self, extent: str, scope: list[str]) -> str | None:
        r = self.random
        found = [i for i in scope if self.ranges[i][0] == extent and extent != "?"]
        for i in scope:
            if i in self.windows and self.windows[i][0] == extent:
                _, s, d, k = self.windows[i]
                found.append(f"{s}*{i} + {d * r.randrange(k)}")
                found += [f"{s}*{i} + {d}*{u}" for u in scope if self.ranges[u][0] == "" and self._within(u, k)]
        if extent.isdigit():
            found.append(str(r.randrange(int(extent))))
            found += [u for u in scope if self.ranges[u][0] == "" and self._within(u, int(extent))]
        return r.choice(found) if found else None

    def _within(self, index: str, count: int) -> bool:
        _, low, high = self.ranges[index]
        return low >= 0 and high <= count

    def _anywhere(self, extent: str, scope: list[str]) -> str:
        """Any subscript: shifted, strided, dilated, reversed, divided, looked up."""
        r = self.random
        if not scope:
            return str(r.choice((-2, 0, 1, 3)))
        i, u = r.choice(scope), r.choice(scope)
        offset = r.choice((-3, -2, -1, 0, 1, 2, 5, -40))
        shifted = f"{i} + {offset}" if offset >= 0 else f"{i} - {-offset}"
        match r.choice(SUBSCRIPTS):
            case "window" if i != u:
                return f"{r.choice(('', '', '2*'))}{i} + {r.choice(('', '', '2*', '-1*'))}{u} - {r.choice((0, 1, 2))}"
            case "stride":
                return f"{r.choice((2, 3))}*{i} - {r.choice((0, 1))}"
            case "reverse":
                return f"{extent} - 1 - {i}" if extent != "?" else f"-{i}"
            case "divide":
                return f"({shifted}) // {r.choice((2, 3))}"
            case "modulo":
                return f"({shifted}) % {r.choice((2, 3))}"
            case "lookup":
                tables = [t for t in self.inputs if t.type in WIDE_INTEGERS + NARROW_INTEGERS]
                for t in r.sample(tables, len(tables)):
                    if (found := self.read(Tensor(t.name, t.type, t.extents, [False] * len(t.extents)), scope)):
                        return found if t.type != "u64" else f"i64({found})"
            case "product" if self.constants:
                return f"{r.choice(list(self.constants))}*{i} - {r.choice((0, 1))}"
        return shifted
