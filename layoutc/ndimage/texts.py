"""The spec texts of filters, written for the axes, edges and types of a call.

A text is either for windows of constant size (``const K0``, ``const P0``: size and start along axis 0), which the
compiler can plan for, or for any window: sizes from the arguments' shapes, starts from an argument ``p``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from layoutc.ndimage.checks import Window
from layoutc.ndimage.shapes import Shape

LOW = {"f32": "-inf", "f64": "-inf", **{f"i{n}": f"{-2**(n - 1)}" for n in (8, 16, 32, 64)},
       **{f"u{n}": "0" for n in (8, 16, 32, 64)}}
HIGH = {"f32": "inf", "f64": "inf", **{f"i{n}": f"{2**(n - 1) - 1}" for n in (8, 16, 32, 64)},
        **{f"u{n}": f"{2**n - 1}" for n in (8, 16, 32, 64)}}


@dataclass(frozen=True, slots=True)
class Types:
    """Of the input, of the arithmetic, of the output."""

    input: str
    sum: str
    output: str


@dataclass(frozen=True, slots=True)
class Form:
    """What all texts of a call share: the array's axes, and whether its windows are constants of the text."""

    shape: Shape
    is_constant: bool

    @property
    def extents(self) -> str:
        """Of x and y."""
        return ", ".join(f"N{n}" for n in range(self.shape.rank))

    @property
    def here(self) -> str:
        """The output's own indices."""
        return ", ".join(f"i{n}" for n in range(self.shape.rank))

    @property
    def sizes(self) -> str:
        """Of the window."""
        return ", ".join(f"K{w.axis}" for w in self.shape.windows)

    @property
    def binders(self) -> str:
        """Over the window."""
        return ", ".join(self.binder(w) for w in self.shape.windows)

    @property
    def within(self) -> str:
        """The place in the window."""
        return ", ".join(f"u{w.axis}" for w in self.shape.windows)

    @property
    def constants(self) -> dict[str, int]:
        """Their values, where the windows are constants."""
        if not self.is_constant:
            return {}
        return {f"{name}{w.axis}": value for w in self.shape.windows for name, value in (("K", w.size), ("P", w.start))}

    @property
    def starts_argument(self) -> list[list[int]]:
        """``p``, where they are not."""
        return [] if self.is_constant else [[w.start for w in self.shape.windows]]

    @property
    def starts_input(self) -> list[str]:
        """Its declaration."""
        return [] if self.is_constant else [f"p: i64[{len(self.shape.windows)}]"]

    def binder(self, w: Window) -> str:
        """Over one axis of the window."""
        return f"u{w.axis} in 0..K{w.axis}"

    def read(self, tensor: str, windows: Sequence[Window]) -> str:
        """An element of the windows around the output's place."""
        moved = {w.axis: f"i{w.axis} + u{w.axis} - {self._start(w)}" for w in windows}
        return f"{tensor}[{', '.join(moved.get(n, f'i{n}') for n in range(self.shape.rank))}]"

    def edges(self, tensor: str, windows: Sequence[Window], outside: str) -> list[str]:
        """Edge rules; ``outside`` is the value beyond a constant edge."""
        return [f"edge {tensor}[{w.axis}] = {f'constant({outside})' if w.rule == 'constant' else w.rule}"
                for w in windows]

    def kernel(self, name: str, inputs: Sequence[str], output: str, body: Sequence[str]) -> str:
        """The whole text."""
        constants = [f"const {name} = {value}" for name, value in self.constants.items()]
        head = f"kernel {name}({', '.join(inputs)}) -> (y: {output}[{self.extents}]) {{"
        return "\n".join([*constants, head, *(f"    {line}" for line in body), "}", ""])

    def _start(self, w: Window) -> str:
        return f"P{w.axis}" if self.is_constant else f"p[{self.shape.windows.index(w)}]"


def has_constant_edge(windows: Sequence[Window]) -> bool:
    """Whether a value stands outside."""
    return any(w.rule == "constant" for w in windows)


def cast(value: str, source: str, target: str) -> str:
    """A value in another type; floats become integers as in scipy.ndimage: cut off, then modulo 2^n."""
    if source == target:
        return value
    if source[0] == "f" and target[0] != "f":
        return f"i64({value})" if target == "i64" else f"{target}(i64({value}))"
    return f"{target}({value})"


def correlate_text(form: Form, types: Types, divide: str) -> str:
    """The weights times the window, summed.

    ``divide``: ``each`` divides the sum by ``d``; ``whole`` does so in integers, cut off; ``""`` does not.
    """
    windows = form.shape.windows
    inputs = [f"x: {types.input}[{form.extents}]", f"w: {types.sum}[{form.sizes}]", *form.starts_input]
    inputs += [f"c: {types.input}[]"] * has_constant_edge(windows) + [f"d: {types.sum}[]"] * bool(divide)
    element = cast(form.read("x", windows), types.input, types.sum)
    total = f"sum({form.binders}) w[{form.within}] * {element}"
    return form.kernel("correlate", inputs, types.output,
                       [*form.edges("x", windows, "c[]"), *_result(form, types, total, divide)])


def separable_text(form: Form, types: Types, divide: str) -> str:
    """Two windows of one axis each, the second over the sums of the first; as correlate_text else."""
    first, second = form.shape.windows
    inputs = [f"x: {types.input}[{form.extents}]", f"v: {types.sum}[K{first.axis}]", f"w: {types.sum}[K{second.axis}]"]
    inputs += [f"c: {types.input}[]"] * (first.rule == "constant")
    inputs += [f"e: {types.sum}[]"] * (second.rule == "constant")
    if divide:
        inputs += [f"d: {types.sum}[]"] + [f"b: {types.sum}[]"] * (divide == "each")
    element = cast(form.read("x", [first]), types.input, types.sum)
    inner = f"sum({form.binder(first)}) v[u{first.axis}] * {element}"
    extended = "g" if second.rule == "constant" else "x"
    body = [*form.edges("x", [first], "c[]"), *form.edges(extended, [second], "e[]"),
            f"let g[{form.here}] = {f'({inner}) / b[]' if divide == 'each' else inner}"]
    total = f"sum({form.binder(second)}) w[u{second.axis}] * {form.read('g', [second])}"
    return form.kernel("separable", inputs, types.output, [*body, *_result(form, types, total, divide)])


def _result(form: Form, types: Types, total: str, divide: str) -> list[str]:
    """The equation of y: the total divided, and cast."""
    needs_name = divide == "whole" or (types.sum, types.output) == ("f64", "u64")
    value = f"({total}) / d[]" if divide == "each" else total
    if not needs_name:
        return [f"y[{form.here}] = {cast(value, types.sum, types.output)}"]
    s = f"s[{form.here}]"
    if divide == "whole":
        result = cast(f"where({s} < 0, -(-{s} // d[]), {s} // d[])", types.sum, types.output)
    else:
        result = f"where({s} < 0, u64(i64({s})), u64({s}))"
    return [f"let {s} = {value}", f"y[{form.here}] = {result}"]


def extreme_text(form: Form, op: str, type: str, is_masked: bool) -> str:
    """``min`` or ``max`` of the window, or of the elements that ``f`` names."""
    windows = form.shape.windows
    inputs = [f"x: {type}[{form.extents}]"]
    inputs += [f"f: bool[{form.sizes}]"] if is_masked else _size_inputs(form)
    inputs += [*form.starts_input, *[f"c: {type}[]"] * has_constant_edge(windows)]
    element = form.read("x", windows)
    if is_masked:
        element = f"where(f[{form.within}], {element}, {(HIGH if op == 'min' else LOW)[type]})"
    return form.kernel("extreme", inputs, type,
                       [*form.edges("x", windows, "c[]"), f"y[{form.here}] = {op}({form.binders}) {element}"])


def separable_extreme_text(form: Form, op: str, type: str) -> str:
    """``min`` or ``max`` along one axis, then along another."""
    first, second = form.shape.windows
    inputs = [f"x: {type}[{form.extents}]", *[f"c: {type}[]"] * has_constant_edge((first, second))]
    extended = "g" if second.rule == "constant" else "x"
    return form.kernel("extreme", inputs, type, [
        *form.edges("x", [first], "c[]"), *form.edges(extended, [second], "c[]"),
        f"let g[{form.here}] = {op}({form.binder(first)}) {form.read('x', [first])}",
        f"y[{form.here}] = {op}({form.binder(second)}) {form.read('g', [second])}"])


def rank_text(form: Form, type: str, layers: int) -> str:
    """The middle of the window; with layers, of those elements that ``f`` names and of ``q`` elsewhere."""
    windows = form.shape.windows
    inputs = [f"x: {type}[{form.extents}]"]
    element, binders = form.read("x", windows), form.binders
    if layers:
        inputs += [f"f: bool[{layers}, {form.sizes}]", f"q: {type}[{layers}, {form.sizes}]"]
        element = f"where(f[e, {form.within}], {element}, q[e, {form.within}])"
        binders = f"e in 0..{layers}, {binders}"
    else:
        inputs += _size_inputs(form)
    inputs += [*form.starts_input, *[f"c: {type}[]"] * has_constant_edge(windows)]
    return form.kernel("rank", inputs, type,
                       [*form.edges("x", windows, "c[]"), f"y[{form.here}] = median({binders}) {element}"])


def _size_inputs(form: Form) -> list[str]:
    """Arrays whose shapes alone matter."""
    return [] if form.is_constant else [f"s{w.axis}: i8[K{w.axis}]" for w in form.shape.windows]


def laplace_text(form: Form, types: Types) -> str:
    """The sum of second differences along the axes of the windows."""
    inputs = [f"x: {types.input}[{form.extents}]", *[f"c: {types.input}[]"] * has_constant_edge(form.shape.windows)]
    around = [_beside(form, w, step) for w in form.shape.windows for step in ("-", "+")]
    center = cast(f"x[{form.here}]", types.input, types.sum)
    terms = [cast(f"x[{place}]", types.input, types.sum) for place in around]
    total = f"{' + '.join(terms)} - {2 * len(form.shape.windows)}*{center}"
    return form.kernel("laplace", inputs, types.output,
                       [*form.edges("x", form.shape.windows, "c[]"), *_result(form, types, total, "")])


def _beside(form: Form, w: Window, step: str) -> str:
    return ", ".join(f"i{n} {step} 1" if n == w.axis else f"i{n}" for n in range(form.shape.rank))


def cast_text(source: str, target: str) -> str:
    """Another type, as ``cast`` says."""
    form = Form(Shape((1,), ()), True)
    return form.kernel("cast", [f"x: {source}[N0]"], target,
                       _result(form, Types(source, source, target), "x[i0]", ""))
