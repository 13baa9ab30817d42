"""Random kernels whose steps share a launch: stencils over any edges, several tensors, coefficients, lets."""

from __future__ import annotations

from random import Random

RULES = ("constant(3)", "nearest", "reflect", "mirror", "wrap")
TYPES = ("i32", "u8", "f16", "f32", "i64")


class FusedText:
    """One text: integers are exact in every type, so that nothing hides in a rounding."""

    def __init__(self, seed: int) -> None:
        self.random = r = Random(seed)
        self.indices = "ijk"[:r.choice((1, 2, 2, 2, 3))]
        self.extents = "NHW"[:len(self.indices)]
        self.count = r.choice((1, 1, 2, 3))
        self.types = [r.choice(TYPES) for _ in range(self.count)] if r.random() < 0.5 else ["i32"] * self.count
        self.rules = [r.choice(RULES) if r.random() < 0.6 else f"({r.choice(RULES)}, {r.choice(RULES)})"
                      for _ in self.indices]
        reach = r.choice((1, 1, 2, 3))
        self.low, self.high = r.choice(((-reach, reach), (-reach, reach), (-reach, 0), (0, reach), (1, reach)))
        self.edged = [True, *(r.random() < 0.6 for _ in range(1, self.count))]
        self.steps = r.choice((2, 2, 3, 3, 4, 5))

    def text(self) -> str:
        """A kernel and its schedule."""
        shape = f"[{', '.join(self.extents)}]"
        here = f"[{', '.join(self.indices)}]"
        lines: list[str] = []
        for m, (type, edged) in enumerate(zip(self.types, self.edged, strict=True)):
            lines += self._edges(f"u{m}") if edged else []
            lines += [f"step u{m} = v{m}", f"v{m}{here} = {self._body(type)}"]
        edges = self._edges("c")
        lines += [*edges, f"let g{here} = 3 * i32(u0{self._around()}) + i32(c{self._around(-1, 2)})"]
        inputs = [*(f"u{m}: {t}{shape}" for m, t in enumerate(self.types)), f"c: i32{shape}"]
        outputs = [*(f"v{m}: {t}{shape}" for m, t in enumerate(self.types))]
        if self.random.random() < 0.2:
            outputs.append(f"z: i32{shape}")
            lines.append(f"z{here} = i32(u0{here}) + 1")
        self.random.shuffle(lines)
        body = "".join(f"    {line}\n" for line in lines)
        return f"kernel k({', '.join(inputs)}) -> ({', '.join(outputs)}) {{\n{body}}}\nschedule k {self._schedule()}\n"

    def _edges(self, tensor: str) -> list[str]:
        r = self.random
        rules = [rule if r.random() < 0.9 else r.choice(RULES) for rule in self.rules]
        return [f"edge {tensor}[{axis}] = {rule}" for axis, rule in enumerate(rules)]

    def _around(self, low: int | None = None, high: int | None = None) -> str:
        """Subscripts around an output, along all axes or one."""
        r = self.random
        offsets = [r.randint(self.low if low is None else low, self.high if high is None else high)
                   for _ in self.indices]
        if r.random() < 0.5:
            axis = r.randrange(len(offsets))
            offsets = [o if n == axis else 0 for n, o in enumerate(offsets)]
        parts = [i + (f" + {o}" if o > 0 else f" - {-o}" if o else "")
                 for i, o in zip(self.indices, offsets, strict=True)]
        return f"[{', '.join(parts)}]"

    def _body(self, type: str) -> str:
        r = self.random
        here = f"[{', '.join(self.indices)}]"
        terms = []
        for _ in range(r.choice((1, 2, 3, 4))):
            m = r.randrange(self.count)
            terms.append(f"{r.randint(1, 5)} * i32(u{m}{self._around() if self.edged[m] else here})")
        terms += [t for t in (f"c{self._around(-1, 2)}", f"g{here}", f"i32({r.choice(self.indices)})")
                  if r.random() < 0.4]
        total = " + ".join(terms)
        return total if type == "i32" else f"{type}(({total}) % 64)"

    def _schedule(self) -> str:
        r = self.random
        tile = ", ".join(f"{i}: {r.choice((1, 2, 3, 4, 5, 8))}" for i in self.indices)
        clauses = [f"tile ({tile})", f"threads {r.choice((1, 3, 5, 8, 32, 33))}", f"fuse {self.steps}"]
        if r.random() < 0.5:
            clauses.append(f"stage c in {r.choice(('shared', 'shared', 'global', 'shared halo global'))}")
        if r.random() < 0.3:
            clauses.append("stage u0 in shared")
        if r.random() < 0.3:
            clauses.append(f"vector {r.choice((2, 4))}")
        return "{ " + "  ".join(clauses) + " }"


class StreamedText(FusedText):
    """One whose rows pass through registers: constants and tori, tiles that whole warps make."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        r = self.random
        self.indices = "ijk"[:r.choice((2, 2, 3))]
        self.extents = "NHW"[:len(self.indices)]
        self.rules = [r.choice(("constant(3)", "wrap", "(constant(1), constant(2))")) for _ in self.indices]
        reach = r.choice((1, 1, 2))
        self.low, self.high = r.choice(((-reach, reach), (-reach, reach), (-reach, 0), (0, reach)))
        self.steps = r.choice((2, 3, 4))

    def _edges(self, tensor: str) -> list[str]:
        rules = self.rules if tensor != "c" else [self.random.choice(RULES) for _ in self.rules]
        return [f"edge {tensor}[{axis}] = {rule}" for axis, rule in enumerate(rules)]

    def _body(self, type: str) -> str:
        """Shuffles in loops and beside choices too."""
        r, last = self.random, self.indices[-1]
        rows = ", ".join(self.indices[:-1])
        more = [f"sum(a in {self.low}..={self.high}) i32(u0[{rows}, {last} + a])",
                f"where(u0[{rows}, {last}] > 2, i32(u0[{rows}, {last} + {self.low}]), 1)"]
        more = [t for t in more if r.random() < 0.4]
        body = super()._body("i32")
        total = " + ".join([body, *more])
        return total if type == "i32" else f"{type}(({total}) % 64)"

    def _schedule(self) -> str:
        """A tile as wide as what one or two warps make of columns in the end."""
        r = self.random
        outputs = 32 * r.choice((1, 2, 4)) - self.steps * (max(-self.low, 0) + max(self.high, 0))
        tile = [f"{self.indices[0]}: {r.choice((16, 25, 40))}"]
        tile += [f"{i}: {r.choice((3, 6, 12))}" for i in self.indices[1:-1]]
        return f"{{ tile ({', '.join(tile)}, {self.indices[-1]}: {r.choice((1, 2)) * outputs})  fuse {self.steps} }}"
