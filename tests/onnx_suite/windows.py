"""Conv, ConvInteger and the pools: windows that step, are spread and reach over the edge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tests.onnx_suite.cases import Array, Node
from tests.onnx_suite.specs import Spec, listed, lowest, names, spec, type_of


@dataclass(frozen=True, slots=True)
class Window:
    """The spatial axes, by their texts: X0 is an extent of the data, K0 of the window, i0 an output, u0 a tap."""

    rank: int
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]       # all low ones, then all high ones
    auto: str                   # NOTSET, VALID, SAME_UPPER or SAME_LOWER
    ceil: bool

    @classmethod
    def of(cls, node: Node, rank: int) -> Window:
        """The window of a node over data with ``rank`` spatial axes."""
        auto = bytes(node.attributes.get("auto_pad", b"NOTSET")).decode()
        return cls(rank, node.ints("strides", (1,) * rank), node.ints("dilations", (1,) * rank),
                   node.ints("pads", (0,) * 2 * rank), auto, bool(node.attributes.get("ceil_mode", 0)))

    @property
    def constants(self) -> dict[str, int]:
        """Stride, dilation and, where they are given, pads of each axis."""
        found = {f"S{axis}": stride for axis, stride in enumerate(self.strides)}
        found |= {f"D{axis}": dilation for axis, dilation in enumerate(self.dilations)}
        if self.auto == "NOTSET":
            found |= {f"P{axis}": pad for axis, pad in enumerate(self.pads[:self.rank])}
            found |= {f"Q{axis}": pad for axis, pad in enumerate(self.pads[self.rank:])}
        return found

    def low(self, axis: int) -> str:
        """How many elements there are before the first one."""
        needed = f"max((ceildiv(X{axis}, S{axis}) - 1)*S{axis} + D{axis}*(K{axis} - 1) + 1 - X{axis}, 0)"
        match self.auto:
            case "SAME_UPPER":
                return f"{needed}//2"
            case "SAME_LOWER":
                return f"({needed} + 1)//2"
            case "VALID":
                return "0"
            case _:
                return f"P{axis}"

    def extents(self) -> list[str]:
        """Extents of the output."""
        return [self._extent(axis) for axis in range(self.rank)]

    def _extent(self, axis: int) -> str:
        x, s = f"X{axis}", f"S{axis}"
        if self.auto.startswith("SAME"):
            return f"ceildiv({x}, {s})"
        low, both = (f"P{axis}", f"{x} + P{axis} + Q{axis}") if self.auto == "NOTSET" else ("0", x)
        room = f"{both} - D{axis}*(K{axis} - 1) - 1"
        # with ceil_mode the last window may hang over the end, but must not begin past the data
        return f"min(ceildiv({room}, {s}) + 1, ceildiv({x} + {low}, {s}))" if self.ceil else f"({room})//{s} + 1"

    def places(self) -> list[str]:
        """Where a tap of the window lies in the data."""
        return [f"S{axis}*i{axis} + D{axis}*u{axis} - {self.low(axis)}" for axis in range(self.rank)]


def conv(node: Node) -> Spec:
    """Groups are runs of output channels, each of which reads a run of input channels."""
    x, w, bias = node.tensor(0), node.tensor(1), node.input(2)
    type, window = type_of(x), Window.of(node, x.ndim - 2)
    groups = int(node.attributes.get("group", 1))
    product = f"w[m, c, {listed(names('u', window.rank))}] * x[n, {_channel(groups)}, {listed(window.places())}]"
    total = f"sum(c, {listed(names('u', window.rank))}) {product}"
    given = [] if bias is None else [bias]
    return spec(
        {"G": groups, **window.constants} if groups > 1 else window.constants,
        [*_layer(window.rank, type, type, groups), *(f"b: {type}[M]" for _ in given)],
        [f"y: {type}[N, M, {listed(window.extents())}]"],
        ["edge x = constant(0)",
         f"y[n, m, {listed(names('i', window.rank))}] = {'b[m] + ' if given else ''}{total}"],
        [x, w, *given])


def conv_integer(node: Node) -> Spec:
    """8-bit data around zero points, which the padding holds too; sums of 32 bits."""
    x, w, x_zero, w_zero = node.tensor(0), node.tensor(1), node.input(2), node.input(3)
    window, groups = Window.of(node, x.ndim - 2), int(node.attributes.get("group", 1))
    zeros = [np.zeros((), x.dtype) if x_zero is None else x_zero.reshape(()),
             np.broadcast_to(np.zeros((), w.dtype) if w_zero is None else w_zero, w.shape[:1])]
    taps = listed(names("u", window.rank))
    weight = f"(i32(w[m, c, {taps}]) - i32(w_zero[m]))"
    data = f"(i32(x[n, {_channel(groups)}, {listed(window.places())}]) - i32(x_zero[]))"
    return spec(
        {"G": groups, **window.constants} if groups > 1 else window.constants,
        [*_layer(window.rank, type_of(x), type_of(w), groups), f"x_zero: {type_of(x)}[]", f"w_zero: {type_of(w)}[M]"],
        [f"y: i32[N, M, {listed(window.extents())}]"],
        ["edge x = constant(x_zero[])",
         f"y[n, m, {listed(names('i', window.rank))}] = sum(c, {taps}) {weight} * {data}"],
        [x, w, *zeros])


def _channel(groups: int) -> str:
    return "c" if groups == 1 else "m//(M//G)*C + c"


def _layer(rank: int, data: str, weight: str, groups: int) -> list[str]:
    channels = "C" if groups == 1 else "CG"
    return [f"x: {data}[N, {channels}, {listed(names('X', rank))}]",
            f"w: {weight}[M, C, {listed(names('K', rank))}]"]


def _pooled(node: Node) -> tuple[Array, Window, dict[str, int], str]:
    """The data, the window, the constants, and the ranges of the taps."""
    x = node.tensor(0)
    window = Window.of(node, x.ndim - 2)
    sizes = dict(zip(names("K", window.rank), node.attributes["kernel_shape"], strict=True))
    return x, window, {**sizes, **window.constants}, listed(f"u{axis} in 0..K{axis}" for axis in range(window.rank))


def max_pool(node: Node) -> Spec:
    """With a second output, where in the data the greatest lies, counted with the last axis fastest or slowest."""
    x, window, constants, taps = _pooled(node)
    type, place = type_of(x), f"n, m, {listed(names('i', window.rank))}"
    shape = f"[N, C, {listed(window.extents())}]"
    read = f"x[n, m, {listed(window.places())}]"
    outputs, body = [f"y: {type}{shape}"], [f"edge x = constant({lowest(type)})", f"y[{place}] = max({taps}) {read}"]
    if node.outputs > 1:
        outputs.append(f"at: i64{shape}")
        body += [f"let a[{place}] = argmax({taps}) {read}",
                 f"at[{place}] = {_position(window, place, bool(node.attributes.get('storage_order', 0)))}"]
    return spec(constants, [f"x: {type}[N, C, {listed(names('X', window.rank))}]"], outputs, body, [x])


def _position(window: Window, place: str, first_axis_fastest: bool) -> str:
    """From the tap that ``a`` counts row-major to the position in the data."""
    axes = range(window.rank)
    terms = [_product(["(n*C + m)", *names("X", window.rank)])]
    for axis in axes:
        inner = _product(["1", *(f"K{later}" for later in axes if later > axis)])
        tap = f"(a[{place}]//({inner})%K{axis})"
        faster = [other for other in axes if (other < axis if first_axis_fastest else other > axis)]
        place_of_tap = window.places()[axis].replace(f"u{axis}", tap)
        terms.append(_product([f"({place_of_tap})", *(f"X{other}" for other in faster)]))
    return " + ".join(terms)


def _product(factors: Iterable[str]) -> str:
    return "*".join(factors)


def average_pool(node: Node) -> Spec:
    """The sum of the taps over how many of them lie in the data, or in the data with its pads."""
    x, window, constants, taps = _pooled(node)
    type, with_pads = type_of(x), bool(node.attributes.get("count_include_pad", 0)) and window.auto == "NOTSET"
    low, high = ("-P{0}", "X{0} + Q{0}") if with_pads else ("0", "X{0}")
    inside = " and ".join(f"{place} >= {low.format(axis)} and {place} < {high.format(axis)}"
                          for axis, place in enumerate(window.places()))
    total = f"(sum({taps}) x[n, m, {listed(window.places())}])"
    return spec(constants, [f"x: {type}[N, C, {listed(names('X', window.rank))}]"],
                [f"y: {type}[N, C, {listed(window.extents())}]"],
                ["edge x = constant(0)",
                 f"y[n, m, {listed(names('i', window.rank))}] = {total} / {type}(count({taps}) ({inside}))"],
                [x])


def global_pool(node: Node) -> Spec:
    """All of the data in one window."""
    x = node.tensor(0)
    type, rank = type_of(x), x.ndim - 2
    read = f"x[n, m, {listed(names('u', rank))}]"
    taps = listed(f"u{axis} in 0..X{axis}" for axis in range(rank))
    value = {"GlobalMaxPool": f"max({taps}) {read}",
             "GlobalAveragePool": f"(sum({taps}) {read}) / {type}({_product(names('X', rank))})"}[node.op]
    return spec({}, [f"x: {type}[N, C, {listed(names('X', rank))}]"], [f"y: {type}[N, C, {listed(['1'] * rank)}]"],
                [f"require {listed(f'{extent} >= 1' for extent in names('X', rank))}",
                 f"y[n, m, {listed(names('i', rank))}] = {value}"],
                [x])
