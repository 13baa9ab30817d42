"""Random kernels of the families that have strategies of their own: windows, stars, boxes, products, layers, sums.

Valid by construction; types, ranges, edges and the shape of what is read are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

FLOATS = ("f32", "f32", "f64", "f16", "bf16")
TYPES = (*FLOATS, "i32", "i16", "u8", "i8")
RULES = ("nearest", "reflect", "mirror", "wrap")


def random_family_text(seed: int) -> str:
    """The text of a seed."""
    random = Random(seed)
    return random.choice(FAMILIES)(random)


def _edge(r: Random, type: str) -> str:
    if r.random() < 0.4:
        return f"constant({0 if r.random() < 0.7 else 3})" if not type.startswith("f") else "constant(0)"
    return r.choice(RULES)


def _edges(r: Random, name: str, type: str, axes: int) -> list[str]:
    if r.random() < 0.6:
        return [f"edge {name} = {_edge(r, type)}"]
    return [f"edge {name}[{axis}] = {_edge(r, type) if r.random() < 0.6 else _two_edges(r, type)}"
            for axis in range(axes)]


def _two_edges(r: Random, type: str) -> str:
    return f"({_edge(r, type)}, {_edge(r, type)})"


def _summed_in(type: str) -> str:
    """The type of a sum over elements of one."""
    return {"f16": "f32", "bf16": "f32", "i16": "i32", "u8": "i32", "i8": "i32"}.get(type, type)


def _kernel(inputs: Sequence[str], outputs: Sequence[str], body: Sequence[str]) -> str:
    lines = [f"kernel k({', '.join(inputs)}) -> ({', '.join(outputs)}) {{", *(f"    {line}" for line in body), "}"]
    return "\n".join(lines) + "\n"


def _at(index: str, offset: int) -> str:
    return index if not offset else f"{index} {'+' if offset > 0 else '-'} {abs(offset)}"


def _window(r: Random) -> str:
    """A window of two dimensions: weighted, its largest, its median; dilated or strided at times."""
    type = r.choice(TYPES)
    summed = _summed_in(type)
    high, wide = r.choice((1, 2, 3, 3, 3, 5, 5, 7, 8, 9, 15)), r.choice((1, 2, 3, 3, 3, 5, 5, 7, 8, 9, 15))
    up, left = r.randint(-1, high), r.randint(-1, wide)
    kind = r.choice(("weighted",) * 5 + ("max", "min", "median", "sum"))
    if kind == "median":
        high, wide = r.choice((1, 3)), r.choice((3, 5))
    step = r.choice((1,) * 6 + (2, 3))
    gap = r.choice((1,) * 6 + (2,))
    row = f"{step}*i + {gap}*u - {up}".replace("1*", "").replace("- -", "+ ")
    column = f"{step}*j + {gap}*v - {left}".replace("1*", "").replace("- -", "+ ")
    ranges, read = f"(u in 0..{high}, v in 0..{wide})", f"x[{row}, {column}]"
    inputs = [f"x: {type}[H, W]"]
    if kind == "weighted":
        inputs.append(f"w: {summed}[{high}, {wide}]")
        value = f"{type}(sum{ranges} w[u, v] * {summed}({read}))"
    elif kind == "sum":
        value = f"{type}(sum{ranges} {summed}({read}))"
    else:
        value = f"{kind}{ranges} {read}"
    outputs = [f"y: {type}[{_over('H', step)}, {_over('W', step)}]"]
    body = [*_edges(r, "x", type, 2), f"y[i, j] = {value}"]
    if kind != "median" and r.random() < 0.2:
        outputs.append(outputs[0].replace("y", "z", 1))
        body.append(f"z[i, j] = {type}({value} + x[i, j])" if step == 1 else f"z[i, j] = {value}")
    return _kernel(inputs, outputs, body)


def _over(extent: str, step: int) -> str:
    return extent if step == 1 else f"({extent} + {step - 1})//{step}"


def _separable(r: Random) -> str:
    """One direction after the other, or two filters of one image."""
    type = r.choice(TYPES)
    summed = _summed_in(type)
    n, m = r.choice((3, 5, 9, 15)), r.choice((3, 5, 9, 15))
    a, b = n // 2, r.randint(0, m - 1)
    inputs = [f"x: {type}[H, W]", f"v: {summed}[{n}]", f"w: {summed}[{m}]"]
    return _kernel(inputs, [f"y: {type}[H, W]"], [
        *_edges(r, "x", type, 2),
        f"let t[i, j] = sum(q in 0..{m}) w[q] * {summed}(x[i, j + q - {b}])",
        f"y[i, j] = {type}(sum(p in 0..{n}) v[p] * t[i + p - {a}, j])"])


def _volume(r: Random) -> str:
    """A star or a box of three dimensions, at times with a second tensor."""
    type = r.choice(FLOATS)
    summed = _summed_in(type)
    inputs, body = [f"x: {type}[D, H, W]"], _edges(r, "x", type, 3)
    if r.random() < 0.35:
        sizes = [r.choice((1, 2, 3, 3, 3, 5)) for _ in range(3)]
        low = [r.randint(0, n - 1) for n in sizes]
        reads = ", ".join(f"{i} + {o} - {n}" for i, o, n in zip("ijk", "abc", low, strict=True))
        ranges = ", ".join(f"{o} in 0..{n}" for o, n in zip("abc", sizes, strict=True))
        inputs.append(f"w: {summed}[{', '.join(map(str, sizes))}]")
        value = f"sum({ranges}) w[a, b, c] * {summed}(x[{reads}])"
    else:
        radius = [r.choice((0, 1, 1, 2, 3, 4)) for _ in range(3)]
        if not any(radius):
            radius[0] = 1
        taps = [(axis, sign * u) for axis in range(3) for u in range(1, radius[axis] + 1) for sign in (-1, 1)
                if r.random() < 0.95]
        terms = [f"w[0] * {summed}(x[i, j, k])"]
        for axis, offset in taps:
            at = ", ".join(_at(i, offset if n == axis else 0) for n, i in enumerate("ijk"))
            terms.append(f"w[{abs(offset)}] * {summed}(x[{at}])")
        inputs.append(f"w: {summed}[{max(radius) + 1}]")
        value = " + ".join(terms)
    if r.random() < 0.3:
        inputs.append(f"p: {type}[D, H, W]")
        value = f"2*{summed}(x[i, j, k]) - {summed}(p[i, j, k]) + ({value})"
    return _kernel(inputs, [f"y: {type}[D, H, W]"], [*body, f"y[i, j, k] = {type}({value})"])


def _product(r: Random) -> str:
    """A product of matrices, at times of a batch, over a part of the factors, turned, or of other types of sums."""
    type = r.choice(("f16", "bf16", "bf16", "i8", "f32", "f64"))
    summed = _summed_in(type)
    out = r.choice((summed, type))
    batch = r.random() < 0.25
    b, at = ("B, ", "n, ") if batch else ("", "")
    a_turned, b_turned = r.random() < 0.2, r.random() < 0.3
    depth = r.choice(("K", "K", "K", "128", "96"))
    end = depth if r.random() < 0.7 else {"K": "K", "128": "40", "96": "64"}[depth]
    a = f"a: {type}[{b}{depth}, M]" if a_turned else f"a: {type}[{b}M, {depth}]"
    c = f"b: {type}[{b}{depth}, N]" if b_turned else f"b: {type}[{b}N, {depth}]"
    left = f"a[{at}k, i]" if a_turned else f"a[{at}i, k]"
    right = f"b[{at}k, j]" if b_turned else f"b[{at}j, k]"
    value = f"sum(k in 0..{end}) {summed}({left}) * {summed}({right})"
    if r.random() < 0.2:
        value = f"max({value}, {summed}(0))"
    return _kernel([a, c], [f"c: {out}[{b}M, N]"], [f"c[{at}i, j] = {value if out == summed else f'{out}({value})'}"])


def _layer(r: Random) -> str:
    """A convolution layer, channels last or first."""
    type = r.choice(("f16", "bf16", "bf16", "i8", "f32"))
    summed = _summed_in(type)
    m, c = r.choice((8, 16, 24, 64)), r.choice((3, 8, 16, 32, 64))
    high, wide = r.choice((1, 3, 3, 5)), r.choice((1, 3, 3))
    up, left, gap = r.randint(0, high - 1), r.randint(0, wide - 1), r.choice((1, 1, 1, 2))
    row, column = f"i + u*{gap} - {up}", f"j + v*{gap} - {left}"
    last = r.random() < 0.75
    x, w, y = (("B, H, W, {c}", "{m}, {h}, {w}, {c}", "B, H, W, {m}") if last
               else ("B, {c}, H, W", "{m}, {c}, {h}, {w}", "B, {m}, H, W"))
    numbers = {"c": c, "m": m, "h": high, "w": wide}
    reads = (f"x[n, {row}, {column}, c]", "w[m, u, v, c]") if last else (f"x[n, c, {row}, {column}]", "w[m, c, u, v]")
    axes = (1, 2) if last else (2, 3)
    rule = "constant(0)" if r.random() < 0.7 else r.choice(RULES)
    value = f"sum(u in 0..{high}, v in 0..{wide}, c in 0..{c}) {summed}({reads[1]}) * {summed}({reads[0]})"
    out = r.choice((summed, type))
    return _kernel(
        [f"x: {type}[{x.format(**numbers)}]", f"w: {type}[{w.format(**numbers)}]"],
        [f"y: {out}[{y.format(**numbers)}]"],
        [*(f"edge x[{axis}] = {rule}" for axis in axes),
         f"y[{'n, i, j, m' if last else 'n, m, i, j'}] = {value if out == summed else f'{out}({value})'}"])


def _reduction(r: Random) -> str:
    """Sums, extremes and counts over some axes."""
    type = r.choice((*TYPES, "i64", "u64", "u32", "u16", "bool"))
    rank = r.choice((1, 2, 2, 3))
    extents, indices = ["D", "H", "W"][-rank:], ["i", "j", "k"][-rank:]
    over = sorted(r.sample(range(rank), r.randint(1, rank)))
    kept = [n for n in range(rank) if n not in over]
    read = f"x[{', '.join(indices)}]"
    bound = [f"{indices[n]} in 0..{extents[n]}" for n in over]
    kind = r.choice(("sum", "sum", "max", "min", "squares", "any"))
    out = {"bool": "i64", "u8": "u32", "u16": "u64", "u32": "u64"}.get(type, _summed_in(type))
    needs = [f"require {extents[n]} > 0" for n in over] if kind in ("max", "min") else []
    all = ", ".join(bound)
    if kind in ("max", "min") and type == "bool":
        kind = "any"
    value = {"sum": f"sum({all}) {out}({read})", "squares": f"sum({all}) {out}({read})*{out}({read})",
             "any": f"any({all}) ({read if type == 'bool' else f'{read} > 0'})"}.get(kind, f"{kind}({all}) {read}")
    made = {"sum": out, "squares": out, "any": "bool"}.get(kind, type)
    at = ", ".join(indices[n] for n in kept)
    return _kernel([f"x: {type}[{', '.join(extents)}]"], [f"y: {made}[{', '.join(extents[n] for n in kept)}]"],
                   [*needs, f"y[{at}] = {value}"])


def _heat(r: Random) -> str:
    """A stencil of steps in two or three dimensions."""
    type = r.choice(("f32", "f32", "f64"))
    rank = r.choice((2, 2, 3))
    extents, indices = ["D", "H", "W"][-rank:], ["i", "j", "k"][:rank]
    radius = r.choice((1, 1, 2))
    terms = [f"w[0] * x[{', '.join(indices)}]"]
    for axis in range(rank):
        for u in range(1, radius + 1):
            for sign in (-1, 1):
                at = ", ".join(_at(i, sign * u if n == axis else 0) for n, i in enumerate(indices))
                terms.append(f"w[{u}] * x[{at}]")
    over = ", ".join(extents)
    return _kernel([f"x: {type}[{over}]", f"w: {type}[{radius + 1}]"], [f"y: {type}[{over}]"],
                   [*_edges(r, "x", type, rank), f"y[{', '.join(indices)}] = {' + '.join(terms)}", "step x = y"])


FAMILIES: tuple[Callable[[Random], str], ...] = (
    _window, _window, _window, _separable, _volume, _volume, _product, _product, _layer, _reduction, _heat)
