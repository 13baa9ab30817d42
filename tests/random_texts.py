"""Random kernels as texts: valid by construction, of every form that the language has by now.

Every read is inside its tensor, or the tensor has edge rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.random_values import FLOATS, TYPES, WIDE_INTEGERS, Tensor, Values


def words(text: str) -> tuple[str, ...]:
    """Those of a text, each once."""
    return tuple(dict.fromkeys(text.split()))


PLAIN = words("x y z a b c d e f g h w u v p q r s t H W N M C K R S D i j k l m n X Y Z")
ODD = words("""
float for int double threadIdx blockIdx while class template NULL bool unsigned __shared__ _ __x _X
std auto tile edge step sum max min constant stage load store vector shared registers let require
kernel schedule in as thread item block at tile_i halo element In Out fma add reflect nearest within
Index x_tile result main main_0 count any all over halo global mirror wrap load4 item_i tile_H
UNROLL KERNEL SHARED lc i64 half
""")
RULES = ("nearest", "reflect", "mirror", "wrap")


class Writer(Values):
    """Writes one text."""

    depth = 3               # of the outputs' expressions
    kernel = ""             # its name, once written
    outputs: Sequence[tuple[str, list[str], list[str], str]] = ()      # name, indices, extents and type of each

    # ---- the file

    def text(self) -> str:
        """A file of one kernel."""
        r = self.random
        self.free = self.names()
        self.extents = [self.take() for _ in range(r.choice((1, 1, 2, 2, 2, 3)))]
        for _ in range(r.choice((0, 1, 2))):
            self.constants[self.take()] = r.choice((1, 2, 3, 4))
        self.inputs = [self._input() for _ in range(r.choice((1, 1, 2, 2, 3)))]
        scalar = Tensor(self.take(), r.choice(FLOATS + WIDE_INTEGERS), [], [])
        if r.random() < 0.4:
            self.inputs.append(scalar)
        self._cover_extents()
        clauses = [c for t in self.inputs for c in self._edges(t)]
        self.outputs = outputs = self._outputs()
        for _ in range(r.choice((0, 0, 0, 1, 1, 2))):
            clauses += self._let(outputs[0][1])
        equations = [
            f"{name}[{', '.join(indices)}] = {self.expression(type, self.depth, indices)}"
            for name, indices, _, type in outputs]
        clauses += [f"require {e} >= {(k - 1) * d + 1}" for e, _, d, k in self.windows.values()]
        declared = ", ".join(f"{t.name}: {t.type}[{', '.join(t.extents)}]{t.strides}" for t in self.inputs)
        made = ", ".join(f"{name}: {type}[{', '.join(extents)}]" for name, _, extents, type in outputs)
        lines = [f"const {name} = {value}" for name, value in self.constants.items()]
        body = r.sample(clauses, len(clauses)) + equations
        self.kernel = self.take()
        lines += [f"kernel {self.kernel}({declared}) -> ({made}) {{", *(f"    {c}" for c in body), "}"]
        return "\n".join(lines) + "\n"

    def names(self) -> list[str]:
        """Those to take, mostly plain ones first."""
        r = self.random
        if r.random() < 0.3:
            return r.sample((*PLAIN, *ODD), len(PLAIN) + len(ODD))
        return [*r.sample(PLAIN, len(PLAIN)), *r.sample(ODD, len(ODD))]

    # ---- tensors

    def _input(self) -> Tensor:
        r = self.random
        rank = r.choice((1, 1, 2, 2, 2, 3))
        extents = [r.choice(self.extents) if r.random() < 0.8 else self._constant_extent() for _ in range(rank)]
        strides = ""
        if r.random() < 0.08:
            compact = [" * ".join(f"({e})" for e in extents[k + 1:]) or "1" for k in range(rank)]
            strides = f":({', '.join(r.choice((c, c, '0')) for c in compact)},)"
        return Tensor(self.take(), r.choice(TYPES), extents, [False] * rank, strides)

    def _constant_extent(self) -> str:
        r = self.random
        if self.constants and r.random() < 0.5:
            name = r.choice(list(self.constants))
            return r.choice((name, f"{name} + 1", f"2*{name} + 1"))
        return str(r.choice((1, 2, 3, 5)))

    def _cover_extents(self) -> None:
        """Every extent is bound by some input."""
        for e in self.extents:
            if not any(e in t.extents for t in self.inputs):
                self.inputs.append(Tensor(self.take(), self.random.choice(TYPES), [e], [False]))

    def _edges(self, t: Tensor) -> list[str]:
        r = self.random
        if not t.extents or r.random() < 0.25:
            return []
        out = []
        if r.random() < 0.5:
            t.edged = [True] * len(t.extents)
            out.append(f"edge {t.name} = {self._rule(t.type)}")
        for axis in range(len(t.extents)):
            if r.random() < 0.4:
                t.edged[axis] = True
                two = r.random() < 0.5
                rule = f"({self._rule(t.type)}, {self._rule(t.type)})" if two else self._rule(t.type)
                out.append(f"edge {t.name}[{axis}] = {rule}")
        return out

    def _rule(self, type: str) -> str:
        r = self.random
        if r.random() < 0.6:
            return r.choice(RULES)
        scalars = [t.name for t in self.inputs if not t.extents and t.type == type]
        if scalars and r.random() < 0.5:
            return f"constant({r.choice(scalars)}[])"
        return f"constant({self.literal(type)})"

    # ---- outputs

    def _outputs(self) -> list[tuple[str, list[str], list[str], str]]:
        """Name, indices, extents and type of each."""
        r = self.random
        shaped = [t for t in self.inputs if t.extents and all(e in self.extents for e in t.extents)]
        if shaped and r.random() < 0.5:
            found = [self._output_like(r.choice(shaped))]
        else:
            found = [self._output(r.choice((0, 1, 1, 2, 2, 2, 3)))]
        if r.random() < 0.3:
            _, indices, extents, _ = found[0]
            same = r.random() < 0.6
            found.append((self.take(), indices, extents, r.choice(TYPES)) if same else self._output(r.choice((1, 2))))
        return found

    def _output_like(self, t: Tensor) -> tuple[str, list[str], list[str], str]:
        """An output of an input's shape, as stencils have."""
        indices = [self.take() for _ in t.extents]
        self.ranges |= {i: (e, 0, 0) for i, e in zip(indices, t.extents, strict=True)}
        return self.take(), indices, list(t.extents), self.random.choice(TYPES)

    def _output(self, rank: int) -> tuple[str, list[str], list[str], str]:
        indices, extents = [], []
        for _ in range(rank):
            index, extent = self._output_axis()
            indices.append(index)
            extents.append(extent)
        return self.take(), indices, extents, self.random.choice(TYPES)

    def _output_axis(self) -> tuple[str, str]:
        r = self.random
        index, e = self.take(), r.choice(self.extents)
        match r.choice(("same",) * 6 + ("window",) * 2 + ("twice", "constant")):
            case "window":
                s, d, k = r.choice((1, 1, 2, 3)), r.choice((1, 1, 2)), r.choice((1, 2, 3))
                self.windows[index] = (e, s, d, k)
                self.ranges[index] = ("?", 0, 0)
                return index, f"({e} - {(k - 1) * d + 1})//{s} + 1"
            case "twice":
                self.ranges[index] = ("?", 0, 0)
                return index, f"2*{e}"
            case "constant":
                n = self._constant_extent()
                self.ranges[index] = (n, 0, 0)
                return index, n
        self.ranges[index] = (e, 0, 0)
        return index, e

    # ---- lets

    def _let(self, indices: list[str]) -> list[str]:
        """A formula that may be read anywhere, or one held to a domain."""
        r = self.random
        type = r.choice(FLOATS + WIDE_INTEGERS + ("bool", "u8", "i16"))
        if not indices or r.random() < 0.5:
            return self._formula(type)
        own = [self.take() for _ in range(r.choice((1, 2)))]
        bounds = [r.choice(self.extents) for _ in own]
        for index, e in zip(own, bounds, strict=True):
            self.ranges[index] = (e, 0, 0)
        name = self.take()
        body = self.expression(type, 2, own)
        let = Tensor(name, type, bounds, [True] * len(own))
        self.lets.append(let)
        rules = [f"edge {name} = {self._rule(type)}"]
        if r.random() < 0.4:
            rules.append(f"edge {name}[{len(own) - 1}] = ({self._rule(type)}, {self._rule(type)})")
        return [f"let {name}[{', '.join(f'{i} in 0..{e}' for i, e in zip(own, bounds, strict=True))}] = {body}", *rules]

    def _formula(self, type: str) -> list[str]:
        """A let without edges reads what has an edge everywhere."""
        own = [self.take() for _ in range(self.random.choice((1, 2)))]
        for index in own:
            self.ranges[index] = ("?", 0, 0)
        name = self.take()
        body = self.expression(type, 2, own)
        self.lets.append(Tensor(name, type, ["?"] * len(own), [True] * len(own)))
        return [f"let {name}[{', '.join(own)}] = {body}"]


class StepsWriter(Writer):
    """Writes a kernel whose outputs are the next inputs."""

    stepped: Sequence[tuple[Tensor, str]] = ()      # an input and its next

    def _outputs(self) -> list[tuple[str, list[str], list[str], str]]:
        """Some inputs' next values, and sometimes something else over the same indices."""
        r = self.random
        shaped = [t for t in self.inputs if t.extents and all(e in self.extents for e in t.extents) and not t.strides]
        if not shaped:
            return super()._outputs()
        first = r.choice(shaped)
        _, indices, extents, _ = self._output_like(first)
        alike = [t for t in shaped if t.extents == first.extents]
        self.stepped = [(t, self.take()) for t in r.sample(alike, r.randint(1, len(alike)))]
        found = [(v, indices, extents, t.type) for t, v in self.stepped]
        return [*found, *([(self.take(), indices, extents, r.choice(TYPES))] if r.random() < 0.2 else [])]

    def text(self) -> str:
        """A file of one kernel with its steps."""
        text = super().text().rstrip("}\n")
        return text + "".join(f"\n    step {t.name} = {v}" for t, v in self.stepped) + "\n}\n"


def random_steps_text(seed: int) -> str:
    """The text of a kernel with steps of a seed."""
    return StepsWriter(Random(seed)).text()


def random_text(seed: int) -> str:
    """The text of a seed."""
    return Writer(Random(seed)).text()
