"""Conv in its kinds: of floats, of integers around zero points, transposed, and causal with a state."""

from __future__ import annotations

import numpy as np

from tests.onnx_suite.cases import Node
from tests.onnx_suite.specs import Spec, highest, listed, lowest, names, spec, type_of
from tests.onnx_suite.window import Window


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


def quantized_conv(node: Node) -> Spec:
    """8 bits in and out: the sum is scaled, rounded to the even neighbour and kept within the type."""
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = (node.tensor(place) for place in range(8))
    bias = node.input(8)
    window, groups, to = Window.of(node, x.ndim - 2), int(node.attributes.get("group", 1)), type_of(y_zero)
    taps, place = listed(names("u", window.rank)), f"n, m, {listed(names('i', window.rank))}"
    weight = f"(i32(w[m, c, {taps}]) - i32(w_zero[m]))"
    data = f"(i32(x[n, {_channel(groups)}, {listed(window.places())}]) - i32(x_zero[]))"
    given = [] if bias is None else [bias]
    return spec(
        {"G": groups, **window.constants} if groups > 1 else window.constants,
        [*_layer(window.rank, type_of(x), type_of(w), groups), f"x_zero: {type_of(x)}[]", f"w_zero: {type_of(w)}[M]",
         "x_scale: f32[]", "w_scale: f32[M]", "y_scale: f32[]", f"y_zero: {to}[]", *("b: i32[M]" for _ in given)],
        [f"y: {to}[N, M, {listed(window.extents())}]"],
        ["edge x = constant(x_zero[])",
         f"let total[{place}] = {'b[m] + ' if given else ''}sum(c, {taps}) {weight} * {data}",
         f"let scaled[{place}] = round(f32(total[{place}])*(x_scale[]*w_scale[m]/y_scale[])) + f32(y_zero[])",
         f"y[{place}] = {to}(clamp(scaled[{place}], {lowest(to)}, {highest(to)}))"],
        [x, w, x_zero.reshape(()), np.broadcast_to(w_zero, w.shape[:1]), x_scale.reshape(()),
         np.broadcast_to(w_scale, w.shape[:1]), y_scale.reshape(()), y_zero.reshape(()), *given])


def conv_transpose(node: Node) -> Spec:
    """An output gathers what a strided convolution would scatter to it: from (o + P - D*u)/S where that is whole."""
    x, w, bias = node.tensor(0), node.tensor(1), node.input(2)
    rank, groups, type = x.ndim - 2, int(node.attributes.get("group", 1)), type_of(x)
    window, axes = Window.of(node, rank), range(rank)
    more = dict(zip(names("OP", rank), node.ints("output_padding", (0,) * rank), strict=True))
    full = [f"S{a}*(X{a} - 1) + OP{a} + D{a}*(K{a} - 1) + 1" for a in axes]
    extents, low = [f"{full[a]} - P{a} - Q{a}" for a in axes], [f"P{a}" for a in axes]
    if "output_shape" in node.attributes or window.auto.startswith("SAME"):
        shape = node.ints("output_shape", ())
        extents = [str(length) for length in shape] or [f"X{a}*S{a}" for a in axes]
        half = "({} - ({}))//2" if window.auto == "SAME_UPPER" else "({} - ({}) + 1)//2"
        low = [half.format(full[a], extents[a]) for a in axes]
    taps, place = listed(names("u", rank)), f"n, m, {listed(names('i', rank))}"
    from_place = [f"(i{a} + {low[a]} - D{a}*u{a})" for a in axes]
    whole = " and ".join(f"{from_place[a]} % S{a} == 0" for a in axes)
    read = f"x[n, {'c' if groups == 1 else 'm//MG*(C//G) + c'}, {listed(f'{from_place[a]}//S{a}' for a in axes)}]"
    weight = f"w[c, m, {taps}]" if groups == 1 else f"w[m//MG*(C//G) + c, m % MG, {taps}]"
    given = [] if bias is None else [bias]
    return spec(
        {"G": groups, **window.constants, **more},
        [f"x: {type}[N, C, {listed(names('X', rank))}]", f"w: {type}[C, MG, {listed(names('K', rank))}]",
         *(f"b: {type}[MG*G]" for _ in given)],
        [f"y: {type}[N, MG*G, {listed(extents)}]"],
        ["edge x = constant(0)", *(["require C % G == 0"] if groups > 1 else []),
         f"y[{place}] = {'b[m] + ' if given else ''}sum(c in 0..C//G, {listed(f'u{a} in 0..K{a}' for a in axes)}) "
         f"{weight} * where({whole}, {read}, 0)"],
        [x, w, *given])


def causal_conv(node: Node) -> Spec:
    """Depthwise, over what was and is but not what comes; the last taps go out as the state of the next call."""
    x, w, bias, past = node.tensor(0), node.tensor(1), node.input(2), node.input(3)
    type = type_of(x)
    given = [tensor for tensor in (bias, past) if tensor is not None]
    before = "where(t < K - 1, past[n, c, t], x[n, c, t - (K - 1)])" if past is not None else "x[n, c, t - (K - 1)]"
    finish = {"none": "v[n, c, t]"}.get(bytes(node.attributes.get("activation", b"none")).decode(),
                                        "v[n, c, t] / (1 + exp(-v[n, c, t]))")
    return spec(
        {},
        [f"x: {type}[N, C, T]", f"w: {type}[C, 1, K]", *([f"b: {type}[C]"] if bias is not None else []),
         *([f"past: {type}[N, C, K - 1]"] if past is not None else [])],
        [f"y: {type}[N, C, T]", f"state: {type}[N, C, K - 1]"],
        ["require K >= 1", "edge x = constant(0)", *(["edge past = constant(0)"] if past is not None else []),
         f"let all[n, c, t] = {before}",
         f"let v[n, c, t] = {'b[c] + ' if bias is not None else ''}sum(k) w[c, 0, k] * all[n, c, t + k]",
         f"y[n, c, t] = {finish}",
         "state[n, c, s] = all[n, c, T + s]"],
        [x, w, *given])
